import { unreachable } from "../../../../errors/index.ts";
import type { Finding, Gate } from "./gate.ts";

/** Returns the next step for a finding; empty if it is satisfied. */
export function nextStepOf({ verdict, requirement, subject }: Finding): string {
  const receipt = `a ${requirement.receiptType} receipt for ${subject.kind} ${subject.name}`;
  switch (verdict) {
    case "satisfied":
      return "";
    case "missing":
      return `Add ${receipt}.`;
    case "failed":
      return `Correct ${subject.kind} ${subject.name}, then add ${receipt}.`;
    case "blocked":
      return `Remove what blocks the check, then add ${receipt}.`;
    case "stale":
    case "expired":
      return `Check again, then add ${receipt}.`;
    case "wrong_environment":
      return `Check in the environment of the pack, then add ${receipt}.`;
    case "wrong_candidate":
      return `Check for this promotion, then add ${receipt}.`;
    case "wrong_producer":
      return `Have a producer that the pack accepts add ${receipt}.`;
    default:
      return unreachable(verdict);
  }
}

/** A finding as a sentence. */
export function explain({ verdict, requirement, subject, decisive }: Finding): string {
  const what = `${requirement.id} of ${subject.name}`;
  const receipt = `receipt ${decisive?.id ?? ""}`;
  switch (verdict) {
    case "satisfied":
      return `${what} is satisfied by ${receipt}.`;
    case "missing":
      return `${what} has no receipt.`;
    case "failed":
      return `${what} failed, according to ${receipt}.`;
    case "blocked":
      return `${what} could not be checked, according to ${receipt}.`;
    case "stale":
      return `${what} is stale: the artifact or its base changed after ${receipt}, or the receipt is too old.`;
    case "expired":
      return `${what} expired with ${receipt}.`;
    case "wrong_environment":
      return `${what} was checked in another environment, according to ${receipt}.`;
    case "wrong_candidate":
      return `${what} was checked for another promotion, according to ${receipt}.`;
    case "wrong_producer":
      return `${what} was checked by ${decisive!.producer}, which the pack does not accept, according to ${receipt}.`;
    default:
      return unreachable(verdict);
  }
}

/** Returns the first step to open a closed gate; empty if it is open. */
export function nextStepOfGate({ state, findings }: Gate): string {
  if (state === "open") return "";
  if (findings.length === 0) return "Add the artifacts that are to be promoted.";
  const open = findings.filter(({ verdict }) => verdict !== "satisfied");
  const more =
    open.length === 1
      ? ""
      : ` ${open.length - 1} more ${open.length === 2 ? "requirement is" : "requirements are"} not satisfied.`;
  return `${nextStepOf(open[0]!)}${more}`;
}

import type { Finding, Gate, GateReason, Verdict } from "./gate.ts";

const steps: Readonly<Record<GateReason, (artifact: string) => string>> = {
  missing: () => "Add",
  failed: (artifact) => `Correct ${artifact}, then add`,
  blocked: () => "Remove what blocks the check, then add",
  stale: () => "Check again, then add",
  expired: () => "Check again, then add",
  wrong_environment: () => "Check in the environment of the pack, then add",
  wrong_candidate: () => "Check for this promotion, then add",
  wrong_producer: () => "Have a producer that the pack accepts add",
};

/** Returns the next step for a finding; empty if it is satisfied. */
export function nextStepOf({ verdict, requirement, subject }: Finding): string {
  if (verdict === "satisfied") return "";
  const artifact = `${subject.kind} ${subject.name}`;
  return `${steps[verdict](artifact)} a ${requirement.receiptType} receipt for ${artifact}.`;
}

const explanations: Readonly<Record<Verdict, (receipt: string, producer?: string) => string>> = {
  satisfied: (receipt) => `is satisfied by ${receipt}`,
  missing: () => "has no receipt",
  failed: (receipt) => `failed, according to ${receipt}`,
  blocked: (receipt) => `could not be checked, according to ${receipt}`,
  stale: (receipt) => `is stale: the artifact or its base changed after ${receipt}, or the receipt is too old`,
  expired: (receipt) => `expired with ${receipt}`,
  wrong_environment: (receipt) => `was checked in another environment, according to ${receipt}`,
  wrong_candidate: (receipt) => `was checked for another promotion, according to ${receipt}`,
  wrong_producer: (receipt, producer) =>
    `was checked by ${producer}, which the pack does not accept, according to ${receipt}`,
};

/** A finding as a sentence. */
export function explain({ verdict, requirement, subject, decisive }: Finding): string {
  const explanation = explanations[verdict](`receipt ${decisive?.id ?? ""}`, decisive?.producer);
  return `${requirement.id} of ${subject.name} ${explanation}.`;
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

import { digestOfStatement } from "../../../../platform/crypto/index.ts";
import type { Pack } from "./pack.ts";
import type { ReceiptHead } from "./receipt.ts";
import type { Requirement } from "./requirements.ts";
import { isSameArtifact, type Subject } from "./subject.ts";

/** Why a requirement is not satisfied. */
export type GateReason =
  | "missing"
  | "failed"
  | "blocked"
  | "stale"
  | "expired"
  | "wrong_environment"
  | "wrong_candidate"
  | "wrong_producer";

/** Result of a receipt for a requirement. */
export type Verdict = GateReason | "satisfied";

/** The verdict on one receipt. */
export interface ConsideredReceipt {
  readonly receipt: ReceiptHead;
  readonly verdict: Verdict;
}

/** How one requirement of one artifact was decided. */
export interface Finding {
  readonly requirement: Requirement;
  readonly subject: Subject;
  readonly verdict: Verdict;
  /** The receipt that decided; undefined if there is none. */
  readonly decisive: ReceiptHead | undefined;
  /** Newest first. */
  readonly considered: readonly ConsideredReceipt[];
}

/** The state of a gate: open if every requirement of every artifact is satisfied. */
export interface Gate {
  readonly state: "open" | "closed";
  /** When an open gate closes if nothing is added, and why. */
  readonly end: { readonly at: Date; readonly reason: GateReason } | undefined;
  /** Ordered by requirement and artifact. */
  readonly findings: readonly Finding[];
  /** Identifies the decision and its receipts. It does not depend on the time while the verdicts are the same. */
  readonly digest: string;
}

/** Inputs to a gate evaluation. */
export interface GateInput extends Pick<Pack, "environmentId" | "requirementsVersion" | "acceptedProducers"> {
  readonly packId: string;
  /** The promotion; empty if there is none. */
  readonly candidateId: string;
  readonly requirements: readonly Requirement[];
  readonly subjects: readonly Subject[];
  readonly receipts: readonly ReceiptHead[];
  readonly nowMs: number;
}

/** Evaluates a gate. Without artifacts it is closed: a promotion needs evidence. */
export function evaluateGate(input: GateInput): Gate {
  const newestFirst = input.receipts.toSorted((one, other) => other.revision - one.revision);
  const findings = input.requirements.flatMap((requirement) =>
    input.subjects
      .filter(({ kind }) => kind === requirement.kind)
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map((subject) => findingOf(requirement, subject, newestFirst, input)),
  );
  const isOpen = findings.length > 0 && findings.every(({ verdict }) => verdict === "satisfied");
  const state = isOpen ? "open" : "closed";
  return { state, end: isOpen ? endOf(findings) : undefined, findings, digest: digestOf(input, state, findings) };
}

function findingOf(
  requirement: Requirement,
  subject: Subject,
  newestFirst: readonly ReceiptHead[],
  input: GateInput,
): Finding {
  const considered = newestFirst
    .filter(({ type, subjects }) => {
      return type === requirement.receiptType && subjects.some((each) => isSameArtifact(each, subject));
    })
    .map((receipt) => ({ receipt, verdict: verdictOn(receipt, requirement, subject, input) }));
  // The newest receipt of an accepted producer, for the right environment and promotion, decides, even if an older one would
  // satisfy.
  const decisive =
    considered.find(({ verdict }) => !verdict.startsWith("wrong_")) ??
    considered.find(({ verdict }) => verdict === "wrong_environment") ??
    considered[0];
  const verdict = decisive?.verdict ?? "missing";
  return { requirement, subject, verdict, decisive: decisive?.receipt, considered };
}

/** The verdict on a receipt; the first reason that applies counts. */
function verdictOn(
  receipt: ReceiptHead,
  { maxAgeS, perCandidate }: Requirement,
  subject: Subject,
  { environmentId, candidateId, acceptedProducers, nowMs }: GateInput,
): Verdict {
  if (acceptedProducers.length > 0 && !acceptedProducers.includes(receipt.producer)) return "wrong_producer";
  if (receipt.environmentId !== environmentId) return "wrong_environment";
  if (!isForCandidate(receipt, candidateId, perCandidate)) return "wrong_candidate";
  if (nowMs >= receipt.expiresAt.getTime()) return "expired";
  const checked = receipt.subjects.find((each) => isSameArtifact(each, subject))!;
  if (!isCurrent(checked, subject) || nowMs >= receipt.issuedAt.getTime() + maxAgeS * 1000) return "stale";
  return receipt.result === "passed" ? "satisfied" : receipt.result;
}

/** A receipt that names no promotion is about its subjects, whoever promotes them. */
function isForCandidate(receipt: ReceiptHead, candidateId: string, perCandidate: boolean): boolean {
  if (candidateId === "" || receipt.candidateId === candidateId) return true;
  return receipt.candidateId === "" && !perCandidate;
}

/** Whether the artifact and its base are unchanged since the check. */
function isCurrent(checked: Subject, subject: Subject): boolean {
  if (checked.sha256 !== subject.sha256) return false;
  return checked.baseSha256 === "" || subject.baseSha256 === "" || checked.baseSha256 === subject.baseSha256;
}

function endOf(findings: readonly Finding[]): { at: Date; reason: GateReason } {
  const ends = findings.flatMap(({ requirement, decisive }) => {
    const staleMs = decisive!.issuedAt.getTime() + requirement.maxAgeS * 1000;
    const expiryMs = decisive!.expiresAt.getTime();
    return staleMs < expiryMs
      ? { at: new Date(staleMs), reason: "stale" as const }
      : { at: new Date(expiryMs), reason: "expired" as const };
  });
  return ends.reduce((first, end) => (end.at < first.at ? end : first));
}

function digestOf(input: GateInput, state: Gate["state"], findings: readonly Finding[]): string {
  return digestOfStatement({
    pack: input.packId,
    environment: input.environmentId,
    candidate: input.candidateId,
    requirements_version: input.requirementsVersion,
    state,
    findings: findings.map(({ requirement, subject, verdict, decisive }) => [
      requirement.id,
      subject.name,
      subject.sha256,
      subject.baseSha256,
      verdict,
      decisive?.digest ?? "",
    ]),
  });
}

import { createHash } from "node:crypto";
import { canonicalJson } from "../../../../platform/crypto/index.ts";
import type { ArtifactVersion } from "../../../promotable-artifacts.ts";
import type { PromotionPolicy } from "../../../tenancy/index.ts";
import type { Approver, Candidate, CandidateArtifact } from "./candidate.ts";

/** Whether the evidence of a candidate is sufficient. */
export interface GateReading {
  readonly state: "open" | "closed";
  /** Why it is closed. */
  readonly reasons: readonly string[];
  /** The digest of the evidence that was read; empty without a pack. */
  readonly digest: string;
}

/** An artifact with what its target has now. */
export interface ObservedArtifact {
  readonly artifact: CandidateArtifact;
  readonly live: ArtifactVersion;
}

/** The SHA-256 of everything that an approval is bound to. */
export function bindingOf({ artifacts, packId }: Candidate, gate: GateReading): string {
  const bound = artifacts.map(({ kind, targetId, version, sha256, baseSha256 }) => ({
    ...{ kind, targetId, version, sha256, baseSha256 },
  }));
  const text = canonicalJson({ artifacts: bound, packId, evidence: gate.digest });
  return createHash("sha256").update(text).digest("hex");
}

/** Artifacts whose target is not what it was at the last preflight. */
export function movedArtifacts(observed: readonly ObservedArtifact[]): readonly CandidateArtifact[] {
  return observed.flatMap(({ artifact, live }) => (live.sha256 === artifact.baseSha256 ? [] : [artifact]));
}

/** The identities whose approvals do not count. */
export function excludedFrom({ creators, authors }: Candidate, { excludeAuthors }: PromotionPolicy): readonly string[] {
  return excludeAuthors ? [...creators, ...authors] : creators;
}

/** Whether two lists of identities have one in common. */
export function isSamePerson(one: readonly string[], other: readonly string[]): boolean {
  return one.some((identity) => other.includes(identity));
}

/** The approvals that count. */
function countedApprovers(candidate: Candidate, policy: PromotionPolicy): readonly Approver[] {
  const excluded = excludedFrom(candidate, policy);
  return (candidate.approval?.approvers ?? []).filter(({ identities }) => !isSamePerson(identities, excluded));
}

/** The approvals that count, with the evidence of now. None does after the evidence has changed. */
export function validApprovers(candidate: Candidate, gate: GateReading, policy: PromotionPolicy): readonly Approver[] {
  return candidate.approval?.sha256 === bindingOf(candidate, gate) ? countedApprovers(candidate, policy) : [];
}

/** Why the approval of a candidate is void; empty while it is valid. */
export function voidReasons(
  candidate: Candidate,
  observed: readonly ObservedArtifact[],
  gate: GateReading,
  policy: PromotionPolicy,
): string[] {
  const { approval, state } = candidate;
  if (approval === null || state !== "approved") return [];
  const given = countedApprovers(candidate, policy).length;
  return [
    ...movedArtifacts(observed).map(({ kind, targetName }) => `base_moved: ${kind} ${targetName}`),
    ...(gate.state === "closed" ? gate.reasons.map((reason) => `gate_closed: ${reason}`) : []),
    ...(bindingOf(candidate, gate) === approval.sha256 ? [] : ["evidence_changed"]),
    ...(given < policy.approvals ? [`approvals_missing: ${given} of ${policy.approvals}`] : []),
  ];
}

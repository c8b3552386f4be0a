import { createHash } from "node:crypto";
import { canonicalJson } from "../../../../platform/crypto/index.ts";
import type { ArtifactVersion } from "../../../promotable-artifacts.ts";
import type { Candidate, CandidateArtifact } from "./candidate.ts";

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

/** Why the approval of a candidate is void; empty while it is valid. */
export function voidReasons(candidate: Candidate, observed: readonly ObservedArtifact[], gate: GateReading): string[] {
  const { approval, state } = candidate;
  if (approval === null || state !== "approved") return [];
  return [
    ...movedArtifacts(observed).map(({ kind, targetName }) => `base_moved: ${kind} ${targetName}`),
    ...(gate.state === "closed" ? gate.reasons.map((reason) => `gate_closed: ${reason}`) : []),
    ...(bindingOf(candidate, gate) === approval.sha256 ? [] : ["evidence_changed"]),
  ];
}

import type { EvidenceArtifact } from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import type { Artifact, Pack, PackTexts } from "../domain/pack.ts";
import { possiblePackCalls } from "../domain/pack-states.ts";
import type { ReceiptType } from "../domain/subject.ts";

/** Converts the fields that an author writes. */
export function toTexts(request: {
  readonly name: string;
  readonly description: string;
  readonly requiredTypes: readonly string[];
  readonly maxAgeS: number;
  readonly acceptedProducers: readonly string[];
}): PackTexts {
  const { name, description, requiredTypes, maxAgeS, acceptedProducers } = request;
  return {
    ...{ name, description, requiredTypes: [...requiredTypes].sort() as ReceiptType[], maxAgeS },
    acceptedProducers: [...acceptedProducers].sort(),
  };
}

/** Converts the artifact of a request. */
export function toArtifact(artifact: EvidenceArtifact): Artifact {
  const { kind, name, version, sha256, sizeBytes, storageRef } = artifact;
  return { kind: kind as Artifact["kind"], name, version, sha256, sizeBytes: Number(sizeBytes), storageRef };
}

/** Converts a pack; a list leaves out the artifacts. */
export const fromPack = (pack: Pack, artifacts: readonly Artifact[] = []) => ({
  ...pack,
  artifacts,
  possibleCalls: possiblePackCalls(pack.status),
});

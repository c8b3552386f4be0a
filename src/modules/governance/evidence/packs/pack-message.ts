import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type EvidenceArtifact,
  EvidenceArtifactSchema,
  type EvidencePack,
  EvidencePackSchema,
} from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import { optionalTime, stampFields } from "../../../../platform/records/index.ts";
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
export function fromPack(pack: Pack, artifacts: readonly Artifact[] = []): EvidencePack {
  const { id, tenantId, environmentId, name, description, status, maxAgeS, requirementsVersion, attachment } = pack;
  return create(EvidencePackSchema, {
    ...{ id, tenantId, environmentId, name, description, status, maxAgeS, requirementsVersion },
    requiredTypes: [...pack.requiredTypes],
    acceptedProducers: [...pack.acceptedProducers],
    revision: pack.revision,
    digest: pack.digest,
    artifacts: artifacts.map(fromArtifact),
    ...(attachment !== undefined && {
      attachment: {
        candidateId: attachment.candidateId,
        revision: attachment.revision,
        digest: attachment.digest,
        attachedAt: timestampFromDate(attachment.attachedAt),
      },
    }),
    possibleCalls: [...possiblePackCalls(status)],
    archivedAt: optionalTime(pack.archivedAt),
    ...stampFields(pack),
  } as never);
}

function fromArtifact({ sizeBytes, ...artifact }: Artifact): EvidenceArtifact {
  return create(EvidenceArtifactSchema, { ...artifact, sizeBytes: BigInt(sizeBytes) });
}

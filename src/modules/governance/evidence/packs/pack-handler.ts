import type {
  CreateEvidencePackRequest,
  EvidenceArtifact,
  RolloutEvidenceService as Rpc,
  UpdateEvidencePackRequest,
} from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { environmentIdOf, productionOf } from "../../../../platform/access/index.ts";
import { expectedVersion } from "../../../../platform/records/index.ts";
import type { Artifact, Pack, PackTexts } from "../domain/pack.ts";
import { possiblePackCalls } from "../domain/pack-states.ts";
import type { ReceiptType } from "../domain/subject.ts";
import type { ExportManifest } from "./manifest.ts";
import type { PackChanges } from "./pack-changes.ts";
import type { PackService } from "./pack-service.ts";
import { packStore } from "./pack-store.ts";

export function packHandlers(service: PackService, changes: PackChanges, exportManifest: ExportManifest) {
  const whole = async ({ sql }: Context, pack: Pack) => ({
    pack: fromPack(pack, await packStore(sql).readArtifacts(pack.tenantId, pack.id)),
  });
  return {
    async createEvidencePack(context, request) {
      return { pack: fromPack(await service.createPack(context, request.environmentId, toTexts(request))) };
    },

    async listEvidencePacks(context, request) {
      const { tenantId, sql, principal } = context;
      const { status } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const inProduction = productionOf(principal);
      const page = await context.page("packs", request, [environmentId, status, inProduction], (wanted) =>
        packStore(sql).list(tenantId, { environmentId, status, inProduction }, wanted),
      );
      return { ...page, packs: page.packs.map((pack) => fromPack(pack)) };
    },

    async getEvidencePack(context, { environmentId, packId }) {
      return whole(context, await changes.find(context, environmentId, packId));
    },

    async updateEvidencePack(context, request) {
      const { environmentId, packId, recordVersion } = request;
      const version = expectedVersion(recordVersion);
      return whole(context, await service.updatePack(context, environmentId, packId, toTexts(request), version));
    },

    async addEvidenceArtifact(context, { environmentId, packId, artifact }) {
      return whole(context, await service.addArtifact(context, environmentId, packId, toArtifact(artifact!)));
    },

    async exportEvidencePack(context, { environmentId, packId }) {
      return { manifest: await exportManifest(context, environmentId, packId) };
    },

    async archiveEvidencePack(context, { environmentId, packId }) {
      return whole(context, await service.archivePack(context, environmentId, packId));
    },

    async attachEvidencePack(context, { environmentId, packId, candidateId }) {
      return whole(context, await service.attachPack(context, environmentId, packId, candidateId));
    },
  } satisfies Partial<Handlers<typeof Rpc>>;
}

/** Converts the fields that an author writes. */
function toTexts(request: CreateEvidencePackRequest | UpdateEvidencePackRequest): PackTexts {
  const { name, description, requiredTypes, maxAgeS, acceptedProducers } = request;
  return {
    ...{ name, description, requiredTypes: [...requiredTypes].sort() as ReceiptType[], maxAgeS },
    acceptedProducers: [...acceptedProducers].sort(),
  };
}

/** Converts the artifact of a request. */
function toArtifact(artifact: EvidenceArtifact): Artifact {
  const { kind, name, version, sha256, sizeBytes, storageRef } = artifact;
  return { kind: kind as Artifact["kind"], name, version, sha256, sizeBytes: Number(sizeBytes), storageRef };
}

/** Converts a pack; a list leaves out the artifacts. */
const fromPack = (pack: Pack, artifacts: readonly Artifact[] = []) => ({
  ...pack,
  artifacts,
  possibleCalls: possiblePackCalls(pack.status),
});

import type { RolloutEvidenceService as Rpc } from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { environmentIdOf, productionOf } from "../../../../platform/access/index.ts";
import { expectedVersion } from "../../../../platform/records/index.ts";
import type { Pack } from "../domain/pack.ts";
import type { ManifestExporter } from "./manifest.ts";
import type { PackChanges } from "./pack-changes.ts";
import { fromPack, toArtifact, toTexts } from "./pack-message.ts";
import type { PackService } from "./pack-service.ts";
import { packStore } from "./pack-store.ts";

export function packHandlers(service: PackService, changes: PackChanges, exporter: ManifestExporter) {
  const whole = async ({ sql }: Context, pack: Pack) => ({
    pack: fromPack(pack, await packStore(sql).readArtifacts(pack.tenantId, pack.id)),
  });
  return {
    async createEvidencePack(context, request) {
      const pack = await service.createPack(context, request.environmentId, toTexts(request));
      return { pack: fromPack(pack) };
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
      const pack = await changes.find(context, environmentId, packId);
      return whole(context, pack);
    },

    async updateEvidencePack(context, request) {
      const { environmentId, packId, recordVersion } = request;
      const version = expectedVersion(recordVersion);
      const pack = await service.updatePack(context, environmentId, packId, toTexts(request), version);
      return whole(context, pack);
    },

    async addEvidenceArtifact(context, { environmentId, packId, artifact }) {
      const pack = await service.addArtifact(context, environmentId, packId, toArtifact(artifact!));
      return whole(context, pack);
    },

    async exportEvidencePack(context, { environmentId, packId }) {
      return { manifest: await exporter.exportPack(context, environmentId, packId) };
    },

    async archiveEvidencePack(context, { environmentId, packId }) {
      const pack = await service.archivePack(context, environmentId, packId);
      return whole(context, pack);
    },

    async attachEvidencePack(context, { environmentId, packId, candidateId }) {
      const pack = await service.attachPack(context, environmentId, packId, candidateId);
      return whole(context, pack);
    },
  } satisfies Partial<Handlers<typeof Rpc>>;
}

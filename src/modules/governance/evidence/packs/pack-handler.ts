import { create } from "@bufbuild/protobuf";
import {
  AddEvidenceArtifactResponseSchema,
  ArchiveEvidencePackResponseSchema,
  AttachEvidencePackResponseSchema,
  CreateEvidencePackResponseSchema,
  ExportEvidencePackResponseSchema,
  GetEvidencePackResponseSchema,
  ListEvidencePacksResponseSchema,
  type RolloutEvidenceService as Rpc,
  UpdateEvidencePackResponseSchema,
} from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { environmentIdOf, productionOf } from "../../../../platform/access/index.ts";
import type { Cursors } from "../../../../platform/cursor/index.ts";
import { readPage } from "../../../../platform/paging/index.ts";
import { expectedVersion } from "../../../../platform/records/index.ts";
import type { Pack } from "../domain/pack.ts";
import type { ManifestExporter } from "./manifest.ts";
import type { PackChanges } from "./pack-changes.ts";
import { fromPack, toArtifact, toTexts } from "./pack-message.ts";
import type { PackService } from "./pack-service.ts";
import { packStore } from "./pack-store.ts";

interface Dependencies {
  readonly service: PackService;
  readonly changes: PackChanges;
  readonly exporter: ManifestExporter;
  readonly cursors: Cursors;
}

type PackMethods =
  | "createEvidencePack"
  | "listEvidencePacks"
  | "getEvidencePack"
  | "updateEvidencePack"
  | "addEvidenceArtifact"
  | "exportEvidencePack"
  | "archiveEvidencePack"
  | "attachEvidencePack";

export function packHandlers(dependencies: Dependencies): Pick<Handlers<typeof Rpc>, PackMethods> {
  const { service, changes, exporter, cursors } = dependencies;
  const whole = async ({ sql }: Context, pack: Pack) => ({
    pack: fromPack(pack, await packStore(sql).readArtifacts(pack.tenantId, pack.id)),
  });
  return {
    async createEvidencePack(context, request) {
      const pack = await service.createPack(context, request.environmentId, toTexts(request));
      return create(CreateEvidencePackResponseSchema, { pack: fromPack(pack) });
    },

    async listEvidencePacks(context, request) {
      const { tenantId, sql, operation, principal } = context;
      const { status } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const inProduction = productionOf(principal);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [environmentId, status, inProduction] },
        ({ id }: Pack) => id,
        (wanted) => packStore(sql).list(tenantId, { environmentId, status, inProduction }, wanted),
      );
      return create(ListEvidencePacksResponseSchema, { ...page, packs: page.items.map((pack) => fromPack(pack)) });
    },

    async getEvidencePack(context, { environmentId, packId }) {
      const pack = await changes.find(context, environmentId, packId);
      return create(GetEvidencePackResponseSchema, await whole(context, pack));
    },

    async updateEvidencePack(context, request) {
      const { environmentId, packId, recordVersion } = request;
      const version = expectedVersion(recordVersion);
      const pack = await service.updatePack(context, environmentId, packId, toTexts(request), version);
      return create(UpdateEvidencePackResponseSchema, await whole(context, pack));
    },

    async addEvidenceArtifact(context, { environmentId, packId, artifact }) {
      const pack = await service.addArtifact(context, environmentId, packId, toArtifact(artifact!));
      return create(AddEvidenceArtifactResponseSchema, await whole(context, pack));
    },

    async exportEvidencePack(context, { environmentId, packId }) {
      const manifest = await exporter.exportPack(context, environmentId, packId);
      return create(ExportEvidencePackResponseSchema, { manifest });
    },

    async archiveEvidencePack(context, { environmentId, packId }) {
      const pack = await service.archivePack(context, environmentId, packId);
      return create(ArchiveEvidencePackResponseSchema, await whole(context, pack));
    },

    async attachEvidencePack(context, { environmentId, packId, candidateId }) {
      const pack = await service.attachPack(context, environmentId, packId, candidateId);
      return create(AttachEvidencePackResponseSchema, await whole(context, pack));
    },
  };
}

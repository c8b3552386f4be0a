import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  ExportPackResponseSchema,
  GetInstallationResponseSchema,
  GetPackResponseSchema,
  type Installation as InstallationMessage,
  InstallationSchema,
  InstallPackResponseSchema,
  type InstallPlan as InstallPlanMessage,
  InstallPlanSchema,
  ListInstallationsResponseSchema,
  ListPacksResponseSchema,
  ListPublisherKeysResponseSchema,
  type Pack as PackMessage,
  type PackPermissions,
  PackSchema,
  PreviewInstallResponseSchema,
  type PublisherKey as PublisherKeyMessage,
  PublisherKeySchema,
  PublishPackResponseSchema,
  RegisterPublisherKeyResponseSchema,
  RevokePublisherKeyResponseSchema,
  RollbackPackResponseSchema,
  type MarketplaceService as Rpc,
  UninstallPackResponseSchema,
  UpgradePackResponseSchema,
  YankPackResponseSchema,
} from "../../../../gen/service/api/marketplace_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import { optionalTime, stampFields } from "../../../platform/records/index.ts";
import { noPermissions, type Permissions, type RecordKind } from "../../pack-records.ts";
import type { CatalogueService, PackView } from "./catalogue-service.ts";
import type { Slot } from "./domain/pack.ts";
import { toPageNumber } from "./domain/page-number.ts";
import type { createExporter } from "./export-service.ts";
import type {
  InstallationService,
  InstallationView,
  InstallPlan,
  UpgradeRequest,
} from "./installations/installation-service.ts";
import type { MarketplaceMetrics } from "./marketplace-metrics.ts";
import { writeSignedPack } from "./pack-signature.ts";
import type { PublisherKey } from "./publisher-key-store.ts";
import type { PublisherService } from "./publisher-service.ts";

interface Services {
  readonly catalogue: CatalogueService;
  readonly publishers: PublisherService;
  readonly installations: InstallationService;
  readonly exportPack: ReturnType<typeof createExporter>;
  readonly metrics: MarketplaceMetrics;
}

export function marketplaceHandlers({
  catalogue,
  publishers,
  installations,
  exportPack,
  metrics,
}: Services): Handlers<typeof Rpc> {
  return {
    async listPacks(context, request) {
      const { query, kind, publisher, installed } = request;
      const wanted = toPageNumber(request);
      const { packs, total } = await catalogue.listPacks(context, { query, kind, publisher, installed }, wanted);
      const { page, perPage } = wanted;
      return create(ListPacksResponseSchema, { packs: packs.map(fromPack), total, page, perPage });
    },

    async getPack(context, { publisher, name, version }) {
      const pack = await catalogue.getPack(context, publisher, name, version);
      return create(GetPackResponseSchema, { pack: fromPack(pack) });
    },

    async publishPack(context, request) {
      const pack = await metrics.count("publish", context, () =>
        catalogue.publishPack(context, request.pack as JsonObject),
      );
      return create(PublishPackResponseSchema, { pack: fromPack(pack) });
    },

    async yankPack(context, { publisher, name, version, reason, deprecatedBy }) {
      const pack = await metrics.count("yank", context, () =>
        catalogue.yankPack(context, { publisher, name, version }, reason, deprecatedBy),
      );
      return create(YankPackResponseSchema, { pack: fromPack(pack) });
    },

    async exportPack(context, { publisher, name, version, title, description, records }) {
      const wanted = records.map(({ kind, record }) => ({ kind: kind as RecordKind, record }));
      const request = { publisher, name, version, title, description, records: wanted };
      return create(ExportPackResponseSchema, {
        pack: (await metrics.count("export", context, () => exportPack(context, request))) as never,
      });
    },

    async registerPublisherKey(context, { publisher, publicKey }) {
      const key = await publishers.registerKey(context, publisher, publicKey);
      return create(RegisterPublisherKeyResponseSchema, { publisherKey: fromKey(key) });
    },

    async listPublisherKeys(context, request) {
      const wanted = toPageNumber(request);
      const { keys, total } = await publishers.listKeys(context, request.publisher, wanted);
      const { page, perPage } = wanted;
      return create(ListPublisherKeysResponseSchema, { publisherKeys: keys.map(fromKey), total, page, perPage });
    },

    async revokePublisherKey(context, { id, reason }) {
      const key = await publishers.revokeKey(context, id, reason);
      return create(RevokePublisherKeyResponseSchema, { publisherKey: fromKey(key) });
    },

    async previewInstall(context, { publisher, name, version, slots = {} }) {
      const plan = await metrics.count("preview", context, () =>
        installations.preview(context, { publisher, name, version, slots }),
      );
      return create(PreviewInstallResponseSchema, { plan: fromPlan(plan) });
    },

    async installPack(context, { publisher, name, version, slots = {} }) {
      const installation = await metrics.count("install", context, () =>
        installations.installPack(context, { publisher, name, version, slots }),
      );
      return create(InstallPackResponseSchema, { installation: fromInstallation(installation) });
    },

    async listInstallations(context, request) {
      const wanted = toPageNumber(request);
      const { installations: found, total } = await installations.listInstallations(context, request.kind, wanted);
      const { page, perPage } = wanted;
      const shown = found.map(fromInstallation);
      return create(ListInstallationsResponseSchema, { installations: shown, total, page, perPage });
    },

    async getInstallation(context, { id }) {
      const installation = await installations.getInstallation(context, id);
      return create(GetInstallationResponseSchema, { installation: fromInstallation(installation) });
    },

    async upgradePack(context, { id, version, slots = {}, onConflict, acceptedPermissions }) {
      const choice = (onConflict || "refuse") as UpgradeRequest["onConflict"];
      const accepted = acceptedPermissions ?? noPermissions;
      const upgrade = { id, version, slots, onConflict: choice, accepted };
      const { upgraded, plan } = await metrics.count("upgrade", context, () =>
        installations.upgradePack(context, upgrade),
      );
      const installation = fromInstallation(upgraded);
      return create(UpgradePackResponseSchema, { installation, plan: fromPlan(plan) });
    },

    async rollbackPack(context, { id, discardChanges }) {
      const installation = await metrics.count("rollback", context, () =>
        installations.rollBackPack(context, id, discardChanges),
      );
      return create(RollbackPackResponseSchema, { installation: fromInstallation(installation) });
    },

    async uninstallPack(context, { id, keepRecords }) {
      const installation = await metrics.count("uninstall", context, () =>
        installations.uninstallPack(context, id, keepRecords),
      );
      return create(UninstallPackResponseSchema, { installation: fromInstallation(installation) });
    },
  };
}

function fromPack({ pack, digest, keyId, signed, versions, ...state }: PackView): PackMessage {
  return create(PackSchema, {
    publisher: pack.publisher,
    name: pack.name,
    kind: pack.kind,
    version: pack.version,
    title: pack.title,
    description: pack.description,
    tags: [...pack.tags],
    permissions: fromPermissions(pack.permissions),
    requires: [...pack.requires],
    slots: pack.slots.map(fromSlot),
    digest,
    keyId,
    yanked: state.yanked,
    deprecatedBy: state.deprecatedBy,
    builtIn: state.builtIn,
    installationId: state.installationId ?? "",
    installedVersion: state.installedVersion ?? "",
    ...(signed !== undefined && { document: writeSignedPack(signed) as never }),
    versions: versions.map(({ publishedAt, ...version }) => ({ ...version, ...timeField("publishedAt", publishedAt) })),
  });
}

function timeField<N extends string>(name: N, time: Date | null) {
  return time === null ? {} : ({ [name]: timestampFromDate(time) } as Record<N, ReturnType<typeof timestampFromDate>>);
}

function fromSlot({ defaultValue, ...slot }: Slot) {
  return { ...slot, defaultValue: defaultValue === undefined ? "" : String(defaultValue) };
}

function fromKey({ createdAt, revokedAt, ...key }: PublisherKey): PublisherKeyMessage {
  const times = { createdAt: optionalTime(createdAt), revokedAt: optionalTime(revokedAt) };
  return create(PublisherKeySchema, { ...key, builtIn: createdAt === null, ...times });
}

function fromInstallation(view: InstallationView): InstallationMessage {
  const { installation, permissions, records, changes } = view;
  const { tenantId, id, publisher, name, kind, version, digest, slots } = installation;
  return create(InstallationSchema, {
    ...{ tenantId, id, publisher, name, kind, version, digest, slots: slots as never },
    permissions: fromPermissions(permissions),
    records: records.map(({ key, kind: recordKind, recordId }) => ({ key, kind: recordKind, recordId })),
    canRollBack: view.canRollBack,
    availableVersion: view.availableVersion,
    changes: changes.map(({ createdAt, ...change }) => ({ ...change, createdAt: timestampFromDate(createdAt) })),
    ...stampFields(installation),
  });
}

function fromPlan(plan: InstallPlan): InstallPlanMessage {
  return create(InstallPlanSchema, {
    publisher: plan.publisher,
    name: plan.name,
    fromVersion: plan.fromVersion,
    toVersion: plan.toVersion,
    changes: plan.changes.map((change) => ({ ...change, paths: [...change.paths] })),
    conflicts: [...plan.conflicts],
    addedPermissions: fromPermissions(plan.added),
    removedPermissions: fromPermissions(plan.removed),
    missingSlots: [...plan.missingSlots],
  });
}

function fromPermissions({ hosts, scopes, effects }: Permissions): Omit<PackPermissions, "$typeName"> {
  return { hosts: [...hosts], scopes: [...scopes], effects: [...effects] };
}

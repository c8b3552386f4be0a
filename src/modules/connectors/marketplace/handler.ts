import type { MarketplaceService as Rpc } from "../../../../gen/service/api/marketplace_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import { noPermissions, type RecordKind } from "../../pack-records.ts";
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
      return { packs: packs.map(fromPack), total, page, perPage };
    },

    async getPack(context, { publisher, name, version }) {
      return { pack: fromPack(await catalogue.getPack(context, publisher, name, version)) };
    },

    async publishPack(context, request) {
      const pack = await metrics.count("publish", context, () =>
        catalogue.publishPack(context, request.pack as JsonObject),
      );
      return { pack: fromPack(pack) };
    },

    async yankPack(context, { publisher, name, version, reason, deprecatedBy }) {
      const pack = await metrics.count("yank", context, () =>
        catalogue.yankPack(context, { publisher, name, version }, reason, deprecatedBy),
      );
      return { pack: fromPack(pack) };
    },

    async exportPack(context, { publisher, name, version, title, description, records }) {
      const wanted = records.map(({ kind, record }) => ({ kind: kind as RecordKind, record }));
      const request = { publisher, name, version, title, description, records: wanted };
      return { pack: await metrics.count("export", context, () => exportPack(context, request)) };
    },

    async registerPublisherKey(context, { publisher, publicKey }) {
      return { publisherKey: fromKey(await publishers.registerKey(context, publisher, publicKey)) };
    },

    async listPublisherKeys(context, request) {
      const wanted = toPageNumber(request);
      const { keys, total } = await publishers.listKeys(context, request.publisher, wanted);
      const { page, perPage } = wanted;
      return { publisherKeys: keys.map(fromKey), total, page, perPage };
    },

    async revokePublisherKey(context, { id, reason }) {
      return { publisherKey: fromKey(await publishers.revokeKey(context, id, reason)) };
    },

    async previewInstall(context, { publisher, name, version, slots = {} }) {
      const plan = await metrics.count("preview", context, () =>
        installations.preview(context, { publisher, name, version, slots }),
      );
      return { plan: fromPlan(plan) };
    },

    async installPack(context, { publisher, name, version, slots = {} }) {
      const installation = await metrics.count("install", context, () =>
        installations.installPack(context, { publisher, name, version, slots }),
      );
      return { installation: fromInstallation(installation) };
    },

    async listInstallations(context, request) {
      const wanted = toPageNumber(request);
      const { installations: found, total } = await installations.listInstallations(context, request.kind, wanted);
      const { page, perPage } = wanted;
      return { installations: found.map(fromInstallation), total, page, perPage };
    },

    async getInstallation(context, { id }) {
      return { installation: fromInstallation(await installations.getInstallation(context, id)) };
    },

    async upgradePack(context, { id, version, slots = {}, onConflict, acceptedPermissions }) {
      const choice = (onConflict || "refuse") as UpgradeRequest["onConflict"];
      const accepted = acceptedPermissions ?? noPermissions;
      const upgrade = { id, version, slots, onConflict: choice, accepted };
      const { upgraded, plan } = await metrics.count("upgrade", context, () =>
        installations.upgradePack(context, upgrade),
      );
      return { installation: fromInstallation(upgraded), plan: fromPlan(plan) };
    },

    async rollbackPack(context, { id, discardChanges }) {
      const installation = await metrics.count("rollback", context, () =>
        installations.rollBackPack(context, id, discardChanges),
      );
      return { installation: fromInstallation(installation) };
    },

    async uninstallPack(context, { id, keepRecords }) {
      const installation = await metrics.count("uninstall", context, () =>
        installations.uninstallPack(context, id, keepRecords),
      );
      return { installation: fromInstallation(installation) };
    },
  };
}

function fromPack({ pack, signed, ...view }: PackView) {
  return {
    ...pack,
    ...view,
    slots: pack.slots.map(fromSlot),
    installationId: view.installationId ?? "",
    installedVersion: view.installedVersion ?? "",
    document: signed && writeSignedPack(signed),
  };
}

function fromSlot({ defaultValue, ...slot }: Slot) {
  return { ...slot, defaultValue: defaultValue === undefined ? "" : String(defaultValue) };
}

const fromKey = (key: PublisherKey) => ({ ...key, builtIn: key.createdAt === null });

const fromInstallation = ({ installation, ...view }: InstallationView) => ({ ...installation, ...view });

const fromPlan = ({ added, removed, ...plan }: InstallPlan) => ({
  ...plan,
  addedPermissions: added,
  removedPermissions: removed,
});

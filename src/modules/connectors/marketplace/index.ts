/**
 * Marketplace: packs of records that tenants install.
 *
 * pack: records of one purpose (a connector, workflows, notifications or routing rules) with a name, a version and a signature.
 * publisher: the namespace of packs; its keys are pinned: `switchyard` by the service, all others by each tenant for itself.
 * entry: a record of a pack, as the body of the request that creates it. slot: a value that the installer provides.
 * placeholder: `[[slot.x]]` or `[[record.x]]` in an entry. yanked: a version that can no longer be installed.
 * installation: a pack in a tenant, with the records that belong to it. base: the content that the pack wrote into a record.
 * owner: the module that owns a kind of record. image: the rows of a record, from which a rollback restores them.
 */

import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { FindUses, PackRecords } from "../../pack-records.ts";
import { builtinFolder, createBuiltinPacks } from "./builtin-packs.ts";
import { createCatalogueService } from "./catalogue-service.ts";
import { createExporter } from "./export-service.ts";
import { marketplaceHandlers } from "./handler.ts";
import { createInstallationService } from "./installations/installation-service.ts";
import type { SlotSources } from "./installations/slot-resolver.ts";
import { createMarketplaceMetrics } from "./marketplace-metrics.ts";
import { createPublisherService } from "./publisher-service.ts";
import { createRecordOwners } from "./record-owners.ts";

export { readPackFile } from "./builtin-packs.ts";
export { packName } from "./domain/pack.ts";
export { readSignedPack, signPack, writeSignedPack } from "./pack-signature.ts";

/** The marketplace's dependencies on other modules. */
export interface MarketplaceSources extends SlotSources {
  /** The records that packs can contain. Called on use, because areas are composed later. */
  readonly packRecords: () => readonly PackRecords[];
  /** Finds references to records across areas. */
  readonly findUses: () => readonly FindUses[];
}

interface Dependencies extends Pick<PlatformServices, "db" | "log" | "metrics"> {
  readonly events: EventRecorder;
  readonly sources: MarketplaceSources;
  /** The folder of built-in packs; that of the service by default. */
  readonly folder?: string;
}

export function createMarketplace({ db, log, events, sources, folder = builtinFolder, ...parts }: Dependencies) {
  const metrics = createMarketplaceMetrics(parts.metrics);
  const builtin = createBuiltinPacks({ folder, log });
  const owners = createRecordOwners(sources);
  const publishers = createPublisherService({ events, builtin });
  const catalogue = createCatalogueService({ events, builtin, publishers, owners });
  const installations = createInstallationService({ db, events, catalogue, owners, slots: sources, metrics });
  return {
    handlers: marketplaceHandlers({
      catalogue,
      publishers,
      installations,
      exportPack: createExporter(owners),
      metrics,
    }),
  };
}

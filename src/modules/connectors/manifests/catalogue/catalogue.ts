import type { TenantId } from "../../../../platform/access/index.ts";
import { createTenantCache, type Database, type Sql, type TenantChanges } from "../../../../platform/db/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { Action } from "../domain/action.ts";
import { newestFirst } from "../domain/manifest-version.ts";
import type { Provider } from "../domain/provider.ts";
import type { Trigger } from "../domain/trigger.ts";
import { type ManifestHead, manifestStore } from "../manifest-store.ts";
import { CatalogueSnapshot, type ManifestSource } from "./catalogue-snapshot.ts";
import { CompiledManifests } from "./compiled-manifests.ts";

/** A pack that brings manifests. */
export interface PackSource {
  readonly packId: string;
}

/** The providers of a tenant: built-in ones, its own manifests and those of installed packs. Reads come from memory. */
export interface Catalogue {
  /** The newest version unless one is given. */
  provider(tenantId: TenantId, key: string, version?: string): Promise<Provider | undefined>;
  /** The provider with exactly this manifest, also if a newer version exists. */
  providerByDigest(tenantId: TenantId, key: string, digest: string): Promise<Provider | undefined>;
  action(
    tenantId: TenantId,
    actionKey: string,
  ): Promise<{ readonly provider: Provider; readonly action: Action } | undefined>;
  trigger(
    tenantId: TenantId,
    triggerKey: string,
  ): Promise<{ readonly provider: Provider; readonly trigger: Trigger } | undefined>;
  /** Everything that a tenant can use, at one time. */
  snapshot(tenantId: TenantId): Promise<CatalogueSnapshot>;
  /** Whether a key belongs to a built-in provider. */
  isBuiltin(key: string): boolean;
}

interface Parts {
  /** The connections that load cache entries during calls. */
  readonly side: Database;
  readonly changes: TenantChanges;
  readonly log: Log;
  readonly builtin: readonly Provider[];
  /** The memory that compiled manifests of tenants may take, in bytes of their documents. */
  readonly bytesMax?: number;
}

/** The manifests of one tenant. */
interface TenantManifests {
  readonly tenantId: TenantId;
  readonly heads: readonly ManifestHead[];
  readonly snapshot: CatalogueSnapshot;
}

// A compiled manifest takes a few times the bytes of its document.
const documentBytesMax = 32 * 1024 * 1024;

/** Creates the catalogue. What a tenant has is loaded again when the tenant changes; compiled manifests never change. */
export function createCatalogue({ side, changes, log, builtin, bytesMax = documentBytesMax }: Parts): Catalogue {
  const shared = new CatalogueSnapshot(builtin.map((provider) => ({ provider, source: "builtin" as const })));
  const compiled = new CompiledManifests(bytesMax, log);
  const cache = createTenantCache<TenantId, TenantManifests>({
    changes,
    load: (tenantId) => loadManifests(side.sql, tenantId),
    tenantOf: (tenantId) => tenantId,
  });

  async function loadManifests(sql: Sql, tenantId: TenantId): Promise<TenantManifests> {
    const store = manifestStore(sql);
    const heads = newestFirst(await store.listHeads(tenantId));
    const newest = heads.filter(({ key }, at) => heads.findIndex((each) => each.key === key) === at);
    const providers = await compiled.get(newest, (ids) => store.findDocuments(tenantId, ids));
    const own = providers.map(({ provider, head }) => ({ provider, source: head.source as ManifestSource }));
    return { tenantId, heads, snapshot: own.length === 0 ? shared : shared.with(own) };
  }

  async function find(tenantId: TenantId, matches: (head: ManifestHead) => boolean): Promise<Provider | undefined> {
    const { heads } = await cache.get(tenantId);
    const head = heads.find(matches);
    if (head === undefined) return undefined;
    const [found] = await compiled.get([head], (ids) => manifestStore(side.sql).findDocuments(tenantId, ids));
    return found?.provider;
  }

  return {
    async provider(tenantId, key, version) {
      const current = (await cache.get(tenantId)).snapshot.provider(key)?.provider;
      if (version === undefined || current?.version === version) return current;
      return find(tenantId, (head) => head.key === key && head.version === version);
    },

    async providerByDigest(tenantId, key, digest) {
      const current = (await cache.get(tenantId)).snapshot.provider(key)?.provider;
      if (current?.digest === digest) return current;
      return find(tenantId, (head) => head.key === key && head.digest === digest);
    },

    async action(tenantId, actionKey) {
      return (await cache.get(tenantId)).snapshot.action(actionKey);
    },

    async trigger(tenantId, triggerKey) {
      return (await cache.get(tenantId)).snapshot.trigger(triggerKey);
    },

    snapshot: async (tenantId) => (await cache.get(tenantId)).snapshot,

    isBuiltin: (key) => shared.provider(key) !== undefined,
  };
}

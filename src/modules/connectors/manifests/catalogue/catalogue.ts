import type { TenantId } from "../../../../platform/access/index.ts";
import { createTenantCache, type Sql } from "../../../../platform/db/index.ts";
import type { PlatformServices } from "../../../area.ts";
import { newestFirst } from "../domain/manifest-version.ts";
import type { Provider } from "../domain/provider.ts";
import { type ManifestHead, manifestStore } from "../manifest-store.ts";
import type { BuiltinProviders } from "./builtin-catalogue.ts";
import { CatalogueSnapshot, type ProviderEntry } from "./catalogue-snapshot.ts";
import { CompiledManifests } from "./compiled-manifests.ts";

/** The providers of a tenant: built-in ones, its own manifests and those of installed packs. Reads come from memory. */
export type Catalogue = ReturnType<typeof createCatalogue>;

interface Dependencies extends Pick<PlatformServices, "cacheLoadDb" | "changes" | "log" | "shares"> {
  readonly builtin: BuiltinProviders;
  /** The memory that compiled manifests of tenants may take, in bytes of their documents. */
  readonly bytesMax?: number;
}

interface TenantManifests {
  readonly heads: readonly ManifestHead[];
  /** The newest versions, by key. */
  readonly own: ReadonlyMap<string, ProviderEntry>;
  /** Created when a list is first requested. */
  snapshot: Promise<CatalogueSnapshot> | undefined;
}

// A compiled manifest takes a few times the bytes of its document.
const documentBytesMax = 32 * 1024 * 1024;

/** Creates the catalogue. What a tenant has is loaded again when the tenant changes; compiled manifests never change. */
export function createCatalogue({
  cacheLoadDb,
  changes,
  log,
  shares,
  builtin,
  bytesMax = documentBytesMax,
}: Dependencies) {
  const compiled = new CompiledManifests(bytesMax, log, shares);
  const cache = createTenantCache<TenantId, TenantManifests>({
    changes,
    load: (tenantId) => loadManifests(cacheLoadDb.sql, tenantId),
    tenantOf: (tenantId) => tenantId,
  });
  let shared: Promise<CatalogueSnapshot> | undefined;

  function sharedSnapshot(): Promise<CatalogueSnapshot> {
    shared ??= builtin
      .all()
      .then((providers) => new CatalogueSnapshot(providers.map((provider) => ({ provider, source: "builtin" }))))
      .catch((error) => {
        // The next call reads the providers again.
        shared = undefined;
        throw error;
      });
    return shared;
  }

  async function loadManifests(sql: Sql, tenantId: TenantId): Promise<TenantManifests> {
    const store = manifestStore(sql);
    const heads = newestFirst(await store.listHeads(tenantId));
    const newest = heads.filter(({ key }, at) => heads[at - 1]?.key !== key);
    const found = await compiled.get(newest, (ids) => store.findDocuments(tenantId, ids));
    const own = found.map(({ provider, head }) => [head.key, { provider, source: head.source }] as const);
    return { heads, own: new Map(own), snapshot: undefined };
  }

  async function current(tenantId: TenantId, key: string): Promise<ProviderEntry | undefined> {
    const own = (await cache.get(tenantId)).own.get(key);
    if (own !== undefined) return own;
    const provider = builtin.get(key);
    return provider && { provider, source: "builtin" };
  }

  async function findVersion(tenantId: TenantId, matches: (head: ManifestHead) => boolean) {
    const { heads } = await cache.get(tenantId);
    const head = heads.find(matches);
    if (head === undefined) return undefined;
    const [found] = await compiled.get([head], (ids) => manifestStore(cacheLoadDb.sql).findDocuments(tenantId, ids));
    return found?.provider;
  }

  async function findProvider(tenantId: TenantId, key: string, version?: string): Promise<Provider | undefined> {
    const newest = (await current(tenantId, key))?.provider;
    if (version === undefined || newest?.version === version) return newest;
    return findVersion(tenantId, (head) => head.key === key && head.version === version);
  }

  return {
    /** The newest version unless one is given. */
    provider: findProvider,

    /** The provider with exactly this manifest, also if a newer version exists. */
    async providerByDigest(tenantId: TenantId, key: string, digest: string) {
      const newest = (await current(tenantId, key))?.provider;
      if (newest?.digest === digest) return newest;
      return findVersion(tenantId, (head) => head.key === key && head.digest === digest);
    },

    /** Where the newest version of a provider comes from; undefined if there is none. */
    sourceOf: async (tenantId: TenantId, key: string) => (await current(tenantId, key))?.source,

    /** An action of the newest version of its provider unless one is given. */
    async action(tenantId: TenantId, actionKey: string, version?: string) {
      const { key, name } = splitKey(actionKey);
      const provider = await findProvider(tenantId, key, version);
      const action = provider?.actions.get(name);
      return action && { provider: provider!, action };
    },

    async trigger(tenantId: TenantId, triggerKey: string) {
      const { key, name } = splitKey(triggerKey);
      const provider = (await current(tenantId, key))?.provider;
      const trigger = provider?.triggers.get(name);
      return trigger && { provider: provider!, trigger };
    },

    /** Everything that a tenant can use, at one time. */
    async snapshot(tenantId: TenantId) {
      const manifests = await cache.get(tenantId);
      manifests.snapshot ??=
        manifests.own.size === 0
          ? sharedSnapshot()
          : sharedSnapshot().then((snapshot) => snapshot.with([...manifests.own.values()]));
      try {
        return await manifests.snapshot;
      } catch (error) {
        manifests.snapshot = undefined;
        throw error;
      }
    },

    /** Whether a key belongs to a built-in provider. */
    isBuiltin: (key: string) => builtin.keys.has(key),
    /** The built-in providers that send notifications. */
    messageProviders: () => builtin.withMessages(),
  };
}

/** Splits the key of an action or trigger. Keys of providers have no dots. */
function splitKey(key: string): { readonly key: string; readonly name: string } {
  const dot = key.indexOf(".");
  return { key: key.slice(0, dot), name: key.slice(dot + 1) };
}

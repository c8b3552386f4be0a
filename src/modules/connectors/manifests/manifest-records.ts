import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import { insertRowImages, readRowImages, type TenantChanges } from "../../../platform/db/index.ts";
import type { PackRecords, Permissions } from "../../pack-records.ts";
import { newestFirst } from "./domain/manifest-version.ts";
import type { Provider } from "./domain/provider.ts";
import { type FindProviderUse, type ManifestService, versionsMax } from "./manifest-service.ts";
import { manifestStore } from "./manifest-store.ts";

interface Dependencies {
  readonly service: ManifestService;
  readonly changes: TenantChanges;
  readonly findUse: FindProviderUse;
}

const table = "connector_manifests";

/**
 * Manifests as packs contain them: their documents. The id of a record is the key of the provider. An upgrade adds a version, as
 * versions never change.
 */
export function createManifestRecords({ service, changes, findUse }: Dependencies): PackRecords {
  /** Invalidates the tenant's catalogue on every node, and locks out concurrent changes in the tenant. */
  async function invalidate({ sql, tenantId, afterCommit }: Context): Promise<void> {
    await changes.record(sql, tenantId);
    afterCommit(() => changes.published(tenantId));
  }

  async function versionsOf({ sql, tenantId }: Context, key: string) {
    const heads = await manifestStore(sql).listHeads(tenantId);
    return newestFirst(heads.filter((each) => each.key === key));
  }

  return {
    kind: "manifest",
    scopes: ["connector:write"],

    normalize(content) {
      service.requireOwnKey(service.requireProvider(content, "document").key);
      return content;
    },

    permissionsOf: (content) => permissionsOf(service.requireProvider(content, "document")),
    mapReferences: (content) => content,

    async find(context, idOrKey) {
      const heads = await manifestStore(context.sql).listHeads(context.tenantId);
      return heads.find(({ id, key }) => key === idOrKey || id === idOrKey)?.key;
    },

    async read(context, recordId) {
      const [newest] = await versionsOf(context, recordId);
      if (newest === undefined) return undefined;
      const manifest = await manifestStore(context.sql).find(context.tenantId, newest.id);
      return { content: manifest!.document };
    },

    async create(context, content, pack) {
      await invalidate(context);
      const key = content.key as string;
      if ((await versionsOf(context, key)).length > 0) {
        throw fail("ALREADY_EXISTS", { public: `The tenant has a manifest with the key ${key}.` });
      }
      await service.addOfPack(context, pack, content);
      return key;
    },

    async update(context, recordId, content, pack) {
      await invalidate(context);
      if (content.key !== recordId) {
        throw fail("FAILED_PRECONDITION", { public: `The key of a manifest must stay ${recordId}.` });
      }
      await service.addOfPack(context, pack, content);
    },

    async remove(context, recordId) {
      await invalidate(context);
      const store = manifestStore(context.sql);
      for (const { id } of await versionsOf(context, recordId)) await store.delete(context.tenantId, id);
    },

    async names(_context, recordId) {
      return [recordId];
    },

    async uses({ sql, tenantId }, recordId) {
      const use = await findUse(sql, tenantId, recordId);
      return use === undefined ? [] : [{ what: use, name: `of the provider ${recordId}` }];
    },

    async image({ sql, tenantId }, recordId) {
      const where = sql`tenant_id = ${tenantId} and key = ${recordId}`;
      const rows = await readRowImages(sql, table, where, versionsMax);
      return rows.length === 0 ? undefined : JSON.stringify(rows);
    },

    async restore(context, recordId, image) {
      const { sql, tenantId } = context;
      await invalidate(context);
      const store = manifestStore(sql);
      for (const { id } of await versionsOf(context, recordId)) await store.delete(tenantId, id);
      if (image !== undefined) await insertRowImages(sql, table, JSON.parse(image) as string[]);
    },
  };
}

/** The hosts that a provider calls, the OAuth scopes that it asks for, and what its actions and triggers do. */
function permissionsOf({ hosts, authModes, auth, actions, triggers }: Provider): Permissions {
  const scopes = new Set([...actions.values()].flatMap((action) => action.scopes));
  for (const mode of authModes) {
    const spec = auth(mode);
    if (spec !== undefined && "scopes" in spec) for (const scope of spec.scopes.default) scopes.add(scope);
  }
  const effects = new Set([...actions.values()].map(({ mutation }) => `connector:${mutation.effect}`));
  if (triggers.size > 0) effects.add("connector:receive");
  return { hosts: [...hosts.patterns].sort(), scopes: [...scopes].sort(), effects: [...effects].sort() };
}

import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { notFound, type Sql } from "../../../platform/db/index.ts";
import { type JsonObject, toFieldViolations } from "../../../platform/document/index.ts";
import type { TextReader } from "../../../platform/document-text/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { toViolationFailure } from "../../../platform/protojson/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Catalogue } from "./catalogue/catalogue.ts";
import { compileInSlices } from "./compile-in-slices.ts";
import { type CompiledManifest, compileManifest } from "./domain/language/compile-manifest.ts";
import { newestFirst } from "./domain/manifest-version.ts";
import type { Provider } from "./domain/provider.ts";
import { type Manifest, type ManifestHead, type ManifestId, manifestStore } from "./manifest-store.ts";

/** How many providers a tenant can bring, and how many versions of each. */
export const providersMax = 200;
export const versionsMax = 50;

/** Says what uses a provider, for people; undefined if nothing does. */
export type FindProviderUse = (sql: Sql, tenantId: TenantId, providerKey: string) => Promise<string | undefined>;

/** Says whether something uses exactly this version of a provider's manifest. */
export type IsManifestPinned = (sql: Sql, tenantId: TenantId, providerKey: string, version: string) => Promise<boolean>;

export interface ManifestParts extends Pick<PlatformServices, "changes" | "shares"> {
  readonly events: EventRecorder;
  readonly texts: TextReader;
  readonly catalogue: Pick<Catalogue, "isBuiltin">;
  readonly findUse: FindProviderUse;
  readonly isPinned: IsManifestPinned;
}

export type ManifestService = ReturnType<typeof createManifestService>;

export function createManifestService({ events, changes, texts, shares, catalogue, findUse, isPinned }: ManifestParts) {
  /** Invalidates the tenant's catalogue on every node. It also locks out concurrent changes in the tenant. */
  async function invalidate({ sql, tenantId, afterCommit }: Context): Promise<void> {
    await changes.record(sql, tenantId);
    afterCommit(() => changes.published(tenantId));
  }

  function requireOwnKey(key: string): void {
    if (!catalogue.isBuiltin(key)) return;
    throw keyFailure(`${key} is the key of a built-in provider: choose another, for example my-${key}`);
  }

  /** Adds a version in a transaction that has locked the tenant; returns the existing one if it has the same content. */
  async function add(
    { sql, tenantId, nowMs }: Context,
    provider: Provider,
    packId: string,
  ): Promise<{ readonly manifest: Manifest; readonly isNew: boolean }> {
    const { key, version, name, digest, document } = provider;
    requireOwnKey(key);
    const store = manifestStore(sql);
    const heads = await store.listHeads(tenantId);
    const existing = heads.find((each) => each.key === key && each.version === version);
    if (existing !== undefined) {
      if (existing.digest === digest && existing.packId === packId) {
        return { manifest: (await store.find(tenantId, existing.id))!, isNew: false };
      }
      throw fail("ALREADY_EXISTS", {
        public: `Version ${version} of ${key} exists with other content. Versions never change: raise the version.`,
      });
    }
    checkRoom(heads, key, packId);
    const manifest: Manifest = {
      tenantId,
      id: ulid(nowMs) as ManifestId,
      key,
      version,
      name,
      digest,
      source: packId === "" ? "tenant" : "pack",
      packId,
      createdAt: new Date(nowMs),
      document,
    };
    await store.insert(manifest);
    return { manifest, isNew: true };
  }

  /** The provider of a compiled document; throws what is wrong with it. */
  function requireProvider(
    document: unknown,
    field: string,
    compiled: CompiledManifest = compileManifest(document),
  ): Provider {
    if (compiled.provider !== undefined) return compiled.provider;
    const { violations, repairs } = toFieldViolations(compiled.violations, field);
    throw toViolationFailure(violations, { repairs });
  }

  return {
    /** Reads the text of a document. */
    readText: texts.readText,

    /** Throws if a key is the one of a built-in provider. */
    requireOwnKey,

    /** Compiles a document in slices of the event loop. With its text, violations have their positions in it. */
    async compile({ tenantId }: Context, document: unknown, text = ""): Promise<CompiledManifest> {
      const compiled = await compileInSlices(document, shares.forCall(tenantId));
      if (compiled.provider !== undefined || text === "") return compiled;
      return { provider: undefined, violations: await texts.locate(text, compiled.violations) };
    },

    requireProvider,

    async createManifest(context: Context, provider: Provider): Promise<Manifest & { readonly active: boolean }> {
      await invalidate(context);
      const { manifest, isNew } = await add(context, provider, "");
      const { id, key, version, digest } = manifest;
      if (isNew) await events.record(context, "connector.manifest.created", id, { key, version, digest });
      return { ...manifest, active: await isActive(context, manifest) };
    },

    async getManifest(context: Context, id: string): Promise<Manifest & { readonly active: boolean }> {
      const manifest = await manifestStore(context.sql).find(context.tenantId, id);
      if (manifest === undefined) throw notFound("manifest");
      return { ...manifest, active: await isActive(context, manifest) };
    },

    /** The ids of the versions that connections use. */
    async activeIds({ sql, tenantId }: Context): Promise<ReadonlySet<string>> {
      return activeIdsOf(await manifestStore(sql).listHeads(tenantId));
    },

    async deleteManifest(context: Context, id: string): Promise<void> {
      const { sql, tenantId } = context;
      await invalidate(context);
      const store = manifestStore(sql);
      const heads = await store.listHeads(tenantId);
      const head = heads.find((each) => each.id === id);
      if (head === undefined) throw notFound("manifest");
      const { key, version, digest, packId } = head;
      if (packId !== "")
        throw fail("IN_USE", { public: "The manifest belongs to an installed pack: uninstall the pack." });
      const isLast = !heads.some((each) => each.key === key && each.id !== id);
      const use = isLast ? await findUse(sql, tenantId, key) : undefined;
      if (use !== undefined) {
        throw fail("IN_USE", { public: `This is the only version of ${key}, which ${use} use. Remove them first.` });
      }
      if (await isPinned(sql, tenantId, key, version)) {
        throw fail("IN_USE", { public: `Provider configs use version ${version} of ${key}. Change them first.` });
      }
      await store.delete(tenantId, id);
      await events.record(context, "connector.manifest.deleted", id, { key, version, digest });
    },

    /** Adds a manifest of a pack in a transaction that has locked the tenant. */
    addOfPack: (context: Context, packId: string, document: JsonObject) =>
      add(context, requireProvider(document, "document"), packId),
  };

  async function isActive({ sql, tenantId }: Context, { id }: ManifestHead): Promise<boolean> {
    return activeIdsOf(await manifestStore(sql).listHeads(tenantId)).has(id);
  }
}

function activeIdsOf(heads: readonly ManifestHead[]): ReadonlySet<string> {
  const sorted = newestFirst(heads);
  return new Set(sorted.filter(({ key }, at) => sorted[at - 1]?.key !== key).map(({ id }) => id));
}

function checkRoom(heads: readonly ManifestHead[], key: string, packId: string): void {
  const own = heads.filter((each) => each.key === key);
  const owner = own.find((each) => each.packId !== packId);
  if (owner !== undefined) {
    const who = owner.packId === "" ? "the tenant's own manifest" : "another pack";
    throw keyFailure(`${key} is the key of ${who}: choose another`);
  }
  if (own.length >= versionsMax) {
    throw fail("FAILED_PRECONDITION", {
      public: `A provider can have at most ${versionsMax} versions. Delete one first.`,
    });
  }
  if (own.length === 0 && new Set(heads.map((each) => each.key)).size >= providersMax) {
    throw fail("FAILED_PRECONDITION", {
      public: `A tenant can have at most ${providersMax} own providers. Delete one first.`,
    });
  }
}

function keyFailure(message: string) {
  return fail("ALREADY_EXISTS", {
    public: `key: ${message}.`,
    violations: [{ field: "document.key", rule: "unique", message }],
  });
}

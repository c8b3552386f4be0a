import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import { lockFor, notFound } from "../../../platform/db/index.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { type BuiltinPacks, isReservedPublisher } from "./builtin-packs.ts";
import { type Pack, packName, type SignedPack } from "./domain/pack.ts";
import type { PageNumber } from "./domain/page-number.ts";
import { compareVersions, newestVersion } from "./domain/versions.ts";
import { installationStore } from "./installations/installation-store.ts";
import { readSignedPack, verifyPack } from "./pack-signature.ts";
import {
  type FoundPack,
  type PackFilter,
  type PackSummary,
  packStore,
  type StoredVersion,
  type VersionHead,
} from "./pack-store.ts";
import type { PublisherService } from "./publisher-service.ts";
import type { RecordOwners } from "./record-owners.ts";

interface Dependencies {
  readonly events: EventRecorder;
  readonly builtin: () => Promise<BuiltinPacks>;
  readonly publishers: PublisherService;
  readonly owners: Pick<RecordOwners, "requireValidContents">;
}

/** A version of a pack as callers see it. */
export interface PackView extends PackSummary, Pick<FoundPack, "deprecatedBy" | "installationId" | "installedVersion"> {
  readonly yanked: boolean;
  readonly builtIn: boolean;
  /** The whole pack; undefined in lists. */
  readonly signed: SignedPack | undefined;
  /** Newest first; empty in lists. */
  readonly versions: readonly VersionHead[];
}

const versionsMax = 5000;

/** The use cases of packs. */
export type CatalogueService = ReturnType<typeof createCatalogueService>;

export function createCatalogueService({ events, builtin, publishers, owners }: Dependencies) {
  async function versionsOf({ sql, tenantId }: Context, publisher: string, name: string): Promise<VersionHead[]> {
    if (isReservedPublisher(publisher)) return (await builtin()).versions(publisher, name).map(builtinHead);
    const versions = await packStore(sql).versions(tenantId, publisher, name);
    return versions.sort((a, b) => compareVersions(b.version, a.version));
  }

  async function read(context: Context, publisher: string, name: string, version: string): Promise<StoredPack> {
    if (isReservedPublisher(publisher)) {
      const found = (await builtin()).versions(publisher, name).find(({ pack }) => pack.version === version);
      if (found === undefined) throw notFound("version of the pack");
      return { signed: found, yanked: false, yankReason: "" };
    }
    const stored = await packStore(context.sql).find(context.tenantId, publisher, name, version);
    if (stored === undefined) throw notFound("version of the pack");
    return { signed: toSigned(stored), yanked: stored.yanked, yankReason: stored.yankReason };
  }

  /** The version that a request names, or the newest that is not yanked. */
  async function chooseVersion(context: Context, publisher: string, name: string, version: string) {
    const versions = await versionsOf(context, publisher, name);
    if (versions.length === 0) throw notFound("pack");
    if (version !== "") return version;
    const newest = versions.find(({ yanked }) => !yanked);
    if (newest === undefined) {
      throw fail("FAILED_PRECONDITION", { public: `All versions of ${publisher}/${name} are yanked.` });
    }
    return newest.version;
  }

  async function view(context: Context, publisher: string, name: string, version: string): Promise<PackView> {
    const { sql, tenantId } = context;
    const versions = await versionsOf(context, publisher, name);
    if (versions.length === 0) throw notFound("pack");
    const chosen = version || (versions.find(({ yanked }) => !yanked) ?? versions[0]!).version;
    const { signed, yanked } = await read(context, publisher, name, chosen);
    const installation = await installationStore(sql).findPack(tenantId, publisher, name);
    const deprecatedBy = await packStore(sql).deprecatedBy(tenantId, publisher, name);
    return {
      ...{ ...summaryOf(signed), signed, yanked, versions },
      deprecatedBy: deprecatedBy || signed.pack.deprecatedBy,
      builtIn: isReservedPublisher(publisher),
      installationId: installation?.id ?? null,
      installedVersion: installation?.version ?? null,
    };
  }

  /** Describes a pack in lists by its newest version that is not yanked. */
  async function describe(context: Context, publisher: string, name: string, deprecatedBy: string): Promise<void> {
    const { sql, tenantId, nowMs } = context;
    const versions = await versionsOf(context, publisher, name);
    const newest = versions.find(({ yanked }) => !yanked);
    const { signed } = await read(context, publisher, name, (newest ?? versions[0]!).version);
    const state = { deprecatedBy: deprecatedBy || signed.pack.deprecatedBy, yanked: newest === undefined };
    await packStore(sql).describe(tenantId, summaryOf(signed), state, new Date(nowMs));
  }

  return {
    async listPacks({ sql, tenantId }: Context, filter: PackFilter, page: PageNumber) {
      const shipped = await builtin();
      const entries = shipped.newest.map(({ pack }) => pack);
      const { packs, total } = await packStore(sql).search(tenantId, entries, filter, page);
      const views = packs.map(({ publisher, name, summary, ...found }): PackView => {
        const shown = summary ?? summaryOf(shipped.versions(publisher, name)[0]!);
        return { ...found, ...shown, builtIn: summary === null, yanked: false, signed: undefined, versions: [] };
      });
      return { packs: views, total };
    },

    getPack: view,

    /** Publishes a version. The same document again changes nothing; another one under the same version is refused. */
    async publishPack(context: Context, value: JsonObject): Promise<PackView> {
      const { sql, tenantId, nowMs, principal } = context;
      const signed = readSignedPack(value);
      const { pack, digest, keyId } = signed;
      const { publisher, name, version } = pack;
      if (isReservedPublisher(publisher)) {
        throw fail("PERMISSION_DENIED", { public: `The publisher ${publisher} is reserved for built-in packs.` });
      }
      verifyPack(signed, await publishers.keysOf(sql, tenantId, publisher));
      owners.requireValidContents(pack);
      const store = packStore(sql);
      await lockFor(sql, "marketplace_packs", tenantId);
      const existing = await store.find(tenantId, publisher, name, version);
      if (existing !== undefined) {
        if (existing.digest === digest) return view(context, publisher, name, version);
        throw fail("ALREADY_EXISTS", {
          public: `${packName(pack)} ${version} is already published with other contents: publish a new version.`,
        });
      }
      await requireSameKind(context, pack);
      if ((await store.count(tenantId)) >= versionsMax) {
        throw fail("FAILED_PRECONDITION", { public: `A tenant can publish at most ${versionsMax} versions of packs.` });
      }
      const deprecatedBy = await store.deprecatedBy(tenantId, publisher, name);
      await store.insertVersion(tenantId, pack, signed, principal.subject, new Date(nowMs));
      await describe(context, publisher, name, deprecatedBy);
      const data = { publisher, name, version, digest, key_id: keyId };
      await events.record(context, "marketplace.pack.published", packName(pack), data);
      return view(context, publisher, name, version);
    },

    async yankPack(
      context: Context,
      { publisher, name, version }: Pick<Pack, "publisher" | "name" | "version">,
      reason: string,
      deprecatedBy: string,
    ): Promise<PackView> {
      const { sql, tenantId } = context;
      if (isReservedPublisher(publisher)) {
        await read(context, publisher, name, version);
        throw fail("PERMISSION_DENIED", {
          public: "Built-in packs can only be yanked by a new version of the service.",
        });
      }
      const store = packStore(sql);
      await lockFor(sql, "marketplace_packs", tenantId);
      await read(context, publisher, name, version);
      const isNew = await store.yank(tenantId, publisher, name, version, reason);
      await describe(context, publisher, name, deprecatedBy || (await store.deprecatedBy(tenantId, publisher, name)));
      const data = { publisher, name, version, reason };
      if (isNew) await events.record(context, "marketplace.pack.yanked", `${publisher}/${name}`, data);
      return view(context, publisher, name, version);
    },

    /** A version that may be installed now: signed by a trusted key, unchanged and not yanked. */
    async requireInstallable(context: Context, publisher: string, name: string, version: string): Promise<SignedPack> {
      const { sql, tenantId } = context;
      const chosen = await chooseVersion(context, publisher, name, version);
      const { signed, yanked, yankReason } = await read(context, publisher, name, chosen);
      const { pack } = signed;
      if (yanked) {
        const why = yankReason === "" ? "" : ` (${yankReason})`;
        throw fail("FAILED_PRECONDITION", {
          public: `${packName(pack)} ${chosen} is yanked${why}: choose another version.`,
        });
      }
      // A signed document of another pack or version must not be installed under this name.
      if (pack.publisher !== publisher || pack.name !== name || pack.version !== chosen) {
        throw fail("PACK_UNTRUSTED", {
          public: `The document of ${publisher}/${name} ${chosen} is signed as ${packName(pack)} ${pack.version}.`,
        });
      }
      verifyPack(signed, await publishers.keysOf(sql, tenantId, publisher));
      return signed;
    },

    /** The newest version that can be installed; empty if there is none. */
    async newestVersion(context: Context, publisher: string, name: string): Promise<string> {
      const versions = await versionsOf(context, publisher, name);
      return newestVersion(versions.flatMap(({ version, yanked }) => (yanked ? [] : [version]))) ?? "";
    },
  };

  async function requireSameKind(context: Context, { publisher, name, kind }: Pack): Promise<void> {
    const [newest] = await versionsOf(context, publisher, name);
    if (newest === undefined) return;
    const { signed } = await read(context, publisher, name, newest.version);
    if (signed.pack.kind === kind) return;
    throw fail("FAILED_PRECONDITION", {
      public: `${publisher}/${name} is a pack of kind ${signed.pack.kind}: publish other kinds under another name.`,
    });
  }
}

interface StoredPack extends Pick<StoredVersion, "yanked" | "yankReason"> {
  readonly signed: SignedPack;
}

function summaryOf({ pack: { contents: _, ...pack }, digest, keyId }: SignedPack): PackSummary {
  return { pack, digest, keyId };
}

function toSigned({ version, document, digest, signature, keyId }: StoredVersion): SignedPack {
  try {
    return readSignedPack({ ...document, digest, signature, key_id: keyId });
  } catch (cause) {
    // Only valid packs are published, so it was changed since.
    throw fail("PACK_UNTRUSTED", { public: `The stored document of version ${version} is not a pack.`, cause });
  }
}

function builtinHead({ pack, digest, keyId }: SignedPack): VersionHead {
  return { version: pack.version, digest, keyId, yanked: false, yankReason: "", publishedAt: null };
}

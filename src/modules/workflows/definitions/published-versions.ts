import type { TenantId } from "../../../platform/access/index.ts";
import { type Canary, canaryStore, isOnCanarySide } from "../../../platform/canary/index.ts";
import { createTenantCache, requireFound } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Definition } from "./domain/language/definition.ts";
import { parseDefinition } from "./domain/language/syntax/parse-definition.ts";
import type { DefinitionHead, DefinitionId } from "./domain/workflow-definition.ts";
import { definitionStore } from "./store.ts";

/** A published version that runs execute. */
export interface PublishedVersion {
  readonly tenantId: TenantId;
  readonly definitionId: DefinitionId;
  readonly key: string;
  readonly version: number;
  readonly digest: string;
  /** The same object as long as the version stays in memory. */
  readonly definition: Definition;
  /** Whether the definition is archived or the version withdrawn: runs in progress finish, and none start. */
  readonly archived: boolean;
  /** The side of a running canary; undefined if it does not apply. */
  readonly canary?: RunSide | undefined;
}

/** On which side of a canary a run is. */
export interface RunSide {
  readonly candidateId: string;
  readonly side: "canary" | "baseline";
}

/** The run to start, for the side of a canary. */
export interface StartPoint {
  readonly environmentId: string;
  readonly runKey: string;
}

interface Dependencies extends Pick<PlatformServices, "db" | "changes"> {
  /** The memory that parsed versions may take, in bytes of their documents. */
  readonly bytesMax?: number;
}

/** A cache entry; missing definitions are cached too. */
interface HeadEntry {
  readonly tenantId: TenantId;
  readonly head: DefinitionHead | undefined;
  readonly canary: Canary | undefined;
  readonly withdrawn: readonly number[];
}

interface ParsedVersion {
  readonly digest: string;
  readonly definition: Definition;
  readonly bytes: number;
}

// A parsed definition takes a few times the bytes of its document.
const documentBytesMax = 16 * 1024 * 1024;

/**
 * Creates the cache of published versions. What is active is dropped when the tenant's configuration changes. Versions never
 * change, so parsed ones stay until others need their memory.
 */
export function createPublishedVersions({ db, changes, bytesMax = documentBytesMax }: Dependencies) {
  const store = definitionStore(db.sql);
  const heads = createTenantCache<string, HeadEntry>({
    changes,
    async load(key) {
      const at = key.indexOf("|");
      const tenantId = key.slice(0, at) as TenantId;
      const idOrKey = key.slice(at + 1);
      const head = (await store.findHead(tenantId, idOrKey)) ?? (await store.findArchived(tenantId, idOrKey));
      if (head === undefined) return { tenantId, head, canary: undefined, withdrawn: [] };
      const [canary, withdrawn] = await Promise.all([
        canaryStore(db.sql).find(tenantId, "workflow", head.id),
        store.listWithdrawn(tenantId, head.id),
      ]);
      return { tenantId, head, canary, withdrawn };
    },
    tenantOf: (_key, { tenantId }) => tenantId,
  });
  const parsed = new ParsedVersions(bytesMax);

  async function load(tenantId: TenantId, id: DefinitionId, version: number): Promise<ParsedVersion | undefined> {
    const found =
      (await store.findVersion(tenantId, id, version)) ?? (await store.findWithdrawn(tenantId, id, version));
    if (found === undefined) return undefined;
    const { definition, violations } = parseDefinition(found.document);
    if (definition === undefined) {
      const [first] = violations;
      throw new Error(
        `Version ${version} of the workflow definition ${id} cannot be read: ${first!.path} ${first!.message}`,
      );
    }
    const bytes = JSON.stringify(found.document).length;
    return { digest: found.digest, definition, bytes };
  }

  const entryOf = (tenantId: TenantId, idOrKey: string) => heads.get(`${tenantId}|${idOrKey}`);

  /** The id and the key of a definition by either of them, published or not; undefined if there is none. */
  async function identify(
    tenantId: TenantId,
    idOrKey: string,
  ): Promise<Pick<DefinitionHead, "id" | "key"> | undefined> {
    return (await entryOf(tenantId, idOrKey)).head;
  }

  return {
    identify,
    /**
     * The id of a definition by its id or key, for a filter. A name that no definition has is returned as it is: it matches
     * nothing, like the empty one matches all.
     */
    async idOf(tenantId: TenantId, idOrKey: string): Promise<string> {
      return idOrKey === "" ? "" : ((await identify(tenantId, idOrKey))?.id ?? idOrKey);
    },
    /** The id of a definition by its id or key. Empty stays empty. Throws if there is none. */
    async requireId(tenantId: TenantId, idOrKey: string): Promise<string> {
      return idOrKey === "" ? "" : requireFound(await identify(tenantId, idOrKey), "workflow definition").id;
    },
    /**
     * The active version (or the given one) of a definition by its id or key, from memory in the common case; undefined if
     * there is none. If no other definition has the key, an archived one is found too. While a canary is running, the key of
     * the run to start decides between the active version and the canary's.
     */
    async resolve(
      tenantId: TenantId,
      idOrKey: string,
      version?: number,
      start?: StartPoint,
    ): Promise<PublishedVersion | undefined> {
      const { head, canary: running, withdrawn } = await entryOf(tenantId, idOrKey);
      const canary = version === undefined && start !== undefined ? sideOf(running, start) : undefined;
      const number = version ?? (canary?.side === "canary" ? running!.version : (head?.activeVersion ?? 0));
      if (number < 1) return undefined;
      // A run may have started on a definition that no longer exists because the upgrade of a pack was rolled back.
      const definitionId = head?.id ?? (idOrKey as DefinitionId);
      const name = `${tenantId}|${definitionId}|${number}`;
      const found = parsed.get(name) ?? (await parsed.load(name, () => load(tenantId, definitionId, number)));
      if (found === undefined) return undefined;
      const { digest, definition } = found;
      const archived = head === undefined || head.status === "archived" || withdrawn.includes(number);
      return { tenantId, definitionId, key: definition.key, version: number, digest, definition, archived, canary };
    },
  };
}

/** The side of a run. A run without a key is not part of a canary. */
function sideOf(canary: Canary | undefined, { environmentId, runKey }: StartPoint): RunSide | undefined {
  if (canary === undefined || runKey === "" || canary.environmentId !== environmentId) return undefined;
  const { candidateId } = canary;
  return { candidateId, side: isOnCanarySide(canary, runKey) ? "canary" : "baseline" };
}

/** Parsed versions, least recently used first, bounded by the bytes of their documents. */
class ParsedVersions {
  readonly #bytesMax: number;
  readonly #entries = new Map<string, ParsedVersion>();
  readonly #loading = new Map<string, Promise<ParsedVersion | undefined>>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(name: string): ParsedVersion | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    // A map iterates in insertion order, so re-inserting the entry marks it as most recently used.
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return entry;
  }

  /** Loads an entry. Concurrent loads of the same one share a query and its result. */
  load(name: string, read: () => Promise<ParsedVersion | undefined>): Promise<ParsedVersion | undefined> {
    const loading = this.#loading.get(name);
    if (loading !== undefined) return loading;
    const started = read()
      .then((entry) => {
        if (entry !== undefined) this.#add(name, entry);
        return entry;
      })
      .finally(() => this.#loading.delete(name));
    this.#loading.set(name, started);
    return started;
  }

  #add(name: string, entry: ParsedVersion): void {
    this.#entries.set(name, entry);
    this.#bytes += entry.bytes;
    for (const [oldest, { bytes }] of this.#entries) {
      if (this.#bytes <= this.#bytesMax || oldest === name) return;
      this.#entries.delete(oldest);
      this.#bytes -= bytes;
    }
  }
}

import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { JsonObject, Permissions, RecordUse } from "../../../pack-records.ts";
import type {
  Installation,
  InstalledRecord,
  PackConflict,
  PlannedChange,
  RecordImages,
  SlotValues,
} from "../domain/installation.ts";
import { type PackEntry, packName, type SignedPack } from "../domain/pack.ts";
import { changedPaths, isSame, mergeContents, type Winner } from "../domain/three-way-merge.ts";
import { compareVersions } from "../domain/versions.ts";
import type { RecordOwners } from "../record-owners.ts";
import type { InstallResult } from "./install-service.ts";
import { installationStore } from "./installation-store.ts";
import { inUse } from "./record-uses.ts";
import { requireAcceptedBy, requireRequirements } from "./requirements.ts";

interface Dependencies {
  readonly events: EventRecorder;
  readonly owners: RecordOwners;
}

/** How an upgrade is made. */
interface UpgradeChoice {
  readonly slots: SlotValues;
  /** Whose value wins a conflict. */
  readonly winner: Winner;
  /** Permissions that the new version has in addition, for the event. */
  readonly added: Permissions;
}

/** Throws unless a version is newer than the installed one. */
export function requireNewer({ version }: Installation, { pack }: SignedPack): void {
  if (compareVersions(pack.version, version) > 0) return;
  throw fail("FAILED_PRECONDITION", {
    public: `${packName(pack)} ${pack.version} is not newer than the installed version ${version}: roll back instead of installing an older version.`,
  });
}

/**
 * Creates the function that upgrades an installation in the transaction of the context. The base of the merge is what the pack
 * wrote last, so the difference between the base and a record is what the tenant changed.
 */
export function createUpgrader({ events, owners }: Dependencies) {
  return async (
    context: Context,
    current: Installation,
    signed: SignedPack,
    { slots, winner, added }: UpgradeChoice,
  ): Promise<InstallResult> => {
    const { sql, tenantId, nowMs, principal } = context;
    const { pack, digest, document } = signed;
    const store = installationStore(sql);
    requireNewer(current, signed);
    await requireRequirements(context, pack);
    await requireAcceptedBy(context, pack, pack.version);

    const before = await store.images(tenantId, current.id);
    const old = await store.records(tenantId, current.id);
    const upgrade = new RecordUpgrade(context, owners, packName(pack), winner);
    const recordIds: Record<string, string> = {};
    const records: InstalledRecord[] = [];
    for (const entry of pack.contents) {
      const installed = old.find(({ key, kind }) => key === entry.key && kind === entry.record);
      const content = owners.contentOf(pack, entry, { slot: slots, record: recordIds });
      const recordId = await owners.forEntry(entry, () => upgrade.apply(entry, installed, content));
      recordIds[entry.key] = recordId;
      records.push({ key: entry.key, kind: entry.record, recordId, base: content });
    }
    const kept = new Set(records.map(({ kind, key }) => `${kind}|${key}`));
    // In reverse order, because records refer to earlier ones.
    for (const record of old.toReversed()) {
      if (!kept.has(`${record.kind}|${record.key}`)) await upgrade.remove(record);
    }
    if (upgrade.uses.length > 0) throw inUse(upgrade.uses);

    const updatedAt = new Date(nowMs);
    const changed = { version: pack.version, digest, document, slots, changeId: ulid(nowMs) };
    // A preview works without a lock, so the installation may be gone.
    await store.update(tenantId, current.id, changed, undefined, updatedAt);
    const installation = { ...current, ...changed, updatedAt, recordVersion: current.recordVersion + 1 };
    await store.replaceRecords(tenantId, current.id, records);
    const { installation: row, records: installationRecords } = before;
    const images = { records: await upgrade.images(), installation: row, installationRecords };
    const change = { id: installation.changeId, operation: "upgrade", actor: principal.subject, images } as const;
    const versions = { fromVersion: current.version, toVersion: pack.version };
    await store.insertChange(tenantId, current.id, { ...change, ...versions }, new Date(nowMs));
    await events.record(context, "marketplace.pack.upgraded", current.id, {
      ...{ publisher: pack.publisher, name: pack.name, from_version: current.version, version: pack.version, digest },
      added_permissions: added,
    });
    return { installation, changes: upgrade.changes, conflicts: upgrade.conflicts };
  };
}

/** The upgrade of the records of one installation. */
class RecordUpgrade {
  readonly changes: PlannedChange[] = [];
  readonly conflicts: PackConflict[] = [];
  readonly uses: RecordUse[] = [];
  readonly #context: Context;
  readonly #owners: RecordOwners;
  readonly #pack: string;
  readonly #winner: Winner;
  readonly #touched = new Map<string, Omit<RecordImages, "after">>();

  constructor(context: Context, owners: RecordOwners, pack: string, winner: Winner) {
    this.#context = context;
    this.#owners = owners;
    this.#pack = pack;
    this.#winner = winner;
  }

  /** Brings a record to a new content; returns its id. */
  async apply(entry: PackEntry, installed: InstalledRecord | undefined, content: JsonObject): Promise<string> {
    const owner = this.#owners.ownerOf(entry.record);
    if (installed === undefined) return this.#create(entry, content);
    const { recordId, base } = installed;
    const local = await owner.read(this.#context, recordId);
    const packChanged = !isSame(base, content);
    if (local === undefined) {
      if (packChanged) {
        this.#conflict(entry, "", "the tenant deleted the record, and the pack changed it");
        if (this.#winner === "pack") return this.#create(entry, content);
      }
      return this.#done(entry, "keep", recordId);
    }
    if (local.held !== undefined && packChanged) {
      this.#conflict(entry, "", `${local.held}, and the pack changed the record`);
      if (this.#winner === "local") return this.#done(entry, "keep", recordId);
    }
    const merged = mergeContents(base, local.content, content, this.#winner);
    for (const path of merged.conflicts) this.#conflict(entry, path, "both the tenant and the pack changed the value");
    if (!packChanged || isSame(merged.content, local.content)) {
      return this.#done(entry, isSame(local.content, content) ? "unchanged" : "keep", recordId);
    }
    await this.#touch(entry, recordId, "change");
    await owner.update(this.#context, recordId, owner.normalize(merged.content), this.#pack);
    return this.#done(entry, "update", recordId, changedPaths(local.content, merged.content));
  }

  /** Deletes a record that the new version does not contain. A record that the tenant changed may stay as its own. */
  async remove({ key, kind, recordId, base }: InstalledRecord): Promise<void> {
    const entry = { key, record: kind };
    const owner = this.#owners.ownerOf(kind);
    const local = await owner.read(this.#context, recordId);
    if (local === undefined) return;
    if (local.held !== undefined || !isSame(local.content, base)) {
      this.#conflict(entry, "", "the tenant changed the record, and the pack removed it");
      if (this.#winner === "local") {
        this.#done(entry, "keep", recordId);
        return;
      }
    }
    const uses = await this.#owners.usesOf(this.#context, kind, recordId);
    this.uses.push(...uses);
    if (uses.length > 0) return;
    await this.#touch(entry, recordId, "delete");
    await owner.remove(this.#context, recordId);
    this.#done(entry, "delete", recordId);
  }

  /** The rows of all records that were touched, before and after, in the order in which they were touched. */
  async images(): Promise<RecordImages[]> {
    const images: RecordImages[] = [];
    for (const { kind, recordId, before } of this.#touched.values()) {
      const after = await this.#owners.ownerOf(kind).image(this.#context, recordId, "change");
      images.push({ kind, recordId, before, after: after ?? null });
    }
    return images;
  }

  async #create(entry: PackEntry, content: JsonObject): Promise<string> {
    const recordId = await this.#owners.ownerOf(entry.record).create(this.#context, content, this.#pack);
    this.#touched.set(`${entry.record}|${recordId}`, { kind: entry.record, recordId, before: null });
    return this.#done(entry, "create", recordId);
  }

  async #touch(
    { record: kind }: Pick<PackEntry, "record">,
    recordId: string,
    next: "change" | "delete",
  ): Promise<void> {
    const before = await this.#owners.ownerOf(kind).image(this.#context, recordId, next);
    this.#touched.set(`${kind}|${recordId}`, { kind, recordId, before: before ?? null });
  }

  #conflict({ key, record }: Pick<PackEntry, "key" | "record">, path: string, reason: string): void {
    this.conflicts.push({ key, kind: record, path, reason });
  }

  #done(
    { key, record }: Pick<PackEntry, "key" | "record">,
    action: PlannedChange["action"],
    recordId: string,
    paths: readonly string[] = [],
  ): string {
    this.changes.push({ key, kind: record, action, recordId, paths });
    return recordId;
  }
}

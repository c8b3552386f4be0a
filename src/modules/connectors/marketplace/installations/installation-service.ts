import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { type Database, lockFor, notFound } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { noPermissions, type Permissions, type RecordUse } from "../../../pack-records.ts";
import type { CatalogueService } from "../catalogue-service.ts";
import type {
  Installation,
  InstallationChange,
  InstallationHead,
  PackConflict,
  PlannedChange,
  RecordHead,
} from "../domain/installation.ts";
import { type Pack, packName, type SignedPack } from "../domain/pack.ts";
import type { PageNumber } from "../domain/page-number.ts";
import { parsePack } from "../domain/parse-pack.ts";
import { describePermissions, isEmpty, permissionsBeyond } from "../domain/permissions.ts";
import type { MarketplaceMetrics } from "../marketplace-metrics.ts";
import type { RecordOwners } from "../record-owners.ts";
import { createInstaller, requireNotInstalled } from "./install-service.ts";
import { installationStore } from "./installation-store.ts";
import { inUse } from "./record-uses.ts";
import { requireAcceptedBy } from "./requirements.ts";
import { createRollback } from "./rollback-service.ts";
import { createSlotResolver, type SlotSources } from "./slot-resolver.ts";
import { createUpgrader, requireNewer } from "./upgrade-service.ts";

interface Dependencies {
  readonly db: Database;
  readonly events: EventRecorder;
  readonly catalogue: CatalogueService;
  readonly owners: RecordOwners;
  readonly slots: SlotSources;
  readonly metrics: Pick<MarketplaceMetrics, "conflicted">;
}

/** A pack, its version and the values of its slots. */
interface InstallRequest extends Pick<Pack, "publisher" | "name"> {
  /** Empty for the newest that is not yanked. */
  readonly version: string;
  readonly slots: Readonly<Record<string, unknown>>;
}

export interface UpgradeRequest extends Pick<InstallRequest, "version" | "slots"> {
  readonly id: string;
  readonly onConflict: "refuse" | "keep" | "replace";
  readonly accepted: Permissions;
}

/** Effect of an install or upgrade. */
export interface InstallPlan extends Pick<Pack, "publisher" | "name"> {
  /** Empty for an install. */
  readonly fromVersion: string;
  readonly toVersion: string;
  readonly changes: readonly PlannedChange[];
  readonly conflicts: readonly PackConflict[];
  readonly added: Permissions;
  readonly removed: Permissions;
  readonly missingSlots: readonly string[];
}

/** An installation as callers see it. */
export interface InstallationView {
  readonly installation: InstallationHead;
  readonly permissions: Permissions;
  readonly records: readonly RecordHead[];
  readonly canRollBack: boolean;
  readonly availableVersion: string;
  /** Newest first; empty in lists. */
  readonly changes: readonly InstallationChange[];
}

/** Ends the transaction of a preview without a commit. */
class PreviewEnd extends Error {}

const changesShownMax = 20;

export type InstallationService = ReturnType<typeof createInstallationService>;

export function createInstallationService({ db, events, catalogue, owners, slots, metrics }: Dependencies) {
  const resolveSlots = createSlotResolver(slots);
  const install = createInstaller({ events, owners });
  const upgrade = createUpgrader({ events, owners });
  const rollBack = createRollback({ events, owners });

  async function lockInstallation({ sql, tenantId }: Context, id: string): Promise<Installation> {
    const store = installationStore(sql);
    await lockFor(sql, "marketplace_installations", tenantId);
    const installation = await store.find(tenantId, id);
    if (installation === undefined) throw notFound("installation");
    return installation;
  }

  async function view(context: Context, installation: Installation): Promise<InstallationView> {
    const { sql, tenantId } = context;
    const { id } = installation;
    const store = installationStore(sql);
    const records = (await store.recordHeads(tenantId, [id])).get(id) ?? [];
    const changes = await store.changes(tenantId, id, changesShownMax);
    return { ...(await listed(context, installation, packOf(installation).permissions, records)), changes };
  }

  async function listed(
    context: Context,
    installation: InstallationHead,
    permissions: Permissions,
    records: readonly RecordHead[],
  ): Promise<InstallationView> {
    const { publisher, name, changeId } = installation;
    return {
      ...{ installation, permissions, records },
      canRollBack: await installationStore(context.sql).isUpgrade(context.tenantId, changeId),
      availableVersion: await catalogue.newestVersion(context, publisher, name),
      changes: [],
    };
  }

  /** Runs an action in a transaction that is rolled back: nothing that it does is stored. */
  async function withoutEffect<T>(context: Context, action: (inside: Context) => Promise<T>): Promise<T> {
    let result: { readonly value: T } | undefined;
    try {
      await db.transaction(async (sql) => {
        result = { value: await action({ ...context, sql, afterCommit: () => {} }) };
        throw new PreviewEnd();
      });
    } catch (error) {
      if (!(error instanceof PreviewEnd)) throw error;
    }
    return result!.value;
  }

  async function previewInstall(context: Context, signed: SignedPack, given: InstallRequest["slots"]) {
    const { pack } = signed;
    const { values, missing } = await resolveSlots(context, pack.slots, given);
    const changes =
      missing.length === 0
        ? (await withoutEffect(context, (inside) => install(inside, signed, values))).changes.map(withoutId)
        : pack.contents.map(({ key, record }) =>
            withoutId({ key, kind: record, action: "create", recordId: "", paths: [] }),
          );
    return planOf(pack, undefined, { changes, conflicts: [] }, missing);
  }

  async function previewUpgrade(
    context: Context,
    current: Installation,
    signed: SignedPack,
    given: InstallRequest["slots"],
  ) {
    requireNewer(current, signed);
    const { values, missing } = await resolveSlots(context, signed.pack.slots, slotsFor(current, signed.pack, given));
    if (missing.length > 0) return planOf(signed.pack, current, { changes: [], conflicts: [] }, missing);
    const choice = { slots: values, winner: "local", added: noPermissions } as const;
    const result = await withoutEffect(context, (inside) => upgrade(inside, current, signed, choice));
    const changes = result.changes.map((change) => (change.action === "create" ? withoutId(change) : change));
    return planOf(signed.pack, current, { ...result, changes }, []);
  }

  return {
    /** Shows what an install or upgrade would do, by doing it in a transaction that is rolled back. */
    async preview(context: Context, { publisher, name, version, slots: given }: InstallRequest): Promise<InstallPlan> {
      const signed = await catalogue.requireInstallable(context, publisher, name, version);
      const current = await installationStore(context.sql).findPack(context.tenantId, publisher, name);
      return current === undefined
        ? previewInstall(context, signed, given)
        : previewUpgrade(context, current, signed, given);
    },

    async installPack(context: Context, { publisher, name, version, slots: given }: InstallRequest) {
      await lockFor(context.sql, "marketplace_installations", context.tenantId);
      const signed = await catalogue.requireInstallable(context, publisher, name, version);
      await requireNotInstalled(context, signed);
      owners.requireScopes(context, kindsOf(signed.pack));
      const { values, missing } = await resolveSlots(context, signed.pack.slots, given);
      requireNoneMissing(missing);
      const { installation } = await install(context, signed, values);
      return view(context, installation);
    },

    async upgradePack(context: Context, { id, version, slots: given, onConflict, accepted }: UpgradeRequest) {
      const current = await lockInstallation(context, id);
      const signed = await catalogue.requireInstallable(context, current.publisher, current.name, version);
      requireNewer(current, signed);
      const { pack } = signed;
      const installed = await installationStore(context.sql).records(context.tenantId, current.id);
      owners.requireScopes(context, [...kindsOf(pack), ...installed]);
      const added = permissionsBeyond(pack.permissions, packOf(current).permissions);
      requireConsent(pack, added, accepted);
      const { values, missing } = await resolveSlots(context, pack.slots, slotsFor(current, pack, given));
      requireNoneMissing(missing);
      const winner = onConflict === "replace" ? "pack" : "local";
      const result = await upgrade(context, current, signed, { slots: values, winner, added });
      if (result.conflicts.length > 0) metrics.conflicted(onConflict, result.conflicts.length);
      if (onConflict === "refuse" && result.conflicts.length > 0) throw conflictFailure(pack, result.conflicts);
      const upgraded = await view(context, result.installation);
      return { upgraded, plan: planOf(pack, current, result, []) };
    },

    async rollBackPack(context: Context, id: string, discardChanges: boolean): Promise<InstallationView> {
      const current = await lockInstallation(context, id);
      return view(context, await rollBack(context, current, discardChanges));
    },

    async uninstallPack(context: Context, id: string, keepRecords: boolean): Promise<InstallationView> {
      const { sql, tenantId, nowMs, principal } = context;
      const current = await lockInstallation(context, id);
      const shown = await view(context, current);
      await requireAcceptedBy(context, current, "");
      if (!keepRecords) {
        owners.requireScopes(context, shown.records);
        await removeRecords(context, shown.records);
      }
      const store = installationStore(sql);
      await store.remove(tenantId, current.id);
      const change = { id: ulid(nowMs), operation: "uninstall", fromVersion: current.version, toVersion: "" } as const;
      await store.insertChange(tenantId, current.id, { ...change, actor: principal.subject }, new Date(nowMs));
      const { publisher, name, version } = current;
      const data = { publisher, name, version, records_kept: keepRecords };
      await events.record(context, "marketplace.pack.uninstalled", current.id, data);
      return shown;
    },

    async getInstallation(context: Context, id: string): Promise<InstallationView> {
      const installation = await installationStore(context.sql).find(context.tenantId, id);
      if (installation === undefined) throw notFound("installation");
      return view(context, installation);
    },

    async listInstallations(context: Context, kind: string, { offset, limit }: PageNumber) {
      const { sql, tenantId } = context;
      const store = installationStore(sql);
      const views: InstallationView[] = [];
      const found = await store.list(tenantId, kind, offset, limit);
      const records = await store.recordHeads(
        tenantId,
        found.map(({ id }) => id),
      );
      for (const { permissions, ...each } of found) {
        const declared = { ...noPermissions, ...permissions };
        views.push(await listed(context, each, declared, records.get(each.id) ?? []));
      }
      return { installations: views, total: await store.count(tenantId, kind) };
    },
  };

  /** Deletes records in reverse order. Throws if something that stays refers to one of them. */
  async function removeRecords(context: Context, records: readonly RecordHead[]): Promise<void> {
    const uses: RecordUse[] = [];
    const own = new Set<string>();
    for (const { kind, key, recordId } of records.toReversed()) {
      const owner = owners.ownerOf(kind);
      // The tenant may have deleted the record itself.
      if ((await owner.read(context, recordId)) === undefined) continue;
      const found = await owners.usesOf(context, kind, recordId);
      if (found.length === 0) {
        await owners.forEntry({ key, record: kind }, () => owner.remove(context, recordId));
        continue;
      }
      // A record of the pack that is in use keeps others of the pack in use; only the outside ones matter to the caller.
      for (const name of await owner.names(context, recordId)) own.add(`${kind.replaceAll("_", " ")}|${name}`);
      uses.push(...found.filter(({ what, name }) => !own.has(`${what}|${name}`)));
    }
    if (uses.length > 0) throw inUse(uses);
  }
}

/** The pack of the installed version. */
function packOf(installation: Installation): Pack {
  const { pack } = parsePack(installation.document);
  if (pack === undefined) throw new Error(`The document of the installation ${installation.id} is not a pack.`);
  return pack;
}

function kindsOf({ contents }: Pack) {
  return contents.map(({ record }) => ({ kind: record }));
}

/** The values for the slots of a version: those given now, else those given before. */
function slotsFor({ slots }: Installation, pack: Pack, given: Readonly<Record<string, unknown>>) {
  const names = new Set(pack.slots.map(({ name }) => name));
  const earlier = Object.entries(slots).filter(([name]) => names.has(name));
  return { ...Object.fromEntries(earlier), ...given };
}

function requireNoneMissing(missing: readonly string[]): void {
  if (missing.length === 0) return;
  const violations = missing.map((name) => ({ field: `slots.${name}`, rule: "required", message: "is required" }));
  throw fail("INVALID_ARGUMENT", { public: `The pack needs values for: ${missing.join(", ")}.`, violations });
}

function requireConsent(pack: Pack, added: Permissions, accepted: Permissions): void {
  if (isEmpty(permissionsBeyond(added, accepted))) return;
  throw fail("PACK_CONSENT_REQUIRED", {
    public: `${packName(pack)} ${pack.version} needs additional permissions: ${describePermissions(added)}.`,
    extra: { added_permissions: added },
  });
}

function conflictFailure(pack: Pack, conflicts: readonly PackConflict[]) {
  const shown = conflicts.slice(0, 5).map(({ key, path }) => `${key}${path}`);
  return fail("PACK_CONFLICT", {
    public: `${packName(pack)} ${pack.version} changes what was changed here too: ${shown.join(", ")}${conflicts.length > 5 ? " and others" : ""}.`,
    extra: { conflicts: conflicts.slice(0, 100) },
  });
}

function planOf(
  pack: Pack,
  current: Installation | undefined,
  { changes, conflicts }: Pick<InstallPlan, "changes" | "conflicts">,
  missingSlots: readonly string[],
): InstallPlan {
  const before = current === undefined ? noPermissions : packOf(current).permissions;
  return {
    ...{ publisher: pack.publisher, name: pack.name, fromVersion: current?.version ?? "", toVersion: pack.version },
    ...{ changes, conflicts, missingSlots },
    added: permissionsBeyond(pack.permissions, before),
    removed: permissionsBeyond(before, pack.permissions),
  };
}

/** A record that a preview created has no id. */
function withoutId(change: PlannedChange): PlannedChange {
  return { ...change, recordId: "" };
}

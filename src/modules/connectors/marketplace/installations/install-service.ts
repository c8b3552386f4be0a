import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { newStamps } from "../../../../platform/records/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type {
  Installation,
  InstallationId,
  InstalledRecord,
  PackConflict,
  PlannedChange,
  SlotValues,
} from "../domain/installation.ts";
import { packName, type SignedPack } from "../domain/pack.ts";
import type { RecordOwners } from "../record-owners.ts";
import { installationStore } from "./installation-store.ts";
import { requireRequirements } from "./requirements.ts";

interface Dependencies {
  readonly events: EventRecorder;
  readonly owners: RecordOwners;
}

/** The result of an install or upgrade. */
export interface InstallResult {
  readonly installation: Installation;
  readonly changes: readonly PlannedChange[];
  readonly conflicts: readonly PackConflict[];
}

const installationsMax = 500;

/** Creates the function that installs a verified pack in the transaction of the context. */
export function createInstaller({ events, owners }: Dependencies) {
  return async (context: Context, signed: SignedPack, slots: SlotValues): Promise<InstallResult> => {
    const { sql, tenantId, nowMs, principal } = context;
    const { pack, digest, document } = signed;
    const store = installationStore(sql);
    if ((await store.count(tenantId)) >= installationsMax) {
      throw fail("FAILED_PRECONDITION", { public: `A tenant can install at most ${installationsMax} packs.` });
    }
    await requireRequirements(context, pack);
    const recordIds: Record<string, string> = {};
    const records: InstalledRecord[] = [];
    for (const entry of pack.contents) {
      const { key, record: kind } = entry;
      const base = owners.contentOf(pack, entry, { slot: slots, record: recordIds });
      const recordId = await owners.forEntry(entry, () => owners.ownerOf(kind).create(context, base, packName(pack)));
      recordIds[key] = recordId;
      records.push({ key, kind, recordId, base });
    }
    const installation: Installation = {
      ...{ tenantId, id: ulid(nowMs) as InstallationId, publisher: pack.publisher, name: pack.name, kind: pack.kind },
      ...{ version: pack.version, digest, document, slots, changeId: ulid(nowMs), ...newStamps(nowMs) },
    };
    await store.insert(installation);
    await store.replaceRecords(tenantId, installation.id, records);
    const versions = { fromVersion: "", toVersion: pack.version };
    const change = { id: installation.changeId, operation: "install", ...versions } as const;
    await store.insertChange(tenantId, installation.id, { ...change, actor: principal.subject }, new Date(nowMs));
    await events.record(context, "marketplace.pack.installed", installation.id, {
      ...{ publisher: pack.publisher, name: pack.name, version: pack.version, digest, records: records.length },
    });
    return {
      installation,
      changes: records.map(({ key, kind, recordId }) => ({ key, kind, action: "create", recordId, paths: [] })),
      conflicts: [],
    };
  };
}

/** Throws if a pack is installed already. */
export async function requireNotInstalled({ sql, tenantId }: Context, { pack }: SignedPack): Promise<void> {
  const existing = await installationStore(sql).findPack(tenantId, pack.publisher, pack.name);
  if (existing === undefined) return;
  throw fail("ALREADY_EXISTS", {
    public: `${packName(pack)} is installed in version ${existing.version}: upgrade the installation ${existing.id} instead.`,
    extra: { installation_id: existing.id },
  });
}

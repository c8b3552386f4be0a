import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { RecordUse } from "../../../pack-records.ts";
import type { Installation } from "../domain/installation.ts";
import { packName } from "../domain/pack.ts";
import type { RecordOwners } from "../record-owners.ts";
import { installationStore } from "./installation-store.ts";
import { inUse } from "./record-uses.ts";
import { requireAcceptedBy } from "./requirements.ts";

interface Dependencies {
  readonly events: EventRecorder;
  readonly owners: RecordOwners;
}

/**
 * Creates the function that rolls the last upgrade of an installation back. It restores the rows that the upgrade changed, and
 * the rows of the installation, so that an earlier upgrade can be rolled back next.
 */
export function createRollback({ events, owners }: Dependencies) {
  return async (context: Context, current: Installation, discardChanges: boolean): Promise<Installation> => {
    const { sql, tenantId, nowMs, principal } = context;
    const store = installationStore(sql);
    const images = await store.upgradeImages(tenantId, current.changeId);
    if (images === undefined) {
      throw fail("FAILED_PRECONDITION", {
        public: `${packName(current)} ${current.version} was installed, not upgraded: there is nothing to roll back.`,
      });
    }
    owners.requireScopes(context, images.records);
    const changed: string[] = [];
    const uses: RecordUse[] = [];
    for (const { kind, recordId, after } of images.records) {
      const now = (await owners.ownerOf(kind).image(context, recordId, "change")) ?? null;
      if (now !== after) changed.push(`${kind} ${recordId}`);
    }
    if (changed.length > 0 && !discardChanges) {
      throw fail("FAILED_PRECONDITION", {
        public: `Records changed after the upgrade: ${changed.join(", ")}. Send discard_changes to lose these changes.`,
        extra: { changed_records: changed },
      });
    }
    // In reverse order: the records that refer to a new one are restored before it is deleted.
    for (const { kind, recordId, before } of images.records.toReversed()) {
      if (before === null) uses.push(...(await owners.usesOf(context, kind, recordId)));
      await owners.ownerOf(kind).restore(context, recordId, before ?? undefined);
    }
    if (uses.length > 0) throw inUse(uses);
    const rows = { installation: images.installation, records: images.installationRecords };
    await store.restore(tenantId, current.id, rows);
    const restored = (await store.find(tenantId, current.id))!;
    await requireAcceptedBy(context, restored, restored.version);
    const change = { id: ulid(nowMs), operation: "rollback", actor: principal.subject } as const;
    const versions = { fromVersion: current.version, toVersion: restored.version };
    await store.insertChange(tenantId, current.id, { ...change, ...versions }, new Date(nowMs));
    await events.record(context, "marketplace.pack.rolled_back", current.id, {
      ...{ publisher: current.publisher, name: current.name },
      ...{ from_version: current.version, version: restored.version },
    });
    return restored;
  };
}

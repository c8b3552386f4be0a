import { tryLockFor } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import type { ObjectStore } from "../../../platform/objects/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { ObjectMetrics } from "./object-metrics.ts";
import { type RemovableObject, removalStore } from "./removal-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly store: ObjectStore;
  readonly metrics: ObjectMetrics;
  readonly region: string;
  readonly platformTenantId: () => string;
}

const everyMs = 30_000;
const batchSize = 500;
/** The objects that are removed in one transaction, and at the same time. */
const objectsPerTransaction = 32;
const postponeMs = 10 * 60_000;
/** Temporary files are removed after this time. No upload takes as long. */
const abandonedAfterMs = 60 * 60_000;
/** How long the row of a removed object is kept, so that repeated calls still get their answers. */
const rowsKeptMs = 7 * 24 * 60 * 60_000;

/**
 * Creates the job that expires intents and removes objects without a record. Each region has a job of its own, because its
 * nodes reach its store only.
 */
export function removeObjectsJob(dependencies: Dependencies): JobKind {
  const { db, clock, store, metrics, region, platformTenantId } = dependencies;
  return {
    kind: `workflow.remove_objects.${region}`,
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const now = new Date(clock.now());
      const removals = removalStore(db.sql);
      await runInBatches(signal, batchSize, async (limit) => {
        const expired = await removals.expire(now, limit);
        if (expired > 0) metrics.ended("expired", expired);
        return expired;
      });
      await runInBatches(signal, batchSize, async (limit) => {
        const objects = await removals.findRemovable(region, now, limit);
        let progress = 0;
        for (const group of groupsOf(objects)) {
          signal.throwIfAborted();
          progress += await removeGroup(dependencies, group, now);
        }
        // Objects that another node is working on are left to the next run.
        return progress === 0 ? 0 : objects.length;
      });
      await runInBatches(signal, batchSize, (limit) =>
        removals.deleteRemoved(new Date(now.getTime() - rowsKeptMs), limit),
      );
      await store.removeAbandonedWrites(now.getTime() - abandonedAfterMs);
    },
  };
}

/**
 * Removes objects of one stream, unless it is held. The lock makes a hold wait, so that nothing is removed after the hold was
 * set. The bytes are removed first: after a crash they are removed again.
 */
async function removeGroup(
  { db, store, metrics, region }: Dependencies,
  group: RemovableObject[],
  now: Date,
): Promise<number> {
  const [first] = group;
  const { tenantId } = first!;
  const ids = group.map(({ id }) => id);
  return db.transaction(async (tx) => {
    const [row] = await tx<{ isLocked: boolean }[]>`
      select ${tryLockFor(tx, "stream_removals", first!.streamId)} as is_locked`;
    if (!row!.isLocked) return 0;
    const removals = removalStore(tx);
    if (await removals.isHeld(first!)) {
      await removals.postpone(tenantId, ids, new Date(now.getTime() + postponeMs));
      return group.length;
    }
    await Promise.all(group.map(({ objectKey }) => store.remove(objectKey)));
    await removals.setRemoved(tenantId, ids, region, now);
    metrics.removed(group.length);
    return group.length;
  });
}

/** Objects of the same stream, at most as many as one transaction removes. */
function groupsOf(objects: readonly RemovableObject[]): RemovableObject[][] {
  const groups: RemovableObject[][] = [];
  for (const ofStream of Map.groupBy(objects, ({ tenantId, streamId }) => `${tenantId}/${streamId}`).values()) {
    for (let at = 0; at < ofStream.length; at += objectsPerTransaction) {
      groups.push(ofStream.slice(at, at + objectsPerTransaction));
    }
  }
  return groups;
}

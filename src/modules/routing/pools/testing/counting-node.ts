import { announcedChanges } from "../../../../../test/harness/changes.ts";
import type { Database } from "../../../../platform/db/index.ts";
import { createSnapshots } from "../snapshots/snapshots.ts";

/** A node's cache of snapshots, with counts of what it asks the database; the test announces changes to it. */
export function countingNode(db: Database, recordsMax?: number) {
  const asked = { revisions: 0, loads: 0 };
  const next: { before?: () => Promise<unknown>; after?: () => Promise<unknown> } = {};
  const counted: Database = {
    ...db,
    sql: new Proxy(db.sql, {
      apply(target, self, args) {
        asked.revisions++;
        return Reflect.apply(target as never, self, args);
      },
    }),
    async transaction(work) {
      asked.loads++;
      const { before, after } = next;
      next.before = next.after = undefined;
      await before?.();
      const result = await db.transaction(work);
      await after?.();
      return result;
    },
  };
  const { changes: own, standing } = announcedChanges();
  const clock = { nowMs: 0 };
  const snapshots = createSnapshots({
    db: counted,
    changes: own,
    ...(recordsMax !== undefined && { recordsMax }),
    monotonicMs: () => clock.nowMs,
  });
  return {
    ...snapshots,
    asked,
    standing,
    /** Set by the test. */
    clock,
    announce: own.published,
    /** Has the next load wait for something before it begins. */
    beforeLoad: (wait: () => Promise<unknown>) => {
      next.before = wait;
    },
    /** Holds the next load back after it has read. */
    hold() {
      const read = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      next.after = () => {
        read.resolve();
        return released.promise;
      };
      return { read: read.promise, release: released.resolve };
    },
  };
}

import { announcedChanges } from "../../../../../test/harness/changes.ts";
import type { Database } from "../../../../platform/db/index.ts";
import { createSnapshots } from "../snapshots/snapshots.ts";

/** Creates the snapshot cache of a node that counts its database reads; the test announces changes to it. */
export function createCountingNode(
  db: Database,
  limits: { readonly recordsMax?: number; readonly tenantsMax?: number } = {},
) {
  const queries = { revisions: 0, loads: 0 };
  const next: { before?: () => Promise<unknown>; after?: () => Promise<unknown> } = {};
  const counted: Database = {
    ...db,
    sql: new Proxy(db.sql, {
      apply(target, self, args) {
        queries.revisions++;
        return Reflect.apply(target as never, self, args);
      },
    }),
    async transaction(work) {
      queries.loads++;
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
    ...limits,
    monotonicMs: () => clock.nowMs,
  });
  return {
    ...snapshots,
    queries,
    standing,
    /** The clock of the node, set by the test. */
    clock,
    announce: own.published,
    /** Delays the next load until the given promise resolves. */
    beforeLoad: (wait: () => Promise<unknown>) => {
      next.before = wait;
    },
    /** Blocks the next load after it has read. */
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

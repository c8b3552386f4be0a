import type { Clock } from "../../../platform/clock/clock.ts";
import type { Database } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { retentionMs } from "./domain/connect-session.ts";
import type { SessionEnder } from "./session-end.ts";
import { connectSessionStore } from "./store.ts";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ender: SessionEnder;
  readonly platformTenantId: () => string;
}

const everyMs = 60_000;
const expiredAtOnce = 100;
const deletedAtOnce = 1000;

/** Ends sessions whose time is over, erases their one-time values, and deletes sessions that ended long ago. */
export function expiredSessionsJob({ db, clock, ender, platformTenantId }: Dependencies): JobKind {
  return {
    kind: "connector.expire_connect_sessions",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      await runInBatches(signal, expiredAtOnce, async (limit) => {
        const nowMs = clock.now();
        return db.transaction(async (tx) => {
          const expired = await connectSessionStore(tx).lockExpired(new Date(nowMs), limit);
          for (const session of expired) {
            const context = { tenantId: session.tenantId, sql: tx, nowMs, afterCommit: tx.afterCommit };
            await ender.end(context, session, { status: "expired" });
          }
          return expired.length;
        });
      });
      await runInBatches(signal, deletedAtOnce, (limit) =>
        connectSessionStore(db.sql).deleteEnded(new Date(clock.now() - retentionMs), limit),
      );
    },
  };
}

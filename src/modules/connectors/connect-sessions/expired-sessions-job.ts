import { type RetentionDependencies, retentionJob } from "../../../platform/jobs/index.ts";
import { retentionMs } from "./domain/connect-session.ts";
import type { SessionEnder } from "./session-end.ts";
import { connectSessionStore } from "./store.ts";

interface Dependencies extends RetentionDependencies {
  readonly ender: SessionEnder;
}

/** Ends sessions whose time is over, erases their one-time values, and deletes sessions that ended long ago. */
export function expiredSessionsJob(dependencies: Dependencies) {
  const { db, ender } = dependencies;

  function endExpired(now: Date, limit: number): Promise<number> {
    return db.transaction(async (tx) => {
      const expired = await connectSessionStore(tx).lockExpired(now, limit);
      for (const session of expired) {
        const context = { tenantId: session.tenantId, sql: tx, nowMs: now.getTime(), afterCommit: tx.afterCommit };
        await ender.end(context, session, { status: "expired" });
      }
      return expired.length;
    });
  }

  return retentionJob(dependencies, {
    ...{ kind: "connector.expire_connect_sessions", everyMs: 60_000, batchSize: 1000 },
    rows: [
      { batchSize: 100, expire: (_, now, limit) => endExpired(now, limit) },
      { ageMs: retentionMs, expire: (sql, before, limit) => connectSessionStore(sql).deleteEnded(before, limit) },
    ],
  });
}

import type { JobKind } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Renewals } from "./renewal.ts";
import { subscriptionStore } from "./store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly renewals: Renewals;
  readonly platformTenantId: () => string;
}

const batchSize = 100;

/** Creates the job that renews the subscriptions whose period has ended. */
export function renewalJob({ db, clock, renewals, platformTenantId }: Dependencies) {
  async function renewAll(nowMs: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const ended = await subscriptionStore(db.sql).findEndedPeriods("open", new Date(nowMs), batchSize);
      for (const { tenantId } of ended) {
        if (signal.aborted) return;
        await db.transaction(async (sql) => {
          const locked = await subscriptionStore(sql).lock(tenantId);
          const context = { tenantId, sql, nowMs, afterCommit: sql.afterCommit };
          if (locked !== undefined) await renewals.renew(context, locked);
        });
      }
      if (ended.length < batchSize) return;
    }
  }

  const job: JobKind = {
    kind: "billing.renew",
    every: { ms: 60_000, tenantId: platformTenantId },
    handler: ({ signal }) => renewAll(clock.now(), signal),
  };
  return { job, renewAll };
}

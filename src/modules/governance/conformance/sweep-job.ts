import type { Clock } from "../../../platform/clock/clock.ts";
import type { Database } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import type { ScratchTenants } from "../../tenancy/index.ts";
import { inTenant } from "../../tenant-work.ts";
import { reportStore } from "./report-store.ts";
import type { RunEnder } from "./run-end.ts";
import { releaseSandbox } from "./run-executor.ts";
import { runStore } from "./run-store.ts";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ender: RunEnder;
  readonly scratchTenants: ScratchTenants;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
}

const everyMs = 60_000;
/** How long the node that executes a run has for its own cleaning up. */
const graceMs = 30_000;
const sweptAtOnce = 100;
const deletedAtOnce = 1000;

/** Ends runs that nobody executes any more, removes what crashes left behind, and deletes old runs and reports. */
export function conformanceSweepJob(dependencies: Dependencies): JobKind {
  const { db, clock, ender, retentionDays, platformTenantId } = dependencies;
  const before = (ms: number) => new Date(clock.now() - ms);
  return {
    kind: "conformance.sweep",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      await runInBatches(signal, sweptAtOnce, async (limit) => {
        const overdue = await runStore(db.sql).findOverdue(before(graceMs), limit);
        for (const { tenantId, id } of overdue) {
          await inTenant(dependencies, tenantId, (context) => ender.end(context, { tenantId, id }, "expire"));
        }
        return overdue.length;
      });
      await runInBatches(signal, sweptAtOnce, async (limit) => {
        const left = await runStore(db.sql).findWithScratchTenants(before(graceMs), limit);
        for (const run of left)
          await inTenant(dependencies, run.tenantId, (context) => releaseSandbox(dependencies, context, run));
        return left.length;
      });
      const old = before(retentionDays * 86_400_000);
      await runInBatches(signal, deletedAtOnce, (limit) => runStore(db.sql).deleteEnded(old, limit));
      await runInBatches(signal, deletedAtOnce, (limit) => reportStore(db.sql).deleteOld(old, limit));
    },
  };
}

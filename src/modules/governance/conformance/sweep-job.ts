import type { Sql } from "../../../platform/db/index.ts";
import { type RetentionDependencies, retentionJob } from "../../../platform/jobs/index.ts";
import type { ScratchTenants } from "../../tenancy/index.ts";
import { inTenant } from "../../tenant-work.ts";
import type { RunEnder } from "./run-end.ts";
import { releaseSandbox } from "./run-executor.ts";
import { runStore } from "./run-store.ts";

interface Dependencies extends RetentionDependencies {
  readonly ender: RunEnder;
  readonly scratchTenants: ScratchTenants;
  readonly retentionDays: number;
}

/** How long the node that executes a run has for its own cleaning up. */
const graceMs = 30_000;
const batchSize = 100;

/** Ends runs that nobody executes any more, removes what crashes left behind, and deletes old runs and reports. */
export function conformanceSweepJob(dependencies: Dependencies) {
  const { ender, retentionDays } = dependencies;
  const old = { ageMs: retentionDays * 86_400_000, oldestFirst: true };

  async function endOverdue(sql: Sql, before: Date, limit: number): Promise<number> {
    const overdue = await runStore(sql).findOverdue(before, limit);
    for (const { tenantId, id } of overdue) {
      await inTenant(dependencies, tenantId, (context) => ender.end(context, { tenantId, id }, "expire"));
    }
    return overdue.length;
  }

  async function releaseSandboxes(sql: Sql, before: Date, limit: number): Promise<number> {
    const left = await runStore(sql).findWithScratchTenants(before, limit);
    for (const run of left) {
      await inTenant(dependencies, run.tenantId, (context) => releaseSandbox(dependencies, context, run));
    }
    return left.length;
  }

  return retentionJob(dependencies, {
    ...{ kind: "conformance.sweep", everyMs: 60_000, batchSize: 1000 },
    rows: [
      { ageMs: graceMs, batchSize, expire: endOverdue },
      { ageMs: graceMs, batchSize, expire: releaseSandboxes },
      {
        ...{ ...old, table: "conformance_runs", column: "ended_at" },
        where: (sql) => sql`scratch_tenant_ids = '{}'`,
      },
      { ...old, table: "conformance_reports", column: "last_produced_at" },
    ],
  });
}

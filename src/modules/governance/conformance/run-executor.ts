import type { TenantId } from "../../../platform/access/index.ts";
import { nextWake } from "../../../platform/db/index.ts";
import { enqueueJobs, type Job, type JobKind } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventContext } from "../../operations/index.ts";
import type { ScratchTenants } from "../../tenancy/index.ts";
import { inTenant } from "../../tenant-work.ts";
import type { CaseRunner } from "./case-runner.ts";
import type { CaseResult } from "./domain/case-result.ts";
import type { Build } from "./domain/report.ts";
import type { ConformanceRun } from "./domain/run.ts";
import { buildReport } from "./report-builder.ts";
import { reportStore } from "./report-store.ts";
import { type RunEnder, runTopic } from "./run-end.ts";
import { runStore } from "./run-store.ts";
import type { ConformanceSuite, SandboxKeys } from "./sandbox/index.ts";

/** The kind of the job that executes a run. */
const executeRunKind = "conformance.execute_run";

/** Who creates scratch tenants. */
const subject = "service:conformance";
/** How often a node checks whether a run that it executes was cancelled, besides the signal. */
const checkMs = 2000;
/** How long a run waits for another one to end before it looks again. */
const busyMs = 1000;
const attemptsMax = 3;

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "signals"> {
  readonly suites: ReadonlyMap<string, ConformanceSuite>;
  readonly runCases: CaseRunner;
  readonly scratchTenants: ScratchTenants;
  readonly ender: RunEnder;
  readonly build: () => Build;
  readonly runningMax: number;
}

/** Creates the job that executes runs. A run that loses its node is executed again, from the beginning. */
export function executeRunJob(dependencies: Dependencies): JobKind {
  const { db, clock, runCases, ender } = dependencies;

  async function begin({ tenantId, runId }: { tenantId: TenantId; runId: string }) {
    return db.transaction((tx) => runStore(tx).begin(tenantId, runId, dependencies.runningMax, new Date(clock.now())));
  }

  async function execute(run: ConformanceRun, job: Job): Promise<void> {
    const suite = dependencies.suites.get(run.suiteId)!;
    const keys = await createSandbox(dependencies, run);
    const results: CaseResult[] = [];
    const store = runStore(db.sql);
    const watch = watchRun(dependencies, run, job.signal);
    try {
      await runCases(suite.cases, { mode: run.mode, keys, signal: watch.signal }, async (result) => {
        results.push(result);
        const isCurrent = await store.advance(run, results.length, new Date(clock.now()));
        if (!isCurrent) throw new RunStopped("ended");
      });
    } finally {
      watch.stop();
    }
    const report = buildReport(run, suite, dependencies.build(), results);
    await inTenant(dependencies, run.tenantId, async (context) => {
      const completed = await ender.complete(context, run, report);
      if (completed !== undefined) await reportStore(context.sql).upsert(completed, report, new Date(context.nowMs));
    });
  }

  return {
    kind: executeRunKind,
    async handler(job) {
      const tenantId = job.tenantId as TenantId;
      const { runId } = job.payload as { readonly runId: string };
      const run = await begin({ tenantId, runId });
      if (run === undefined) return;
      if (run === "busy") {
        const nowMs = clock.now();
        return enqueueJobs(db.sql, [newRunJob(tenantId, runId, nowMs + busyMs)], nowMs);
      }
      try {
        await execute(run, job);
      } catch (error) {
        job.signal.throwIfAborted();
        if (error instanceof RunStopped && error.why === "ended") return;
        const isOverdue = error instanceof RunStopped;
        if (!isOverdue && job.attempt < attemptsMax) throw error;
        await inTenant(dependencies, tenantId, (context) => ender.end(context, run, isOverdue ? "expire" : "give_up"));
        if (!isOverdue) throw error;
      } finally {
        await removeSandbox(dependencies, run);
      }
    },
  };
}

export function newRunJob(tenantId: TenantId, runId: string, runAtMs: number) {
  return { tenantId, kind: executeRunKind, payload: { runId }, runAt: new Date(runAtMs), maxAttempts: attemptsMax };
}

/** The execution of a run must stop: the run has ended, or its deadline has passed. */
class RunStopped extends Error {
  readonly why: "ended" | "overdue";

  constructor(why: "ended" | "overdue") {
    super(`The run is ${why}.`);
    this.why = why;
  }
}

/** Aborts the execution when the run ends otherwise, its deadline passes, or the node stops. */
function watchRun({ db, clock, signals }: Dependencies, run: ConformanceRun, stopping: AbortSignal) {
  const stopped = new AbortController();
  const overdue = setTimeout(
    () => stopped.abort(new RunStopped("overdue")),
    Math.max(0, run.deadlineAt.getTime() - clock.now()),
  );
  const signal = AbortSignal.any([stopping, stopped.signal]);
  const watch = async () => {
    while (!signal.aborted) {
      const wake = nextWake(signals, runTopic(run), signal, checkMs);
      await wake.reason;
      wake.cancel();
      if (!signal.aborted && !(await runStore(db.sql).isCurrent(run))) stopped.abort(new RunStopped("ended"));
    }
  };
  watch().catch((error) => stopped.abort(error));
  return {
    signal,
    stop() {
      clearTimeout(overdue);
      stopped.abort(new RunStopped("ended"));
    },
  };
}

/** Creates the scratch tenants of an execution, and removes those of an execution before it. A dry run has no admins. */
function createSandbox({ db, clock, scratchTenants }: Dependencies, run: ConformanceRun): Promise<SandboxKeys> {
  return inTenant({ db, clock }, run.tenantId, async (context) => {
    const work = { ...context, subject };
    for (const id of run.scratchTenantIds) await scratchTenants.remove(work, id);
    // The keys outlive the run by little, even if nothing removes their tenant.
    const expiresAt = new Date(run.deadlineAt.getTime() + 60_000);
    const admin = { roles: ["admin"], expiresAt };
    const isSandbox = run.mode === "sandbox";
    const { id, keys } = await scratchTenants.create(work, `Conformance run ${run.id}`, {
      viewer: { roles: ["viewer"], expiresAt },
      stranger: { expiresAt },
      ...(isSandbox && { admin }),
    });
    const other = isSandbox && (await scratchTenants.create(work, `Neighbour of run ${run.id}`, { neighbour: admin }));
    const ids = other ? [id, other.id] : [id];
    if (!(await runStore(context.sql).setScratchTenants(run, ids))) throw new RunStopped("ended");
    return { ...keys, ...(other ? other.keys : {}) };
  });
}

/** Removes the scratch tenants of an execution. If this fails, the sweeper does it. */
async function removeSandbox(
  dependencies: Pick<Dependencies, "db" | "clock" | "scratchTenants">,
  run: ConformanceRun,
): Promise<void> {
  await inTenant(dependencies, run.tenantId, (context) => releaseSandbox(dependencies, context, run)).catch(
    () => undefined,
  );
}

/** Removes the scratch tenants that the newest execution of a run has, unless a later execution has begun. */
export async function releaseSandbox(
  { scratchTenants }: Pick<Dependencies, "scratchTenants">,
  context: EventContext,
  { tenantId, id, attempt, environmentId }: ConformanceRun,
): Promise<void> {
  const store = runStore(context.sql);
  const current = await store.find(tenantId, environmentId, id);
  if (current === undefined || current.attempt !== attempt) return;
  for (const scratchId of current.scratchTenantIds) await scratchTenants.remove({ ...context, subject }, scratchId);
  await store.clearScratchTenants(current);
}

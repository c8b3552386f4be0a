import type { TenantId } from "../../../../platform/access/index.ts";
import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";
import { type Batcher, createBatcher, type Database } from "../../../../platform/db/index.ts";
import { parseToken } from "../domain/lease-token.ts";
import type { RunEngine, TaskEvent } from "../domain/run-engine.ts";
import type { TaskQueue } from "../domain/task.ts";
import type { TaskMetrics } from "../task-metrics.ts";
import type { WorkerRegistry } from "../workers/worker-registry.ts";
import * as store from "./report-store.ts";

/** Applies what workers report about their tasks. */
export type ReportService = ReturnType<typeof createReportService>;

/** The events that workers report. */
export type ReportedEvent = Exclude<TaskEvent, { kind: "attempt_lost" }>;

interface Dependencies {
  readonly db: Database;
  readonly engine: RunEngine;
  readonly workers: Pick<WorkerRegistry, "touch">;
  readonly metrics: TaskMetrics;
  readonly wake: (queue: TaskQueue) => void;
}

const rememberedMax = 10_000;

/** Creates the service. Reports that arrive together share a statement. */
export function createReportService({ db, engine, workers, metrics, wake }: Dependencies) {
  const heartbeats = createBatcher<store.Heartbeat, store.HeartbeatResult>({
    flush: (inputs) => store.extendLeases(db.sql, inputs),
  });
  const releases = leaseBatcher(store.releaseLeases);
  const refusals = leaseBatcher(store.refuseTasks);
  // The kinds of the last applied events by token, so that a repeated report gets the first result.
  const applied = new BoundedCache<string, ReportedEvent["kind"]>(rememberedMax);

  /** Batches statements that end leases. */
  function leaseBatcher(end: typeof store.releaseLeases): Batcher<store.LeaseRef, boolean> {
    return createBatcher({
      async flush(leases: store.LeaseRef[]) {
        const ended = await end(db.sql, leases);
        for (const task of ended) wake(task);
        const names = new Set(ended.map(leaseName));
        return leases.map((lease) => names.has(leaseName(lease)));
      },
    });
  }

  async function runOf(tenantId: TenantId, { taskId, token }: ReportedEvent): Promise<string | undefined> {
    const parsed = parseToken(token);
    if (parsed === undefined || parsed.runId !== "") return parsed?.runId;
    const [found] = await store.findRuns(db.sql, tenantId, [taskId]);
    return found?.runId;
  }

  return {
    async heartbeat(heartbeat: store.Heartbeat) {
      const result = await heartbeats.run(heartbeat);
      metrics.heartbeat(result.status);
      if (result.worker !== undefined) workers.touch(result.worker);
      return result;
    },
    /** Applies the result of an attempt. "stale": the attempt had already ended. */
    async finish(tenantId: TenantId, event: ReportedEvent) {
      const key = `${tenantId}/${event.taskId}/${event.token}`;
      const runId = await runOf(tenantId, event);
      const result = runId === undefined ? "stale" : await engine.apply(tenantId, runId, event);
      if (result === "applied") {
        applied.set(key, event.kind);
        metrics.changed(event.kind === "attempt_succeeded" ? "completed" : "failed");
        return "applied";
      }
      if (applied.get(key) === event.kind) return "applied";
      metrics.changed("stale");
      return "stale";
    },
    /** Parks a task until a worker of another build polls; returns whether the lease was held. */
    async refuse(lease: store.LeaseRef) {
      const isHeld = await refusals.run(lease);
      metrics.changed(isHeld ? "incompatible" : "stale");
      return isHeld;
    },
    /** Makes a task ready again without counting the attempt; returns whether the lease was held. */
    async release(lease: store.LeaseRef) {
      const isHeld = await releases.run(lease);
      metrics.changed(isHeld ? "released" : "stale");
      return isHeld;
    },
    async idle() {
      await Promise.all([heartbeats.idle(), releases.idle(), refusals.idle()]);
    },
  };
}

function leaseName({ tenantId, id, token }: store.LeaseRef): string {
  return `${tenantId}/${id}/${token}`;
}

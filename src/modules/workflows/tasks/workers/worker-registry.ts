import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";
import { createBatcher, type Database, type Sql } from "../../../../platform/db/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import { matcherName } from "../domain/capabilities.ts";
import { queueName } from "../domain/task.ts";
import { deleteWorkers, touchWorkers, upsertWorkers, type WorkerRef, type WorkerReport } from "./worker-store.ts";

/** Records which workers poll. It is for people and reasons only; nothing waits for its writes. */
export type WorkerRegistry = ReturnType<typeof createWorkerRegistry>;

interface Dependencies {
  readonly db: Database;
  readonly log: Pick<Log, "warn">;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

interface LastWrite {
  readonly atMs: number;
  /** The worker's report about itself; undefined if it is not known on this node. */
  readonly description: string | undefined;
}

const writeEveryMs = 5000;
const rememberedMax = 10_000;

/** Creates the registry. An unchanged worker is written every few seconds at most. */
export function createWorkerRegistry({ db, log, nowMs = () => performance.now() }: Dependencies) {
  const written = new BoundedCache<string, LastWrite>(rememberedMax);
  /** Batches writes. Only the last one of each worker counts. */
  const batched = <W extends WorkerRef>(write: (sql: Sql, workers: readonly W[]) => Promise<void>) =>
    createBatcher<W, void>({
      async flush(workers) {
        await write(db.sql, [...new Map(workers.map((worker) => [workerName(worker), worker])).values()]);
        return workers.map(() => undefined);
      },
    });
  const reports = batched<WorkerReport>(upsertWorkers);
  const touches = batched(touchWorkers);
  const departures = batched(deleteWorkers);

  /** The write is repeated with the next poll if it failed. */
  function onFailure(name: string) {
    return (error: unknown) => {
      written.delete(name);
      log.warn({ err: error }, "recording a workflow worker failed");
    };
  }

  return {
    /** Records that a worker polled. */
    report(worker: WorkerReport) {
      const name = workerName(worker);
      const description = `${worker.protocol} ${matcherName(worker.buildId, worker.capabilities)}`;
      const last = written.get(name);
      if (last?.description === description && nowMs() - last.atMs < writeEveryMs) return;
      written.set(name, { atMs: nowMs(), description });
      reports.run(worker).catch(onFailure(name));
    },
    /** Records that a worker is alive. */
    touch(worker: WorkerRef) {
      const name = workerName(worker);
      const last = written.get(name);
      if (last !== undefined && nowMs() - last.atMs < writeEveryMs) return;
      written.set(name, { atMs: nowMs(), description: last?.description });
      touches.run(worker).catch(onFailure(name));
    },
    /** Records that a worker disconnected. It is present again when it polls again. */
    leave(worker: WorkerRef) {
      const name = workerName(worker);
      written.delete(name);
      departures.run(worker).catch(onFailure(name));
    },
    async idle() {
      await Promise.all([reports.idle(), touches.idle(), departures.idle()]);
    },
  };
}

function workerName(worker: WorkerRef): string {
  return `${queueName(worker)}/${worker.workerId}`;
}

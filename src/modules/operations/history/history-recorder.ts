import { createRepeatedTask } from "../../../platform/jobs/index.ts";
import type { BackgroundWorker, PlatformServices } from "../../area.ts";
import { type HistoryRecorder, type HistorySource, startOfStep, steps } from "../../history-source.ts";
import { type CountedRecord, claimSample, storeCounts, storeVersionStart } from "./history-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log"> {
  readonly sources: () => readonly HistorySource[];
  readonly version: string;
}

const minuteMs = 60_000;
/** How long after the end of a minute its counts are stored, so that no node is still in the minute. */
const afterMs = 500;
const retryMs = 5000;

/**
 * Creates the recorder of this node. It keeps what happens in memory and stores it at the end of each minute, in one statement. One
 * node also takes the samples of the minute. A node that is killed loses what it has counted since the last minute.
 */
export function createHistoryRecorder({ db, clock, log, sources, version }: Dependencies) {
  let counted = new Map<string, CountedRecord>();
  let hasStarted = false;

  /** The counts of a record since they were stored last. */
  function countsOf({ tenantId, kind, id }: Pick<CountedRecord, "tenantId" | "kind" | "id">): CountedRecord {
    const key = `${tenantId} ${kind} ${id}`;
    let counts = counted.get(key);
    if (counts === undefined) {
      counts = { tenantId, kind, id, started: 0, completed: 0, failed: 0 };
      counted.set(key, counts);
    }
    return counts;
  }

  async function store(minute: Date): Promise<void> {
    if (counted.size === 0) return;
    const taken = [...counted.values()];
    counted = new Map();
    try {
      await storeCounts(db.sql, minute, taken);
    } catch (error) {
      for (const each of taken) {
        const counts = countsOf(each);
        counts.started += each.started;
        counts.completed += each.completed;
        counts.failed += each.failed;
      }
      throw error;
    }
  }

  async function sample(minute: Date): Promise<void> {
    await db.transaction(async (tx) => {
      if (!(await claimSample(tx, minute))) return;
      for (const source of sources()) await source.sample?.(tx, minute);
    });
  }

  const currentMinute = () => startOfStep(steps.short, new Date(clock.now()));

  /** Stores the minute that has ended. */
  async function recordMinute(): Promise<void> {
    const minute = new Date(currentMinute().getTime() - minuteMs);
    await store(minute);
    await sample(minute);
  }

  async function work(): Promise<number> {
    if (hasStarted) await recordMinute();
    else await storeVersionStart(db.sql, version, new Date(clock.now()));
    hasStarted = true;
    return minuteMs - (clock.now() % minuteMs) + afterMs;
  }

  const task = createRepeatedTask({
    work,
    maxWaitMs: minuteMs + afterMs,
    onError(error) {
      log.warn({ err: error }, "the history of the last minute could not be stored yet");
      task.runWithin(retryMs);
    },
  });
  const recorder: HistoryRecorder = {
    count(tenantId, kind, id, what) {
      countsOf({ tenantId, kind, id })[what]++;
    },
  };
  const service: BackgroundWorker = {
    start: task.start,
    async stop() {
      await task.stop();
      await store(currentMinute());
    },
  };
  return { recorder, service, recordMinute };
}

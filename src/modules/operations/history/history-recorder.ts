import { createRepeatedTask } from "../../../platform/jobs/index.ts";
import type { BackgroundWorker, PlatformServices } from "../../area.ts";
import { type HistoryRecorder, type HistorySource, startOfStep, steps } from "../../history-source.ts";
import { type CountedRecord, claimSample, type MinutePart, storeCounts, storeVersionStart } from "./history-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log"> {
  readonly sources: () => readonly HistorySource[];
  readonly version: string;
}

const minuteMs = 60_000;
/** How often a node stores what it has counted. */
const storeMs = 10_000;
/** How long after the end of a minute its counts are stored, so that no node is still in the minute. */
const afterMs = 500;
/** How long after that all nodes have stored their counts, as a rule. */
const settledMs = 500;
const retryMs = 5000;

/** How much of the current minute the nodes have stored. */
export function currentPart(nowMs: number): MinutePart {
  const atMs = nowMs - afterMs - settledMs;
  const minute = startOfStep(steps.minute, new Date(atMs));
  return { minute, seconds: (Math.floor((atMs - minute.getTime()) / storeMs) * storeMs) / 1000 };
}

/**
 * Creates the recorder of this node. It keeps what happens in memory and stores it every ten seconds, in one statement. At the end of
 * each minute, one node also takes its samples. A node that is killed loses what it has counted in the last ten seconds.
 */
export function createHistoryRecorder({ db, clock, log, sources, version }: Dependencies) {
  let counted = new Map<string, CountedRecord>();
  /** The minute in which this node last stored its counts; undefined before it has started. */
  let storedInMs: number | undefined;

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

  const currentMinute = () => startOfStep(steps.minute, new Date(clock.now()));

  /** Stores what has been counted and, if a minute has ended, takes its samples. */
  async function record(): Promise<void> {
    const current = currentMinute();
    const hasEnded = storedInMs !== undefined && current.getTime() > storedInMs;
    const minute = hasEnded ? new Date(current.getTime() - minuteMs) : current;
    await store(minute);
    if (hasEnded) await sample(minute);
    storedInMs = current.getTime();
  }

  async function work(): Promise<number> {
    if (storedInMs === undefined) await storeVersionStart(db.sql, version, new Date(clock.now()));
    await record();
    return storeMs - (clock.now() % storeMs) + afterMs;
  }

  const task = createRepeatedTask({
    work,
    maxWaitMs: storeMs + afterMs,
    onError(error) {
      log.warn({ err: error }, "the history could not be stored yet");
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
  return { recorder, service, record };
}

// Decides how many files run at a time: enough to keep the processors busy. Many files wait for most of their time, for
// deadlines, leases and other processes; others compute.
import { availableParallelism, cpus } from "node:os";

const sampleMs = 1000;
/** The share of idle time above which another file starts, and below which one less runs. */
const idleMax = 0.15;
const idleMin = 0.03;
/** More files would need more memory and database connections than they gain. */
const filesPerProcessorMax = 3;

/** Admits files while the processors have idle time. Pass the returned functions to `runTestFiles`. */
export function admitWhileIdle() {
  const [min, max] = [availableParallelism() + 1, filesPerProcessorMax * availableParallelism()];
  const waiting = [];
  let limit = min;
  let running = 0;
  let before = times();
  const timer = setInterval(() => {
    const now = times();
    const idle = (now.idle - before.idle) / Math.max(1, now.total - before.total);
    before = now;
    // A file that was just admitted is not busy yet, so the limit moves by one.
    if (idle > idleMax && running >= limit) limit = Math.min(limit + 1, max);
    else if (idle < idleMin) limit = Math.max(limit - 1, min);
    admit();
  }, sampleMs).unref();

  function admit() {
    while (running < limit && waiting.length > 0) {
      running++;
      waiting.shift()();
    }
  }

  return {
    max,
    /** Resolves when one more file may run. */
    begin: () => {
      const { promise, resolve } = Promise.withResolvers();
      waiting.push(resolve);
      admit();
      return promise;
    },
    end: () => {
      running--;
      admit();
    },
    stop: () => clearInterval(timer),
  };
}

/** The time that all processors together have spent since the machine started. */
function times() {
  let [idle, total] = [0, 0];
  for (const { times: each } of cpus()) {
    idle += each.idle;
    total += each.user + each.nice + each.sys + each.irq + each.idle;
  }
  return { idle, total };
}

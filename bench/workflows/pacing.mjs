// The measuring loop of a participant's process. All participants use the same loop.
import { cpuMs, databaseCpuMs } from "./processes.mjs";

/** Starts runs from concurrent callers for some seconds; returns the rate of runs that ended, latencies and CPU times. */
export async function runFor(lane, { callers, seconds, warmupSeconds, processes, postmaster }) {
  const startLatencies = [];
  const latencies = [];
  let measuring = false;
  let stopping = false;
  let errors = 0;
  let firstError;
  const failed = (error) => {
    errors++;
    firstError ??= error.message;
    if (errors >= 1_000) stopping = true;
  };
  await lane.open?.();
  const caller = async (_, number) => {
    const unfinished = new Set();
    while (!stopping) {
      const startedAt = performance.now();
      try {
        const { ended } = await lane.begin(number);
        if (measuring) startLatencies.push(performance.now() - startedAt);
        const run = Promise.resolve(ended)
          .then(() => measuring && latencies.push(performance.now() - startedAt), failed)
          .finally(() => unfinished.delete(run));
        unfinished.add(run);
      } catch (error) {
        failed(error);
      }
      if (unfinished.size >= (callers === 1 ? 1 : lane.ahead)) await Promise.race(unfinished);
    }
    await Promise.all(unfinished);
  };
  const all = Array.from({ length: callers }, caller);
  const cpu = () => ({
    own: process.cpuUsage(),
    service: cpuMs(processes),
    database: databaseCpuMs(postmaster),
  });
  await pause(warmupSeconds);
  measuring = true;
  const before = cpu();
  const measuredFrom = performance.now();
  await pause(seconds);
  // Slow engines: a rate needs at least one run per caller, within a limit.
  const patience = measuredFrom + seconds * 10_000;
  while (latencies.length < callers && performance.now() < patience && !stopping) await pause(0.1);
  measuring = false;
  const tookS = (performance.now() - measuredFrom) / 1000;
  const after = cpu();
  stopping = true;
  await Promise.all(all);
  await lane.close?.();
  const count = latencies.length;
  const own = after.own.user + after.own.system - before.own.user - before.own.system;
  return {
    ...{ name: lane.name, callers, count, perSecond: count / tookS, errors, ...(firstError && { firstError }) },
    ...{ startP50Ms: percentile(startLatencies, 0.5), p50Ms: percentile(latencies, 0.5) },
    p99Ms: percentile(latencies, 0.99),
    cpuUs: {
      own: own / count,
      service: ((after.service - before.service) * 1000) / count,
      database: ((after.database - before.database) * 1000) / count,
    },
  };
}

function percentile(values, share) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export function pause(seconds) {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

/** The ends of runs, by a name that both the starter and the place that sees the end know. */
export function createEnds() {
  const ends = new Map();
  const entry = (name) => {
    if (!ends.has(name)) ends.set(name, Promise.withResolvers());
    return ends.get(name);
  };
  return {
    /** Resolves when the run has ended. */
    wait: (name) => entry(name).promise.finally(() => ends.delete(name)),
    end: (name) => entry(name).resolve(),
  };
}

/** Starts `count` runs from 64 concurrent callers. */
export async function startMany(count, start) {
  let next = 0;
  const caller = async (_, number) => {
    while (next < count) await start(next++, number);
  };
  await Promise.all(Array.from({ length: 64 }, caller));
}

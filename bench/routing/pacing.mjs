// The measuring loops of a participant's process. All participants use the same loops.

/** Calls `add` from many concurrent callers, each with one call in flight, for some seconds. */
export async function acceptFor({ add, callers, items }, { seconds, warmupSeconds }) {
  const latencies = [];
  const failures = newFailures();
  let measuring = false;
  let stopping = false;
  const caller = async (_, number) => {
    while (!stopping) {
      const startedAt = performance.now();
      const failed = await failures.watch(() => add(number));
      if (measuring && !failed) latencies.push(performance.now() - startedAt);
    }
  };
  const all = Array.from({ length: callers }, caller);
  await pause(warmupSeconds);
  measuring = true;
  const measuredFrom = performance.now();
  await pause(seconds);
  // Large batches may take longer than that: a rate needs at least one response per caller, within a limit.
  const patience = measuredFrom + seconds * 10_000;
  while (latencies.length < callers && performance.now() < patience) await pause(0.1);
  measuring = false;
  const took = (performance.now() - measuredFrom) / 1000;
  stopping = true;
  await Promise.all(all);
  return { perSecond: (latencies.length * items) / took, ...percentiles(latencies), ...failures.summary() };
}

/** Calls `add` from many concurrent callers until `count` items are accepted; returns the duration. */
export async function acceptCount({ add, callers, items }, count) {
  const failures = newFailures();
  let left = Math.ceil(count / items);
  const caller = async (_, number) => {
    while (left > 0) {
      left--;
      await failures.watch(() => add(number));
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: callers }, caller));
  return { tookMs: performance.now() - startedAt, ...failures.summary() };
}

/**
 * Runs `workers` loops of `take(worker)`, which leases and completes some items and returns their number. Ends when
 * `target` items are done, when all loops find nothing, or at the deadline; then waits for the work that `finish`
 * reports as still running.
 */
export async function drainInLoops({ take, finish, workers, target, limitMs }) {
  const startedAt = performance.now();
  const deadline = startedAt + limitMs;
  let done = 0;
  const worker = async (_, number) => {
    let vain = 0;
    while (done < target && vain < 10 && performance.now() < deadline) {
      const taken = await take(number);
      done += taken;
      vain = taken > 0 ? 0 : vain + 1;
      // For a moment the other workers may hold all items.
      if (vain > 0) await pause(0.005);
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  await finish?.();
  return { done, tookMs: performance.now() - startedAt };
}

function percentiles(latencies) {
  const sorted = Float64Array.from(latencies).sort();
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99), count: sorted.length };
}

export function pause(seconds) {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

// A failed call is counted in the table; when no call succeeds, the first error is thrown.
function newFailures() {
  let errors = 0;
  let firstError;
  return {
    async watch(work) {
      try {
        await work();
        return false;
      } catch (error) {
        errors++;
        firstError ??= error.message;
        if (errors >= 1_000) throw error;
        return true;
      }
    },
    summary: () => ({ errors, ...(firstError !== undefined && { firstError }) }),
  };
}

/** What one process has used so far. */
export interface ProcessSample {
  /** The number of the process; empty if there is only one. */
  readonly process: string;
  readonly pid: number;
  readonly startedAtS: number;
  readonly calls: number;
  readonly cpuS: number;
  readonly memoryBytes: number;
  /** The lateness of the event loop since the sample before, in seconds. */
  readonly lateP50S: number;
  readonly lateP99S: number;
}

/** A queue as the service describes it. */
export interface QueueSample {
  readonly pool_name: string;
  readonly depth: number;
  readonly in_flight: number;
  readonly oldest_age_s: number;
  readonly throughput_today: number;
}

/** What the service was doing at one time. */
export interface TopSample {
  readonly atMs: number;
  readonly processes: readonly ProcessSample[];
  readonly queues: readonly QueueSample[];
}

/** Reads the processes of a machine from its metrics. */
export function readProcesses(metrics: string): ProcessSample[] {
  const readValue = (name: string, process: string, more = "") => {
    const labels = [process === "" ? "" : `process="${process}"`, more].filter((label) => label !== "").join(",");
    const head = `\n${name}${labels === "" ? "" : `{${labels}}`} `;
    const at = metrics.indexOf(head);
    return at < 0 ? Number.NaN : Number.parseFloat(metrics.slice(at + head.length));
  };
  const found = Array.from(metrics.matchAll(/^process_pid(?:\{process="(\d+)"\})? /gm), ([, number = ""]) => number);
  return found.sort().map((process) => ({
    process,
    pid: readValue("process_pid", process),
    startedAtS: readValue("process_start_time_seconds", process),
    calls: readValue("process_calls_total", process),
    cpuS: readValue("process_cpu_seconds_total", process),
    memoryBytes: readValue("process_resident_memory_bytes", process),
    lateP50S: readValue("nodejs_eventloop_delay_seconds", process, 'quantile="0.5"'),
    lateP99S: readValue("nodejs_eventloop_delay_seconds", process, 'quantile="0.99"'),
  }));
}

/** What the service did between two samples. */
export function compareSamples(before: TopSample, now: TopSample) {
  const seconds = (now.atMs - before.atMs) / 1000;
  const rate = (count: number, countBefore = count) => Math.max(0, count - countBefore) / seconds;
  return {
    processes: now.processes.map((each) => {
      const last = before.processes.find(({ pid }) => pid === each.pid);
      return {
        process: each.process,
        pid: each.pid,
        uptime_s: Math.round(now.atMs / 1000 - each.startedAtS),
        calls_per_s: rate(each.calls, last?.calls),
        cpu_share: rate(each.cpuS, last?.cpuS),
        memory_bytes: each.memoryBytes,
        late_p50_ms: each.lateP50S * 1000,
        late_p99_ms: each.lateP99S * 1000,
      };
    }),
    queues: now.queues
      .map((each) => ({
        pool: each.pool_name,
        depth: each.depth,
        in_flight: each.in_flight,
        oldest_s: each.oldest_age_s,
        completed_per_s: rate(
          each.throughput_today,
          before.queues.find(({ pool_name }) => pool_name === each.pool_name)?.throughput_today,
        ),
      }))
      .sort((a, b) => b.completed_per_s - a.completed_per_s || b.in_flight + b.depth - (a.in_flight + a.depth)),
  };
}

// Loaded into a node before its main program: measures how late its event loop is, and reports over the IPC channel.
import { createHistogram } from "node:perf_hooks";
import type { LoopLateness } from "./loop-lateness.ts";

const tickMs = 10;
const late = createHistogram();
let wallMaxMs = 0;
let rssMaxBytes = 0;
let tickedAtMs = performance.now();
let cpuAtTick = process.threadCpuUsage();

function tick(): void {
  const nowMs = performance.now();
  const { user, system } = process.threadCpuUsage(cpuAtTick);
  const wallMs = nowMs - tickedAtMs - tickMs;
  wallMaxMs = Math.max(wallMaxMs, wallMs);
  rssMaxBytes = Math.max(rssMaxBytes, process.memoryUsage.rss());
  // A caller that arrives in the middle of a long turn waits for the rest of it: each 10 ms of time is one sample.
  let lateMs = Math.max(0, Math.min(wallMs, (user + system) / 1000));
  do {
    late.record(Math.round(lateMs * 1000) + 1);
    lateMs -= tickMs;
  } while (lateMs > 0);
  tickedAtMs = nowMs;
  cpuAtTick = process.threadCpuUsage();
}

function report(): LoopLateness {
  tick();
  const lateness = { p999Ms: late.percentile(99.9) / 1000, maxMs: late.max / 1000, wallMaxMs, rssMaxBytes };
  late.reset();
  wallMaxMs = 0;
  rssMaxBytes = 0;
  return lateness;
}

setInterval(tick, tickMs).unref();
process.on("message", () => process.send!(report()));
process.channel!.unref();

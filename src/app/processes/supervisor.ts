import { setTimeout as delay } from "node:timers/promises";
import type { Config } from "../../config/index.ts";
import { fail } from "../../errors/index.ts";
import type { Audit } from "../../platform/audit/index.ts";
import { type Backoff, backoffMs } from "../../platform/backoff/backoff.ts";
import type { Log } from "../../platform/log/log.ts";
import { createMetricsMerger } from "../../platform/telemetry/merged-metrics.ts";
import { namedTenantsMax } from "../telemetry/process-telemetry.ts";
import { type ChildProcess, type ProcessEnd, startChildProcess } from "./child-process.ts";
import { mergeReadiness } from "./merged-readiness.ts";
import type { ProcessCalls, StartReport, StopMode, SupervisorCalls } from "./process-calls.ts";
import { createSharedListeners } from "./shared-listeners.ts";

interface Dependencies {
  readonly config: Config;
  readonly count: number;
  /** The database that was started for the processes; empty for the one of the settings. */
  readonly databaseUrl: string;
  readonly audit: Audit | undefined;
  readonly log: Log;
  /** Ends the start. */
  readonly stopping: AbortSignal;
}

/** The processes of this machine. */
export interface Supervisor extends Pick<ProcessCalls, "linkApprover"> {
  readonly report: StartReport;
  /** Resolves with the end of a process if none serves and none can be started. */
  readonly lost: Promise<ProcessEnd>;
  /** Replaces all processes, one after another. */
  roll(): Promise<void>;
  stop(mode: StopMode): Promise<void>;
}

/** The place of one process, which others take over. */
interface Slot {
  readonly number: number;
  child: ChildProcess | undefined;
  /** Ends in a row of processes that did not serve for long. */
  failures: number;
  isRolling: boolean;
}

const restartBackoff: Backoff = { firstMs: 100, maxMs: 15_000, spread: [1, 1.2] };
/** A process that served for so long does not count as a failure of its start. */
const soundMs = 60_000;
/** How long the text of the metrics is shown again. */
const snapshotMs = 1000;
/** How long a process may take to answer. Its own checks take a second at most. */
const answerMs = 1500;
/** How long a process may take to end beyond the times of the settings. */
const endMs = 15_000;

/**
 * Starts the processes of this machine and replaces those that end. Resolves when all serve, or with the end of the first one that
 * cannot start.
 */
export async function superviseProcesses(dependencies: Dependencies): Promise<Supervisor | ProcessEnd> {
  const { config, count, audit, log } = dependencies;
  const slots = Array.from({ length: count }, (_, i): Slot => {
    return { number: i + 1, child: undefined, failures: 0, isRolling: false };
  });
  /** All processes that run, with those that are being replaced. */
  const children = new Set<ChildProcess>();
  const listeners = createSharedListeners(config["server.max_connections"]);
  const merger = createMetricsMerger(namedTenantsMax(config));
  const { promise: lost, resolve: lose } = Promise.withResolvers<ProcessEnd>();
  const stopping = new AbortController();
  let isStarted = false;

  const shared = {
    metrics: shareFor(snapshotMs, renderMetrics),
    readiness: shareFor(0, async () => {
      const asked = slots.map(({ child }) => child?.state === "serving" && answerOf(child.calls.call("readiness")));
      return mergeReadiness(await Promise.all(asked.map((each) => each || undefined)));
    }),
    audit({ entry, time }: Parameters<SupervisorCalls["audit"]>[0]) {
      if (audit === undefined) throw fail("INTERNAL", { cause: new Error("There is no audit log.") });
      return audit.append(entry, time);
    },
    listen: ({ name, host, port }: Parameters<SupervisorCalls["listen"]>[0]) => listeners.listen(name, host, port),
  };

  async function renderMetrics(): Promise<string> {
    const all = [...children];
    await Promise.all(
      all.map(async (child) => {
        if (child.state === "starting") return;
        child.lastMetrics = (await answerOf(child.calls.call("metrics"))) ?? child.lastMetrics;
      }),
    );
    // What has ended meanwhile is among the ended ones.
    const living = all.filter((child) => children.has(child));
    const isCurrent = (child: ChildProcess) => slots.some((slot) => slot.child === child);
    return merger.render(
      living.map((child) => [isCurrent(child) ? child.number : undefined, child.lastMetrics] as const),
    );
  }

  /** Starts a process in a slot. It takes the place of the one before once it serves. */
  function startIn(slot: Slot, isFirst: boolean): ChildProcess {
    const place = { number: slot.number, count };
    const child = startChildProcess(
      {
        ...{ place, isFirst, hasAudit: audit !== undefined },
        ...{ config, databaseUrl: dependencies.databaseUrl },
      },
      shared,
      {
        onTaken: listeners.taken,
        // When all stop, nobody will take what would wait.
        onStopAccepting: () => stopping.signal.aborted && void listeners.close(),
      },
    );
    const startedAtMs = performance.now();
    children.add(child);
    void child.started.then((report) => report && listeners.add(child.taker));
    void child.ended.then((end) => {
      children.delete(child);
      listeners.remove(child.taker);
      merger.retire(child.lastMetrics);
      if (slot.child !== child || stopping.signal.aborted) return;
      slot.child = undefined;
      if (isStarted && !slot.isRolling) void replace(slot, end, performance.now() - startedAtMs);
    });
    return child;
  }

  /** Replaces a process that ended by itself. */
  async function replace(slot: Slot, end: ProcessEnd, servedMs: number): Promise<void> {
    slot.failures = servedMs > soundMs ? 1 : slot.failures + 1;
    const waitMs = backoffMs(restartBackoff, slot.failures, Math.random());
    log.error({ ended: slot.number, ...end, waitMs }, "a process ended and is replaced");
    await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
    if (stopping.signal.aborted) return;
    const child = startIn(slot, false);
    slot.child = child;
    if ((await child.started) !== undefined) return;
    if (slots.every((each) => each.child?.state !== "serving")) lose(await child.ended);
  }

  async function roll(): Promise<void> {
    for (const slot of slots) {
      const before = slot.child;
      if (stopping.signal.aborted || before === undefined) continue;
      slot.isRolling = true;
      const next = startIn(slot, false);
      const report = await next.started;
      slot.isRolling = false;
      if (report === undefined) {
        log.error({ kept: slot.number }, "the new process cannot start: the processes before it go on");
        if (slot.child === undefined) void replace(slot, await before.ended, 0);
        return;
      }
      slot.child = next;
      log.info({ replaced: slot.number, pid: next.pid }, "a new process serves");
      await before.stop("handover", killMs("handover"));
    }
  }

  function killMs(mode: StopMode): number {
    const { "server.drain_s": drainS, "server.shutdown_grace_s": graceS } = config;
    const waitS = { now: 0, drain: drainS, handover: graceS }[mode];
    return (waitS + graceS) * 1000 + endMs;
  }

  async function stop(mode: StopMode): Promise<void> {
    stopping.abort();
    if (mode === "now") await listeners.close();
    await Promise.all([...children].map((child) => child.stop(mode, killMs(mode))));
    await listeners.close();
  }

  /** Starts the process of each slot. Returns the end of one that cannot start. */
  async function startAll(some: readonly Slot[], isFirst: boolean): Promise<ProcessEnd | StartReport> {
    for (const slot of some) slot.child = startIn(slot, isFirst);
    const starts = some.map(async ({ child }) => (await child!.started) ?? child!.ended);
    const results = await Promise.all(starts);
    return results.find((result) => "code" in result) ?? results[0]!;
  }

  dependencies.stopping.addEventListener("abort", () => isStarted || void stop("now"));
  // The first one creates what exists once, such as the schema and the keys.
  const report = await startAll(slots.slice(0, 1), true);
  const others = "code" in report ? report : await startAll(slots.slice(1), false);
  const failed = [report, others].find((result) => "code" in result);
  if (failed !== undefined) {
    await stop("now");
    return failed as ProcessEnd;
  }
  isStarted = true;
  for (const slot of slots) if (slot.child === undefined) void replace(slot, { code: null, signal: null }, 0);
  log.info({ processes: slots.map(({ child }) => child?.pid) }, "all processes serve");
  let rolling = Promise.resolve();
  return {
    report: report as StartReport,
    linkApprover: (tenantId) => slots[0]!.child!.calls.call("linkApprover", tenantId),
    lost,
    roll: () => {
      rolling = rolling.then(roll);
      return rolling;
    },
    stop,
  };
}

/** Resolves with undefined if a process has ended or does not answer in time. */
function answerOf<T>(answer: Promise<T>): Promise<T | undefined> {
  return Promise.race([answer, delay(answerMs, undefined, { ref: false })]).catch(() => undefined);
}

/** Gives everybody who asks during the work, and for some time after its start, the same result. */
function shareFor<T>(keptMs: number, work: () => Promise<T>): () => Promise<T> {
  let shared: Promise<T> | undefined;
  let keptUntilMs = 0;
  return () => {
    const nowMs = performance.now();
    if (shared === undefined || nowMs >= keptUntilMs) {
      keptUntilMs = Number.POSITIVE_INFINITY;
      shared = work().finally(() => {
        keptUntilMs = nowMs + keptMs;
      });
    }
    return shared;
  };
}

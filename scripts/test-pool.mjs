// Runs test files in a small pool of worker processes, each of which runs many files.
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { PassThrough } from "node:stream";

const workerFile = new URL("test-worker.mjs", import.meta.url);
/** A file with this comment runs in its own process; the rest of the line says why. */
const ownProcess = /^\/\/ Own process: ./m;
/** Files that take longer than most. */
const slow = /\/(matrix|docs|console|chaos)\/|\/wire\/(bad-|chain-order)|crash|conformance/;

/** How long a file takes, relative to most files. */
export function weightOf(path) {
  return slow.test(path) ? 25 : 1;
}

/**
 * Runs test files and yields their events in the form of node:test's events.
 *   workers      The largest number of files that run concurrently.
 *   turns        Has each file begin when `begin` resolves, and calls `end` after it. Without it, every file begins at once.
 *   fileMsMax    The time limit of a file.
 *   lingerMsMax  The time that a file's open handles may stay open after its last test.
 *   signal       Aborts the run immediately.
 */
export async function* runTestFiles(files, { workers, turns, env = process.env, signal, ...limits }) {
  const events = new PassThrough({ objectMode: true });
  const startedAt = performance.now();
  const total = { tests: 0, passed: 0, failed: 0, skipped: 0 };
  const paths = files.map((file) => resolve(file));
  const alone = paths.filter((path) => ownProcess.test(readFileSync(path, "utf8")));
  // The slow files start first, so that none of them runs alone at the end.
  const isFirst = (path) => alone.includes(path) || weightOf(path) > 1;
  const queue = [...paths.filter(isFirst), ...paths.filter((path) => !isFirst(path))];

  async function runQueue() {
    let shared;
    while (queue.length > 0 && !signal?.aborted) {
      await turns?.begin();
      const file = queue.shift();
      if (file === undefined) {
        turns?.end();
        break;
      }
      const isAlone = alone.includes(file);
      const worker = isAlone || !shared?.isAlive() ? startWorker({ env, signal, ...limits }) : shared;
      const summary = await worker.run(file, (event) => events.write(event));
      for (const key of Object.keys(total)) total[key] += summary.counts[key];
      events.write({ type: "test:summary", data: summary });
      if (!isAlone && summary.usable) shared = worker;
      else await worker.end();
      if (!isAlone && !summary.usable) shared = undefined;
      turns?.end();
    }
    await shared?.end();
  }
  Promise.all(Array.from({ length: workers }, runQueue)).then(
    () => {
      const data = { counts: total, success: total.failed === 0, duration_ms: performance.now() - startedAt };
      events.end({ type: "test:summary", data });
    },
    (error) => events.destroy(error),
  );
  yield* events;
}

/** A process that runs one file at a time. */
function startWorker({ env, signal, fileMsMax, lingerMsMax = 20_000 }) {
  const child = fork(workerFile, { env, execArgv: [], serialization: "advanced" });
  const exited = new Promise((resolve) => child.once("exit", (code, by) => resolve(by ?? `exit code ${code}`)));
  const kill = () => child.kill("SIGTERM");
  signal?.addEventListener("abort", kill, { once: true });
  let isAlive = true;
  exited.then(() => {
    isAlive = false;
    signal?.removeEventListener("abort", kill);
  });
  let previous;

  /** Runs a file. Returns its summary even when the process crashes. */
  async function run(file, onEvent) {
    const startedAt = performance.now();
    const counts = { tests: 0, passed: 0, failed: 0, skipped: 0 };
    const finished = Promise.withResolvers();
    const running = new Set();
    child.on("message", (event) => {
      if (event.type === "test:summary") return finished.resolve(event.data);
      if (event.type === "test:dequeue") running.add(event.data.name);
      else if (event.type !== "test:start") running.delete(event.data.name);
      if (event.type === "test:pass" && !event.data.isSuite) counts.passed++;
      if (event.type === "test:fail" && !event.data.isSuite) counts.failed++;
      onEvent(event);
    });
    // An error here means that the process has ended, which is handled below.
    child.send({ file, lingerMsMax }, () => {});
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, fileMsMax);
    const summary = await Promise.race([finished.promise, exited]);
    clearTimeout(timer);
    child.removeAllListeners("message");
    if (typeof summary === "object") {
      previous = file;
      return summary;
    }
    const name = signal?.aborted
      ? "the run was interrupted"
      : isLate
        ? `the file did not end within ${Math.round(fileMsMax / 1000)} s`
        : `the process ended with ${summary} before the file did`;
    const error = [
      running.size > 0 && `Unfinished: ${[...running].join(", ")}`,
      previous !== undefined && `The file before it in this process: ${previous}`,
    ];
    onEvent({ type: "test:fail", data: { name, file, nesting: 0, error: error.filter(Boolean).join("\n") } });
    counts.failed++;
    counts.tests = counts.passed + counts.failed;
    return { file, success: false, counts, duration_ms: performance.now() - startedAt, usable: false };
  }

  async function end() {
    if (child.connected) child.disconnect();
    await exited;
  }
  return { run, end, isAlive: () => isAlive };
}

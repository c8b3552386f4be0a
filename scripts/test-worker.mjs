// Runs the test files that the parent process sends, one after another, and sends back their events. Modules are loaded
// and compiled once for all files, which is most of the cost of a short file.
import asyncHooks from "node:async_hooks";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { forgetLastUlid } from "../src/platform/ids/ulid.ts";
import { onCleanedUp } from "../test/harness/after-file.ts";

const { mock, run } = await loadTestRunner();
/** A test is dequeued when it starts to run; "test:start" comes in the order of the file, often later. */
const forwarded = new Set(["test:dequeue", "test:start", "test:pass", "test:fail"]);
const harness = new URL("../test/harness/after-file.ts", import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), "switchyard-test-worker-"));
let entries = 0;

process.on("message", async ({ file, lingerMsMax }) => {
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const counts = { tests: 0, passed: 0, failed: 0, skipped: 0 };
  const fail = (name, error) => {
    counts.failed++;
    send("test:fail", { name, file, nesting: 0, error });
  };
  const finish = (usable) => {
    const { user, system } = process.cpuUsage(cpuBefore);
    counts.tests = counts.passed + counts.failed + counts.skipped;
    send("test:summary", {
      file,
      success: counts.failed === 0,
      counts,
      duration_ms: performance.now() - startedAt,
      cpu_ms: (user + system) / 1000,
      usable,
    });
  };
  let linger;
  let isOver = false;
  onCleanedUp(() => {
    // A file whose event loop was empty for a moment is over before its hooks.
    if (isOver) return;
    linger = setTimeout(() => {
      fail(
        "the file leaves something open",
        `Open ${lingerMsMax / 1000} s after the last test: ${process.getActiveResourcesInfo().join(", ")}`,
      );
      finish(false);
      process.disconnect();
    }, lingerMsMax).unref();
  });
  // A run ends when nothing keeps the event loop alive, so the channel to the parent must not.
  process.channel.unref();
  process.exitCode = undefined;
  const entry = entryOf(file);
  const remarks = [];
  for await (const { type, data } of run({ files: [entry], isolation: "none", concurrency: 1 })) {
    if (type === "test:diagnostic") remarks.push(data.message);
    if (!forwarded.has(type)) continue;
    send(type, { ...plain(data), name: data.name, file });
    if (type === "test:dequeue" || type === "test:start" || (data.details?.type === "suite" && data.skip === undefined))
      continue;
    counts[data.skip !== undefined ? "skipped" : type === "test:pass" ? "passed" : "failed"]++;
  }
  isOver = true;
  clearTimeout(linger);
  // The next file runs in this process too.
  mock.reset();
  // Besides a diagnostic message, this is the only sign of an error outside every test.
  if (process.exitCode && counts.failed === 0) fail("an error outside of the tests", remarks.join("\n"));
  forgetLastUlid();
  finish(true);
});
process.on("beforeExit", () => process.channel?.ref());
process.on("disconnect", () => process.exit());
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
// Without a listener, a signal ends the process without its exit listeners, which kill the child processes of tests.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));

/**
 * Loads node:test so that its hook observes only tests, and not every promise of the service in this process, which takes
 * a seventh of the CPU time. The hook finds the test that a stray error belongs to. Without it, such an error fails the
 * file.
 */
async function loadTestRunner() {
  const { createHook } = asyncHooks;
  asyncHooks.createHook = ({ init, destroy }) =>
    createHook({
      init: (id, type, ...rest) => type === "Test" && init(id, type, ...rest),
      destroy,
      trackPromises: false,
    });
  try {
    return await import("node:test");
  } finally {
    asyncHooks.createHook = createHook;
  }
}

/** Writes a module that loads a test file and cleans up after its last test and its own hooks. */
function entryOf(file) {
  const path = join(folder, `${++entries}.mjs`);
  // A file that fails while it is loaded may have started something, which is cleaned up too.
  writeFileSync(
    path,
    `import { after, test } from "node:test";
     import { cleanUpFile } from "${harness}";
     try { await import("${pathToFileURL(file).href}"); }
     catch (error) { test("the file cannot be loaded", () => { throw error; }); }
     after(cleanUpFile);`,
  );
  return path;
}

function send(type, data) {
  process.send({ type, data });
}

/** The part of an event that reporters need. Errors become text because cloning an error loses most of it. */
function plain({ nesting, details, skip }) {
  const error = details?.error;
  return {
    nesting,
    skip,
    isSuite: details?.type === "suite",
    duration_ms: details?.duration_ms,
    ...(error !== undefined && { error: errorText(error.cause ?? error), failureType: error.failureType }),
  };
}

function errorText(error) {
  return error instanceof Error && error.cause === undefined ? (error.stack ?? error.message) : inspect(error);
}

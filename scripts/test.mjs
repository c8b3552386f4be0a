// Runs tests against one shared PostgreSQL server: node scripts/test.mjs [option …] [file, folder or glob …]
// Without paths it runs all tests. Within a test, it uses the server of the outer run.
//   --check   Run `npm run check` first, unless paths are given.
//   --long    Run every case, however long it takes.
//   --fuzz    Like --long, but only for tests with random or sampled cases, with a new seed.
//   --seed N  Use this seed for random and sampled cases.
//   --external  Use the PostgreSQL that is installed on this machine, with the defaults of its version, instead of the
//             embedded one; SWITCHYARD_TEST_POSTGRES names the folder of another one (for example: /usr/lib/postgresql/15).
//   --pooler  Connect through a PgBouncer in session mode.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { NODE_MAIN } from "../test/harness/node-process.ts";
import { startPgBouncer } from "../test/harness/pgbouncer.ts";
import {
  installedPostgres,
  SERVER_URL,
  startInstalledServer,
  startTestServer,
} from "../test/harness/postgres-server.ts";
import { admitWhileIdle } from "./idle-processors.mjs";
import { report, secondsText } from "./progress-reporter.mjs";
import { bundleNode } from "./service-bundle.mjs";
import { runTestFiles } from "./test-pool.mjs";

/** The slowest file takes one minute on an idle machine, and two on a busy one. */
const fileMsMax = 5 * 60_000;
const longFileMsMax = 120 * 60_000;
/** Every test is listed when a run has at most this many files. */
const shownFilesMax = 20;
const { values: options, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: "boolean" },
    long: { type: "boolean" },
    fuzz: { type: "boolean" },
    seed: { type: "string" },
    external: { type: "boolean" },
    pooler: { type: "boolean" },
  },
});
const fuzzed = /harness\/(random|run-size)\.ts|\/testing\/arbitrary/;
const seed = Number(options.seed ?? (options.fuzz ? Math.floor(Math.random() * 2 ** 31) : 1));
if (!Number.isInteger(seed)) {
  console.error(`--seed must be a whole number (for example: --seed 42), not ${options.seed}.`);
  process.exit(1);
}
const files = (paths.length === 0 ? testFilesIn(".") : paths.flatMap(filesOf)).filter(
  (file) => !options.fuzz || fuzzed.test(readFileSync(file, "utf8")),
);
const isLong = options.long || options.fuzz;
const isWhole = paths.length === 0 && !options.fuzz && !options.long;
const compiledDir = fileURLToPath(new URL("../node_modules/.cache/compiled", import.meta.url));
const lastRunFile = fileURLToPath(new URL("../node_modules/.switchyard-test-run.json", import.meta.url));

if (files.length === 0) {
  console.error(`No test files in ${paths.join(", ")}.`);
  process.exit(1);
}
if (isWhole) {
  const checks = options.check ? "The checks (about a minute), then " : "";
  console.log(`${checks}${files.length} test files, ${expectation()}.`);
  if (options.check) {
    const { status } = spawnSync(process.execPath, ["scripts/check.mjs"], { stdio: "inherit" });
    if (status !== 0) process.exit(status ?? 1);
  }
}
console.log(`Random and sampled cases use seed ${seed}.${options.fuzz ? ` Repeat with --seed ${seed}.` : ""}`);

const outerUrl = process.env[SERVER_URL];
// Within a test, nodes run the sources of this folder, which may be a copy with other sources.
const bundling = outerUrl === undefined ? (process.env[NODE_MAIN] ?? bundleNode().catch(() => undefined)) : undefined;
const server = outerUrl === undefined ? await startServer() : { url: outerUrl, stop: async () => {} };
const pooler = options.pooler ? await startPgBouncer(server.url, "session") : undefined;
const nodeMain = await bundling;
const startedAt = performance.now();
const interrupt = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => interrupt.abort());
const turns = admitWhileIdle();
const events = runTestFiles(files, {
  workers: turns.max,
  turns,
  fileMsMax: isLong ? longFileMsMax : fileMsMax,
  signal: interrupt.signal,
  env: {
    // Most files load the whole service. A compile cache halves their time.
    NODE_COMPILE_CACHE: compiledDir,
    ...process.env,
    [SERVER_URL]: pooler?.through(server.url) ?? server.url,
    [NODE_MAIN]: nodeMain,
    TEST_SEED: String(seed),
    ...(isLong && { TEST_LONG: "1" }),
  },
});
const success = await report(events, { files, showTests: files.length <= shownFilesMax });
turns.stop();
process.exitCode = success ? 0 : 1;
await pooler?.stop();
await server.stop();
if (isWhole && process.exitCode === 0) {
  writeFileSync(lastRunFile, JSON.stringify({ files: files.length, ms: performance.now() - startedAt }));
}

function startServer() {
  if (!options.external) return startTestServer();
  const folder = process.env.SWITCHYARD_TEST_POSTGRES ?? installedPostgres();
  if (folder === undefined) {
    console.error("No PostgreSQL is installed in /usr/lib/postgresql (on Debian: apt-get install postgresql).");
    process.exit(1);
  }
  console.log(`The tests use the PostgreSQL in ${folder}, with its default settings.`);
  return startInstalledServer(folder);
}

/** Lists the test files that a path, folder or glob names. */
function filesOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? testFilesIn(path) : globSync(path);
}

function testFilesIn(folder) {
  const folders = folder === "." ? ["src", "test"] : [folder];
  return globSync(folders.map((each) => `${each}/**/*.test.ts`)).sort();
}

/** Estimates the duration from the last full run on this machine, or from a default before the first. */
function expectation() {
  const guessMsPerFile = 1810;
  try {
    const { files: count, ms } = JSON.parse(readFileSync(lastRunFile, "utf8"));
    return `about ${secondsText((ms / count) * files.length)}, going by the last run`;
  } catch {
    return `about ${secondsText(guessMsPerFile * files.length)} on two cores`;
  }
}

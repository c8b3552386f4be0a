// Runs the tests on one PostgreSQL for all of them: node scripts/test.mjs [--check] [file or glob …]
// Without files it runs them all and shows how far it is; --check runs `npm run check` first.
import { spawn, spawnSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SERVER_URL, startTestServer } from "../test/harness/postgres-server.ts";
import { secondsText } from "./progress-reporter.mjs";

const concurrency = 2;
const named = process.argv.slice(2).filter((word) => word !== "--check");
const isCheckWanted = process.argv.includes("--check");
const isWhole = named.length === 0;
const files = isWhole ? globSync(["src/**/*.test.ts", "test/**/*.test.ts"]).sort() : named;
const lastRunFile = fileURLToPath(new URL("../node_modules/.switchyard-test-run.json", import.meta.url));

if (isWhole) {
  const checks = isCheckWanted ? "The checks (about a minute), then " : "";
  console.log(`${checks}${files.length} test files, ${expectation()}.`);
}
if (isCheckWanted) {
  const { status } = spawnSync(process.execPath, ["scripts/check.mjs"], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

const server = await startTestServer();
const startedAt = performance.now();
const reporter = isWhole ? new URL("progress-reporter.mjs", import.meta.url).href : "spec";
const tests = spawn(
  process.execPath,
  ["--test", `--test-concurrency=${concurrency}`, `--test-reporter=${reporter}`, ...files],
  { stdio: "inherit", env: { ...process.env, [SERVER_URL]: server.url, TEST_FILES: String(files.length) } },
);
// Interrupted, the tests end first: Ctrl-C reaches them by itself, other signals do not.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => tests.kill("SIGTERM"));
process.exitCode = await new Promise((resolve) => tests.once("exit", (code) => resolve(code ?? 1)));
await server.stop();
if (isWhole && process.exitCode === 0) {
  writeFileSync(lastRunFile, JSON.stringify({ files: files.length, ms: performance.now() - startedAt }));
}

/** How long it takes: what the last whole run on this machine took for each file, or a guess before the first. */
function expectation() {
  const guessMsPerFile = 3000;
  try {
    const { files: count, ms } = JSON.parse(readFileSync(lastRunFile, "utf8"));
    return `about ${secondsText((ms / count) * files.length)}, going by the last run`;
  } catch {
    return `about ${secondsText(guessMsPerFile * files.length)} on two cores`;
  }
}

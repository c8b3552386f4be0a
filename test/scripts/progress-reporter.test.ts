import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "switchyard-reporter-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("a test run shows how far it is, tells of failures at once, and names the slowest files at the end", () => {
  const files = ["quick", "broken", "slow"].map((name) => join(folder, `${name}.test.mjs`));
  const contents = [
    'import test from "node:test"; test("a", () => {}); test("b", () => {});',
    'import test from "node:test"; test("c", () => {}); test("d", () => { throw new Error("the reason"); });',
    'import test from "node:test"; test("e", () => new Promise((resolve) => setTimeout(resolve, 300)));',
  ];
  for (const [at, file] of files.entries()) writeFileSync(file, contents[at]!);
  const reporter = join(root, "scripts/progress-reporter.mjs");
  // What this process is itself would make the inner run report in another way.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout } = spawnSync(
    process.execPath,
    ["--test", "--test-concurrency=1", `--test-reporter=${reporter}`, ...files],
    { encoding: "utf8", cwd: folder, env: { ...env, TEST_FILES: "3" } },
  );
  assert.equal(status, 1);
  const progress = stdout.split("\n").filter((line) => /^\[\d\/3\]/.test(line));
  assert.equal(progress.length, 3);
  assert.match(stdout, /^\[\d\/3\] ok {3}quick\.test\.mjs \(2 of 2, /m);
  assert.match(stdout, /^\[\d\/3\] FAIL broken\.test\.mjs \(1 of 2, /m);
  assert.ok(stdout.indexOf("the reason") < stdout.indexOf("Slowest files:"));
  assert.match(stdout, /Slowest files:\n +\S+ s {2}slow\.test\.mjs\n/);
  assert.match(stdout, /4 passed, 1 failed, 0 skipped in 3 files/);
  assert.match(stdout, /Failed:\n {2}broken\.test\.mjs: d\n$/);
});

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";

const root = join(import.meta.dirname, "../..");
const clone = mkdtempSync(join(tmpdir(), "switchyard-launcher-"));
after(() => rmSync(clone, { recursive: true, force: true }));

test("before the dependencies are installed, bin/service says which command to run", () => {
  mkdirSync(join(clone, "bin"));
  cpSync(join(root, "bin/service"), join(clone, "bin/service"));
  const { status, stdout, stderr } = spawnSync(join(clone, "bin/service"), ["doctor"], { encoding: "utf8" });
  assert.equal(status, 1);
  assert.equal(stdout, "");
  assert.match(stderr, /^service: the dependencies are not installed\. Run this first:\n {2}cd .*\n$/);
  assert.ok(stderr.includes("node scripts/ensure-installed.mjs"), stderr);
});

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import test from "node:test";
import { createCommandNaming, formatCommand } from "../../src/cli/operations/operation-names.ts";
import { readOperations } from "../../src/definitions/index.ts";
import { cli } from "./cli-run.ts";

const operations = readOperations();
const names = operations.map(createCommandNaming(operations)).map(formatCommand);

for (const shell of ["bash", "zsh", "fish"]) {
  test(`${shell} completes every command`, async () => {
    const { exitCode, out } = await cli(["completion", shell]);
    assert.equal(exitCode, 0);
    for (const name of names) assert.ok(out.includes(name), name);
    for (const command of ["serve", "doctor", "rotate-keys", "profile set", "config show", "audit verify"]) {
      assert.ok(out.includes(command), command);
    }
    assert.ok(out.includes("active suspended") || out.includes("'active' 'suspended'"));
  });

  // A machine may lack some shells; bash exists wherever the tests run.
  if (shell !== "bash" && spawnSync(shell, ["--version"]).error !== undefined) continue;
  test(`${shell} accepts its script`, async () => {
    const { out } = await cli(["completion", shell]);
    const { status, stderr } = spawnSync(shell, [shell === "fish" ? "--no-execute" : "-n"], { input: out });
    assert.equal(status, 0, String(stderr));
  });
}

test("bash completes commands, options and choices in the right places", async () => {
  const { out } = await cli(["completion", "bash"]);
  const complete = (...words: string[]) => {
    const quoted = words.map((word) => `'${word}'`).join(" ");
    const script = `${out}\nCOMP_WORDS=(service ${quoted}); COMP_CWORD=${words.length}; _service; echo "\${COMPREPLY[*]}"`;
    // Longer than the size limit of a single argument.
    return spawnSync("bash", ["--norc", "-s"], { input: script, encoding: "utf8" });
  };
  assert.equal(complete("tena").stdout, "tenant\n");
  assert.equal(complete("tenant", "cr").stdout, "create\n");
  assert.equal(complete("--profile", "x", "tenant", "cr").stdout, "create\n");
  assert.equal(complete("tenant", "create", "--iss").stdout, "--issue-admin-key\n");
  assert.equal(complete("tenant", "list", "--status", "").stdout, "active suspended deleted\n");
});

test("an unsupported shell is a usage error", async () => {
  assert.equal((await cli(["completion", "tcsh"])).exitCode, 2);
});

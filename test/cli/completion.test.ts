import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import test, { after } from "node:test";
import { createCommandNaming, formatCommand } from "../../src/cli/operations/operation-names.ts";
import { readOperations } from "../../src/definitions/index.ts";
import { nodeMain } from "../harness/node-process.ts";
import { cli } from "./cli-run.ts";

const operations = readOperations();
const names = operations.map(createCommandNaming(operations)).map(formatCommand);

const folder = mkdtempSync(join(tmpdir(), "switchyard-completion-"));
after(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "service"), `#!/bin/sh\nexec '${process.execPath}' '${nodeMain}' "$@"\n`);
chmodSync(join(folder, "service"), 0o755);
writeFileSync(join(folder, "request.json"), "{}");

/** The words that the CLI finds for a command line. */
async function found(...words: string[]): Promise<string[]> {
  const { exitCode, out } = await cli(["complete", "--", ...words]);
  assert.equal(exitCode, 0);
  return out.split("\n").slice(0, -1);
}

const wordsOf = (lines: readonly string[]) => lines.map((line) => line.split("\t")[0]!);

/** Runs a shell that finds this service, or returns undefined where the shell is not installed. */
function runShell(shell: string, args: readonly string[], input = "") {
  const PATH = `${folder}${delimiter}${process.env.PATH}`;
  const result = spawnSync(shell, args, { input, encoding: "utf8", cwd: folder, env: { ...process.env, PATH } });
  return result.error === undefined ? result : undefined;
}

test("every command is completed word by word, with what it does", async () => {
  const first = new Set(wordsOf(await found("")));
  for (const command of ["serve", "doctor", "rotate-keys", "profile", "config", "audit"]) assert.ok(first.has(command));
  assert.ok(!first.has("complete"), "the command that scripts call is hidden");
  const verbs = new Map<string, Set<string>>();
  for (const name of names) {
    const [word, verb] = name.split(" ");
    assert.ok(first.has(word!), name);
    if (verb === undefined) continue;
    if (!verbs.has(word!)) verbs.set(word!, new Set(wordsOf(await found(word!, ""))));
    assert.ok(verbs.get(word!)!.has(verb), name);
  }
  assert.deepEqual(await found("config", "sh"), ["show\tShow every setting with its value and source"]);
});

test("options and their values are completed, wherever the common options stand", async () => {
  assert.deepEqual(wordsOf(await found("--profile", "x", "tenant", "cr")), ["create"]);
  assert.deepEqual(wordsOf(await found("tenants", "cr")), ["create"]);
  assert.deepEqual(wordsOf(await found("tenant", "create", "--iss")), ["--issue-admin-key"]);
  assert.deepEqual(wordsOf(await found("tenant", "list", "--status", "")), ["active", "suspended", "deleted"]);
  assert.deepEqual(await found("tenant", "create", "--name", ""), [], "any text");
  assert.deepEqual(await found("serve", "--config", ""), [":file"]);
});

for (const shell of ["bash", "zsh", "fish"]) {
  // A machine may lack some shells; bash exists wherever the tests run.
  if (shell !== "bash" && runShell(shell, ["--version"]) === undefined) continue;
  test(`${shell} accepts its script`, async () => {
    const { exitCode, out } = await cli(["completion", shell]);
    assert.equal(exitCode, 0);
    writeFileSync(join(folder, "script"), out);
    const { status, stderr } = runShell(shell, [shell === "fish" ? "--no-execute" : "-n", "script"])!;
    assert.equal(status, 0, stderr);
    if (shell !== "fish") return;
    const { stdout } = runShell(shell, ["-c", "source script; complete -C 'service config sh'"])!;
    assert.equal(stdout, "show\tShow every setting with its value and source\n");
  });
}

test("bash completes commands, choices and names of files", async () => {
  const { out } = await cli(["completion", "bash"]);
  const complete = (...words: string[]) => {
    const quoted = words.map((word) => `'${word}'`).join(" ");
    const script = `${out}\nCOMP_WORDS=(service ${quoted}); COMP_CWORD=${words.length}; _service; echo "\${COMPREPLY[*]}"`;
    return runShell("bash", ["--norc", "-s"], script)!.stdout;
  };
  assert.equal(complete("tenant", "cr"), "create\n");
  assert.equal(complete("tenant", "list", "--status", ""), "active suspended deleted\n");
  assert.equal(complete("serve", "--config", "req"), "request.json\n");
  assert.equal(complete("nothing-like-this"), "\n");
});

test("an unsupported shell is a usage error", async () => {
  assert.equal((await cli(["completion", "tcsh"])).exitCode, 2);
});

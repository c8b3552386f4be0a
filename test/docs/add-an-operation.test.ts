import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { assertShows } from "./shown-json.ts";

const root = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");
const guide = readFileSync(join(root, "docs/guides/add-an-operation.md"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "switchyard-add-an-operation-"));
const copy = join(folder, "switchyard");
after(() => rmSync(folder, { recursive: true, force: true }));

interface Block {
  /** The last line of text before the block. */
  readonly introduction: string;
  readonly language: string;
  readonly content: string;
}

test("the guide adds an operation that type-checks, passes its tests and responds over REST", async () => {
  copySources();
  const edited = new Set<string>();
  const blocks = blocksOf(guide);
  const commands = blocks.filter(({ language }) => language === "sh").map(({ content }) => content);
  for (const command of ["npm run generate", "npm run docs", "npm run check", "node scripts/test.mjs"]) {
    assert.ok(commands.join("").includes(command), `The guide runs ${command}.`);
  }
  const firstCall = blocks.findIndex(({ content }) => content.includes("session.sh"));
  for (const block of blocks.slice(0, firstCall)) {
    if (block.language === "sh") await runCommands(block.content, [...edited]);
    else edited.add(edit(block));
  }

  const database = await freshDatabase();
  const adminKey = "sk_test_admin_onlyforthistest";
  const node = await startNodeProcess(
    { "database.url": database.url, "auth.bootstrap_api_key": adminKey },
    { main: join(copy, "src/cli/main.ts"), shell: (command) => `cd '${copy}' && exec ${command}` },
  );
  try {
    const response = await fetch(`${node.baseUrl}/api/v2/environments:count`, { headers: { "X-API-Key": adminKey } });
    assert.deepEqual([response.status, ((await response.json()) as { data: unknown }).data], [200, { count: 3 }]);
    const calls = blocks.slice(firstCall);
    assert.deepEqual(
      calls.map(({ language }) => language),
      ["sh", "json", "sh", "json"],
      "The guide calls the operation over REST and from the command line, and shows both responses.",
    );
    for (const [i, { language, content }] of calls.entries()) {
      if (language !== "sh") continue;
      const script = `. docs/guides/session.sh\n${content}`;
      const { stdout } = await bash(script, { ADDRESS: node.baseUrl, KEY: adminKey });
      assertShows(JSON.parse(stdout), JSON.parse(calls[i + 1]!.content), stdout);
    }
  } finally {
    await node.kill();
    await database.drop();
  }
});

function copySources(): void {
  const skipped = new Set(["node_modules", ".git", ".data"]);
  cpSync(root, copy, { recursive: true, filter: (path) => path === root || !skipped.has(basename(path)) });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
}

function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(({ index, 1: language, 2: content }) => ({
    introduction: markdown.slice(0, index).trimEnd().split("\n").at(-1)!,
    language: language!,
    content: content!,
  }));
}

/** Applies an edit as its introduction describes; returns the file's path. */
function edit({ introduction, content }: Block): string {
  const [, created] = /^Create `([^`]+)`:$/.exec(introduction) ?? [];
  if (created !== undefined) {
    writeFileSync(join(copy, created), content, { flag: "wx" });
    return created;
  }
  const [, extended] = /^At the end of `([^`]+)`:$/.exec(introduction) ?? [];
  if (extended !== undefined) {
    appendFileSync(join(copy, extended), content);
    return extended;
  }
  const [, path, line] = /^In `([^`]+)`, after the line `([^`]+)`:$/.exec(introduction) ?? [];
  assert.ok(path !== undefined && line !== undefined, `The guide must say where the code goes: ${introduction}`);
  const parts = readFileSync(join(copy, path), "utf8").split(`\n${line}\n`);
  assert.equal(parts.length, 2, `${path} has exactly one line ${line}`);
  writeFileSync(join(copy, path), `${parts[0]}\n${line}\n${content}${parts[1]}`);
  return path;
}

/** Runs commands of the guide. Replaces the full check with the checks that depend on the edited files. */
async function runCommands(script: string, edited: readonly string[]): Promise<void> {
  if (script.includes("npm run check")) {
    const module = "src/modules/tenancy/environments";
    const settings = { extends: "./tsconfig.json", include: [module], exclude: [`${module}/*.test.ts`] };
    writeFileSync(join(copy, "tsconfig.module.json"), JSON.stringify(settings));
  }
  const sources = edited.filter((path) => path.endsWith(".ts")).join(" ");
  const checks = `node node_modules/typescript-native/bin/tsc -p tsconfig.module.json --incremental false
buf lint
buf breaking --against definitions/released.binpb
node scripts/docs.ts --check
biome ci --error-on-warnings ${sources}`;
  await bash(script.replace("npm run check", checks));
}

async function bash(script: string, environment: Record<string, string> = {}) {
  // With NODE_TEST_CONTEXT set, a nested test runner would not run its tests.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const env = { ...inherited, ...environment, PATH: `${copy}/node_modules/.bin:${process.env.PATH}` };
  const command = ["-c", `set -euo pipefail\n${script}`];
  return promisify(execFile)("bash", command, { cwd: copy, env, maxBuffer: 64 << 20 }).catch((error) => {
    throw new Error(`${script}\nended with ${error.code}:\n${error.stdout}${error.stderr}`);
  });
}

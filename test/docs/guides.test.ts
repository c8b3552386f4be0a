import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { promisify } from "node:util";
import { startService, type TestService } from "../harness/service.ts";

const root = new URL("../../", import.meta.url);
const run = promisify(execFile);
const scratch = mkdtempSync(join(tmpdir(), "switchyard-guides-"));
const marker = "\u0001next\u0001";

interface Step {
  readonly script: string;
  /** What the document says that the script prints. */
  readonly expected: string | undefined;
}

let service: TestService;
before(async () => {
  service = await startService({ "audit.sink": "", "notification.outbox.enabled": "true" });
});

const documents = ["README.md", ...readdirSync(new URL("docs/guides", root)).map((name) => `docs/guides/${name}`)];
for (const path of documents) {
  const steps = stepsOf(readFileSync(new URL(path, root), "utf8"));
  if (steps.length === 0) continue;
  test(`what ${path} shows works when it is pasted, and answers as it says`, async () => {
    const script = `set -euo pipefail\n${steps.map((step) => step.script).join(`\nprintf '${marker}'\n`)}`;
    const { stdout } = await run("bash", ["-c", script], {
      cwd: root,
      env: { ...process.env, XDG_CONFIG_HOME: scratch, ADDRESS: service.baseUrl, KEY: service.adminKey },
    });
    const outputs = stdout.split(marker);
    for (const [i, { expected, script: text }] of steps.entries()) {
      if (expected === undefined) continue;
      const last = outputs[i]!.trim()
        .split("\n")
        .at(-1)!
        .replace(/^\{"status":"ok"\}(?=\{)/, "");
      assertShows(JSON.parse(last), JSON.parse(expected), `the answer to\n${text}\nwas ${last}`);
    }
  });
}

/** Blocks marked `sh` are run; a block marked `json` right after one is what it prints. */
function stepsOf(markdown: string): Step[] {
  const steps: Step[] = [];
  for (const [, language, content] of markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)) {
    if (language === "sh") steps.push({ script: content!, expected: undefined });
    else if (language === "json" && steps.length > 0) steps.push({ ...steps.pop()!, expected: content });
  }
  return steps;
}

/** What is shown must be there; more may be. "…" stands for any text. */
function assertShows(actual: unknown, shown: unknown, message: string): void {
  if (shown === "…") {
    assert.ok(typeof actual === "string" && actual !== "", message);
  } else if (Array.isArray(shown)) {
    assert.ok(Array.isArray(actual), message);
    for (const [i, each] of shown.entries()) assertShows(actual[i], each, message);
  } else if (shown !== null && typeof shown === "object") {
    assert.ok(actual !== null && typeof actual === "object", message);
    for (const [key, each] of Object.entries(shown))
      assertShows((actual as Record<string, unknown>)[key], each, message);
  } else {
    assert.equal(actual, shown, message);
  }
}

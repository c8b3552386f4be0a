import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { promisify } from "node:util";
import { startService, type TestService } from "../harness/service.ts";
import { assertShows } from "./shown-json.ts";

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

const documents = [
  "README.md",
  ...readdirSync(new URL("docs/guides", root))
    // This one changes the sources and has a test of its own.
    .filter((name) => name.endsWith(".md") && name !== "add-an-operation.md")
    .map((name) => `docs/guides/${name}`),
];
for (const path of documents) {
  const text = readFileSync(new URL(path, root), "utf8");
  const steps = stepsOf(text);
  if (steps.length === 0) continue;
  for (const time of ["works when it is pasted", "works again on the same instance"]) {
    test(`what ${path} shows ${time}, and answers as it says`, async () => {
      const outputs = await outputsOf(steps);
      for (const [i, { expected, script }] of steps.entries()) {
        if (expected === undefined) continue;
        const last = outputs[i]!.trim().split("\n").at(-1)!;
        assertShows(JSON.parse(last), JSON.parse(expected), `the answer to\n${script}\nwas ${last}`);
      }
    });
  }

  test(`a request of ${path} that is refused shows why`, () => {
    for (const { script } of steps) assert.doesNotMatch(script, /curl -\w*f\b|curl(?! -sS --fail-with-body)/, script);
  });
}

test("a request that is refused shows the problem document and fails, also where a field of the answer is wanted", async () => {
  const session = ". docs/guides/session.sh";
  for (const script of ["api /api/pools -d '{}'", "ID=$(api /api/pools -d '{}' | field data.id)"]) {
    const { code, stdout, stderr } = await bash(`${session}\n${script}`).catch((error) => error);
    assert.notEqual(code ?? 0, 0, script);
    assert.match(`${stdout}${stderr}`, /"errorCode":"INVALID_ARGUMENT".*name/, script);
  }
});

/** What each step printed, when all of them are pasted into one shell. */
async function outputsOf(steps: readonly Step[]): Promise<string[]> {
  const script = steps.map((step) => step.script).join(`\nprintf '${marker}'\n`);
  const { stdout } = await bash(script);
  return stdout.split(marker);
}

function bash(script: string) {
  return run("bash", ["-c", `set -euo pipefail\n${script}`], {
    cwd: root,
    env: { ...process.env, XDG_CONFIG_HOME: scratch, ADDRESS: service.baseUrl, KEY: service.adminKey },
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

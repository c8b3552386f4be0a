import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { promisify } from "node:util";
import { afterFile } from "../harness/after-file.ts";
import { sampled } from "../harness/run-size.ts";
import { startService, type TestService } from "../harness/service.ts";
import { startResidentCli } from "./resident-cli.ts";
import { assertShows } from "./shown-json.ts";

const root = new URL("../../", import.meta.url);
const run = promisify(execFile);
const scratch = mkdtempSync(join(tmpdir(), "switchyard-guides-"));
const marker = "\u0001next\u0001";

interface Step {
  readonly script: string;
  /** The output that the document shows: part of a JSON document, or lines of YAML. */
  readonly shown?: { readonly language: "json" | "yaml"; readonly content: string };
}

/** The service that the commands of a document call. */
type Target = Pick<TestService, "baseUrl" | "adminKey"> & {
  readonly approverLink?: string;
  /** What a reader chooses before the first command. */
  readonly env?: Readonly<Record<string, string>>;
};

let service: TestService;
let residentCli: Promise<string> | undefined;

/** Guides with a test of their own: they change the sources, start nodes, or need a second person or a Prometheus. */
const testedElsewhere = new Set([
  "add-an-operation.md",
  "back-up.md",
  "back-up-external-postgresql.md",
  "grow.md",
  "promote-a-change.md",
  "prove.md",
  "query-analytics.md",
  "upgrade.md",
]);

/** Documents with commands. Two test files share them, so that they run at the same time. */
const documents = [
  "README.md",
  ...readdirSync(new URL("docs/guides", root))
    .filter((name) => name.endsWith(".md") && !testedElsewhere.has(name))
    .map((name) => `docs/guides/${name}`),
].map((path) => ({ path, steps: stepsOf(readFileSync(new URL(path, root), "utf8")) }));

/** Tests every second document, from this one on. */
export function testGuides(first: 0 | 1): void {
  before(async () => {
    service = await startService({
      "audit.sink": "",
      "notification.outbox.enabled": "true",
      "identity.scim.enabled": "true",
      "identity.saml.enabled": "true",
      "mcp.enabled": "true",
    });
  });

  for (const [nth, { path, steps }] of documents
    .filter(({ steps }, at) => steps.length > 0 && at % 2 === first)
    .entries()) {
    test(`what ${path} shows works when it is pasted, with the output that it shows`, () =>
      assertWorks(steps, service));

    if (isRepeated(nth)) {
      test(`what ${path} shows works again on the same instance`, () => assertWorks(steps, service));
    }

    test(`the commands of ${path} extract response fields with the CLI, not by parsing text`, () => {
      for (const { script } of steps) assert.doesNotMatch(script, /\b(sed|grep|awk|jq|cut)\b/, script);
    });

    test(`a rejected request of ${path} shows why`, () => {
      for (const { script } of steps) assert.doesNotMatch(script, /curl -\w*f\b|curl(?! -sS --fail-with-body)/, script);
    });
  }

  test("a rejected request prints the reason and fails, even with --field", async () => {
    const session = ". docs/guides/session.sh";
    for (const script of ["api /api/pools -d '{}'", "ID=$(service pool create --name '' --json --field id)"]) {
      const { code, stdout, stderr } = await bash(`${session}\n${script}`, service).catch((error) => error);
      assert.notEqual(code ?? 0, 0, script);
      assert.match(`${stdout}${stderr}`, /"errorCode":"INVALID_ARGUMENT".*name/, script);
    }
  });
}

/** Every fourth document is pasted twice; in a long run all are. */
function isRepeated(nth: number): boolean {
  return sampled([nth], 4, nth).length > 0;
}

/** Runs the commands of a guide against a service, and compares what it shows. */
export async function assertGuideWorks(name: string, target: Target): Promise<void> {
  await assertWorks(stepsOf(readFileSync(new URL(`docs/guides/${name}`, root), "utf8")), target);
}

async function assertWorks(steps: readonly Step[], target: Target): Promise<void> {
  const outputs = await outputsOf(steps, target);
  for (const [i, { shown, script }] of steps.entries()) {
    if (shown === undefined) continue;
    const lines = outputs[i]!.trimEnd().split("\n");
    const message = `the output of\n${script}\nwas ${outputs[i]}`;
    if (shown.language === "json") assertShows(JSON.parse(lines.at(-1)!), JSON.parse(shown.content), message);
    else for (const line of shown.content.trimEnd().split("\n")) assert.ok(lines.includes(line), message);
  }
}

/** The output of each step when all steps run in one shell. */
async function outputsOf(steps: readonly Step[], target: Target): Promise<string[]> {
  const script = steps.map((step) => step.script).join(`\nprintf '${marker}'\n`);
  const { stdout } = await bash(script, target);
  return stdout.split(marker);
}

async function bash(script: string, { baseUrl, adminKey, approverLink = "", env }: Target) {
  if (residentCli === undefined) {
    residentCli = startResidentCli();
    afterFile(() => (residentCli = undefined));
  }
  return run("bash", ["-c", `set -euo pipefail\n${await residentCli}\n${script}`], {
    cwd: root,
    env: {
      ...process.env,
      ...{ XDG_CONFIG_HOME: scratch, ADDRESS: baseUrl, KEY: adminKey, APPROVER_LINK: approverLink },
      ...env,
    },
  });
}

/** Blocks marked `sh` are executed. The first `json` or `yaml` block after one shows its output. */
function stepsOf(markdown: string): Step[] {
  const steps: Step[] = [];
  for (const [, language, content] of markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)) {
    if (language === "sh") steps.push({ script: content! });
    else if ((language === "json" || language === "yaml") && steps.length > 0 && steps.at(-1)!.shown === undefined) {
      steps.push({ ...steps.pop()!, shown: { language, content: content! } });
    }
  }
  return steps;
}

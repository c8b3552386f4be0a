import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startService } from "../harness/service.ts";
import { type Revision, revisions } from "./mcp-client.ts";

const suite = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
const folder = mkdtempSync(join(tmpdir(), "switchyard-mcp-"));
const expectedFailures = join(folder, "expected-failures.yaml");

/**
 * The scenarios of the suite for a server that offers tools and nothing else. The others test resources, prompts, logging
 * and completion, which are optional, with the help of tools, resources and prompts that only a test server has.
 */
const scenarios: Record<Revision, readonly string[]> = {
  "2026-07-28": ["server-stateless", "tools-list", "caching", "dns-rebinding-protection", "http-header-validation"],
  "2025-11-25": ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"],
  "2025-06-18": ["server-initialize", "ping", "tools-list"],
};

/**
 * Checks of what the server does not have: tools of the test server, prompts and resources. The suite reports them as
 * failures. It fails if one of them passes.
 */
const untestable = [
  "server-stateless:sep-2575-server-rejects-undeclared-capability",
  "server-stateless:sep-2575-missing-capability-http-400",
  "server-stateless:sep-2575-http-server-no-independent-requests-on-stream",
  "server-stateless:sep-2575-server-no-log-without-loglevel",
  "caching:sep-2549-prompts-list-caching-hints",
  "caching:sep-2549-resources-list-caching-hints",
  "caching:sep-2549-resources-templates-list-caching-hints",
];

let url: string;
before(async () => {
  // The suite sends no credentials.
  const { baseUrl } = await startService({ "mcp.enabled": "true", "auth.enabled": "false" });
  url = `${baseUrl}/mcp`;
  writeFileSync(expectedFailures, `server:\n${untestable.map((each) => `  - ${each}\n`).join("")}`);
});

for (const revision of revisions) {
  for (const scenario of scenarios[revision]) {
    test(`the conformance suite passes ${scenario} in ${revision}`, async () => {
      const options = ["--url", url, "--scenario", scenario, "--spec-version", revision];
      const { code, output } = await run(["server", ...options, "--expected-failures", expectedFailures]);
      assert.equal(code, 0, output);
      assert.match(output, /Passed: [1-9]/);
    });
  }
}

function run(args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [suite, ...args], { cwd: folder, timeout: 120_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
      resolve({ code, output: `${stdout}${stderr}` });
    });
  });
}

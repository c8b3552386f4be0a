import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { openAudit } from "../../src/platform/audit/index.ts";
import { cli } from "./cli-run.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-audit-cli-"));
after(() => rmSync(folder, { recursive: true, force: true }));

async function written(name: string, count: number): Promise<string> {
  const path = join(folder, name);
  const audit = await openAudit({ sink: "file", path, hashChain: true, redactPii: false, clock: { now: Date.now } });
  for (let n = 0; n < count; n++) {
    await audit.append({
      tenant_id: "t1",
      actor: "key:k1",
      actor_kind: "api_key",
      operation: "service.api.TenantService/CreateTenant",
      resource: "tenant",
      action: "create",
      outcome: "succeeded",
      request_id: `r${n}`,
      remote_address: "127.0.0.1",
    });
  }
  await audit.close();
  return path;
}

test("an intact audit log is ok, and its head is printed", async () => {
  const file = await written("whole.log", 3);
  const { exitCode, out } = await cli(["audit", "verify", file]);
  assert.equal(exitCode, 0);
  assert.match(out, /^ok: 3 entries\nhead 3 [0-9a-f]{64}\n$/);
  const json = await cli(["audit", "verify", file, "--json"]);
  assert.equal(JSON.parse(json.out).ok, true);
});

test("an altered audit log is reported with the broken line and the reason", async () => {
  const file = await written("altered.log", 3);
  writeFileSync(file, readFileSync(file, "utf8").replace('"r1"', '"r9"'));
  const { exitCode, out } = await cli(["audit", "verify", file]);
  assert.equal(exitCode, 1);
  assert.match(out, /^broken at line 2: .+\n1 entries before it are intact\.\n$/);
  const json = await cli(["audit", "verify", file, "--json"]);
  assert.equal(json.exitCode, 1);
  assert.equal(JSON.parse(json.out).brokenAt.line, 2);
});

test("an unreadable audit log is a one-line error", async () => {
  const { exitCode, err } = await cli(["audit", "verify", join(folder, "none.log")]);
  assert.equal(exitCode, 1);
  assert.match(err, /^service: .*none\.log cannot be read: .*\n$/);
});

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { restClient } from "../harness/rest.ts";
import { readRows } from "../harness/rows.ts";
import { freshName, newTenant } from "../routing/tenant-fixture.ts";

const planted = `planted-${randomBytes(12).toString("hex")}`;

test("a preview's input appears in no response, log, audit entry, metric or table", async (t) => {
  const database = await freshDatabase();
  const folder = await mkdtemp(join(tmpdir(), "switchyard-preview-"));
  const audit = join(folder, "audit.log");
  const node = await startNodeProcess({
    "database.url": database.url,
    "auth.bootstrap_api_key": "sk_test_preview_0123456789abcdef",
    "audit.sink": "file",
    "audit.path": audit,
    "log.level": "debug",
    "api.slow_request_ms": "0",
  });
  t.after(async () => {
    await node.kill();
    await rm(folder, { recursive: true, force: true });
    await database.drop();
  });
  const own = await newTenant(node);
  const subscribers = "/api/v2/notification/subscribers";
  const { data: ada } = await own.ok("POST", subscribers, { external_id: freshName() });
  const path = `${subscribers}/${ada.id}/preferences`;
  // Conditions that are true, false, and fail on the secret text.
  const conditions = [
    `payload.a != ''`,
    `payload.a == ''`,
    `payload.a.b`,
    `int(payload.a) > 1`,
    `{'x': 1}[payload.a] == 1`,
  ];
  for (const [n, condition] of conditions.entries()) {
    await own.ok("PUT", `/api/v2/notification/workflows/w${n}`, {});
    await own.ok("POST", path, { workflow_key: `w${n}`, all: true, condition, channels: { sms: { condition } } });
  }
  const held = await readRows(database.sql);

  const answers: string[] = [];
  const ask = async (payload_context: unknown, n: number) => {
    const headers = { "idempotency-key": freshName() };
    const answer = await own.rest.call("POST", `${path}:preview`, { workflow_key: `w${n}`, payload_context }, headers);
    answers.push(answer.text);
    return answer.status;
  };
  for (const n of conditions.keys()) assert.equal(await ask({ a: planted }, n), 200);
  for (const broken of [{ a: planted, fill: "x".repeat(70_000) }, planted, [planted], { a: `${planted}\u0000` }]) {
    await ask(broken, 0);
  }

  assert.deepEqual(await readRows(database.sql), held);
  const { text: metrics } = await restClient(node.baseUrl).call("GET", "/metrics");
  assert.match(node.output(), /slow request/);
  const lines = await readFile(audit, "utf8");
  assert.match(lines, /SubscriberService\/UpsertPreference/);
  for (const text of [...answers, metrics, node.output(), lines]) {
    const at = text.indexOf(planted);
    assert.equal(at, -1, text.slice(Math.max(0, at - 300), at + 100));
  }
});

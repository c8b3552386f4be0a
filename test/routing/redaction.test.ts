import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { restClient } from "../harness/rest.ts";
import { newTenant, type ResponseData } from "./tenant-fixture.ts";

const planted = `planted-${randomBytes(12).toString("hex")}`;
const plantedKey = `key-${randomBytes(12).toString("hex")}`;
const attributes = Object.fromEntries(
  ["singleton", "debounce", "throttle", "concurrency"].map((kind) => [kind, `${planted} ${kind}`]),
);

const admission = {
  singleton: { key: "item.attributes.singleton", mode: "replace_pending" },
  debounce: { key: "[item.attributes.debounce, item.type]", period_s: 1 },
  throttle: { key: "item.attributes.throttle", limit: 2, period_s: 600 },
  concurrency: { key: "item.attributes.concurrency", limit: 1, scope: "environment" },
};

test("the inputs of admission keys are visible only in the item itself", async (t) => {
  const database = await freshDatabase();
  const folder = await mkdtemp(join(tmpdir(), "switchyard-redaction-"));
  const audit = join(folder, "audit.log");
  const node = await startNodeProcess({
    "database.url": database.url,
    "auth.bootstrap_api_key": "sk_test_redaction_0123456789abcdef",
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
  const told: string[] = [];
  /** Calls and records the response, whatever its status. */
  const ask = async (method: string, path: string, body?: object, headers?: Record<string, string>) => {
    const answer = await own.rest.call(method, path, body, headers);
    told.push(`${method} ${path} ${answer.text}`);
    return answer;
  };

  const pool = await own.pool({ config: { admission, item_events: true, retry: { max_attempts: 1 } } });
  const dedupe = { singleton: { ...admission.singleton, mode: "skip" } };
  const strict = { throttle: { ...admission.throttle, limit: 1, on_limit: "reject" } };
  const [single, rejecting] = [
    await own.pool({ config: { admission: dedupe, item_events: true } }),
    await own.pool({ config: { admission: strict, item_events: true } }),
  ];
  await own.rule(pool, { type: "prefer" }, { condition: "item.attributes.singleton == recipient.attributes.x" });
  await own.recipient(pool, { attributes: { x: "y" } });

  // Covers every verdict: debounced, superseded, throttled, deduplicated, rejected.
  const item = { pool_id: pool, type: "t", attributes };
  const ids: string[] = [];
  for (const [body, headers] of [
    [item, undefined],
    [item, { "idempotency-key": "k" }],
    [
      { ...item, attributes: { ...attributes, singleton: `${planted} other`, debounce: `${planted} other` } },
      undefined,
    ],
    [{ ...item, pool_id: single }, undefined],
    [{ ...item, pool_id: single }, undefined],
    [{ ...item, pool_id: rejecting }, undefined],
    [{ ...item, pool_id: rejecting }, undefined],
    [{ ...item, dry_run: true }, undefined],
  ] as const) {
    const { body: answer } = await ask("POST", "/api/route", body, headers);
    if (answer.data.queue_item_id !== "") ids.push(answer.data.queue_item_id);
  }
  // The item's own key is returned with the item, and is in no audit entry.
  await own.rest.call("POST", "/api/route", { ...item, pool_id: rejecting, key: plantedKey });
  await ask("POST", "/api/route:batch", { items: [item, item] });
  // Covers every error: no key, a key of the wrong type, text that cannot be stored, an invalid item.
  for (const broken of [
    { attributes: { throttle: attributes.throttle } },
    { attributes: { ...attributes, singleton: { [planted]: planted } } },
    { attributes: { ...attributes, note: `${planted}\u0000` } },
    { attributes: { ...attributes, concurrency: 0.5 } },
    { attributes: planted },
    { [planted]: planted },
  ]) {
    for (const pool_id of [pool, single]) await ask("POST", "/api/route", { pool_id, type: "t", ...broken });
    await own.rest.call("POST", `/api/queues/${pool}:preview-admission`, { item: { type: "t", ...broken } });
  }
  for (const each of [pool, single, rejecting]) {
    await ask("POST", `/api/queues/${each}:preview-admission`, { item: { type: "t", attributes } });
    await ask("GET", `/api/queues/${each}/status`);
    const { body } = await ask("GET", `/api/queues/admission-groups?pool_id=${each}`);
    for (const { constraint_kind, group_id } of body.data) {
      const group = `/api/queues/${each}/admission-groups/${constraint_kind}/${group_id}`;
      await ask("GET", group);
      await ask("POST", `${group}:clear`, { reason: "looked at" });
      await ask("GET", group);
    }
  }
  for (const id of ids) {
    await ask("GET", `/api/queues/${pool}/items/${id}/admission-explanation`);
    await ask("GET", `/api/decisions/${id}`);
    await ask("POST", `/api/decisions/${id}:replay`, {});
  }
  const worked = await own.leaseOne(pool);
  assert.ok(JSON.stringify(worked.attributes).includes(planted));
  await ask("POST", `/api/queues/${pool}/items/${worked.queue_item_id}/fail`, { lease_token: worked.lease_token });
  await ask("GET", `/api/dlq/${pool}`);
  await ask("GET", `/api/outcomes/${worked.queue_item_id}`);
  await ask("GET", "/api/decisions?limit=1000");
  await ask("GET", "/api/queues");
  const { body: events } = await ask("GET", "/api/events?limit=1000");
  for (const type of ["route.decided", "admission.group.cleared", "queue.item.dead_lettered"]) {
    assert.ok(
      events.data.some((event: ResponseData) => event.type === type),
      type,
    );
  }
  const metrics = await restClient(node.baseUrl).call("GET", "/metrics");
  assert.match(metrics.text, /^# HELP/m);

  // An unknown field is reported by name, so that part of the input is returned.
  const answers = told.filter((each) => !each.includes(`${planted}: is not`) && !each.includes("unknown_field"));
  assert.ok(answers.length > told.length - 5);
  assert.match(node.output(), /slow request/);
  const lines = await readFile(audit, "utf8");
  assert.match(lines, /RoutingService\/Route/);
  assert.ok(!lines.includes(plantedKey), "the audit names an item's key");
  const rows = await database.sql`select to_jsonb(g)::text as row from admission_groups g
    union all select to_jsonb(e)::text from events e union all select to_jsonb(r)::text from idempotency_records r`;
  assert.ok(rows.length > 10);
  for (const text of [...answers, metrics.text, node.output(), lines, ...rows.map(({ row }) => row)]) {
    const at = text.indexOf(planted);
    assert.equal(at, -1, text.slice(Math.max(0, at - 300), at + 100));
  }
});

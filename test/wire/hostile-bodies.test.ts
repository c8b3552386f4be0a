import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

let service: TestService;
before(async () => {
  service = await startService();
});

interface Refusal {
  readonly code: string;
  readonly text: string;
  readonly field: string | undefined;
}

/** Sends a body to the route operation over both protocols; returns each error. */
async function refusals(body: string, { baseUrl, adminKey } = service): Promise<Refusal[]> {
  const client = restClient(baseUrl, adminKey);
  const rest = await client.call("POST", "/api/route", body);
  const connect = await client.call("POST", "/service.api.RoutingService/Route", body);
  const violations = connect.body.details?.find(({ type }: { type: string }) => type.endsWith("BadRequest"));
  return [
    { code: rest.body.errorCode, text: rest.body.detail, field: rest.body.violations?.[0].field },
    {
      code: connect.body.details[0].debug.reason,
      text: connect.body.message,
      field: violations?.debug.fieldViolations[0].field,
    },
  ];
}

const keys = (count: number) => Array.from({ length: count }, (_, i) => `"k${i}":1`).join();

test("a body with hundreds of thousands of keys or values is rejected for their number, over REST and Connect", async () => {
  for (const [body, text] of [
    [`{"payload": {${keys(300_000)}}}`, /more than 10000 different keys/],
    [`{"payload": {"list": [${"1,".repeat(1_500_000)}1]}}`, /more than 250000 values/],
    [`{"payload": {"list": [${"{},".repeat(1_000_000)}1]}}`, /more than 250000 values/],
  ] as const) {
    for (const refusal of await refusals(body)) {
      assert.equal(refusal.code, "INVALID_ARGUMENT");
      assert.match(refusal.text, text);
    }
  }
});

test("a duplicate key, an integer that would lose precision and an oversized value are rejected by name", async () => {
  for (const [body, field, text] of [
    ['{"payload": {"id": 1, "id": 2}}', 'payload["id"]', /given twice/],
    ['{"pool_id": "a", "type": "b", "type": "c"}', "type", /given twice/],
    ['{"payload": {"order": {"id": 9007199254740993}}}', 'payload["order"]["id"]', /as a string of digits/],
    [`{"payload": {"note": "${"x".repeat(3_000_000)}"}}`, 'payload["note"]', /at most 262144 bytes/],
  ] as const) {
    for (const refusal of await refusals(body)) {
      assert.equal(refusal.code, "INVALID_ARGUMENT");
      assert.equal(refusal.field, field);
      assert.match(refusal.text, text);
    }
  }
});

test("a body of 4 MiB in a few long strings is accepted", async () => {
  const client = restClient(service.baseUrl, service.adminKey);
  const pool = await client.call("POST", "/api/pools", { name: "large", strategy: "round_robin" });
  const item = { pool_id: pool.body.data.id, type: "large", payload: { text: "x".repeat(250_000) } };
  const response = await client.call("POST", "/api/route:batch", { items: Array(16).fill(item) });
  assert.equal(response.status, 200, response.text.slice(0, 500));
  assert.equal(response.body.data.accepted_count, 16);
});

test("a large body takes tokens of its tenant's rate, whether accepted or rejected, over REST and Connect", async (t) => {
  const nowMs = Date.now();
  t.mock.method(Date, "now", () => nowMs);
  const limited = await startService({ "ratelimit.tenant_rps": "100", "ratelimit.burst_s": "1" });
  const client = restClient(limited.baseUrl, limited.adminKey);
  const hostile = `{"payload": {${keys(100_000)}}}`;
  const tokens = Math.floor(hostile.length / 65_536);
  assert.ok(tokens > 10);
  const left = async (path: string) => {
    const { status, headers } = await client.call("POST", path, hostile);
    return [status, Number(headers.get("x-ratelimit-remaining"))];
  };
  assert.deepEqual(await left("/api/route"), [400, 100 - tokens]);
  assert.deepEqual(await left("/service.api.RoutingService/Route"), [400, 100 - 2 * tokens]);
  const compressed = await fetch(`${limited.baseUrl}/service.api.RoutingService/Route`, {
    method: "POST",
    headers: { "x-api-key": limited.adminKey, "content-type": "application/json", "content-encoding": "gzip" },
    body: gzipSync(hostile),
  });
  const remaining = Number(compressed.headers.get("x-ratelimit-remaining"));
  assert.ok(remaining <= 100 - 3 * tokens + 4, "the size after decompression counts");
  const [spent] = await until(
    () => left("/api/route"),
    ([status]) => status !== 400,
  );
  assert.equal(spent, 429, "the body is not read when the rate is used up");
});

test("a call beyond its rate limit is rejected without waiting for a large body", async (t) => {
  const nowMs = Date.now();
  t.mock.method(Date, "now", () => nowMs);
  const limited = await startService({ "ratelimit.tenant_rps": "1", "ratelimit.burst_s": "1" });
  const client = restClient(limited.baseUrl, limited.adminKey);
  const route = () => client.call("POST", "/api/route", { pool_id: "none", type: "x" });
  await until(route, ({ status }) => status === 429);
  const { hostname, port } = new URL(limited.baseUrl);
  const socket = connect(Number(port), hostname);
  // The body is never sent.
  socket.write(
    `POST /api/route HTTP/1.1\r\nhost: ${hostname}\r\nx-api-key: ${limited.adminKey}\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n`,
  );
  const [head] = await once(socket, "data");
  assert.match(String(head), /^HTTP\/1\.1 429 /);
  socket.destroy();
});

test("a body with a declared size above the limit takes no tokens", async (t) => {
  const nowMs = Date.now();
  t.mock.method(Date, "now", () => nowMs);
  const limited = await startService({ "ratelimit.global_rps": "100", "ratelimit.burst_s": "1" });
  const { hostname, port } = new URL(limited.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /api/route HTTP/1.1\r\nhost: ${hostname}\r\nx-api-key: ${limited.adminKey}\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n`,
  );
  const [head] = await once(socket, "data");
  assert.match(String(head), /^HTTP\/1\.1 413 /);
  socket.destroy();
  const { status } = await restClient(limited.baseUrl, limited.adminKey).call("GET", "/api/pools");
  assert.equal(status, 200);
});

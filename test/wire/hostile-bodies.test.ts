import assert from "node:assert/strict";
import { before, test } from "node:test";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";

let service: TestService;
before(async () => {
  service = await startService();
});

interface Refusal {
  readonly code: string;
  readonly text: string;
  readonly field: string | undefined;
}

/** Sends a body to the route operation over both protocols; answers with how each refused it. */
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

test("a body with hundreds of thousands of keys or values is refused for their number, over REST and Connect", async () => {
  for (const [body, text] of [
    [`{"payload": {${keys(300_000)}}}`, /more than 10000 different keys/],
    [`{"payload": {"list": [${"1,".repeat(1_500_000)}1]}}`, /more than 100000 values/],
    [`{"payload": {"list": [${"{},".repeat(1_000_000)}1]}}`, /more than 100000 values/],
  ] as const) {
    for (const refusal of await refusals(body)) {
      assert.equal(refusal.code, "INVALID_ARGUMENT");
      assert.match(refusal.text, text);
    }
  }
});

test("a key given twice, an integer that would change and a value that is too large are refused by name", async () => {
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

test("a body of 4 MiB in a few long strings is taken", async () => {
  const client = restClient(service.baseUrl, service.adminKey);
  const pool = await client.call("POST", "/api/pools", { name: "large", strategy: "round_robin" });
  const item = { pool_id: pool.body.data.id, type: "large", payload: { text: "x".repeat(250_000) } };
  const answer = await client.call("POST", "/api/route:batch", { items: Array(16).fill(item) });
  assert.equal(answer.status, 200, answer.text.slice(0, 500));
  assert.equal(answer.body.data.accepted_count, 16);
});

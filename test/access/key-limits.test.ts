import assert from "node:assert/strict";
import { before, test } from "node:test";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { newTenant, type TenantFixture } from "../routing/tenant-fixture.ts";

let service: TestService;
let tenant: TenantFixture;

before(async () => {
  service = await startService({ "ratelimit.burst_s": "20" });
  tenant = await newTenant(service);
});

const path = "/api/v2/environments";

/** Creates a key with a client; returns its record and a client that uses it. */
async function createKey(by: Pick<RestClient, "call">, request: object) {
  const { status, body } = await by.call("POST", "/api/v2/api-keys", { name: "program", roles: ["admin"], ...request });
  assert.equal(status, 200, JSON.stringify(body));
  return { key: body.data, client: restClient(service.baseUrl, body.data.secret) };
}

/** Calls until a call is refused; returns the refusal. */
async function exhaust(client: Pick<RestClient, "call">) {
  for (let calls = 0; calls < 200; calls++) {
    const answer = await client.call("GET", path);
    if (answer.status !== 200) return answer;
  }
  assert.fail("No call was refused.");
}

test("a key has its own rate limit, and other keys of the tenant go on", async () => {
  const { key, client } = await createKey(restClient(service.baseUrl, tenant.key), { max_rps: 1 });
  assert.equal(key.max_rps, 1);
  const { status, body, headers } = await exhaust(client);
  assert.deepEqual([status, body.errorCode], [429, "RATE_LIMITED"]);
  assert.ok(Number(headers.get("retry-after")) >= 1);
  assert.equal(headers.get("x-ratelimit-limit"), "20");
  assert.equal((await restClient(service.baseUrl, tenant.key).call("GET", path)).status, 200);
});

test("keys that a limited key creates are limited too", async () => {
  const { client } = await createKey(restClient(service.baseUrl, tenant.key), { max_rps: 3 });
  assert.equal((await createKey(client, {})).key.max_rps, 3);
  assert.equal((await createKey(client, { max_rps: 9 })).key.max_rps, 3);
  assert.equal((await createKey(client, { max_rps: 2 })).key.max_rps, 2);
});

test("a limit that is no rate is refused", async () => {
  for (const max_rps of [-1, 1_000_001, 0.5]) {
    await tenant.refused("INVALID_ARGUMENT", "POST", "/api/v2/api-keys", {
      name: "program",
      roles: ["viewer"],
      max_rps,
    });
  }
});

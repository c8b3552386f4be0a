import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { signServiceToken } from "../../src/platform/tokens/index.ts";
import { type RestClient, restClient } from "../harness/rest.ts";
import { serviceTokenSecret, startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

/** The clock is stopped, so that no bucket refills. */
function freeze(t: TestContext): { passS(seconds: number): void } {
  let nowMs = Date.now();
  t.mock.method(Date, "now", () => nowMs);
  return {
    passS: (seconds) => {
      nowMs += seconds * 1000;
    },
  };
}

async function tenantOf(service: TestService, name: string): Promise<RestClient & { id: string; key: string }> {
  const { body } = await restClient(service.baseUrl, service.adminKey).call("POST", "/api/tenants", {
    name,
    issue_admin_key: true,
  });
  const key = body.data.admin_key;
  return { ...restClient(service.baseUrl, key), id: body.data.id, key };
}

const environments = "/api/v2/environments";

test("each method takes its own cost, the headers show the remaining tokens, and a rejection says when to retry", async (t) => {
  const time = freeze(t);
  const service = await startService({ "ratelimit.tenant_rps": "10", "ratelimit.burst_s": "2" });
  const rest = restClient(service.baseUrl, service.adminKey);
  const left = async (method: string, path: string, body?: unknown) => {
    const { status, headers } = await rest.call(method, path, body);
    assert.equal(status, 200);
    return Number(headers.get("x-ratelimit-remaining"));
  };
  const first = await rest.call("GET", environments);
  assert.equal(first.headers.get("x-ratelimit-limit"), "20");
  assert.equal(first.headers.get("x-ratelimit-remaining"), "18", "a list costs 2");
  assert.equal(first.headers.get("ratelimit-policy"), '"default";q=20;w=2');
  assert.equal(first.headers.get("ratelimit"), '"default";r=18;t=1');
  assert.equal(first.headers.get("retry-after"), null);
  assert.equal(await left("GET", `${environments}/${first.body.data[0].id}`), 17, "reading one costs 1");
  assert.equal(await left("POST", environments, { key: "five" }), 12, "creating costs 5");
  assert.equal(await left("POST", "/api/v2/api-keys", { name: "ten" }), 2, "a key costs 10");

  const refused = await rest.call("POST", environments, { key: "too-much" });
  assert.equal(refused.status, 429);
  assert.equal(refused.body.errorCode, "RATE_LIMITED");
  assert.equal(refused.body.retryable, true);
  assert.equal(refused.headers.get("retry-after"), "1");
  assert.equal(refused.headers.get("x-ratelimit-limit"), "20");
  assert.equal(refused.headers.get("x-ratelimit-remaining"), "2");
  assert.equal(await left("GET", environments), 0, "the remaining tokens can still be used");
  time.passS(1);
  assert.equal(await left("POST", environments, { key: "later" }), 5, "one second adds 10 tokens");
});

test("a tenant's rejected calls take nothing from other tenants", async (t) => {
  const time = freeze(t);
  const service = await startService({
    "ratelimit.tenant_rps": "10",
    "ratelimit.global_rps": "30",
    "ratelimit.burst_s": "1",
  });
  const greedy = await tenantOf(service, "greedy");
  time.passS(10);
  const modest = await tenantOf(service, "modest");
  time.passS(10);
  const responses = await Promise.all(Array.from({ length: 100 }, () => greedy.call("GET", environments)));
  assert.equal(responses.filter(({ status }) => status === 200).length, 5);
  const response = await modest.call("GET", environments);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("x-ratelimit-remaining"), "8", "the tighter of the two limits is reported");
});

test("the instance's limit applies to all tenants together", async (t) => {
  const time = freeze(t);
  const service = await startService({ "ratelimit.global_rps": "10", "ratelimit.burst_s": "1" });
  const one = await tenantOf(service, "one");
  time.passS(10);
  const two = await tenantOf(service, "two");
  time.passS(10);
  const responses = [];
  for (let i = 0; i < 4; i++) responses.push(await one.call("GET", environments), await two.call("GET", environments));
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 200, 200, 200, 200, 429, 429, 429],
  );
});

test("the internal plane is not limited", async (t) => {
  const service = await startService({
    "ratelimit.tenant_rps": "1",
    "ratelimit.global_rps": "1",
    "ratelimit.burst_s": "1",
  });
  // The token, whose time is not stopped, would be of the future if the start took long.
  freeze(t);
  const { body } = await restClient(service.baseUrl, service.adminKey).call("GET", "/api/tenants");
  const token = await signServiceToken({ issuer: "t", subject: "t", tenantId: body.data[0].id }, serviceTokenSecret);
  const internal = restClient(service.internalUrl);
  for (let i = 0; i < 10; i++) {
    const { status, headers } = await internal.call("GET", environments, undefined, {
      authorization: `Bearer ${token}`,
    });
    assert.equal(status, 200);
    assert.equal(headers.get("x-ratelimit-limit"), null);
  }
});

test("without a counting cache nothing is limited", async (t) => {
  freeze(t);
  const service = await startService({
    "ratelimit.tenant_rps": "1",
    "ratelimit.global_rps": "1",
    "cache.backend": "none",
  });
  const rest = restClient(service.baseUrl, service.adminKey);
  for (let i = 0; i < 10; i++) {
    const { status, headers } = await rest.call("GET", environments);
    assert.equal(status, 200);
    assert.equal(headers.get("x-ratelimit-limit"), null);
  }
});

test("a tenant can lower its own limit at run time, and cannot raise it", async (t) => {
  freeze(t);
  const service = await startService({ "ratelimit.tenant_rps": "1000", "ratelimit.burst_s": "1" });
  const tenant = await tenantOf(service, "dynamic");
  const set = (value: number) => tenant.call("PUT", "/api/config/values/ratelimit.tenant_rps", { value });
  const limit = async () => (await tenant.call("GET", environments)).headers.get("x-ratelimit-limit");
  assert.equal(await limit(), "1000");
  assert.equal((await set(600)).status, 200);
  assert.equal(await limit(), "600");
  assert.equal((await set(5000)).status, 200);
  assert.equal(await limit(), "1000");
  await set(0);
  assert.equal(await limit(), "1000", "0 leaves it to the instance");
  const others = await tenantOf(service, "unconcerned");
  await set(1);
  assert.equal((await others.call("GET", environments)).headers.get("x-ratelimit-limit"), "1000");
});

test("a tenant can require an idempotency key for every mutation, and for nothing else", async () => {
  const service = await startService();
  const tenant = await tenantOf(service, "strict");
  assert.equal((await tenant.call("PUT", "/api/config/values/idempotency.required", { value: true })).status, 200);
  const without = await tenant.call("POST", environments, { key: "keyless" });
  assert.equal(without.body.errorCode, "INVALID_ARGUMENT");
  assert.equal(without.body.violations[0].field, "Idempotency-Key");
  assert.equal((await tenant.call("GET", environments)).status, 200);
  const published = await tenant.call("POST", "/api/events", { type: "strict.event" });
  assert.equal(published.body.violations[0].field, "Idempotency-Key");
  assert.equal((await tenant.call("POST", environments, { key: "keyed" }, { "idempotency-key": "k" })).status, 200);
  const back = await tenant.call("DELETE", "/api/config/values/idempotency.required", undefined, {
    "idempotency-key": "b",
  });
  assert.equal(back.status, 200);
  assert.equal((await tenant.call("POST", environments, { key: "free" })).status, 200);
});

test("concurrent calls stay within the limits of the instance and the tenant, and a finished call releases its slot", async () => {
  const service = await startService({
    "api.max_concurrent_requests": "3",
    "api.max_concurrent_requests_per_tenant": "2",
  });
  const one = await tenantOf(service, "one");
  const two = await tenantOf(service, "two");
  const subscribe = async (key: string) => {
    const leave = new AbortController();
    const url = `${service.baseUrl}/api/events/subscribe`;
    const { status } = await fetch(url, { headers: { "x-api-key": key }, signal: leave.signal });
    assert.equal(status, 200);
    return () => leave.abort();
  };
  const leaveFirst = await subscribe(one.key);
  const leaveSecond = await subscribe(one.key);
  const full = await one.call("GET", environments);
  assert.equal(full.status, 503);
  assert.equal(full.body.errorCode, "UNAVAILABLE");
  assert.equal(full.body.retryable, true);
  assert.equal(full.headers.get("retry-after"), "1");
  assert.match(full.body.detail, /The tenant has reached its limit/);
  assert.equal((await two.call("GET", environments)).status, 200);
  const leaveThird = await subscribe(two.key);
  assert.match((await two.call("GET", environments)).body.detail, /The instance has reached its limit/);
  for (const leave of [leaveFirst, leaveSecond, leaveThird]) leave();
  await until(async () => (await one.call("GET", environments)).status === 200);
  // Neither rejections nor streams that were never opened keep a slot.
  for (let i = 0; i < 6; i++) await one.call("HEAD", "/api/events/subscribe");
  for (let i = 0; i < 6; i++) await one.call("GET", `${environments}/nowhere`);
  await until(async () => {
    const responses = await Promise.all([one.call("GET", environments), one.call("GET", environments)]);
    return responses.every(({ status }) => status === 200);
  });
});

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService } from "../harness/service.ts";

let baseUrl: string;
let platform: RestClient;
let rest: RestClient;
let adminKey: string;

before(async () => {
  const service = await startService();
  baseUrl = service.baseUrl;
  platform = restClient(baseUrl, service.adminKey);
  adminKey = await newTenant("routing");
  rest = restClient(baseUrl, adminKey);
});

async function newTenant(name: string): Promise<string> {
  const { body } = await platform.call("POST", "/api/tenants", { name, issue_admin_key: true });
  return body.data.admin_key;
}

/** Calls an operation that must succeed; returns its data. */
async function must(method: string, path: string, body?: unknown, client = rest) {
  const answer = await client.call(method, path, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.data;
}

let serial = 0;
const fresh = () => `pool ${serial++}`;

test("a pool is created as the specification shows, and the response is complete", async () => {
  const { status, body, headers } = await rest.call("POST", "/api/pools", {
    name: "leads",
    description: "Leads of the website",
    strategy: "weighted_random",
    status: "STATUS_ACTIVE",
  });
  assert.equal(status, 200);
  assert.match(headers.get("etag")!, /^"1-/);
  assert.equal(typeof body.metadata.request_id, "string");
  const { id, tenant_id, environment_id, created_at, updated_at, config, ...rest_ } = body.data;
  for (const each of [id, tenant_id, environment_id]) assert.match(each, /^[0-9A-Z]{26}$/);
  assert.equal(created_at, updated_at);
  assert.deepEqual(rest_, {
    name: "leads",
    description: "Leads of the website",
    strategy: "weighted_random",
    status: "STATUS_ACTIVE",
    recipient_ids: [],
    rule_ids: [],
    recipient_count: 0,
    rule_count: 0,
    record_version: 1,
  });
  const selection = { hash_key: "", choice_count: 2, slow_start_s: 60, skill_choice: "best_skilled" };
  assert.deepEqual(config.selection, selection);
  assert.deepEqual(config.fallback, { steps: [], on_no_match: "queue", redirect_pool_id: "" });
  assert.deepEqual(config.queue, { max_depth: 100000, ttl_s: 1209600, ageing_s: 60, order: "aged_priority" });
  const retry = { max_attempts: 5, initial_ms: 1000, factor: 2, max_ms: 60000, jitter: 0.5 };
  assert.deepEqual(config.retry, { ...retry, item_max_attempts: 100, item_max_ms: 604800000 });
  assert.deepEqual([config.item_events, config.accepts_unaddressed], [false, false]);
});

test("a response can be sent back unchanged: config round trip", async () => {
  const config = {
    selection: { hash_key: "item.key", choice_count: 3, slow_start_s: 0, skill_choice: "longest_idle" },
    fallback: {
      steps: [{ after_s: 30, condition: "recipient.tier == 'b'", strategy: "least_loaded" }],
      on_no_match: "reject",
      redirect_pool_id: "",
    },
    queue: { max_depth: 10, ttl_s: 60, ageing_s: 0, order: "strict_priority" },
    lease: { duration_s: 60, heartbeat_s: 20 },
    retry: {
      ...{ max_attempts: 1, initial_ms: 0, factor: 1.5, max_ms: 0, jitter: 0 },
      ...{ item_max_attempts: 3, item_max_ms: 1000 },
    },
    dlq: { max_retries: 0, retention_days: 1 },
    outlier: { consecutive_failures: 0, eject_s: 1, max_ejected_pct: 0 },
    admission: {
      singleton: { key: "item.key", mode: "replace_pending", ttl_s: 60 },
      debounce: { key: "item.type", period_s: 1, max_delay_s: 2, take: "last" },
      throttle: { key: "pool.id", limit: 5, period_s: 1, burst: 2, cost: 1, on_limit: "reject" },
      concurrency: { key: "'all'", limit: 1, scope: "tenant" },
    },
    anomaly: {
      enabled: false,
      methods: ["iqr"],
      actions: ["auto-pause"],
      zscore_threshold: 2.5,
      iqr_multiplier: 2,
      rate_change_drop: 0.25,
      window_s: 60,
      samples_min: 10,
      cooldown_s: 0,
      auto_resume: true,
    },
    item_events: true,
    accepts_unaddressed: true,
  };
  const created = await must("POST", "/api/pools", { name: fresh(), config });
  assert.deepEqual(created.config, config);
  const again = await must("PATCH", `/api/pools/${created.id}`, { config: created.config });
  assert.deepEqual(again.config, config);
});

test("limits of single fields are reported by their path", async () => {
  const { status, body } = await rest.call("POST", "/api/pools", {
    name: fresh(),
    strategy: "by_moon",
    config: {
      retry: { jitter: 2 },
      fallback: { steps: [{ after_s: -1 }] },
      admission: { throttle: { period_s: 604801 } },
    },
  });
  assert.equal(status, 400);
  const fields = body.violations.map((each: { field: string }) => each.field).sort();
  assert.deepEqual(fields, [
    "config.admission.throttle.period_s",
    "config.fallback.steps[0].after_s",
    "config.retry.jitter",
    "strategy",
  ]);
});

test("a conditional change with a stale version is rejected, by ETag and by record_version", async () => {
  const { id } = await must("POST", "/api/pools", { name: fresh() });
  const path = `/api/pools/${id}`;
  const changed = await rest.call("PATCH", path, { description: "two" }, { "if-match": '"1"' });
  assert.equal(changed.status, 200);
  assert.match(changed.headers.get("etag")!, /^"2-/);
  const refused = await rest.call("PATCH", path, { description: "three" }, { "if-match": '"1"' });
  assert.deepEqual([refused.status, refused.body.errorCode], [409, "VERSION_CONFLICT"]);
  assert.equal((await rest.call("PATCH", path, { description: "x", record_version: 1 })).status, 409);
  assert.equal((await must("GET", path)).description, "two");
});

test("a pool is disabled, enabled and archived, and an archived pool is listed only on request", async () => {
  const { id } = await must("POST", "/api/pools", { name: fresh() });
  assert.equal((await must("POST", `/api/pools/${id}:set_enabled`, { enabled: false })).status, "STATUS_DISABLED");
  assert.equal((await must("POST", `/api/pools/${id}:set_enabled`, { enabled: true })).status, "STATUS_ACTIVE");
  assert.equal((await must("DELETE", `/api/pools/${id}`)).status, "STATUS_ARCHIVED");
  const ids = async (query: string) => (await must("GET", `/api/pools${query}`)).map((each: { id: string }) => each.id);
  assert.ok(!(await ids("?limit=1000")).includes(id));
  assert.ok((await ids("?limit=1000&status=STATUS_ARCHIVED")).includes(id));
  assert.equal((await rest.call("PATCH", `/api/pools/${id}`, { name: "back" })).status, 412);
});

test("a request that does not say whether to enable or disable a pool is refused and changes nothing", async () => {
  const { id } = await must("POST", "/api/pools", { name: fresh() });
  const refused = await rest.call("POST", `/api/pools/${id}:set_enabled`, {});
  assert.deepEqual([refused.status, refused.body.errorCode], [400, "INVALID_ARGUMENT"], refused.text);
  assert.equal(refused.body.violations[0].field, "enabled");
  const viaConnect = await rest.call("POST", "/service.api.PoolService/SetPoolEnabled", { poolId: id });
  assert.equal(viaConnect.status, 400, viaConnect.text);
  const { status, record_version } = await must("GET", `/api/pools/${id}`);
  assert.deepEqual([status, record_version], ["STATUS_ACTIVE", 1]);
});

test("recipients are added, paused, resumed, changed and removed", async () => {
  const pool = await must("POST", "/api/pools", { name: fresh() });
  const path = `/api/pools/${pool.id}/recipients`;
  const ada = await must("POST", path, {
    name: "ada",
    weight: 0,
    attributes: { region: "eu" },
    skills: { french: 5 },
    delivery: { mode: "MODE_PUSH", url: "https://example.com/hook" },
  });
  assert.deepEqual([ada.status, ada.weight, ada.in_flight, ada.skills], ["STATUS_ACTIVE", 0, 0, { french: 5 }]);
  const others = await must("POST", `${path}:batch`, { recipients: [{ name: "bo" }, { name: "cy" }] });
  assert.equal(others.recipients.length, 2);
  const at = `/api/recipients/${ada.id}`;
  assert.equal((await must("POST", `${at}/pause`)).status, "STATUS_PAUSED");
  assert.equal((await must("POST", `${at}/resume`, {})).status, "STATUS_ACTIVE");
  assert.equal((await must("PATCH", at, { weight: 7 })).weight, 7);
  const listed = await rest.call("GET", `${path}?limit=2`);
  assert.deepEqual([listed.body.total, listed.body.has_more], [3, true]);
  assert.equal((await must("DELETE", at)).status, "STATUS_REMOVED");
  assert.equal((await rest.call("GET", at)).status, 404);
  assert.equal((await must("GET", `/api/pools/${pool.id}`)).recipient_count, 2);
  const taken = await rest.call("POST", path, { name: "bo" });
  assert.deepEqual([taken.status, taken.body.errorCode], [409, "ALREADY_EXISTS"]);
});

test("a rule's error is reported with its position; a valid rule can be read, changed and deleted", async () => {
  const pool = await must("POST", "/api/pools", { name: fresh() });
  const path = `/api/pools/${pool.id}/rules`;
  const wrong = await rest.call("POST", path, { name: "r", condition: "item.x >", action: { type: "require" } });
  assert.deepEqual([wrong.status, wrong.body.errorCode], [400, "INVALID_ARGUMENT"]);
  assert.deepEqual(wrong.body.position, { line: 1, column: 9, offset: 8 });
  assert.equal(wrong.body.violations[0].field, "condition");
  const incomplete = await rest.call("POST", path, { name: "r", action: { type: "hold" } });
  assert.equal(incomplete.body.violations[0].field, "action.hold_s");
  const rule = await must("POST", path, { name: "r", condition: "item.x > 1", action: { type: "hold", hold_s: 5 } });
  const at = `/api/rules/${rule.id}`;
  assert.deepEqual(await must("GET", at), rule);
  assert.equal((await must("PATCH", at, { enabled: false })).enabled, false);
  assert.equal((await must("GET", path)).length, 1);
  await must("DELETE", at);
  assert.equal((await rest.call("GET", at)).status, 404);
});

test("a condition is validated without being stored, by callers that may read rules", async () => {
  const viewer = await keyWith({ roles: ["viewer"] });
  const report = await must(
    "POST",
    "/api/rules/validate",
    {
      condition: "item.attributes.region == 'eu'",
      sample: { item: { attributes: { region: "eu" } } },
    },
    viewer,
  );
  assert.deepEqual(report, {
    valid: true,
    errors: [],
    variables: ["item"],
    paths: ["item.attributes.region"],
    result_type: "bool",
    result: true,
  });
  const wrong = await must("POST", "/api/rules/validate", { condition: "item.(" }, viewer);
  assert.equal(wrong.valid, false);
  assert.equal(wrong.errors[0].kind, "syntax");
});

async function keyWith(request: object, client = rest): Promise<RestClient> {
  const { secret } = await must("POST", "/api/v2/api-keys", { name: "test", ...request }, client);
  return restClient(baseUrl, secret);
}

test("an operator can write but not delete; a service reads pools and recipients, but no rules", async () => {
  const operator = await keyWith({ roles: ["operator"] });
  const service = await keyWith({ roles: ["service"] });
  const pool = await must("POST", "/api/pools", { name: fresh() }, operator);
  const rule = await must("POST", `/api/pools/${pool.id}/rules`, { name: "r", action: { type: "prefer" } }, operator);
  assert.equal((await operator.call("DELETE", `/api/pools/${pool.id}`)).status, 403);
  await must("GET", `/api/pools/${pool.id}/recipients`, undefined, service);
  assert.equal((await service.call("GET", `/api/rules/${rule.id}`)).status, 403);
  assert.equal((await service.call("POST", "/api/pools", { name: fresh() })).status, 403);
});

test("a key bound to production has no access to pools of another environment", async () => {
  const environments = await must("GET", "/api/v2/environments");
  const staging = environments.find((each: { key: string }) => each.key === "staging").id;
  const pool = await must("POST", "/api/pools", { name: fresh(), environment_id: staging });
  const bound = await keyWith({ roles: ["admin"], environment_mode: "production_only" });
  assert.equal((await bound.call("GET", `/api/pools/${pool.id}`)).status, 403);
  assert.equal((await bound.call("POST", `/api/pools/${pool.id}/recipients`, { name: "x" })).status, 403);
  const listed = await must("GET", "/api/pools?limit=1000", undefined, bound);
  assert.ok(listed.length > 0 && listed.every((each: { environment_id: string }) => each.environment_id !== staging));
});

test("another tenant's calls do not affect a pool and its recipients", async () => {
  const stranger = restClient(baseUrl, await newTenant("stranger"));
  const pool = await must("POST", "/api/pools", { name: fresh() });
  const recipient = await must("POST", `/api/pools/${pool.id}/recipients`, { name: "x" });
  for (const [method, path, body] of [
    ["GET", `/api/pools/${pool.id}`],
    ["DELETE", `/api/pools/${pool.id}`],
    ["POST", `/api/pools/${pool.id}:set_enabled`, { enabled: false }],
    ["POST", `/api/pools/${pool.id}/recipients:batch`, { recipients: [{ name: "y" }] }],
    ["POST", `/api/recipients/${recipient.id}/pause`],
  ] as const) {
    assert.equal((await stranger.call(method, path, body)).status, 404, path);
  }
  assert.equal((await must("GET", `/api/recipients/${recipient.id}`)).record_version, 1);
});

test("null never leaves a constraint silently in place: it is rejected, and reset_config removes the constraint", async () => {
  const singleton = { key: "item.key", mode: "skip" };
  const { id } = await must("POST", "/api/pools", { name: fresh(), config: { admission: { singleton } } });
  const refused = await rest.call("PATCH", `/api/pools/${id}`, { config: { admission: { singleton: null } } });
  assert.equal(refused.status, 400, refused.text);
  assert.equal(refused.body.violations[0].field, "config.admission.singleton");
  assert.equal((await must("GET", `/api/pools/${id}`)).config.admission.singleton.key, "item.key");
  const changed = await must("PATCH", `/api/pools/${id}`, { reset_config: ["admission.singleton"] });
  assert.equal(changed.config.admission.singleton, undefined);
  assert.equal((await must("GET", `/api/pools/${id}`)).config.admission.singleton, undefined);
});

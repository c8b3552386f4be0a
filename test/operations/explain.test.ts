import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newSender, type Sender } from "../notifications/sender-fixture.ts";
import { freshName, inEachProtocol, type ResponseData } from "../routing/tenant-fixture.ts";

let service: TestService;
let own: Sender;
let foreign: Sender;
before(async () => {
  service = await startService();
  [own, foreign] = [await newSender(service), await newSender(service)];
});

const explain = async (id: string, query = ""): Promise<ResponseData> =>
  (await own.ok("GET", `/api/explain/${id}${query}`)).data;

/** Asserts that an explanation is refused to a foreign tenant, and to a caller that may not read such records. */
async function isRefused(id: string, scope: string): Promise<void> {
  await foreign.refused("NOT_FOUND", "GET", `/api/explain/${id}`);
  const scopes = (some: readonly string[]) => own.caller({ scopes: ["explanation:read", ...some] });
  assert.equal((await (await scopes([])).call("GET", `/api/explain/${id}`)).body.errorCode, "NOT_FOUND");
  const narrow = await (await scopes([scope])).call("GET", `/api/explain/${id}`);
  assert.equal(narrow.status, 200, narrow.text);
}

/** Follows every link of an explanation. */
async function linksWork({ links }: ResponseData): Promise<void> {
  assert.ok(links.length > 0);
  for (const { path, id, explainable } of links) {
    await own.ok("GET", path);
    if (explainable) await explain(id);
  }
}

test("why Ada did not get an item: the decision says so for each recipient", async () => {
  const poolId = await own.pool({ strategy: "round_robin" });
  const skilled = { skills: { german: 3 }, attributes: { tier: "gold" } };
  const grace = await own.recipient(poolId, { name: "Grace", ...skilled });
  await own.recipient(poolId, { name: "Ada", ...skilled, status: "STATUS_PAUSED" });
  await own.recipient(poolId, { name: "Linus", skills: { german: 1 } });
  await own.recipient(poolId, { name: "Ken", skills: { german: 5 }, attributes: { tier: "iron" } });
  const excluded = await own.recipient(poolId, { name: "Bob", ...skilled });
  await own.rule(poolId, { type: "require" }, { name: "Gold only", condition: 'recipient.attributes.tier == "gold"' });
  const requirements = { skills: { german: 3 }, excluded_recipient_ids: [excluded] };
  const { decision_id: id } = await own.route(poolId, { requirements });

  const whole = await explain(id);
  const messages = whole.steps.map(({ message }: ResponseData) => message);
  for (const said of [
    "Grace was chosen.",
    "Ada was paused.",
    "Linus lacks the required skills: german 3 (has 1).",
    'The rule "Gold only" excludes Ken.',
    "The item excludes Bob.",
  ]) {
    assert.ok(messages.includes(said), `${said}\n${messages.join("\n")}`);
  }
  assert.deepEqual([whole.kinds, whole.status], [["decision", "queue_item"], "ready"]);
  assert.match(whole.summary, /^The item was routed to Grace\. The strategy of the pool chose the recipient\./);
  assert.equal(whole.waits[0].code, "waiting_for_worker");
  assert.match((await explain(id, "?about=Ada")).summary, /chose the recipient\. Ada was paused\./);
  assert.match((await explain(id, "?about=Zoe")).summary, /Zoe was not a recipient of the pool/);
  assert.equal(whole.steps.find(({ subject }: ResponseData) => subject === grace).code, "strategy");
  await own.ok("POST", `/api/queues/${poolId}/pause`, { reason: "A release" });
  const { waits } = await explain(id);
  assert.deepEqual([waits[0].code, waits[1].code], ["queue_paused", "waiting_for_worker"]);
  assert.equal(waits[0].message, "Its queue is paused (A release), and hands out no item.");
  const stepOf = (code: string) => whole.steps.find((step: ResponseData) => step.code === code);
  assert.equal(stepOf("rule").message, 'The rule "Gold only" (require) applied: recipient.attributes.tier == "gold"');
  assert.equal(stepOf("rule").result, "matched");
  assert.deepEqual(stepOf("recipient_rule_excludes").values, { weight: 100, "recipient.attributes.tier": "iron" });
  await linksWork(whole);
  await isRefused(id, "decision:read");
  await isRefused(id, "queue:read");
  const ids = await (await own.caller({ scopes: ["explanation:read", "decision:read"] })).call(
    "GET",
    `/api/explain/${id}`,
  );
  for (const hidden of ["Grace", "iron", "recipient.attributes.tier"]) {
    assert.ok(!ids.text.includes(hidden), "recipients and rules are shown only to callers who may read them");
  }
});

test("a recipient at capacity, and one that was not preferred", async () => {
  const poolId = await own.pool({ strategy: "priority" });
  await own.recipient(poolId, { name: "First", priority: 1, capacity: 1 });
  await own.recipient(poolId, { name: "Second", priority: 2, capacity: 1 });
  const first = await own.route(poolId);
  const second = await own.route(poolId);
  const third = await own.route(poolId);
  const about = async ({ decision_id }: ResponseData, name: string) =>
    (await explain(decision_id, `?about=${name}`)).summary;
  assert.match(await about(first, "Second"), /Second could take the item, but First was chosen \(priority/);
  assert.match(await about(second, "First"), /First was at its capacity of 1 items\./);
  assert.match(await about(third, "First"), /was at capacity\. First was at its capacity of 1 items\./);
});

test("what the strategy compared, and what the rules read of the item", async () => {
  const poolId = await own.pool({ strategy: "lowest_cost" });
  const cheap = await own.recipient(poolId, { name: "Cheap", cost: 1 });
  await own.recipient(poolId, { name: "Dear", cost: 7, capacity: 3 });
  const condition = 'item.attributes.tier == "gold"';
  const ruleId = await own.rule(poolId, { type: "set_priority", priority: 9 }, { name: "Gold first", condition });
  const { decision_id: id } = await own.route(poolId, {
    attributes: { tier: "iron" },
    requirements: { recipient_id: "" },
  });
  const { steps } = await explain(id);
  const about = (subject: string) => steps.find((step: ResponseData) => step.subject === subject);
  const rule = about(ruleId);
  assert.equal(rule.message, `The rule "Gold first" (set_priority) did not apply: ${condition}`);
  assert.deepEqual([rule.result, rule.values], ["not_matched", { "item.attributes.tier": "iron" }]);
  const dear = steps.find(({ message }: ResponseData) => message.startsWith("Dear could take the item"));
  assert.deepEqual(dear.values, { weight: 100, capacity: 3, cost: 7 });
  assert.equal(steps.find(({ code }: ResponseData) => code === "recipient_chosen").subject, cheap);
});

test("a queue item: its attempts, what it waits for, and its end as a dead letter", async () => {
  const config = { retry: { max_attempts: 2, initial_ms: 60_000 }, lease: { duration_s: 60 } };
  const poolId = await own.pool({ strategy: "first_accept", config });
  const { decision_id: id } = await own.route(poolId);
  const leased = await own.leaseOne(poolId);
  const busy = await explain(id);
  assert.deepEqual([busy.status, busy.waits[0].code], ["leased", "worker_busy"]);
  await own.fail(leased, { reason_code: "crm_down", reason: "The CRM does not answer." });
  const waiting = await explain(id);
  assert.deepEqual([waiting.status, waiting.waits[0].code], ["pending", "retry"]);
  assert.match(waiting.summary, /Attempt 1 failed: crm_down, The CRM does not answer\./);
  assert.notEqual(waiting.waits[0].until, undefined);
  const dead = (await own.route(poolId)).decision_id;
  await own.fail(await own.leaseOne(poolId), { retryable: false });
  const ended = await explain(dead);
  assert.equal(ended.status, "dead_lettered");
  assert.match(ended.remedies[0], /retry the dead letter/);
  await linksWork(ended);
});

test("a notification: the preference that silenced it, and the address that was missing", async () => {
  const ada = await own.subscriber({ email: "" });
  const workflow = await own.workflow({
    channels: { in_app: { title: "T", body: "B" }, email: { subject: "S", body: "B" } },
  });
  await own.prefer(ada.id, { layer: 4, workflow_key: workflow, channels: { in_app: { enabled: false } } });
  const { transaction_id } = await own.trigger({ workflow_key: workflow, subscriber_id: ada.id });
  const deliveries = await own.deliveries(`transaction_id=${transaction_id}`);
  const of = async (channel: string) => explain(deliveries.find((each) => each.channel === channel)!.id);
  const silenced = await of("in_app");
  assert.deepEqual([silenced.kinds, silenced.status], [["notification_delivery"], "skipped"]);
  assert.match(
    silenced.summary,
    /was not sent\. The preferences of the subscriber for this workflow forbid the channel\./,
  );
  const unreachable = await of("email");
  assert.match(unreachable.summary, /endpoint no_endpoint: The subscriber has no address on this channel\./);
  assert.match(unreachable.remedies[0], /Add an address/);
  await linksWork(silenced);
  await isRefused(silenced.id, "notification:read");
});

test("a webhook: one endpoint fails, another is not subscribed", async () => {
  const endpoint = (fields: object) =>
    own.ok("POST", "/api/v2/webhooks/endpoints", { url: "http://127.0.0.1:9/", ...fields });
  const failing = (await endpoint({ event_types: ["pool.created"], retry_delays_s: [3600] })).data;
  const quiet = (await endpoint({ event_types: ["rule.*"] })).data;
  const poolId = await own.pool();
  const found = await until(
    async () => (await own.ok("GET", `/api/v2/webhooks/endpoints/${failing.id}/deliveries`)).data,
    ([first]) => first?.attempt_count > 0,
  );
  const { id } = found[0];
  const whole = await explain(id);
  assert.deepEqual(
    [whole.kinds, whole.status, whole.waits[0].code],
    [["webhook_delivery"], "pending", "waiting_for_attempt"],
  );
  assert.match(
    whole.summary,
    /has not accepted the event yet: 1 attempt, the last failure was the connection was refused/,
  );
  assert.match(
    (await explain(id, `?about=${quiet.id}`)).summary,
    /^The endpoint \w+ does not get the event: it is not subscribed to pool\.created/,
  );
  const message = await explain(`${id}_${failing.id}`);
  assert.match(message.summary, /^The endpoint \w+ has not accepted/);
  await linksWork(whole);
  await isRefused(id, "webhook:read");
  await own.ok("DELETE", `/api/v2/webhooks/endpoints/${failing.id}`);
  assert.ok(poolId);
});

test("a workflow run: what it did and the event that it waits for", async () => {
  const key = `w.${freshName()}`;
  const document = {
    ...{ dsl: "1", key, name: "Waits", timeout: "2d" },
    steps: [
      { id: "price", transform: { total: 2 } },
      { id: "payment", wait_event: { event: "order.paid", timeout: "1d" } },
    ],
  };
  const { id: definitionId } = (await own.ok("POST", "/api/workflow-definitions", { document })).data;
  await own.ok("POST", `/api/workflow-definitions/${definitionId}/publish`, {});
  const { run } = (await own.ok("POST", "/api/workflow-runs", { definition: key })).data;
  const whole = await explain(run.id);
  assert.deepEqual(
    [whole.kinds, whole.status, whole.waits[0].code],
    [["workflow_run"], "waiting", "waiting_for_event"],
  );
  assert.match(whole.waits[0].message, /Step payment: It waits for the event "order\.paid"\./);
  assert.deepEqual(
    whole.steps.map(({ code, subject }: ResponseData) => [code, subject]),
    [
      ["run_started", ""],
      ["step_completed", "price"],
      ["wait_started", "payment"],
    ],
  );
  await linksWork(whole);
  await isRefused(run.id, "workflow_run:read");
});

test("a workflow run: who may decide, and for a failed one its step, failed compensations and remedies", async () => {
  const key = `w.${freshName()}`;
  const undo = { task: { queue: key, type: "undo" }, retry: { max_attempts: 1 } };
  const document = {
    ...{ dsl: "1", key, name: "Fails", timeout: "2d", on_failure: "compensate" },
    steps: [
      { id: "pay", task: { queue: key, type: "pay" }, compensate: undo },
      { id: "ask", approval: { by: ["role:admin", "user:ann"], timeout: "1d" } },
      { id: "stop", fail: { code: "sold_out", message: "No seats." } },
    ],
  };
  const { id: definitionId } = (await own.ok("POST", "/api/workflow-definitions", { document })).data;
  await own.ok("POST", `/api/workflow-definitions/${definitionId}/publish`, {});
  const { run } = (await own.ok("POST", "/api/workflow-runs", { definition: key })).data;
  const poll = async (type: string) => {
    const worker = { queue: key, worker_id: "w", build_id: "b", slots: 1, wait_s: 20 };
    const capabilities = [{ type, versions: ["1.0.0"] }];
    const { task_id, token } = (await own.ok("POST", "/api/workflow-tasks:poll", { ...worker, capabilities })).data
      .tasks[0];
    return { task_id, token };
  };
  await own.ok("POST", "/api/workflow-tasks:complete", { completions: [{ ...(await poll("pay")), output: {} }] });
  const waiting = await explain(run.id);
  assert.match(waiting.waits[0].message, /^Step ask: It waits for 1 of role:admin, user:ann to approve; 0 so far\.$/);
  assert.match(waiting.waits[0].remedy, /^Decide as role:admin or user:ann: POST /);
  await own.ok("POST", `/api/workflow-runs/${run.id}/approvals/ask/decide`, { approved: true });
  const failure = { ...(await poll("undo")), code: "bank_closed", message: "Closed.", retryable: false };
  await own.ok("POST", "/api/workflow-tasks:fail", { failures: [failure] });
  const failed = await explain(run.id);
  assert.match(
    failed.summary,
    /ended as failed at the step stop: sold_out, No seats\. The compensation of pay failed\.$/,
  );
  assert.deepEqual([failed.waits, failed.remedies.length], [[], 2]);
  assert.match(failed.remedies[0], /replay the run: POST/);
  assert.match(failed.remedies[1], /^Correct the cause, then retry it: POST/);
  const { reasons } = (await own.ok("GET", `/api/workflow-runs/${run.id}/explain`)).data;
  assert.deepEqual(
    reasons.map(({ step, code }: ResponseData) => [step, code]),
    [
      ["stop", "failed"],
      ["pay", "compensation_failed"],
    ],
  );
});

test("an execution of a connector action: what the provider answered and what would help", async () => {
  const connection = await own.ok("POST", "/api/v2/connector/connections", {
    ...{ name: freshName(), provider_key: "http", auth_mode: "none", settings: { base_url: service.baseUrl } },
  });
  const input = { method: "GET", path: "no-such-path" };
  await own.rest.call("POST", "/api/v2/connector/actions/http.request.read:execute", {
    connection_id: connection.data.id,
    input,
  });
  const [execution] = (await own.ok("GET", `/api/v2/connector/executions?connection_id=${connection.data.id}`)).data;
  const whole = await explain(execution.id);
  assert.deepEqual([whole.kinds, whole.status], [["connector_execution"], "failed"]);
  assert.match(
    whole.summary,
    /http\.request\.read failed after 1 request: the provider does not know what the input names/,
  );
  assert.deepEqual(
    whole.steps.map(({ code }: ResponseData) => code),
    ["started", "attempt", "failed"],
  );
  assert.match(whole.remedies[0], /Check the names and ids/);
  await linksWork(whole);
  await isRefused(execution.id, "connector_action:read");
});

test("an id of nothing is not found, and every protocol explains alike", async () => {
  await own.refused("NOT_FOUND", "GET", "/api/explain/01J00000000000000000000000");
  await own.refused("NOT_FOUND", "GET", "/api/explain/nothing");
  const poolId = await own.pool({ strategy: "manual" });
  const { decision_id: id } = await own.route(poolId);
  const all = await inEachProtocol(service, own, "ExplainService/Explain", { id });
  for (const { code, data, protocol } of all) {
    assert.equal(code, "OK", protocol);
    assert.equal(data.summary, all[0]!.data.summary, protocol);
  }
});

test("without analytics.enabled, the paths of analytics do not exist for anybody", async () => {
  for (const rest of [own.rest, await own.caller({})]) {
    for (const [method, path] of [
      ["POST", "/api/v1/analytics/query"],
      ["GET", "/api/v1/analytics/catalog"],
    ] as const) {
      const { status, body } = await rest.call(method, path, method === "POST" ? { query: "up" } : undefined);
      assert.deepEqual([status, body.errorCode], [404, "ROUTE_NOT_FOUND"], path);
    }
  }
  assert.doesNotMatch(await (await fetch(`${service.metricsUrl}/metrics`)).text(), /tenant_id=/);
});

test("records and those who act are known by their names, to whoever may read them, and to nobody of another tenant", async () => {
  const poolId = await own.pool({ name: `Leads ${freshName()}` });
  const ada = await own.recipient(poolId, { name: "Ada" });
  const ruleId = await own.rule(poolId, { type: "require" }, { name: "Gold only", condition: "true" });
  const { decision_id: item } = await own.route(poolId, { type: "lead", key: "A-4711" });
  const { decision_id: nameless } = await own.route(poolId, { type: "lead" });
  const key = (await own.ok("POST", "/api/v2/api-keys", { name: "deploy key" })).data.id;
  const hedy = await own.subscriber({ first_name: "Hedy", last_name: "Lamarr" });
  const unknown = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  const ids = [poolId, ada, ruleId, item, `key:${key}`, hedy.id, unknown, "service:routing"];
  const resolve = async (asker: Sender["rest"], request: object): Promise<ResponseData[]> => {
    const { status, body, text } = await asker.call("POST", "/api/v2/names:resolve", request);
    assert.equal(status, 200, text);
    return body.data.names;
  };
  const brief = (names: readonly ResponseData[]) => names.map(({ kind, name }) => `${kind} ${name}`).toSorted();

  const names = await resolve(own.rest, { ids: [...ids, key] });
  const { name: poolName } = (await own.ok("GET", `/api/pools/${poolId}`)).data;
  assert.deepEqual(brief(names), [
    "api_key deploy key",
    "api_key deploy key",
    "decision lead · A-4711",
    ...[`pool ${poolName}`, "queue_item lead · A-4711", "recipient Ada", "rule Gold only", "subscriber Hedy Lamarr"],
  ]);
  const of = (id: string) => names.find((each) => each.id === id)!;
  assert.deepEqual([of(ada).parent_id, of(`key:${key}`).record_id, of(item).created_at], [poolId, key, undefined]);
  const [dated] = await resolve(own.rest, { ids: [nameless], kinds: ["queue_item"] });
  assert.ok(Math.abs(Date.parse(dated!.created_at) - Date.now()) < 3_600_000, "what has no key is known by its time");

  assert.deepEqual(await resolve(foreign.rest, { ids }), []);
  const narrow = await own.caller({ scopes: ["discovery:read", "pool:read"] });
  assert.deepEqual(brief(await resolve(narrow, { ids })), [`pool ${poolName}`]);
  const tester = await own.caller({ roles: ["viewer"], environment_mode: "non_production_only" });
  assert.deepEqual(brief(await resolve(tester, { ids })), ["api_key deploy key", "subscriber Hedy Lamarr"]);
  const many = Array.from({ length: 201 }, () => poolId);
  await own.refused("INVALID_ARGUMENT", "POST", "/api/v2/names:resolve", { ids: many });
  await own.refused("INVALID_ARGUMENT", "POST", "/api/v2/names:resolve", { ids, kinds: ["recipients"] });
});

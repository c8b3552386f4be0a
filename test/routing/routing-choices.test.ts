import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { createCandidate } from "../promotions/promotion-fixture.ts";
import { inEachProtocol, newTenant, type ResponseData, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

const selection = (skill_choice: string) => ({ config: { selection: { skill_choice } } });
const replayed = async (decisionId: string): Promise<ResponseData> =>
  (await own.ok("POST", `/api/decisions/${decisionId}:replay`, {})).data;

test("skills_based spares the experts, spares nobody, or takes turns, as the pool says; every choice replays", async () => {
  const pool = await own.pool({ strategy: "skills_based" });
  const expert = await own.recipient(pool, { skills: { german: 5 } });
  const fluent = await own.recipient(pool, { skills: { german: 3 } });
  await own.recipient(pool, { skills: { german: 1 } });
  const german = { requirements: { skills: { german: 2 } } };
  assert.equal((await own.route(pool, german)).recipient_id, expert);
  await own.ok("PATCH", `/api/pools/${pool}`, selection("least_skilled"));
  const spared = await own.route(pool, german);
  assert.equal(spared.recipient_id, fluent);
  const { detail } = spared.trace.find(({ step }: ResponseData) => step === "strategy");
  assert.equal(detail, "skills_based: least skilled that suffices");
  await own.ok("PATCH", `/api/pools/${pool}`, selection("longest_idle"));
  const turns = [await own.route(pool, german), await own.route(pool, german)];
  assert.deepEqual(new Set(turns.map(({ recipient_id }) => recipient_id)), new Set([expert, fluent]));
  for (const { decision_id } of [spared, ...turns]) assert.deepEqual((await replayed(decision_id)).differences, []);
});

test("a strict queue leases the highest priority first, one by arrival ignores it, and a change keeps waiting items", async () => {
  const leased = async (order: string) => {
    const pool = await own.pool({ config: { queue: { order, ageing_s: 1 } } });
    const items = [0, -1000, 1, 1000, 1].map((priority, n) => ({ pool_id: pool, type: "t", priority, payload: { n } }));
    for (const item of items) await own.routeAll([item]);
    return { pool, order: (await own.lease(pool, { max_items: 9 })).map(({ payload }) => payload.n) };
  };
  const strict = await leased("strict_priority");
  assert.deepEqual(strict.order, [3, 2, 4, 0, 1]);
  assert.deepEqual((await leased("arrival")).order, [0, 1, 2, 3, 4]);
  assert.ok((await own.status(strict.pool)).average_wait_s < 60, "the time of waiting does not depend on the order");

  const changed = await own.pool({ config: { queue: { order: "strict_priority" } } });
  await own.route(changed, { priority: 500 });
  await own.ok("PATCH", `/api/pools/${changed}`, { config: { queue: { order: "aged_priority" } } });
  await own.route(changed, { priority: 1000 });
  const first = await own.lease(changed, { max_items: 9 });
  assert.deepEqual(
    first.map(({ priority }) => priority),
    [500, 1000],
  );
  assert.ok((await own.status(changed)).average_wait_s < 60);
});

test("an ageing of 0 needs an order, and a queue that ages needs an ageing", async () => {
  const refused = async (queue: object) => {
    const { body } = await own.refused("INVALID_ARGUMENT", "POST", "/api/pools", { name: "x", config: { queue } });
    return body.violations[0].field;
  };
  assert.equal(await refused({ ageing_s: 0 }), "config.queue.ageing_s");
  assert.equal(await refused({ ageing_s: 0, order: "aged_priority" }), "config.queue.ageing_s");
  const pool = await own.pool();
  const body = { config: { queue: { ageing_s: 0 } } };
  await own.refused("INVALID_ARGUMENT", "POST", `/api/pools/${pool}/versions`, body);
  await own.refused("INVALID_ARGUMENT", "PATCH", `/api/pools/${pool}`, body);
});

const throttle = { key: "'all'", limit: 1, period_s: 3600, on_limit: "reject" };

test("a rejection by a throttle says when to try again: as a decision, in the preview, and as an error", async () => {
  const pool = await own.pool({ config: { admission: { throttle } } });
  const item = { pool_id: pool, type: "t" };
  assert.equal((await own.route(pool)).outcome, "queued");
  const rejected = await own.route(pool);
  const preview = (await own.ok("POST", `/api/queues/${pool}:preview-admission`, { item })).data;
  assert.equal(rejected.outcome, "rejected");
  for (const hint of [rejected.retry_after_s, preview.retry_after_s]) assert.ok(hint > 3500 && hint <= 3600, `${hint}`);
  const stored = (await own.ok("GET", `/api/decisions/${rejected.decision_id}`)).data;
  assert.equal(stored.retry_after_s, rejected.retry_after_s);
  for (const answer of await inEachProtocol(service, own, "RoutingService/Route", { ...item, reject_as_error: true })) {
    const { code, status, retryable, headers, protocol } = answer;
    assert.deepEqual([code, status, retryable], ["ROUTING_THROTTLED", 429, true], protocol);
    assert.ok(Number(headers.get("retry-after")) > 3500, protocol);
  }
  const { body } = await own.refused("ROUTING_THROTTLED", "POST", "/api/route", { ...item, reject_as_error: true });
  const explained = (await own.ok("GET", `/api/explain/${body.decision_id}`)).data;
  assert.match(explained.summary, /rejected.* It could be sent again after 3[56]\d\d s\./);
});

test("a rejection that is an error leaves the idempotency key free, and one that is a decision does not", async () => {
  const pool = await own.pool({ config: { admission: { throttle } } });
  await own.route(pool);
  const send = (key: string, reject_as_error: boolean) =>
    own.rest.call("POST", "/api/route", { pool_id: pool, type: "t", reject_as_error }, { "idempotency-key": key });
  assert.equal((await send("error", true)).status, 429);
  assert.equal((await send("decision", false)).body.data.outcome, "rejected");
  const [group] = (await own.ok("GET", `/api/queues/admission-groups?pool_id=${pool}`)).data;
  await own.ok("POST", `/api/queues/${pool}/admission-groups/throttle/${group.group_id}:clear`, { reason: "test" });
  assert.equal((await send("error", true)).body.data.outcome, "queued");
  const repeated = await send("decision", false);
  assert.equal(repeated.body.data.outcome, "rejected");
  assert.equal(repeated.headers.get("idempotency-replayed"), "true");
});

test("a rejection by a rule carries the rule's message and hint, in a batch for each item that asks", async () => {
  const pool = await own.pool();
  const closed = { type: "reject", reason: "We open at nine.", retry_after_s: 120 };
  const rule = await own.rule(pool, closed, { condition: "item.type == 'call'" });
  assert.equal((await own.ok("GET", `/api/rules/${rule}`)).data.action.retry_after_s, 120);
  const item = { pool_id: pool, type: "call" };
  const decision = await own.route(pool, { type: "call" });
  assert.deepEqual([decision.outcome, decision.message, decision.retry_after_s], ["rejected", closed.reason, 120]);
  for (const dry_run of [false, true]) {
    const answer = await own.refused("ROUTING_FAILED", "POST", "/api/route", {
      ...item,
      dry_run,
      reject_as_error: true,
    });
    assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, "120"]);
    assert.match(answer.body.detail, /We open at nine\./);
    assert.equal(typeof answer.body.decision_id, dry_run ? "undefined" : "string");
  }
  const results = await own.routeAll([{ ...item, reject_as_error: true }, item, { pool_id: pool, type: "mail" }]);
  assert.deepEqual(
    results.map(({ error_code, retry_after_s, decision: each }) => [error_code, retry_after_s, each?.outcome]),
    [
      ["ROUTING_FAILED", 120, undefined],
      ["", 0, "rejected"],
      ["", 0, "queued"],
    ],
  );
  const hint = { name: "x", action: { type: "hold", hold_s: 1, retry_after_s: 5 } };
  await own.refused("INVALID_ARGUMENT", "POST", `/api/pools/${pool}/rules`, hint);
});

test("a decision about an unaddressed item names the rule that chose its pool, and replays", async () => {
  const other = await newTenant(service);
  const pool = await other.pool({ config: { accepts_unaddressed: true } });
  const rule = await other.rule(pool, { type: "require" }, { condition: "item.type == 'lead'" });
  const decision = await other.route("", { type: "lead" });
  assert.deepEqual(
    decision.trace.filter(({ step }: ResponseData) => step === "pool"),
    [{ step: "pool", id: rule, result: "chosen_by_rule", detail: "" }],
  );
  const { data } = await other.ok("POST", `/api/decisions/${decision.decision_id}:replay`, {});
  assert.deepEqual(data.differences, []);
});

test("preflight and what-if of a version show what changes about order, skills and unaddressed items", async () => {
  const other = await newTenant(service);
  const config = { accepts_unaddressed: true };
  const pool = await other.pool({ strategy: "skills_based", config });
  const expert = await other.recipient(pool, { skills: { german: 5 } });
  const fluent = await other.recipient(pool, { skills: { german: 3 } });
  await other.rule(pool, { type: "require" }, { condition: "item.type == 'lead'" });
  const german = { type: "lead", requirements: { skills: { german: 2 } } };
  await other.route("", german);
  await other.route(pool, german);
  const whatIf = async (staged: object) => {
    const { data } = await other.ok("POST", `/api/pools/${pool}/versions`, { config: staged });
    const artifact = { kind: "routing", ref: pool, version: data.version };
    const path = `/api/promotions/candidates/${await createCandidate(other, [artifact])}`;
    const preflight = (await other.ok("POST", `${path}/preflight`, {})).data;
    const report = (await other.ok("POST", `${path}/what-if`, {})).data;
    await other.ok("POST", `${path}/abort`, { reason: "test" });
    return { preflight: JSON.stringify(preflight), report: JSON.stringify(report) };
  };
  const spared = await whatIf({ ...config, selection: { skill_choice: "least_skilled" } });
  assert.ok(spared.report.includes(`${expert} (priority 0)`) && spared.report.includes(`${fluent} (priority 0)`));
  const closed = await whatIf({ queue: { order: "strict_priority" } });
  assert.ok(closed.report.includes("not_chosen"), closed.report);
  assert.match(closed.preflight, /queue_order_changed.*unaddressed_changed/);
});

test("a paused recipient explains itself where it was not chosen", async () => {
  const pool = await own.pool();
  const resting = await own.recipient(pool, { name: "ada" });
  await own.recipient(pool, { name: "ben" });
  const paused = (await own.ok("POST", `/api/recipients/${resting}/pause`, { reason: "on holiday" })).data;
  assert.deepEqual([paused.pause.cause, paused.pause.reason], ["request", "on holiday"]);
  const { decision_id } = await own.route(pool);
  const { summary } = (await own.ok("GET", `/api/explain/${decision_id}?about=ada`)).data;
  assert.match(summary, /ada was paused\. It was paused by .+ \(on holiday\)\. Somebody has to resume it\./);
});

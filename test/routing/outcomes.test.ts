import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { inEachProtocol, newTenant, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

const decisionOnly = { delivery: { mode: "MODE_DECISION_ONLY" } };

async function tell(decision_id: string, status: string, fields: object = {}) {
  return (await own.ok("POST", "/api/outcomes", { decision_id, status, ...fields })).data;
}

async function recipientOf(id: string) {
  return (await own.ok("GET", `/api/recipients/${id}`)).data;
}

test("an outcome is stored once: later reports, even different ones, do not change it", async () => {
  const pool = await own.pool();
  const recipient = await own.recipient(pool, decisionOnly);
  const { decision_id } = await own.route(pool);
  const observed_at = "2026-01-02T03:04:05Z";
  const first = await tell(decision_id, "success", { latency_ms: 120, score: 0.5, cost: 3, observed_at });
  assert.deepEqual(
    [first.pool_id, first.recipient_id, first.status, first.latency_ms, first.score, first.cost, first.observed_at],
    [pool, recipient, "success", 120, 0.5, 3, observed_at],
  );
  assert.deepEqual(await tell(decision_id, "failure", { latency_ms: 9 }), first);
  for (const { data } of await inEachProtocol(service, own, "OutcomeService/GetOutcome", { decision_id })) {
    assert.deepEqual([data.status, data.latency_ms, data.score, data.cost], ["success", 120, 0.5, 3]);
  }
});

test("an outcome names either its decision or its item; a decision without a recipient has none", async () => {
  const pool = await own.pool();
  const { decision_id, queue_item_id } = await own.route(pool);
  assert.equal((await own.rest.call("GET", `/api/outcomes/${decision_id}`)).status, 404);
  await own.refused("INVALID_ARGUMENT", "POST", "/api/outcomes", { status: "success" });
  await own.refused("INVALID_ARGUMENT", "POST", "/api/outcomes", { status: "success", decision_id, queue_item_id });
  await own.refused("INVALID_ARGUMENT", "POST", "/api/outcomes", { status: "splendid", decision_id });
  const { data } = await own.ok("POST", "/api/outcomes", { status: "declined", queue_item_id });
  assert.deepEqual([data.decision_id, data.status], [decision_id, "declined"]);
});

test("an outcome belongs to the recipient that had the item, even when another one was chosen first", async () => {
  const pool = await own.pool({ strategy: "first_accept" });
  const taker = await own.recipient(pool);
  const { queue_item_id, recipient_id } = await own.route(pool);
  assert.equal(recipient_id, "");
  const leased = await own.leaseOne(pool, { recipient_id: taker });
  assert.equal(leased.queue_item_id, queue_item_id);
  const { data } = await own.ok("POST", "/api/outcomes", { status: "success", queue_item_id });
  assert.equal(data.recipient_id, taker);
});

test("items that workers complete or permanently fail have an outcome without a report", async () => {
  const pool = await own.pool({ config: { retry: { max_attempts: 1 } } });
  const recipient = await own.recipient(pool);
  await own.route(pool);
  await own.route(pool);
  const [done, lost] = await own.lease(pool, { max_items: 2 });
  await own.complete(done);
  await own.fail(lost, { reason_code: "broken" });
  for (const [{ queue_item_id }, status] of [
    [done, "success"],
    [lost, "failure"],
  ]) {
    const { data } = await own.ok("GET", `/api/outcomes/${queue_item_id}`);
    assert.deepEqual([data.status, data.recipient_id, data.latency_ms >= 0], [status, recipient, true]);
  }
});

test("an outcome that is reported before a worker completes the item stays the only one", async () => {
  const pool = await own.pool();
  await own.recipient(pool);
  const { decision_id } = await own.route(pool);
  const leased = await own.leaseOne(pool);
  const first = await tell(decision_id, "declined");
  await own.complete(leased);
  assert.deepEqual((await own.ok("GET", `/api/outcomes/${decision_id}`)).data, first);
});

test("a recipient that keeps failing is ejected: its status and an event show it, and it gets no items meanwhile", async () => {
  const pool = await own.pool({ config: { outlier: { consecutive_failures: 3, eject_s: 3600 } } });
  const [bad, good] = [await own.recipient(pool, decisionOnly), await own.recipient(pool, decisionOnly)];
  const toBad = { requirements: { recipient_id: bad } };
  for (let n = 0; n < 3; n++) {
    assert.equal((await recipientOf(bad)).status, "STATUS_ACTIVE");
    await tell((await own.route(pool, toBad)).decision_id, n === 1 ? "timeout" : "failure");
  }
  const ejected = await until(
    () => recipientOf(bad),
    ({ status }) => status === "STATUS_EJECTED",
  );
  assert.ok(Date.parse(ejected.ejected_until) > Date.now() + 3_000_000);
  const results = await own.routeAll(Array.from({ length: 30 }, () => ({ pool_id: pool, type: "t" })));
  assert.deepEqual(new Set(results.map(({ decision }) => decision.recipient_id)), new Set([good]));
  assert.equal((await own.route(pool, toBad)).reason, "recipient_unavailable");
  const { data: events } = await own.ok("GET", "/api/events?types=recipient.ejected");
  assert.deepEqual(
    events.map(({ subject }: { subject: string }) => subject),
    [bad],
  );
});

test("a success in between, or declining, ejects no recipient; and ejections stay within the pool's limit", async () => {
  const pool = await own.pool({ config: { outlier: { consecutive_failures: 2, eject_s: 3600, max_ejected_pct: 50 } } });
  const [one, two] = [await own.recipient(pool, decisionOnly), await own.recipient(pool, decisionOnly)];
  const told = async (id: string, statuses: string[]) => {
    for (const status of statuses) {
      await tell((await own.route(pool, { requirements: { recipient_id: id } })).decision_id, status);
    }
  };
  await told(one, ["failure", "success", "failure", "declined", "cancelled", "success"]);
  await told(one, ["failure", "failure"]);
  await until(
    () => recipientOf(one),
    ({ status }) => status === "STATUS_EJECTED",
  );
  await told(two, ["failure", "failure", "failure", "failure"]);
  assert.equal((await own.route(pool)).recipient_id, two);
  assert.equal((await recipientOf(two)).status, "STATUS_ACTIVE");
});

test("a decision-only item counts against its recipient's capacity until its outcome is reported", async () => {
  const pool = await own.pool({ config: { lease: { duration_s: 3600, heartbeat_s: 60 } } });
  const recipient = await own.recipient(pool, { ...decisionOnly, capacity: 2 });
  const decisions = [await own.route(pool), await own.route(pool)];
  for (const { outcome, queue_item_id } of decisions) assert.deepEqual([outcome, queue_item_id], ["routed", ""]);
  assert.equal((await recipientOf(recipient)).in_flight, 2);
  const third = await own.route(pool);
  assert.deepEqual([third.outcome, third.reason], ["queued", "all_at_capacity"]);
  await tell(decisions[0].decision_id, "success");
  // The waiting item is now assigned too, and the service that serves the pool fetches it.
  await until(
    () => own.item(pool, third.queue_item_id),
    ({ recipient_id }) => recipient_id === recipient,
  );
  await own.complete(await own.leaseOne(pool));
  await tell(decisions[1].decision_id, "failure");
  assert.equal((await own.route(pool)).outcome, "routed");
});

test("a decision-only item without an outcome releases its slot when its time is over", async () => {
  const pool = await own.pool({
    config: { lease: { duration_s: 5, heartbeat_s: 1 }, fallback: { on_no_match: "reject" } },
  });
  await own.recipient(pool, { ...decisionOnly, capacity: 1 });
  await own.route(pool);
  await own.refused("ROUTING_FAILED", "POST", "/api/route", { pool_id: pool, type: "t" });
  await until(
    () => own.rest.call("POST", "/api/route", { pool_id: pool, type: "t" }),
    ({ status }) => status === 200,
  );
});

test("outcomes teach which recipients are fast and which are cheap", async () => {
  for (const [strategy, measure] of [
    ["lowest_latency", "latency_ms"],
    ["lowest_cost", "cost"],
  ] as const) {
    const pool = await own.pool({ strategy });
    const [dear, cheap] = [await own.recipient(pool, decisionOnly), await own.recipient(pool, decisionOnly)];
    for (const [id, value] of [
      [dear, 900],
      [cheap, 10],
    ] as const) {
      const { decision_id } = await own.route(pool, { requirements: { recipient_id: id } });
      await tell(decision_id, "success", { [measure]: value });
    }
    const results = await own.routeAll(Array.from({ length: 50 }, () => ({ pool_id: pool, type: "t" })));
    // Another recipient is explored occasionally to detect improvement.
    const chosen = results.filter(({ decision }) => decision.recipient_id === cheap);
    assert.ok(chosen.length >= 40, `${strategy}: ${chosen.length} of 50`);
  }
});

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { inEachProtocol, newTenant, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

const strategies = [
  "weighted_random",
  "round_robin",
  "least_loaded",
  "priority",
  "sticky_hash",
  "skills_based",
  "longest_idle",
  "lowest_latency",
  "lowest_cost",
  "first_accept",
  "manual",
];

test("a decision is stored as it was returned", async () => {
  const pool = await own.pool();
  await own.recipient(pool);
  await own.rule(pool, { type: "set_priority", priority: 4 }, { condition: "item.key == 'k'" });
  const decision = await own.route(pool, { key: "k" });
  const { decision_id } = decision;
  for (const { data } of await inEachProtocol(service, own, "RoutingService/GetDecision", { decision_id })) {
    const { outcome, recipient_id, trace, snapshot_digest, seed, decided_at } = data;
    assert.deepEqual(
      { outcome, recipient_id, snapshot_digest, seed: Number(seed), decided_at, steps: trace.length },
      {
        outcome: "routed",
        recipient_id: decision.recipient_id,
        snapshot_digest: decision.snapshot_digest,
        seed: decision.seed,
        decided_at: decision.decided_at,
        steps: decision.trace.length,
      },
    );
  }
  assert.deepEqual((await own.ok("GET", `/api/decisions/${decision_id}`)).data, decision);
});

test("decisions are listed newest first, by pool, outcome and recipient, in pages that later ones do not shift", async () => {
  const pool = await own.pool();
  const [one, two] = [await own.recipient(pool), await own.recipient(pool)];
  await own.rule(pool, { type: "reject" }, { condition: "item.type == 'bad'" });
  const given = [];
  for (const id of [one, two, one, two, one]) given.push(await own.route(pool, { requirements: { recipient_id: id } }));
  const bad = await own.route(pool, { type: "bad" });
  const list = async (query: string) => own.ok("GET", `/api/decisions?pool_id=${pool}${query}`);
  const ids = ({ data }: { data: { decision_id: string }[] }) => data.map(({ decision_id }) => decision_id);
  const newestFirst = [...given, bad].map(({ decision_id }) => decision_id).reverse();
  assert.deepEqual(ids(await list("")), newestFirst);
  assert.deepEqual(ids(await list("&outcome=rejected")), [bad.decision_id]);
  assert.deepEqual(ids(await list(`&recipient_id=${two}`)), [newestFirst[2], newestFirst[4]]);
  assert.deepEqual(ids(await list(`&recipient_id=${two}&outcome=rejected`)), []);
  const first = await list("&limit=2");
  assert.deepEqual([ids(first), first.total, first.has_more], [newestFirst.slice(0, 2), 6, true]);
  await own.route(pool);
  const second = await list(`&limit=3&cursor=${encodeURIComponent(first.next_cursor)}`);
  assert.deepEqual(ids(second), newestFirst.slice(2, 5));
  await own.refused("INVALID_ARGUMENT", "GET", `/api/decisions?cursor=${encodeURIComponent(first.next_cursor)}`);
});

for (const strategy of strategies) {
  test(`a ${strategy} decision replays with the same result, whatever has changed since`, async () => {
    const pool = await own.pool({ strategy, config: { selection: { hash_key: "item.attributes.customer" } } });
    const recipients: string[] = [];
    for (let n = 0; n < 6; n++) {
      const fields = { weight: 50 + 30 * n, priority: n % 3, skills: { s: 1 + (n % 5) }, cost: n, capacity: 40 };
      recipients.push(await own.recipient(pool, { ...fields, attributes: { even: n % 2 === 0 } }));
    }
    const prefers = { condition: "recipient.attributes.even == item.attributes.even" };
    await own.rule(pool, { type: "prefer" }, { ...prefers, stop_on_match: false });
    await own.rule(pool, { type: "set_priority", priority: 2 }, { condition: "item.attributes.customer == 3" });
    const items = Array.from({ length: 30 }, (_, n) => ({
      pool_id: pool,
      type: "task",
      attributes: { customer: n % 7, even: n % 3 === 0 },
      requirements: {
        skills: n % 4 === 0 ? { s: 2 } : {},
        excluded_recipient_ids: n % 5 === 0 ? [recipients[n / 5]] : [],
      },
    }));
    const results = await own.routeAll(items);
    // Live state, recipients and rules have changed.
    const worker = strategy === "first_accept" ? { recipient_id: recipients[0] } : {};
    for (const leased of await own.lease(pool, { max_items: 10, ...worker })) await own.complete(leased);
    await own.ok("DELETE", `/api/recipients/${recipients[5]}`);
    await own.ok("PATCH", `/api/recipients/${recipients[4]}`, { weight: 0 });
    await own.rule(pool, { type: "reject" }, { priority: 1 });
    for (const { decision } of results.filter((_, n) => n % 3 === 0)) {
      const { identical, differences, decision: again } = await replay(decision.decision_id);
      assert.deepEqual([identical, differences], [true, []]);
      assert.deepEqual([again.recipient_id, again.outcome], [decision.recipient_id, decision.outcome]);
    }
  });
}

async function replay(decisionId: string) {
  return (await own.ok("POST", `/api/decisions/${decisionId}:replay`, {})).data;
}

test("a redirected item names the matching rules of all its pools, in order", async () => {
  const target = await own.pool();
  const source = await own.pool();
  const raise = { type: "set_priority", priority: 5 };
  const first = await own.rule(source, raise, { priority: 1, stop_on_match: false });
  const second = await own.rule(source, { type: "redirect_pool", pool_id: target }, { priority: 2 });
  const third = await own.rule(target, raise);
  const routed = await own.route(source);
  assert.deepEqual(routed.matched_rule_ids, [first, second, third]);
  const { data: stored } = await own.ok("GET", `/api/decisions/${routed.decision_id}`);
  assert.deepEqual(stored.matched_rule_ids, [first, second, third]);
  assert.equal((await replay(routed.decision_id)).identical, true);
});

test("decisions that were redirected, held, rejected or refused by admission replay with the same result", async () => {
  const target = await own.pool({ config: { admission: { singleton: { key: "item.key" } } } });
  await own.recipient(target);
  const source = await own.pool();
  await own.rule(source, { type: "redirect_pool", pool_id: target }, { condition: "item.type == 'on'" });
  await own.rule(source, { type: "hold", hold_s: 60 }, { condition: "item.type == 'hold'" });
  await own.rule(source, { type: "reject" }, { condition: "item.type == 'no'" });
  const types = ["on", "on", "hold", "no", "queue"];
  const results = await own.routeAll(types.map((type) => ({ pool_id: source, type, key: "same" })));
  assert.deepEqual(
    results.map(({ decision }) => decision.outcome),
    ["routed", "deduplicated", "held", "rejected", "queued"],
  );
  for (const { decision } of results) {
    const { identical, decision: again } = await replay(decision.decision_id);
    assert.equal(identical, true, decision.outcome);
    assert.deepEqual(
      [again.outcome, again.recipient_id, again.pool_id],
      [decision.outcome, decision.recipient_id, decision.pool_id],
    );
  }
  for (const { protocol, data } of await inEachProtocol(service, own, "RoutingService/ReplayDecision", {
    decision_id: results[0].decision.decision_id,
  })) {
    assert.equal(data.identical, true, protocol);
  }
});

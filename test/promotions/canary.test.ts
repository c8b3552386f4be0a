import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { type Party, partyAt, type ResponseData } from "../routing/tenant-fixture.ts";
import {
  createCandidate,
  type GovernedNode,
  keysOf,
  recipientsOf,
  routingArtifact,
  type StagedPool,
  stagedPool,
  startGovernedNode,
  step,
  work,
} from "./promotion-fixture.ts";

let database: TestDatabase;
let first: GovernedNode;
let others: TestService[];
let party: Party;
let second: Party;
before(async () => {
  database = await freshDatabase();
  first = await startGovernedNode(database.url);
  others = [await startService(first.settings, database.url)];
  party = first.party;
  second = partyAt(others[0]!, party);
});
after(async () => {
  await Promise.all([first.service, ...others].map((node) => node.stop()));
  await database.drop();
});

const keys = keysOf("key", 1000);

async function runningCanary(percent: number): Promise<{ pool: StagedPool; id: string }> {
  const pool = await stagedPool(party);
  await work(party, pool.id, keysOf("past", 16));
  const id = await createCandidate(party, [routingArtifact(pool)]);
  await step(party, id, "preflight", "preflight_passed");
  await step(party, id, "guardrails/evaluate", "guardrails_passed");
  await step(party, id, "canary/start", "canary_running", { percent });
  return { pool, id };
}

/** Waits until a node routes some keys to the candidate's recipient. */
const seesCanary = (at: Party, { id, after: chosen }: StagedPool) =>
  until(
    () => recipientsOf(at, id, keys),
    (recipients) => recipients.includes(chosen),
  );

test("a key is on the same side on every node and after a restart, and the share is the one that was asked for", async () => {
  const { pool, id } = await runningCanary(20);
  const sides = await recipientsOf(party, pool.id, keys);
  const share = sides.filter((recipient) => recipient === pool.after).length / keys.length;
  // Six standard deviations of a binomial share.
  const bound = 6 * Math.sqrt((0.2 * 0.8) / keys.length);
  assert.ok(Math.abs(share - 0.2) < bound, `${share}`);
  assert.deepEqual(await seesCanary(second, pool), sides);
  const restarted = await startService(first.settings, database.url);
  others.push(restarted);
  assert.deepEqual(await recipientsOf(partyAt(restarted, party), pool.id, keys), sides);
  await step(party, id, "canary/stop", "canary_stopped");
  await step(party, id, "canary/start", "canary_running");
  assert.deepEqual(await recipientsOf(party, pool.id, keys), sides);
  // Items without a key would not stay on a side.
  assert.deepEqual(await recipientsOf(party, pool.id, ["", "", "", ""]), Array(4).fill(pool.before));
  await step(party, id, "abort", "aborted");
});

test("a decision says on which side it was, and replays", async () => {
  const { pool, id } = await runningCanary(50);
  const decisions = await work(party, pool.id, keysOf("now", 12));
  const seen = new Set<string>();
  for (const { decision_id } of decisions) {
    const { data } = await party.ok("GET", `/api/decisions/${decision_id}`);
    const [trace] = data.trace.filter(({ step: name }: ResponseData) => name === "canary");
    assert.equal(trace.id, id);
    seen.add(trace.result);
    assert.equal(data.recipient_id, trace.result === "canary" ? pool.after : pool.before);
    const replayed = await party.ok("POST", `/api/decisions/${decision_id}:replay`, {});
    assert.deepEqual(replayed.data.differences, []);
  }
  assert.deepEqual([...seen].sort(), ["baseline", "canary"]);
  await step(party, id, "abort", "aborted");
});

test("an abort stops the canary on every node", async () => {
  const { pool, id } = await runningCanary(50);
  await seesCanary(second, pool);
  await step(party, id, "abort", "aborted");
  await until(
    () => recipientsOf(second, pool.id, keys),
    (recipients) => !recipients.includes(pool.after),
  );
  assert.ok(!(await recipientsOf(party, pool.id, keys)).includes(pool.after));
});

test("a canary that does harm is stopped without a call, and cannot be approved", async () => {
  const { pool, id } = await runningCanary(50);
  await work(party, pool.id, keysOf("now", 120), (recipient) => (recipient === pool.after ? "failure" : "success"));
  const path = `/api/promotions/candidates/${id}`;
  const stopped = await until(
    async () => (await party.ok("GET", path)).data,
    ({ state }) => state === "canary_failed",
  );
  assert.equal(stopped.canary.verdict, "failed");
  const { data: timeline } = await party.ok("GET", `${path}/timeline`);
  const last = timeline.find(({ call }: ResponseData) => call === "stop_canary");
  assert.equal(last.actor, "service:promotions");
  // Another node may have stopped it.
  await until(
    () => recipientsOf(party, pool.id, keys),
    (recipients) => !recipients.includes(pool.after),
  );
  const ada = await first.person("ada", ["promotion_approver"]);
  assert.equal((await ada("POST", `${path}/approve`, {})).body.current_state, "canary_failed");
  await step(party, id, "abort", "aborted");
});

test("waiting items are assigned by the side of their key", async () => {
  const pool = await party.pool();
  await party.rule(pool, { type: "require" }, { condition: "recipient.name == 'old'" });
  const { data } = await party.ok("POST", `/api/pools/${pool}/versions`, {
    rule_set: { rules: [{ name: "new", condition: "recipient.name == 'new'", action: { type: "require" } }] },
  });
  const teacher = await party.recipient(pool, { name: "old", delivery: { mode: "MODE_DECISION_ONLY" } });
  await work(party, pool, keysOf("past", 16));
  const id = await createCandidate(party, [{ kind: "routing", ref: pool, version: data.version }]);
  await step(party, id, "preflight", "preflight_passed");
  await step(party, id, "guardrails/evaluate", "guardrails_passed");
  await step(party, id, "canary/start", "canary_running", { percent: 50 });
  await party.ok("DELETE", `/api/recipients/${teacher}`);
  const waiting = await party.routeAll(keysOf("now", 20).map((key) => ({ pool_id: pool, type: "task", key })));
  const old = await party.recipient(pool, { name: "old" });
  const fresh = await party.recipient(pool, { name: "new" });
  for (const result of waiting) {
    const { queue_item_id, decision_id } = result.decision ?? result;
    const { data: decision } = await party.ok("GET", `/api/decisions/${decision_id}`);
    const { result: side } = decision.trace.find(({ step: name }: ResponseData) => name === "canary");
    const item = await until(
      () => party.item(pool, queue_item_id),
      ({ recipient_id }) => recipient_id !== "",
    );
    assert.equal(item.recipient_id, side === "canary" ? fresh : old);
  }
  await step(party, id, "abort", "aborted");
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { type ResponseData, type TenantFixture, tenantAt } from "../routing/tenant-fixture.ts";
import {
  createCandidate,
  type GovernedNode,
  harmedKeys,
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
let tenant: TenantFixture;
let second: TenantFixture;
before(async () => {
  database = await freshDatabase();
  first = await startGovernedNode(database.url);
  others = [await startService(first.settings, database.url)];
  tenant = first.tenant;
  second = tenantAt(others[0]!, tenant);
});
after(async () => {
  await Promise.all([first.service, ...others].map((node) => node.stop()));
  await database.drop();
});

const keys = keysOf("key", 1000);

async function runningCanary(percent: number): Promise<{ pool: StagedPool; id: string }> {
  const pool = await stagedPool(tenant);
  await work(tenant, pool.id, keysOf("past", 16));
  const id = await createCandidate(tenant, [routingArtifact(pool)]);
  await step(tenant, id, "preflight", "preflight_passed");
  await step(tenant, id, "guardrails/evaluate", "guardrails_passed");
  await step(tenant, id, "canary/start", "canary_running", { percent });
  return { pool, id };
}

/** Waits until a node routes some keys to the candidate's recipient. */
const seesCanary = (at: TenantFixture, { id, after: chosen }: StagedPool) =>
  until(
    () => recipientsOf(at, id, keys),
    (recipients) => recipients.includes(chosen),
  );

test("a key is on the same side on every node and after a restart, and the share is the one that was asked for", async () => {
  const { pool, id } = await runningCanary(20);
  const sides = await recipientsOf(tenant, pool.id, keys);
  const share = sides.filter((recipient) => recipient === pool.after).length / keys.length;
  // Six standard deviations of a binomial share.
  const bound = 6 * Math.sqrt((0.2 * 0.8) / keys.length);
  assert.ok(Math.abs(share - 0.2) < bound, `${share}`);
  await seesCanary(second, pool);
  assert.deepEqual(await recipientsOf(second, pool.id, keys), sides);
  const restarted = await startService(first.settings, database.url);
  others.push(restarted);
  assert.deepEqual(await recipientsOf(tenantAt(restarted, tenant), pool.id, keys), sides);
  await step(tenant, id, "canary/stop", "canary_stopped");
  await step(tenant, id, "canary/start", "canary_running");
  assert.deepEqual(await recipientsOf(tenant, pool.id, keys), sides);
  // Items without a key would not stay on a side.
  assert.deepEqual(await recipientsOf(tenant, pool.id, ["", "", "", ""]), Array(4).fill(pool.before));
  await step(tenant, id, "abort", "aborted");
});

test("a decision says on which side it was, and replays", async () => {
  const { pool, id } = await runningCanary(50);
  // Half of the keys are the canary's, by chance: 40 keys on one side never happen.
  const decisions = await work(tenant, pool.id, keysOf("now", 40));
  const seen = new Set<string>();
  for (const { decision_id } of decisions) {
    const { data } = await tenant.ok("GET", `/api/decisions/${decision_id}`);
    const [trace] = data.trace.filter(({ step: name }: ResponseData) => name === "canary");
    assert.equal(trace.id, id);
    seen.add(trace.result);
    assert.equal(data.recipient_id, trace.result === "canary" ? pool.after : pool.before);
    const replayed = await tenant.ok("POST", `/api/decisions/${decision_id}:replay`, {});
    assert.deepEqual(replayed.data.differences, []);
  }
  assert.deepEqual([...seen].sort(), ["baseline", "canary"]);
  await step(tenant, id, "abort", "aborted");
});

test("an abort stops the canary on every node", async () => {
  const { pool, id } = await runningCanary(50);
  await seesCanary(second, pool);
  await step(tenant, id, "abort", "aborted");
  await until(
    () => recipientsOf(second, pool.id, keys),
    (recipients) => !recipients.includes(pool.after),
  );
  assert.ok(!(await recipientsOf(tenant, pool.id, keys)).includes(pool.after));
});

test("a canary that does harm is stopped without a call, and cannot be approved", async () => {
  const { pool, id } = await runningCanary(50);
  await work(tenant, pool.id, harmedKeys, (recipient) => (recipient === pool.after ? "failure" : "success"));
  const path = `/api/promotions/candidates/${id}`;
  const stopped = await until(
    async () => (await tenant.ok("GET", path)).data,
    ({ state }) => state === "canary_failed",
  );
  assert.equal(stopped.canary.verdict, "failed");
  const { data: timeline } = await tenant.ok("GET", `${path}/timeline`);
  const last = timeline.find(({ call }: ResponseData) => call === "stop_canary");
  assert.equal(last.actor, "service:promotions");
  // Another node may have stopped it.
  await until(
    () => recipientsOf(tenant, pool.id, keys),
    (recipients) => !recipients.includes(pool.after),
  );
  const ada = await first.person("ada", ["promotion_approver"]);
  assert.equal((await ada("POST", `${path}/approve`, {})).body.current_state, "canary_failed");
  await step(tenant, id, "abort", "aborted");
});

test("waiting items are assigned by the side of their key", async () => {
  const pool = await tenant.pool();
  await tenant.rule(pool, { type: "require" }, { condition: "recipient.name == 'old'" });
  const { data } = await tenant.ok("POST", `/api/pools/${pool}/versions`, {
    rule_set: { rules: [{ name: "new", condition: "recipient.name == 'new'", action: { type: "require" } }] },
  });
  const teacher = await tenant.recipient(pool, { name: "old", delivery: { mode: "MODE_DECISION_ONLY" } });
  await work(tenant, pool, keysOf("past", 16));
  const id = await createCandidate(tenant, [{ kind: "routing", ref: pool, version: data.version }]);
  await step(tenant, id, "preflight", "preflight_passed");
  await step(tenant, id, "guardrails/evaluate", "guardrails_passed");
  await step(tenant, id, "canary/start", "canary_running", { percent: 50 });
  await tenant.ok("DELETE", `/api/recipients/${teacher}`);
  const waiting = await Promise.all(keysOf("now", 20).map((key) => tenant.route(pool, { key })));
  const old = await tenant.recipient(pool, { name: "old" });
  const fresh = await tenant.recipient(pool, { name: "new" });
  for (const { queue_item_id, decision_id } of waiting) {
    const { data: decision } = await tenant.ok("GET", `/api/decisions/${decision_id}`);
    const { result: side } = decision.trace.find(({ step: name }: ResponseData) => name === "canary");
    const item = await until(
      () => tenant.item(pool, queue_item_id),
      ({ recipient_id }) => recipient_id !== "",
    );
    assert.equal(item.recipient_id, side === "canary" ? fresh : old);
  }
  await step(tenant, id, "abort", "aborted");
});

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { restClient } from "../harness/rest.ts";
import type { ResponseData } from "../routing/tenant-fixture.ts";
import {
  activeContent,
  base,
  createCandidate,
  easyGuardrails,
  type GovernedNode,
  harmedKeys,
  keysOf,
  type Person,
  recipientsOf,
  routingArtifact,
  runToStoppedCanary,
  type StagedPool,
  stagedPool,
  startGovernedNode,
  step,
  work,
} from "./promotion-fixture.ts";

let node: GovernedNode;
let approver: Person;
before(async () => {
  node = await startGovernedNode();
  approver = await node.person("ada", ["promotion_approver"]);
});

async function approvedCandidate(pools: readonly StagedPool[], artifacts = pools.map(routingArtifact)) {
  const id = await createCandidate(node.tenant, artifacts);
  await runToStoppedCanary(node.tenant, id, pools);
  const approved = await approver("POST", `${base}/${id}/approve`, { note: "looks right" });
  assert.equal(approved.status, 200, approved.text);
  return id;
}

test("20 concurrent promotions have one effect", async () => {
  const { tenant } = node;
  const pool = await stagedPool(tenant);
  const id = await approvedCandidate([pool]);
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => tenant.rest.call("POST", `${base}/${id}/promote`, {})),
  );
  const codes = responses.map(({ body }) => body.errorCode ?? "ok").sort();
  assert.deepEqual(codes, [...Array(19).fill("FAILED_PRECONDITION"), "ok"]);
  const { data: events } = await tenant.ok("GET", "/api/events?types=promotion.promoted&types=pool.version_activated");
  assert.equal(events.filter(({ subject }: ResponseData) => subject === id || subject === pool.id).length, 2);
  assert.deepEqual(await recipientsOf(tenant, pool.id, ["any"]), [pool.after]);
});

test("a rollback restores byte-identical artifacts, with the ids and the order of rules", async () => {
  const { tenant } = node;
  const pools = [await stagedPool(tenant), await stagedPool(tenant)];
  const contents = await Promise.all(pools.map(({ id }) => activeContent(tenant, id)));
  const rules = await tenant.ok("GET", `/api/pools/${pools[0]!.id}/rules`);
  const id = await approvedCandidate(pools);
  const promoted = await step(tenant, id, "promote", "promoted");
  assert.deepEqual(
    promoted.promotion.handles.map(({ target_id }: ResponseData) => target_id),
    pools.map((pool) => pool.id),
  );
  for (const [at, pool] of pools.entries()) assert.notEqual(await activeContent(tenant, pool.id), contents[at]);
  await step(tenant, id, "rollback", "rolled_back", { reason: "too slow" });
  for (const [at, pool] of pools.entries()) assert.equal(await activeContent(tenant, pool.id), contents[at]);
  const after = await tenant.ok("GET", `/api/pools/${pools[0]!.id}/rules`);
  const stable = ({ id: ruleId, name, priority, action, created_at }: ResponseData) => [
    ...[ruleId, name, priority, action, created_at],
  ];
  assert.deepEqual(after.data.map(stable), rules.data.map(stable));
  assert.deepEqual(await recipientsOf(tenant, pools[0]!.id, ["any"]), [pools[0]!.before]);
});

test("a base that moved refuses the promotion of all artifacts, and nothing changes", async () => {
  const { tenant } = node;
  const pools = [await stagedPool(tenant), await stagedPool(tenant)];
  const id = await approvedCandidate(pools);
  const [first, second] = pools as [StagedPool, StagedPool];
  const content = await activeContent(tenant, first.id);
  await tenant.ok("PATCH", `/api/rules/${second.ruleId}`, { priority: 7 });
  const refused = await tenant.refused("FAILED_PRECONDITION", "POST", `${base}/${id}/promote`, {});
  assert.deepEqual([refused.body.reason, refused.body.targets], ["base_moved", [second.id]]);
  assert.equal(await activeContent(tenant, first.id), content);
  const { data } = await tenant.ok("GET", `${base}/${id}`);
  assert.equal(data.state, "approved");
  assert.match(data.approval.void_reasons[0], /^base_moved: routing/);
  assert.deepEqual(data.possible_calls, ["approve", "abort"]);
  const again = await approver("POST", `${base}/${id}/approve`, {});
  assert.equal(again.body.reason, "base_moved");
  // Undoing the change makes the approval valid again: it is bound to what the target has.
  await tenant.ok("PATCH", `/api/rules/${second.ruleId}`, { priority: 100 });
  await step(tenant, id, "promote", "promoted");
});

test("a rollback of a target that changed since needs force and a reason", async () => {
  const { tenant } = node;
  const pool = await stagedPool(tenant);
  const content = await activeContent(tenant, pool.id);
  const id = await approvedCandidate([pool]);
  await step(tenant, id, "promote", "promoted");
  await tenant.ok("PATCH", `/api/rules/${pool.ruleId}`, { priority: 7 });
  const refused = await tenant.refused("FAILED_PRECONDITION", "POST", `${base}/${id}/rollback`, {});
  assert.equal(refused.body.reason, "target_moved");
  await tenant.refused("INVALID_ARGUMENT", "POST", `${base}/${id}/rollback`, { force: true });
  await step(tenant, id, "rollback", "rolled_back", { force: true, reason: "wrong recipients" });
  assert.equal(await activeContent(tenant, pool.id), content);
});

test("the creator cannot approve, nor who created the creator's key, nor an API key", async () => {
  const { tenant } = node;
  const pool = await stagedPool(tenant);
  const admin = await node.person("ada", ["admin"]);
  const { body } = await admin("POST", "/api/v2/api-keys", { name: "of ada", roles: ["admin"] });
  const created = await admin("POST", base, {
    artifacts: [routingArtifact(pool)],
    guardrails: easyGuardrails,
  });
  const byPerson = created.body.data.id;
  await runToStoppedCanary(tenant, byPerson, [pool]);
  const refusedPerson = await admin("POST", `${base}/${byPerson}/approve`, {});
  assert.deepEqual([refusedPerson.status, refusedPerson.body.reason], [403, "approver_is_creator"]);
  const refusedKey = await tenant.rest.call("POST", `${base}/${byPerson}/approve`, {});
  assert.deepEqual([refusedKey.status, refusedKey.body.reason], [403, "approver_not_a_person"]);
  const viewer = await node.person("bob", ["viewer"]);
  assert.equal((await viewer("POST", `${base}/${byPerson}/approve`, {})).body.errorCode, "PERMISSION_DENIED");
  const bob = await node.person("bob", ["promotion_approver"]);
  assert.equal((await bob("POST", `${base}/${byPerson}/approve`, {})).status, 200);
  await step(tenant, byPerson, "promote", "promoted");

  const next = await stagedPool(tenant);
  const keyed = restClient(node.service.baseUrl, body.data.secret);
  const made = await keyed.call("POST", base, {
    artifacts: [routingArtifact(next)],
    guardrails: easyGuardrails,
  });
  assert.equal(made.status, 200, made.text);
  await runToStoppedCanary(tenant, made.body.data.id, [next]);
  const disguised = await approver("POST", `${base}/${made.body.data.id}/approve`, {});
  assert.deepEqual([disguised.status, disguised.body.reason], [403, "approver_is_creator"]);
});

test("a canary with too few keys or with more failures cannot be approved", async () => {
  const { tenant } = node;
  const pool = await stagedPool(tenant);
  await work(tenant, pool.id, keysOf("past", 16));
  const id = await createCandidate(tenant, [routingArtifact(pool)]);
  await step(tenant, id, "preflight", "preflight_passed");
  await step(tenant, id, "guardrails/evaluate", "guardrails_passed");
  await step(tenant, id, "canary/start", "canary_running", { percent: 50, keys_min: 5 });
  const { canary } = await step(tenant, id, "canary/stop", "canary_stopped");
  assert.equal(canary.verdict, "inconclusive");
  const inconclusive = await approver("POST", `${base}/${id}/approve`, {});
  assert.deepEqual([inconclusive.status, inconclusive.body.reason], [412, "canary_inconclusive"]);
  await tenant.refused("INVALID_ARGUMENT", "POST", `${base}/${id}/canary/start`, { percent: 20 });
  await step(tenant, id, "canary/start", "canary_running");
  await work(tenant, pool.id, harmedKeys, (recipient) => (recipient === pool.after ? "failure" : "success"));
  const { canary: scored } = (await tenant.ok("GET", `${base}/${id}`)).data;
  assert.equal(scored.verdict, "failed");
  // The service may have stopped it before.
  await tenant.rest.call("POST", `${base}/${id}/canary/stop`, {});
  const { state, canary: stopped } = (await tenant.ok("GET", `${base}/${id}`)).data;
  assert.deepEqual([state, stopped.running, stopped.verdict], ["canary_failed", false, "failed"]);
  assert.deepEqual([stopped.scores[0].value, stopped.scores[0].baseline], [0, 1]);
  const failed = await approver("POST", `${base}/${id}/approve`, {});
  assert.deepEqual([failed.status, failed.body.current_state], [412, "canary_failed"]);
});

test("the terms of a canary are fixed at its first start", async () => {
  const { tenant } = node;
  const pool = await stagedPool(tenant);
  await work(tenant, pool.id, keysOf("past", 16));
  const id = await createCandidate(tenant, [routingArtifact(pool)]);
  await step(tenant, id, "preflight", "preflight_passed");
  await step(tenant, id, "guardrails/evaluate", "guardrails_passed");
  const terms = { percent: 50, keys_min: 90, margin: 0.1 };
  await step(tenant, id, "canary/start", "canary_running", terms);
  await step(tenant, id, "canary/stop", "canary_stopped");
  for (const change of [{ percent: 40 }, { keys_min: 1 }, { margin: 1 }]) {
    const { body } = await tenant.refused("INVALID_ARGUMENT", "POST", `${base}/${id}/canary/start`, change);
    assert.deepEqual(
      body.violations.map(({ field }: ResponseData) => field),
      Object.keys(change),
    );
  }
  const { canary } = await step(tenant, id, "canary/start", "canary_running", terms);
  assert.deepEqual([canary.percent, canary.keys_min, canary.margin], [50, 90, 0.1]);
});

test("a target without traffic is promoted with a recorded waiver, which only some roles may give", async () => {
  const { tenant } = node;
  const pool = await stagedPool(tenant);
  const reason = "The pool is new.";
  const request = { artifacts: [routingArtifact(pool)], waiver_reason: reason };
  const operator = await node.person("bob", ["operator"]);
  const refused = await operator("POST", base, request);
  assert.equal(refused.body.errorCode, "PERMISSION_DENIED", refused.text);
  const waiver = await node.person("bob", ["operator", "promotion_waiver"]);
  const { body } = await waiver("POST", base, request);
  const { id, waiver_reason } = body.data;
  assert.equal(waiver_reason, reason);
  await step(tenant, id, "preflight", "preflight_passed");
  const { guardrail_report } = await step(tenant, id, "guardrails/evaluate", "guardrails_passed");
  await step(tenant, id, "canary/start", "canary_running");
  const { canary } = await step(tenant, id, "canary/stop", "canary_stopped");
  assert.equal(canary.verdict, "passed");
  for (const score of [...guardrail_report.scores, ...canary.scores]) {
    assert.deepEqual([score.verdict, score.reason], ["waived", `Waived: ${reason}`]);
  }
  assert.equal((await approver("POST", `${base}/${id}/approve`, {})).status, 200);
  await step(tenant, id, "promote", "promoted");
  const { data: timeline } = await tenant.ok("GET", `${base}/${id}/timeline`);
  assert.deepEqual([timeline[0].actor, timeline[0].summary.endsWith(`Traffic is waived: ${reason}`)], ["bob", true]);
  const { data: events } = await tenant.ok("GET", `/api/events?subject=${id}&types=promotion.created`);
  assert.equal(events[0].data.waiver_reason, reason);
});

test("a waiver does not cover what traffic shows", async () => {
  const { tenant } = node;
  const pool = await stagedPool(tenant);
  const request = { artifacts: [routingArtifact(pool)], guardrails: easyGuardrails, waiver_reason: "It is urgent." };
  const { id } = (await tenant.ok("POST", base, request)).data;
  await work(tenant, pool.id, keysOf("past", 2));
  await step(tenant, id, "preflight", "preflight_passed");
  const { guardrail_report } = await step(tenant, id, "guardrails/evaluate", "guardrails_failed");
  assert.equal(guardrail_report.scores[0].verdict, "inconclusive");
});

test("a strategy artifact changes the strategy alone, and its rollback restores it", async () => {
  const { tenant } = node;
  const pool = await stagedPool(tenant);
  const content = await activeContent(tenant, pool.id);
  const { data: staged } = await tenant.ok("POST", `/api/pools/${pool.id}/versions`, {
    strategy: "sticky_hash",
    rule_set: { rules: [] },
  });
  const id = await approvedCandidate([pool], [{ kind: "strategy", ref: pool.id, version: staged.version } as never]);
  await step(tenant, id, "promote", "promoted");
  const after = JSON.parse(await activeContent(tenant, pool.id));
  assert.deepEqual([after.strategy, after.rules], ["sticky_hash", JSON.parse(content).rules]);
  await step(tenant, id, "rollback", "rolled_back");
  assert.equal(await activeContent(tenant, pool.id), content);
});

test("what-if shows which of the last items the candidate would have routed differently", async () => {
  const { tenant } = node;
  const pool = await stagedPool(tenant);
  await work(tenant, pool.id, keysOf("past", 16));
  const id = await createCandidate(tenant, [routingArtifact(pool)]);
  const { data } = await tenant.ok("POST", `${base}/${id}/what-if`, {});
  const [target] = data.targets;
  assert.deepEqual([target.items, target.changed, target.examples.length], [16, 16, 16]);
  assert.deepEqual(
    target.recipients.map(({ recipient_id, before, after }: ResponseData) => [recipient_id, before, after]).sort(),
    [
      [pool.before, 16, 0],
      [pool.after, 0, 16],
    ].sort(),
  );
});

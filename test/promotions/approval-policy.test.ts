import assert from "node:assert/strict";
import { before, beforeEach, test } from "node:test";
import { restClient } from "../harness/rest.ts";
import type { ResponseData } from "../routing/tenant-fixture.ts";
import {
  base,
  createCandidate,
  type GovernedNode,
  type Person,
  routingArtifact,
  runToStoppedCanary,
  type StagedPool,
  stagedPool,
  startGovernedNode,
  step,
} from "./promotion-fixture.ts";

let node: GovernedNode;
let ada: Person;
let bob: Person;
let carl: Person;
before(async () => {
  node = await startGovernedNode();
  ada = await node.person("ada", ["promotion_approver"]);
  bob = await node.person("bob", ["admin"]);
  carl = await node.person("carl", ["promotion_approver"]);
});
beforeEach(() => setPolicy(1, false));

async function setPolicy(approvals: number, excludeAuthors: boolean): Promise<void> {
  const promotion_policy = { approvals, exclude_authors: excludeAuthors };
  const { data } = await node.tenant.ok("PATCH", "/api/v2/environments/production", { promotion_policy });
  assert.deepEqual(data.promotion_policy, promotion_policy);
}

/** A candidate whose canary passed. */
async function testedCandidate(pool: StagedPool): Promise<string> {
  const id = await createCandidate(node.tenant, [routingArtifact(pool)]);
  await runToStoppedCanary(node.tenant, id, [pool]);
  return id;
}

async function approve(person: Person, id: string, note = ""): Promise<ResponseData> {
  const { body, text } = await person("POST", `${base}/${id}/approve`, { note });
  assert.ok(body.data, text);
  return body.data;
}

const refusalOf = async (call: ReturnType<Person>) => {
  const { status, body } = await call;
  return [status, body.reason];
};

const approversOf = ({ approval }: ResponseData) => approval.approvers.map((each: ResponseData) => each.approved_by);

test("a candidate is approved when as many people as the policy asks for have approved it, each counted once", async () => {
  await setPolicy(2, false);
  const id = await testedCandidate(await stagedPool(node.tenant));
  await Promise.all([approve(ada, id), approve(ada, id)]);
  const first = await approve(ada, id, "again");
  assert.deepEqual([first.state, approversOf(first), first.approval.note], ["canary_stopped", ["ada"], "again"]);
  assert.equal(first.approval.approvals_needed, 2);
  const early = await node.tenant.rest.call("POST", `${base}/${id}/promote`, {});
  assert.equal(early.body.current_state, "canary_stopped", early.text);
  const second = await approve(carl, id);
  assert.deepEqual([second.state, approversOf(second)], ["approved", ["ada", "carl"]]);
  await step(node.tenant, id, "promote", "promoted");
  const { data } = await node.tenant.ok("GET", `/api/events?types=promotion.approval_given&subject=${id}`);
  assert.equal(data.length, 3);
});

test("the author of a staged version cannot approve it where authors are excluded, also after the approval", async () => {
  const pool = await stagedPool(node.tenant);
  const rule = { id: pool.ruleId, name: "by bob", action: { type: "route", recipient_id: pool.after } };
  const { body } = await bob("POST", `/api/pools/${pool.id}/versions`, { rule_set: { rules: [rule] } });
  const id = await testedCandidate({ ...pool, version: body.data.version });
  assert.equal((await approve(bob, id)).state, "approved");
  await setPolicy(1, true);
  const { data } = await node.tenant.ok("GET", `${base}/${id}`);
  assert.deepEqual(data.approval.void_reasons, ["approvals_missing: 0 of 1"]);
  assert.deepEqual([data.approval.approved_by, approversOf(data)], ["bob", []]);
  assert.equal((await refusalOf(node.tenant.rest.call("POST", `${base}/${id}/promote`, {})))[1], "approval_void");
  assert.deepEqual(await refusalOf(bob("POST", `${base}/${id}/approve`, {})), [403, "approver_is_author"]);
  assert.deepEqual(approversOf(await approve(ada, id)), ["ada"]);
  await step(node.tenant, id, "promote", "promoted");
});

test("a policy that asks for more voids an approval until others have followed", async () => {
  const id = await testedCandidate(await stagedPool(node.tenant));
  await approve(ada, id);
  await setPolicy(2, false);
  assert.equal((await refusalOf(node.tenant.rest.call("POST", `${base}/${id}/promote`, {})))[1], "approval_void");
  assert.deepEqual(approversOf(await approve(carl, id)), ["ada", "carl"]);
  await step(node.tenant, id, "promote", "promoted");
});

test("a canary that starts again discards the approvals that were given before", async () => {
  await setPolicy(2, false);
  const pool = await stagedPool(node.tenant);
  const id = await testedCandidate(pool);
  await approve(ada, id);
  await step(node.tenant, id, "canary/start", "canary_running");
  await step(node.tenant, id, "canary/stop", "canary_stopped");
  assert.deepEqual(approversOf(await approve(carl, id)), ["carl"]);
});

test("a caller who may change environments but not approve cannot change the policy", async () => {
  const { data } = await node.tenant.ok("POST", "/api/v2/api-keys", { name: "ops", scopes: ["environment:write"] });
  const ops = restClient(node.service.baseUrl, data.secret);
  const path = "/api/v2/environments/production";
  const refused = await ops.call("PATCH", path, { promotion_policy: { approvals: 1 } });
  assert.deepEqual([refused.status, refused.body.errorCode], [403, "PERMISSION_DENIED"]);
  assert.equal((await ops.call("PATCH", path, { name: "Production" })).status, 200);
  const none = await node.tenant.rest.call("PATCH", path, { promotion_policy: { approvals: 0 } });
  assert.equal(none.status, 400);
});

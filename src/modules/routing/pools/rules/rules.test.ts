import assert from "node:assert/strict";
import { test } from "node:test";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { SetPoolEnabledRequestSchema } from "../../../../../gen/service/api/pool_pb.ts";
import { DeleteRecipientRequestSchema } from "../../../../../gen/service/api/recipient_pb.ts";
import {
  DeleteRuleRequestSchema,
  GetRuleRequestSchema,
  ListRulesRequestSchema,
  UpdateRuleRequestSchema,
  ValidateRuleRequestSchema,
} from "../../../../../gen/service/api/rule_pb.ts";
import { type ContextChoice, failsWith, perform } from "../../../../../test/harness/context.ts";
import { Failure } from "../../../../errors/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { createPoolFixture } from "../testing/pool-fixture.ts";

const {
  db,
  events,
  handlers: all,
  newTenant,
  environmentId,
  createPool,
  createRecipient,
  createRule,
} = await createPoolFixture();
const handlers = all.rules;

async function newPool() {
  const tenantId = await newTenant();
  return { tenantId, poolId: (await createPool({ tenantId })).id };
}
async function get(choice: ContextChoice, ruleId: string) {
  return (await perform(db, choice, handlers.getRule, GetRuleRequestSchema, { ruleId })).rule!;
}
async function update(choice: ContextChoice, ruleId: string, change: object) {
  return (await perform(db, choice, handlers.updateRule, UpdateRuleRequestSchema, { ruleId, ...change })).rule!;
}
async function remove(choice: ContextChoice, ruleId: string) {
  return (await perform(db, choice, handlers.deleteRule, DeleteRuleRequestSchema, { ruleId })).rule!;
}
async function list(choice: ContextChoice, poolId: string, request: object = {}) {
  return perform(db, choice, handlers.listRules, ListRulesRequestSchema, { poolId, ...request });
}
async function validate(condition: string, request: object = {}) {
  const body = { condition, ...request };
  return perform(db, {}, handlers.validateRule, ValidateRuleRequestSchema, body);
}
const eventOf = (subject: string) => events.recorded.findLast((event) => event.subject === subject)!;

test("a new rule matches everything at priority 100 and stops further rules by default", async () => {
  const { tenantId, poolId } = await newPool();
  const rule = await createRule({ tenantId }, poolId, { name: "all", action: { type: "hold", holdS: 5 } });
  assert.deepEqual(
    [rule.priority, rule.condition, rule.enabled, rule.stopOnMatch, rule.onError, rule.recordVersion],
    [100, "", true, true, "skip", 1n],
  );
  assert.deepEqual([rule.action!.type, rule.action!.holdS], ["hold", 5]);
  assert.deepEqual(await get({ tenantId }, rule.id), rule);
  assert.deepEqual(eventOf(rule.id), {
    tenantId,
    type: "rule.created",
    subject: rule.id,
    data: { pool_id: poolId, name: "all", action: "hold" },
  });
});

test("an invalid condition is rejected with its position, and nothing changes", async () => {
  const { tenantId, poolId } = await newPool();
  const { id } = await createRule({ tenantId }, poolId, { condition: "item.priority > 1" });
  for (const condition of ["item.priority >", "1 + 1", "nobody.knows", "1 +\n  @"]) {
    const refused = (error: unknown) => {
      assert.ok(error instanceof Failure && error.code === "INVALID_ARGUMENT");
      assert.equal(error.violations[0]!.field, "condition");
      assert.match(error.violations[0]!.rule, /^cel\.(syntax|type)$/);
      return true;
    };
    await assert.rejects(createRule({ tenantId }, poolId, { condition }), refused);
    await assert.rejects(update({ tenantId }, id, { condition }), refused);
  }
  await assert.rejects(createRule({ tenantId }, poolId, { condition: "1 +\n  @" }), (error: unknown) => {
    assert.ok(error instanceof Failure);
    assert.match(error.message, /^condition: line 2, column 3: /);
    assert.deepEqual(error.extra, { position: { line: 2, column: 3, offset: 6 } });
    return true;
  });
  assert.equal((await get({ tenantId }, id)).recordVersion, 1n);
  assert.equal((await list({ tenantId }, poolId)).totalSize, 1);
});

test("only require and prefer rules may use recipients, even if the action changes later", async () => {
  const { tenantId, poolId } = await newPool();
  const condition = "recipient.skills.french >= 3";
  const { id } = await createRule({ tenantId }, poolId, { condition, action: { type: "prefer" } });
  const refused = failsWith("INVALID_ARGUMENT", /^condition: .*recipient/);
  await assert.rejects(createRule({ tenantId }, poolId, { condition, action: { type: "reject" } }), refused);
  await assert.rejects(update({ tenantId }, id, { action: { type: "reject" } }), refused);
  assert.equal((await update({ tenantId }, id, { action: { type: "require" } })).action!.type, "require");
});

test("a rule routes to a recipient of its own pool only", async () => {
  const { tenantId, poolId } = await newPool();
  const other = await createPool({ tenantId });
  const foreign = await newPool();
  const foreignRecipients = [
    await createRecipient({ tenantId }, other.id),
    await createRecipient({ tenantId: foreign.tenantId }, foreign.poolId),
    { id: ulid(Date.now()) },
  ];
  for (const { id: recipientId } of foreignRecipients) {
    await assert.rejects(
      createRule({ tenantId }, poolId, { action: { type: "route", recipientId } }),
      failsWith("INVALID_ARGUMENT", /^action\.recipient_id: must be the id of a recipient of the same pool$/),
    );
  }
  const { id: recipientId } = await createRecipient({ tenantId }, poolId);
  const { id, action } = await createRule({ tenantId }, poolId, { action: { type: "route", recipientId } });
  assert.equal(action!.recipientId, recipientId);
  // The recipient may be deleted; the rule can still be disabled.
  await perform(db, { tenantId }, all.recipients.deleteRecipient, DeleteRecipientRequestSchema, { recipientId });
  assert.equal((await update({ tenantId }, id, { enabled: false })).enabled, false);
});

test("a rule redirects to another pool of the same environment only", async () => {
  const { tenantId, poolId } = await newPool();
  const staged = await createPool({ tenantId }, { environmentId: await environmentId(tenantId, "staging") });
  const foreign = await newPool();
  for (const wrong of [poolId, staged.id, foreign.poolId, ulid(Date.now())]) {
    await assert.rejects(
      createRule({ tenantId }, poolId, { action: { type: "redirect_pool", poolId: wrong } }),
      failsWith("INVALID_ARGUMENT", /^action\.pool_id: /),
    );
  }
  const other = await createPool({ tenantId });
  const rule = await createRule({ tenantId }, poolId, { action: { type: "redirect_pool", poolId: other.id } });
  assert.equal(rule.action!.poolId, other.id);
});

test("an update changes only the fields present and rejects an outdated version", async () => {
  const { tenantId, poolId } = await newPool();
  const { id } = await createRule({ tenantId }, poolId, { condition: "item.key == 'a'", onError: "reject" });
  const changed = await update({ tenantId }, id, { priority: 0, stopOnMatch: false, condition: "", recordVersion: 1n });
  assert.deepEqual(
    [changed.priority, changed.stopOnMatch, changed.condition, changed.onError, changed.action!.type],
    [0, false, "", "reject", "require"],
  );
  assert.deepEqual(eventOf(id).data, { pool_id: poolId, fields: ["priority", "condition", "stop_on_match"] });
  await assert.rejects(
    update({ tenantId }, id, { name: "x", recordVersion: 1n }),
    failsWith("VERSION_CONFLICT", /version 2/),
  );
});

test("a deleted rule is not found", async () => {
  const { tenantId, poolId } = await newPool();
  const rule = await createRule({ tenantId }, poolId);
  assert.deepEqual(await remove({ tenantId }, rule.id), rule);
  assert.equal(eventOf(rule.id).type, "rule.deleted");
  await assert.rejects(get({ tenantId }, rule.id), failsWith("NOT_FOUND", /^No such rule\.$/));
  await assert.rejects(remove({ tenantId }, rule.id), failsWith("NOT_FOUND"));
});

test("rules are listed in the order in which they apply, page by page", async () => {
  const { tenantId, poolId } = await newPool();
  const late = await createRule({ tenantId }, poolId, { priority: 200 });
  const usual = await createRule({ tenantId }, poolId);
  const first = await createRule({ tenantId }, poolId, { priority: -5 });
  const usualToo = await createRule({ tenantId }, poolId, { enabled: false });
  const seen: string[] = [];
  for (let pageToken = ""; ; ) {
    const page = await list({ tenantId }, poolId, { pageSize: 1, pageToken });
    seen.push(...page.rules.map(({ id }) => id));
    assert.equal(page.totalSize, 4);
    if (page.nextPageToken === "") break;
    pageToken = page.nextPageToken;
  }
  assert.deepEqual(seen, [first.id, usual.id, usualToo.id, late.id]);
});

test("a pool can have at most 500 rules", async () => {
  const { tenantId, poolId } = await newPool();
  await db.sql`
    insert into rules (tenant_id, id, pool_id, name, priority, on_error, action, created_at, updated_at)
    select ${tenantId}, lpad(n::text, 26, '0'), ${poolId}, 'many', 1, 'skip', '{"type": "prefer"}', now(), now()
    from generate_series(1, 499) n`;
  await createRule({ tenantId }, poolId);
  await assert.rejects(createRule({ tenantId }, poolId), failsWith("FAILED_PRECONDITION", /at most 500/));
});

test("a rule of another tenant is not found; access to one in a forbidden environment is denied", async () => {
  const tenantId = await newTenant();
  const pool = await createPool({ tenantId }, { environmentId: await environmentId(tenantId, "staging") });
  const { id } = await createRule({ tenantId }, pool.id);
  const callers = [
    [{ tenantId: await newTenant() }, "NOT_FOUND"],
    [{ tenantId, environmentMode: "production_only" }, "PERMISSION_DENIED"],
  ] as const;
  for (const [choice, code] of callers) {
    await assert.rejects(get(choice, id), failsWith(code));
    await assert.rejects(update(choice, id, { name: "mine" }), failsWith(code));
    await assert.rejects(remove(choice, id), failsWith(code));
    await assert.rejects(list(choice, pool.id), failsWith(code));
    await assert.rejects(createRule(choice, pool.id), failsWith(code));
  }
  assert.equal((await get({ tenantId }, id)).recordVersion, 1n);
});

test("rules of a disabled pool can be changed", async () => {
  const { tenantId, poolId } = await newPool();
  const { id } = await createRule({ tenantId }, poolId);
  await perform(db, { tenantId }, all.pools.setPoolEnabled, SetPoolEnabledRequestSchema, { poolId, enabled: false });
  assert.equal((await update({ tenantId }, id, { name: "new" })).name, "new");
});

test("validation reports the variables and the result type of a condition", async () => {
  const report = await validate(
    "item.attributes.region == recipient.region && now > timestamp('2024-01-01T00:00:00Z')",
  );
  assert.deepEqual([report.valid, report.errors, report.resultType], [true, [], "bool"]);
  assert.deepEqual(report.variables, ["item", "now", "recipient"]);
  assert.deepEqual(report.paths, ["item.attributes.region", "now", "recipient.region"]);
  assert.deepEqual([report.result, report.evaluationError], [undefined, undefined]);
  const empty = await validate("", { sample: {} });
  assert.deepEqual([empty.valid, empty.resultType, empty.result], [true, "bool", true]);
});

test("validation reports the position and the kind of an error", async () => {
  const cases: [condition: string, kind: string, line: number, column: number][] = [
    ["item.x ==", "syntax", 1, 10],
    ["true &&\n nobody", "type", 2, 2],
  ];
  for (const [condition, kind, line, column] of cases) {
    const { valid, errors } = await validate(condition);
    assert.deepEqual([valid, errors.length], [false, 1], condition);
    assert.deepEqual([errors[0]!.kind, errors[0]!.line, errors[0]!.column], [kind, line, column], condition);
    assert.notEqual(errors[0]!.message, "");
  }
  const number = await validate("item.x.size() + 1");
  assert.deepEqual([number.valid, number.errors[0]!.kind, number.paths], [false, "type", ["item.x"]]);
  const forReject = await validate("recipient.x == 1", { actionType: "reject" });
  assert.equal(forReject.valid, false);
  assert.equal((await validate("recipient.x == 1", { actionType: "require" })).valid, true);
});

test("validation evaluates a condition on a sample and reports the result or the error", async () => {
  const sample = {
    item: { attributes: { region: "eu", size: 3 } },
    recipient: { region: "eu" },
    pool: { name: "p" },
    now: timestampFromDate(new Date("2025-01-01T12:00:00Z")),
  };
  const result = async (condition: string) => (await validate(condition, { sample })).result;
  assert.equal(await result("item.attributes.region == recipient.region && pool.name == 'p'"), true);
  assert.equal(await result("item.attributes.size > 3"), false);
  assert.equal(await result("now.getHours() == 12"), true);
  for (const condition of ["item.nothing == 1", "item.attributes.region", "item.attributes.region > 3"]) {
    const { valid, result: none, evaluationError } = await validate(condition, { sample });
    assert.deepEqual([valid, none], [true, undefined], condition);
    assert.equal(evaluationError!.kind, "evaluation", condition);
    assert.notEqual(evaluationError!.message, "");
  }
});

test("validation of a hostile condition ends in a typed error", async () => {
  const deep = await validate(`${"(".repeat(2000)}true${")".repeat(2000)}`);
  assert.deepEqual([deep.valid, deep.errors.length], [false, 1]);
  const list = JSON.stringify(Array.from({ length: 400 }, (_, n) => n));
  const nested = `${list}.all(a, ${list.slice(0, 300)}0].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, a + b + c + d >= 0))))`;
  const costly = await validate(nested, { sample: {} });
  assert.deepEqual([costly.valid, costly.evaluationError?.kind], [true, "budget"]);
});

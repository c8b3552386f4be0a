import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { inEachProtocol, newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

const versionsOf = async (pool: string): Promise<ResponseData[]> =>
  (await own.ok("GET", `/api/pools/${pool}/versions`)).data;
const version = async (pool: string, number: number): Promise<ResponseData> =>
  (await own.ok("GET", `/api/pools/${pool}/versions/${number}`)).data;

test("every change of strategy, config and rules is a version; recipients, names and states are not", async () => {
  const pool = await own.pool({ strategy: "round_robin" });
  const recipient = await own.recipient(pool);
  await own.ok("PATCH", `/api/pools/${pool}`, { name: `renamed ${pool}` });
  assert.deepEqual(
    (await versionsOf(pool)).map(({ version: number, active }) => [number, active]),
    [[1, true]],
  );
  const rule = await own.rule(pool, { type: "route", recipient_id: recipient });
  await own.ok("PATCH", `/api/pools/${pool}`, { config: { lease: { duration_s: 60 } } });
  await own.ok("DELETE", `/api/rules/${rule}`);
  const all = await versionsOf(pool);
  assert.deepEqual(
    all.map(({ version: number, active, origin }) => [number, active, origin]),
    [
      [4, true, "change"],
      [3, false, "change"],
      [2, false, "change"],
      [1, false, "change"],
    ],
  );
  const third = await version(pool, 3);
  assert.equal(createHash("sha256").update(third.content).digest("hex"), third.sha256);
  assert.deepEqual([third.strategy, third.config.lease.duration_s, third.rules[0].id], ["round_robin", 60, rule]);
});

test("a content that the pool had before gets its version again", async () => {
  const pool = await own.pool({ strategy: "round_robin" });
  await own.ok("PATCH", `/api/pools/${pool}`, { strategy: "priority" });
  await own.ok("PATCH", `/api/pools/${pool}`, { strategy: "round_robin" });
  assert.deepEqual(
    (await versionsOf(pool)).map(({ version: number, active }) => [number, active]),
    [
      [2, false],
      [1, true],
    ],
  );
});

test("an earlier version can be activated, with the ids and the order of its rules", async () => {
  const pool = await own.pool();
  const recipient = await own.recipient(pool);
  const rules = [await own.rule(pool, { type: "hold", hold_s: 5 }), await own.rule(pool, { type: "hold", hold_s: 6 })];
  const before = await version(pool, 3);
  for (const rule of rules) await own.ok("DELETE", `/api/rules/${rule}`);
  await own.rule(pool, { type: "route", recipient_id: recipient });
  const path = `/api/pools/${pool}/versions/3/activate`;
  const stale = { expected_sha256: before.sha256 };
  await own.refused("VERSION_CONFLICT", "POST", path, stale);
  const { data } = await own.ok("POST", path, {});
  assert.deepEqual([data.version, data.active, data.content], [3, true, before.content]);
  const listed = (await own.ok("GET", `/api/pools/${pool}/rules`)).data.map(({ id }: ResponseData) => id);
  assert.deepEqual(listed, rules);
  assert.equal((await own.route(pool)).outcome, "held");
});

test("a staged version changes nothing until it is activated, and is refused if it could not work", async () => {
  const pool = await own.pool();
  const rule = await own.rule(pool, { type: "hold", hold_s: 5 });
  const stage = (body: object) => own.rest.call("POST", `/api/pools/${pool}/versions`, body);
  const staged = await stage({
    rule_set: { rules: [{ id: rule, name: "longer", action: { type: "hold", hold_s: 9 } }] },
  });
  assert.equal(staged.status, 200, staged.text);
  assert.deepEqual([staged.body.data.active, staged.body.data.origin], [false, "staged"]);
  assert.equal((await own.ok("GET", `/api/rules/${rule}`)).data.action.hold_s, 5);
  for (const [rules, field] of [
    [[{ name: "x", condition: "1 +", action: { type: "hold", hold_s: 1 } }], "rules[0].condition"],
    [[{ name: "x", action: { type: "route", recipient_id: "nobody" } }], "rules[0].action.recipient_id"],
    [[{ id: "unknown", name: "x", action: { type: "hold", hold_s: 1 } }], "rule_set.rules[0].id"],
  ] as const) {
    const { body } = await stage({ rule_set: { rules } });
    assert.deepEqual([body.errorCode, body.violations[0].field], ["INVALID_ARGUMENT", field]);
  }
  const diff = await own.ok("GET", `/api/pools/${pool}/versions/${staged.body.data.version}/diff`);
  assert.deepEqual(
    diff.data.changes.map(({ path, change, name }: ResponseData) => [path, change, name]),
    [[`rules.${rule}`, "changed", "longer"]],
  );
  await own.ok("POST", `/api/pools/${pool}/versions/${staged.body.data.version}/activate`, {});
  assert.equal((await own.ok("GET", `/api/rules/${rule}`)).data.action.hold_s, 9);
});

test("versions are the same in every protocol", async () => {
  const pool = await own.pool();
  const request = { pool_id: pool, version: 1 };
  for (const { data } of await inEachProtocol(service, own, "PoolVersionService/GetPoolVersion", request)) {
    assert.deepEqual([data.version, data.active, data.strategy], [1, true, "weighted_random"]);
  }
});

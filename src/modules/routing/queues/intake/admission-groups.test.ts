import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { untilBlocked } from "../../../../../test/harness/blocked-statements.ts";
import { failsWith, freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import { fc } from "../../../../../test/harness/random.ts";
import { readRows } from "../../../../../test/harness/rows.ts";
import {
  type ConstraintKind,
  createEmptyGroup,
  deleteIdleGroupsJob,
  type GroupState,
  groupStatus,
} from "../../admission/index.ts";
import { admissionFixture, constraints } from "../testing/admission-fixture.ts";

const db = await testDatabase();
const fixture = admissionFixture(db);
const { list, get, clear } = fixture;

describe("groups", () => {
  test("are listed exactly once in pages of any size, whatever is added in the meantime", async () => {
    const pool = await fixture.pool({ ...constraints, debounce: undefined });
    for (let n = 0; n < 4; n++) await fixture.enqueue(pool, { key: `key ${n}` });
    const whole = (await list(pool)).groups.map(({ constraintKind, groupId }) => `${constraintKind} ${groupId}`);
    assert.equal(whole.length, 12);
    for (const pageSize of [1, 5, 12]) {
      const seen: string[] = [];
      for (let pageToken = ""; ; ) {
        const page = await list(pool, { pageSize, pageToken });
        assert.equal(page.totalSize, 12);
        seen.push(...page.groups.map(({ constraintKind, groupId }) => `${constraintKind} ${groupId}`));
        pageToken = page.nextPageToken;
        if (pageToken === "") break;
      }
      assert.deepEqual(seen, whole);
    }
    const { nextPageToken } = await list(pool, { pageSize: 1 });
    await fixture.enqueue(pool, { key: "late" });
    const rest = await list(pool, { pageSize: 1000, pageToken: nextPageToken });
    for (const name of whole.slice(1)) {
      assert.equal(rest.groups.filter((group) => `${group.constraintKind} ${group.groupId}` === name).length, 1);
    }
    await assert.rejects(
      list(pool, { pageToken: nextPageToken, constraintKind: "throttle" }),
      failsWith("INVALID_ARGUMENT", /page_token/),
    );
  });

  test("are found by pool, environment, kind and status", async () => {
    const pool = await fixture.pool({ ...constraints, debounce: undefined });
    const staging = await fixture.pool(
      { throttle: constraints.throttle, debounce: constraints.debounce },
      { tenantId: pool.tenantId, environmentKey: "staging" },
    );
    await fixture.enqueue(pool);
    await fixture.lease(pool);
    await fixture.enqueue(staging);
    const kinds = async (request: object) =>
      (await list({ tenantId: pool.tenantId }, request)).groups.map((group) => group.constraintKind);
    assert.deepEqual(await kinds({}), ["concurrency", "debounce", "singleton", "throttle", "throttle"]);
    assert.deepEqual(await kinds({ poolId: pool.poolId }), ["concurrency", "singleton", "throttle"]);
    assert.deepEqual(await kinds({ environmentId: staging.environmentId }), ["debounce", "throttle"]);
    assert.deepEqual(await kinds({ constraintKind: "throttle" }), ["throttle", "throttle"]);
    assert.deepEqual(await kinds({ status: "cooling" }), ["debounce", "throttle"]);
    assert.deepEqual(await kinds({ status: "saturated", poolId: pool.poolId }), ["concurrency", "singleton"]);
    assert.deepEqual(await kinds({ status: "cleared" }), []);
    assert.deepEqual((await list({ tenantId: freshTenant() })).groups, []);
  });

  test("show their places, holders and waiting items", async () => {
    const pool = await fixture.pool({
      singleton: { ...constraints.singleton, key: "item.type + item.key" },
      concurrency: { ...constraints.concurrency, key: "'all'", limit: 2 },
    });
    const items = [];
    for (let n = 0; n < 5; n++) items.push(await fixture.enqueue(pool, { key: `${n}` }));
    const [singleton, concurrency] = items[0]!.refs;
    const waiting = await get(pool, concurrency!);
    assert.deepEqual([waiting.status, waiting.limit, waiting.inUse, waiting.waiting], ["open", 2, 0, 5]);
    assert.equal((await fixture.lease(pool, 5)).length, 2);
    const place = await get(pool, singleton!);
    assert.deepEqual([place.status, place.queueItemId, place.limit, place.inUse], ["saturated", items[0]!.id, 1, 1]);
    const places = await get(pool, concurrency!);
    assert.deepEqual([places.status, places.limit, places.inUse, places.waiting], ["saturated", 2, 2, 3]);
    assert.deepEqual(
      [places.poolId, places.environmentId, places.tenantId],
      [pool.poolId, pool.environmentId, pool.tenantId],
    );
  });

  test("of another pool or tenant, or that do not exist, are not found by get or clear", async () => {
    const pool = await fixture.pool({ singleton: constraints.singleton });
    const { refs } = await fixture.enqueue(pool);
    const beside = await fixture.pool({ singleton: constraints.singleton }, { tenantId: pool.tenantId });
    const before = await readRows(db.sql as never);
    const none = failsWith("NOT_FOUND", /^No such admission group\.$/);
    for (const ask of [get, clear]) {
      await assert.rejects(ask(beside, refs[0]!), none);
      await assert.rejects(ask(pool, { kind: "throttle", groupId: refs[0]!.groupId }), none);
      await assert.rejects(ask(pool, { kind: "singleton", groupId: "0".repeat(32) }), none);
      await assert.rejects(ask({ ...pool, tenantId: freshTenant() }, refs[0]!), failsWith("NOT_FOUND"));
    }
    assert.deepEqual(await readRows(db.sql as never), before);
  });

  test("are shown only to callers with access to their environment", async () => {
    const live = await fixture.pool({ singleton: constraints.singleton });
    const sandbox = await fixture.pool(
      { singleton: constraints.singleton },
      { tenantId: live.tenantId, environmentKey: "staging" },
    );
    const { refs: ofLive } = await fixture.enqueue(live);
    const { refs: ofSandbox } = await fixture.enqueue(sandbox);
    const cases = [
      { environmentMode: "production_only", seen: live, hidden: sandbox, group: ofSandbox[0]! },
      { environmentMode: "non_production_only", seen: sandbox, hidden: live, group: ofLive[0]! },
    ] as const;
    for (const { environmentMode, seen, hidden, group } of cases) {
      const page = await list({ tenantId: live.tenantId, environmentMode });
      assert.deepEqual([page.groups.map(({ poolId }) => poolId), page.totalSize], [[seen.poolId], 1]);
      await assert.rejects(get(hidden, group, { environmentMode }), failsWith("PERMISSION_DENIED"));
      await assert.rejects(clear(hidden, group, { environmentMode }), failsWith("PERMISSION_DENIED"));
      assert.equal((await get(hidden, group)).status, "saturated");
    }
  });

  test("have the same status in the list and in its filter", async () => {
    const tenantId = freshTenant();
    const nowMs = Date.now();
    const offset = fc.option(fc.constantFrom(-1000, 0, 1, 1000), { nil: undefined });
    const kind = fc.constantFrom<ConstraintKind>("singleton", "debounce", "throttle", "concurrency");
    const shape = fc.record({
      kind,
      itemId: fc.constantFrom("", "x"),
      until: offset,
      cleared: fc.boolean(),
      tat: offset,
      slots: fc.nat(2),
      inUse: fc.nat(2),
    });
    const states = fc.sample(shape, 400).map(
      ({ kind: of, until, tat, cleared, ...rest }, n): GroupState => ({
        ...createEmptyGroup({ kind: of, groupId: `g${n}` }),
        ...rest,
        untilMs: until === undefined ? undefined : nowMs + until,
        tatMs: tat === undefined ? 0 : nowMs + tat,
        clearedAtMs: cleared ? nowMs - 1 : undefined,
      }),
    );
    const moment = (ms: number | undefined) => (ms === undefined ? null : new Date(ms));
    await db.sql`insert into admission_groups ${db.sql(
      states.map((state) => ({
        tenant_id: tenantId,
        kind: state.kind,
        group_id: state.groupId,
        environment_id: tenantId,
        pool_id: tenantId,
        item_id: state.itemId,
        until: moment(state.untilMs),
        tat_ms: state.tatMs,
        slots: state.slots,
        in_use: state.inUse,
        cleared_at: moment(state.clearedAtMs),
        updated_at: new Date(nowMs),
      })),
    )}`;
    for (const status of ["open", "saturated", "cooling", "expired", "cleared"] as const) {
      const page = await list({ tenantId, nowMs }, { status, pageSize: 1000 });
      const expected = states.filter((state) => groupStatus(state, nowMs) === status).map(({ groupId }) => groupId);
      assert.ok(expected.length > 0, status);
      assert.deepEqual(page.groups.map(({ groupId }) => groupId).sort(), expected.sort(), status);
      for (const group of page.groups) assert.equal(group.status, status);
    }
  });

  test("are deleted a day after their last use unless they hold something, and start fresh afterwards", async () => {
    const pool = await fixture.pool({ ...constraints, debounce: undefined });
    const day = 86_400_000;
    const usedMs = Date.now() - 2 * day;
    const ended = await fixture.enqueue(pool, { key: "ended" }, usedMs);
    await fixture.end(pool, ended, usedMs);
    const working = await fixture.enqueue(pool, { key: "working" }, Date.now() - day / 2);
    const old = await fixture.enqueue(pool, { key: "waiting, old" }, usedMs);
    const waiting = await fixture.pool({ debounce: constraints.debounce }, { tenantId: pool.tenantId });
    const held = await fixture.enqueue(waiting, {}, usedMs);
    const unused = [ended, old, held].flatMap(({ refs }) => refs.map(({ groupId }) => groupId));
    await db.sql`update admission_groups set updated_at = ${new Date(usedMs)} where group_id = any(${unused})`;
    const job = deleteIdleGroupsJob({ db, clock: { now: Date.now }, platformTenantId: () => pool.tenantId });
    await job.handler({ signal: new AbortController().signal } as never);
    const left = (await list({ tenantId: pool.tenantId })).groups.map(({ groupId }) => groupId);
    const expected = [...working.refs, ...old.refs.filter(({ kind }) => kind !== "singleton"), ...held.refs];
    assert.deepEqual(left.sort(), expected.map(({ groupId }) => groupId).sort());
    assert.equal((await fixture.enqueue(pool, { key: "ended" })).verdict.status, "admitted");
    assert.equal((await fixture.lease(pool, 9)).length, 2);
  });
});

test("a transaction that creates a group and one that holds another group's lock do not deadlock forever", async () => {
  const throttle = { ...constraints.throttle, key: "item.type", limit: 1000, burst: 1000, onLimit: "reject" as const };
  const pool = await fixture.pool({ singleton: constraints.singleton, throttle });
  await fixture.enqueue(pool, { key: "first" });
  const { verdicts } = await fixture.preview(pool, { key: "second" });
  const { groupId } = verdicts.find(({ constraintKind }) => constraintKind === "singleton")!;
  let entering: ReturnType<typeof fixture.enqueue> | undefined;
  const looking = db.transaction(async (tx) => {
    await tx`select from admission_groups where tenant_id = ${pool.tenantId} and kind = 'throttle' for update`;
    entering = fixture.enqueue(pool, { key: "second" });
    // It has created its group and waits for the other one.
    await untilBlocked(db.sql);
    await tx`
      insert into admission_groups (tenant_id, kind, group_id, environment_id, pool_id, updated_at)
      values (${pool.tenantId}, 'singleton', ${groupId}, ${pool.environmentId}, ${pool.poolId}, now())`;
  });
  // PostgreSQL aborts one of the two transactions, possibly this one.
  await looking.catch((error: { code?: string }) => assert.equal(error.code, "40P01"));
  assert.equal((await entering!).verdict.status, "admitted");
});

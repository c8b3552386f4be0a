import assert from "node:assert/strict";
import { test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { avoidMidnight } from "../harness/midnight.ts";
import { connect } from "../harness/postgres-server.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { call, type Json, publish, untilEnded } from "./crash-cluster.ts";

const node = await startService();
const sql = connect(node.databaseUrl, 2);
afterFile(() => sql.end());
const start = async (definition: string, input: unknown = null) =>
  (await call(node, "POST", "/api/workflow-runs", { definition, input })).run.id;
const endOf = (id: string) => untilEnded(async () => node, id);

test("a subworkflow gets its input, and its output is the output of the step", async () => {
  const add = { id: "add", transform: "=input.n + 1" };
  await publish(node, { dsl: "1", key: "child", timeout: "1h", steps: [add] });
  const sub = { id: "sub", subworkflow: { key: "child", input: { n: "=input" } } };
  await publish(node, { dsl: "1", key: "parent", timeout: "1h", steps: [sub] });
  const { status, output } = await endOf(await start("parent", 4));
  assert.deepEqual([status, output], ["succeeded", 5]);
});

test("a child run that is about to start when its parent is cancelled is cancelled as well", async () => {
  const wait = { id: "wait", wait_event: { event: "never", timeout: "1h" } };
  await publish(node, { dsl: "1", key: "late.child", timeout: "1h", steps: [wait] });
  const steps = [
    { id: "go", wait_event: { event: "go", timeout: "1h" } },
    { id: "sub", subworkflow: { key: "late.child" } },
  ];
  await publish(node, { dsl: "1", key: "late.parent", timeout: "1h", steps });
  const id = await start("late.parent");
  let childId = "";
  let cancelling: Promise<Json> | undefined;
  const countWaiting = async () => {
    const [row] = await sql`
      select count(*)::int as n from pg_locks where relation = 'idempotency_records'::regclass and not granted`;
    return row!.n;
  };
  await sql.begin(async (tx) => {
    // The child cannot start before the lock is released.
    await tx`lock table idempotency_records in exclusive mode`;
    await call(node, "POST", `/api/workflow-runs/${id}/signal`, { event: "go" });
    await until(async () => {
      const [row] =
        await sql`select state -> 'active' -> 'sub' ->> 'childId' as child from workflow_runs where id = ${id}`;
      childId = row!.child;
      return childId !== null && (await countWaiting()) > 0;
    });
    cancelling = call(node, "POST", `/api/workflow-runs/${id}/cancel`, {});
    cancelling.catch(() => {});
    // The cancellation is stored after the start in progress.
    await until(async () => (await countWaiting()) > 1);
  });
  assert.equal((await cancelling!).status, "cancelled");
  // It was started and cancelled, or it can no longer start.
  await until(async () => (await sql`select from idempotency_records where key = ${childId}`).length === 1);
  await until(async () => (await sql`select from workflow_runs where parent_run_id = ${id}`).length === 0);
  const ended = await sql`select status from workflow_run_archive where parent_run_id = ${id}`;
  assert.ok(ended.every(({ status }) => status === "cancelled"));
});

test("a cancelled child run that compensates is not due until something happens", async () => {
  const task = { task: { queue: "nobody", type: "undo" } };
  const steps = [
    { id: "done", transform: 1, compensate: task },
    { id: "wait", wait_event: { event: "never", timeout: "1h" } },
  ];
  await publish(node, { dsl: "1", key: "slow.child", timeout: "1h", steps });
  const sub = { id: "sub", subworkflow: { key: "slow.child" } };
  await publish(node, { dsl: "1", key: "slow.parent", timeout: "1h", steps: [sub] });
  const id = await start("slow.parent");
  const childOf = async () =>
    (
      await sql`
    select id, state -> 'ending' is not null as compensates, wake_at from workflow_runs where parent_run_id = ${id}`
    )[0];
  await until(async () => (await childOf()) !== undefined);
  await call(node, "POST", `/api/workflow-runs/${id}/cancel`, {});
  await until(async () => (await childOf())!.compensates);
  const child = await childOf();
  assert.equal(child!.wake_at, null);
  await call(node, "POST", `/api/workflow-runs/${child!.id}/cancel`, { compensate: false });
});

test("child runs count towards the quota of runs, so that a tree of runs ends at it", async () => {
  await avoidMidnight();
  const tenant = await call(node, "POST", "/api/tenants", {
    name: "Bounded",
    issue_admin_key: true,
    quotas: { "workflow.run": { limit_per_day: 3 } },
  });
  const bounded = { baseUrl: node.baseUrl, adminKey: tenant.admin_key as string };
  await publish(bounded, { dsl: "1", key: "leaf", timeout: "1h", steps: [{ id: "one", transform: 1 }] });
  const each = [{ id: "sub", subworkflow: { key: "leaf" } }];
  const all = { id: "all", map: { in: "=[1, 2, 3, 4, 5]", max_items: 5, on_error: "collect", steps: each } };
  await publish(bounded, { dsl: "1", key: "tree", timeout: "1h", steps: [all] });
  const { run } = await call(bounded, "POST", "/api/workflow-runs", { definition: "tree" });
  const { output } = await untilEnded(async () => bounded, run.id);
  const codes = (output as { ok: boolean; error?: { code: string } }[]).map(({ ok, error }) =>
    ok ? "ok" : error!.code,
  );
  assert.deepEqual(codes.toSorted(), ["ok", "ok", "quota_exceeded", "quota_exceeded", "quota_exceeded"]);
});

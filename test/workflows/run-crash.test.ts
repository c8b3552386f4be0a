import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import { allItems, createRandom } from "../routing/lease-checks.ts";
import {
  assertNothingLeft,
  type CrashCluster,
  call,
  callUntilAnswered,
  hasEnded,
  type Json,
  type PickNode,
  publish,
  readHistory,
  startCluster,
  untilEnded,
} from "./crash-cluster.ts";
import { startWorkers } from "./crash-worker.ts";

const nodeKills = sized(2, 200);
const databaseKills = sized(1, 10);
const callers = sized(8, 12);
const pool = "crash-items";
const retry = { max_attempts: 100, initial: "10ms", factor: 1, max: "50ms" };
const task = (type: string) => ({ task: { queue: "crash", type }, timeout: { attempt: "3s" } });

const childDocument = {
  ...{ dsl: "1", key: "crash.child", timeout: "1h", retry },
  steps: [
    { id: "child_work", ...task("work"), with: { n: "=input.n" } },
    { id: "child_timer", wait_timer: { for: "30ms" } },
  ],
  output: { n: "=steps.child_work.input.n" },
};

const routed = (step: string) => ({ route: { pool, type: "item", attributes: { run: "=run.id", step } } });

/** Uses every kind of effect, waits and compensations. */
const document = {
  ...{ dsl: "1", key: "crash.order", timeout: "1h", on_failure: "compensate", retry },
  steps: [
    {
      id: "reserve",
      ...task("work"),
      with: { n: "=input.n" },
      compensate: { ...task("undo"), with: { n: "=input.n" } },
    },
    { id: "assign", ...routed("assign"), compensate: routed("~assign") },
    { id: "tell", notify: { workflow_key: "crash-news", to: "ann", payload: { run: "=run.id" } } },
    {
      id: "both",
      parallel: {
        branches: {
          other: [{ id: "sub", subworkflow: { key: "crash.child", input: { n: "=input.n" } } }],
          event: [{ id: "signed", wait_event: { event: "signed", scope: "=input.n", timeout: "1h" } }],
        },
      },
    },
    { id: "pause", wait_timer: { for: "50ms" } },
    {
      id: "each",
      map: { in: "=[1, 2, 3]", max_items: 3, steps: [{ id: "part", ...task("work"), with: { n: "=item" } }] },
    },
    { id: "check", branch: [{ when: "=input.fails", steps: [{ id: "unlucky", fail: { code: "unlucky" } }] }] },
  ],
  output: {
    n: "=input.n",
    child: "=steps.both.other.n",
    event: "=steps.both.event.payload.n",
    parts: "=size(steps.each)",
  },
};

/** A started run, with what is expected of it. */
interface Started {
  readonly id: string;
  readonly n: number;
  readonly fails: boolean;
  isCancelled: boolean;
  end: Json;
}

/** Starts runs, signals and cancels some of them, and waits for their ends until told to stop. */
function startCallers(pick: PickNode, chance: () => number) {
  const started: Started[] = [];
  const stats = { ended: 0, explained: 0 };
  let isOver = false;
  let next = 0;

  async function runOne(): Promise<void> {
    const n = next++;
    const fails = n % 4 === 1;
    const body = { definition: "crash.order", input: { n, fails } };
    const { status, body: received } = await callUntilAnswered(pick, "POST", "/api/workflow-runs", body, `start ${n}`);
    assert.equal(status, 200, JSON.stringify(received));
    const run: Started = { id: received.data.run.id, n, fails, isCancelled: n % 9 === 5, end: undefined };
    started.push(run);
    const path = `/api/workflow-runs/${run.id}`;
    await delay(chance() * 300);
    if (run.isCancelled) {
      const cancelled = await callUntilAnswered(pick, "POST", `${path}/cancel`, { compensate: true }, `cancel ${n}`);
      assert.equal(cancelled.status, 200, JSON.stringify(cancelled.body));
    } else {
      const signal = { event: "signed", scope: String(n), payload: { n }, event_id: `signed-${n}` };
      const signalled = await callUntilAnswered(pick, "POST", `${path}/signal`, signal, `signal ${n}`);
      assert.equal(signalled.status, 200, JSON.stringify(signalled.body));
      // The event is repeated without a key: the run knows it, or has ended.
      const again = await callUntilAnswered(pick, "POST", `${path}/signal`, signal);
      assert.ok(
        again.body.data?.duplicate === true || again.body.errorCode === "FAILED_PRECONDITION",
        JSON.stringify(again),
      );
    }
    const { body: explained } = await callUntilAnswered(pick, "GET", `${path}/explain`);
    if (!hasEnded(explained.data)) {
      assert.ok(explained.data.reasons.length > 0, JSON.stringify(explained.data));
      stats.explained++;
    }
    run.end = await untilEnded(pick, run.id);
    stats.ended++;
  }

  const calling = Promise.all(
    Array.from({ length: callers }, async () => {
      while (!isOver) await runOne();
    }),
  ).finally(() => {
    isOver = true;
  });
  return {
    started,
    stats,
    calling,
    stop() {
      isOver = true;
      return calling;
    },
  };
}

async function prepare({ nodes }: CrashCluster): Promise<string> {
  const first = await nodes[0]!.current;
  const { id } = await call(first, "POST", "/api/pools", { name: pool });
  await call(first, "PUT", "/api/v2/notification/workflows/crash-news", {
    channels: { in_app: { title: "{{ payload.run }}", body: "Hello" } },
  });
  await call(first, "POST", "/api/v2/notification/subscribers", { external_id: "ann" });
  await publish(first, childDocument);
  await publish(first, document);
  return id;
}

const countBy = <T>(rows: Iterable<T>, name: (row: T) => string): Map<string, number> =>
  new Map([...Map.groupBy(rows, name)].map(([key, group]) => [key, group.length]));

test(`runs survive ${nodeKills} kills of nodes and ${databaseKills} of PostgreSQL: each step takes effect once, and all end`, async (t) => {
  const chance = createRandom(23);
  const victims = Array.from({ length: nodeKills }, () => Math.floor(chance() * 3));
  const cluster = await startCluster([0, 1, 2].map((node) => victims.filter((each) => each === node).length));
  t.after(cluster.stop);
  const { nodes, sql } = cluster;
  const poolId = await prepare(cluster);
  const pick: PickNode = () => nodes[Math.floor(chance() * nodes.length)]!.current;
  const workers = startWorkers(pick, {
    ...{ queue: "crash", types: ["work", "undo"], count: 8, chance, vanishing: 0.02, failing: 0.04 },
  });
  t.after(() => workers.stop());
  const load = startCallers(pick, chance);

  async function kill(): Promise<void> {
    const restarting = new Map<number, Promise<void>>();
    for (let nth = 0; nth < nodeKills + databaseKills; nth++) {
      const before = load.stats.ended;
      const wanted = 2 + chance() * 6;
      await until(() => load.stats.ended >= before + wanted, Boolean, 300_000);
      await delay(chance() * 100);
      if (nth % Math.ceil((nodeKills + databaseKills) / databaseKills) === 1) {
        await cluster.killDatabase();
        continue;
      }
      // Another node may be killed while one restarts.
      const victim = victims.pop()!;
      await restarting.get(victim);
      restarting.set(victim, nodes[victim]!.crash());
    }
    await Promise.all(restarting.values());
  }
  // A caller or worker that fails ends the test.
  await Promise.race([kill(), load.calling, workers.working]).finally(() => load.stop());
  const { started, stats } = load;
  t.diagnostic(
    `${started.length} runs, ${stats.explained} explained in progress, ${workers.vanished()} tasks vanished`,
  );
  assert.ok(stats.explained > 0);

  // Runs that nobody waits for end as well.
  for (const untilMs = performance.now() + 300_000; ; await delay(100)) {
    const open = await sql<{ id: string }[]>`select id from workflow_runs`;
    if (open.length === 0) break;
    if (performance.now() < untilMs) continue;
    const { body } = await callUntilAnswered(pick, "GET", `/api/workflow-runs/${open[0]!.id}/explain`);
    assert.fail(`${open.length} runs do not end: ${JSON.stringify(body.data)}`);
  }
  await workers.stop();
  await assertNothingLeft(cluster);

  const runs = await sql<Json[]>`
    select id, parent_run_id, status, output, error ->> 'code' as code, revision from workflow_run_archive`;
  const runById = new Map(runs.map((run) => [run.id, run]));
  assert.equal(runById.size, runs.length, "no run exists twice");
  const parents = runs.filter(({ parent_run_id }) => parent_run_id === "");
  assert.deepEqual(new Set(parents.map(({ id }) => id)), new Set(started.map(({ id }) => id)));
  const children = countBy(
    runs.filter(({ parent_run_id }) => parent_run_id !== ""),
    ({ parent_run_id }) => parent_run_id,
  );
  const own = {
    ok: async (query: string) => (await callUntilAnswered(pick, "GET", `/api/queues/${poolId}/items${query}`)).body,
  };
  const items = countBy((await allItems(own.ok)).values(), ({ attributes }) => `${attributes.run}:${attributes.step}`);
  const inbox = countBy(await sql<{ title: string }[]>`select title from notification_inbox`, ({ title }) => title);
  const events = countBy(
    await sql<Json[]>`select subject, type from events where type like 'workflow.run.%'`,
    ({ subject, type }) => `${subject} ${type}`,
  );
  const gaps = await sql`
    select run_id, revision from workflow_run_archive r
    join lateral (select run_id, count(*) as rows, count(distinct revision) as revisions from workflow_history h
      where h.tenant_id = r.tenant_id and h.run_id = r.id group by run_id) h on true
    where rows <> revision or revisions <> revision`;
  assert.deepEqual([...gaps], [], "each advance is stored once");
  const historyByRun = Map.groupBy(await readHistory(sql), ({ runId }) => runId);

  for (const { id, status } of runs) {
    const history = historyByRun.get(id)!;
    const starts = countBy(
      history.filter(({ kind }) => kind === "step_started"),
      ({ step }) => step,
    );
    const completions = countBy(
      history.filter(({ kind }) => kind === "step_completed"),
      ({ step }) => step,
    );
    for (const [step, times] of [...starts, ...completions]) assert.equal(times, 1, `${id} ${step}`);
    assert.equal(history.at(-1)!.kind, "run_ended");
    assert.equal(history.filter(({ kind }) => kind === "run_ended").length, 1);
    assert.equal(events.get(`${id} workflow.run.started`), 1);
    assert.equal(events.get(`${id} workflow.run.${status}`), 1);
    // The accepted completion of a task, if its worker got the response, is the one in the history.
    for (const { kind, step, output } of history) {
      const tokens = workers.accepted.get(`${id}:${step}`);
      if (tokens === undefined || kind !== "step_completed") continue;
      assert.deepEqual([...tokens], [output.token], `${id} ${step}`);
    }
  }
  for (const name of workers.accepted.keys()) {
    const [id, step] = name.split(":") as [string, string];
    assert.ok(
      historyByRun.get(id)!.some((entry) => entry.kind === "step_completed" && entry.step === step),
      `${name} was accepted and is lost`,
    );
  }
  for (const run of started) checkEnd(run);

  function checkEnd({ id, n, fails, isCancelled, end }: Started): void {
    const history = historyByRun.get(id)!;
    const done = history.filter(({ kind }) => kind === "step_completed").map(({ step }) => step);
    const begun = new Set(history.filter(({ kind }) => kind === "step_started").map(({ step }) => step));
    const { status, output, code } = runById.get(id);
    assert.equal(end.status, status);
    if (isCancelled) assert.equal(status, "cancelled", id);
    else if (fails) assert.deepEqual([status, code], ["failed", "unlucky"], id);
    else assert.deepEqual([status, output], ["succeeded", { n, child: n, event: n, parts: 3 }], id);
    const undone = done.filter((step) => step.startsWith("~"));
    const undoable = done.filter((step) => ["reserve", "assign"].includes(step)).reverse();
    assert.deepEqual(undone, status === "succeeded" ? [] : undoable.map((step) => `~${step}`), id);
    // An effect whose result the run recorded happened once. One that was cancelled meanwhile happened at most once.
    for (const step of ["assign", "~assign"]) checkOnce(items.get(`${id}:${step}`), step);
    checkOnce(inbox.get(id), "tell");
    checkOnce(children.get(id), "sub");

    function checkOnce(times = 0, step: string): void {
      if (done.includes(step)) assert.equal(times, 1, `${id} ${step}`);
      else assert.ok(times <= (begun.has(step) ? 1 : 0), `${id} ${step}: ${times}`);
    }
  }
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromJson, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { newTenant, type TestTenant } from "../../src/modules/workflows/tasks/testing/task-fixture.ts";
import { failsWith } from "../harness/context.ts";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { sized } from "../harness/run-size.ts";
import { chooser } from "./chooser.ts";
import { patiently, startWorkflowNode, type WorkflowNode } from "./workflow-node.ts";

const nodeCount = 3;
const concurrentRaces = 40;

let database: TestDatabase;
let nodes: WorkflowNode[];
let tenants: TestTenant[];
before(async () => {
  database = await freshDatabase();
  nodes = await Promise.all(Array.from({ length: nodeCount }, () => startWorkflowNode(database.url)));
  tenants = await Promise.all([newTenant(nodes[0]!.db), newTenant(nodes[0]!.db)]);
  for (const tenant of tenants) {
    await nodes[0]!.publish(tenant, eventRace);
    await nodes[0]!.publish(tenant, leaseRace);
  }
});
after(async () => {
  for (const node of nodes) await node.stop();
  await database.drop();
});

const wait = (id: string, ...events: readonly string[]) => ({
  id,
  wait_event: { any: events.map((event) => ({ event, scope: "=input.scope" })), timeout: "1d" },
});

/** Four waits that compete for two events of each name. Each of the four events is consumed, in whatever order they come. */
const eventRace = {
  dsl: "1",
  key: "race.events",
  timeout: "1d",
  steps: [
    wait("begin", "begin"),
    { id: "both", parallel: { branches: { left: [wait("any", "a", "b")], right: [wait("a", "a"), wait("b", "b")] } } },
    wait("last", "a", "b"),
  ],
  output: ["=steps.both.left", "=steps.both.right", "=steps.last"],
};

const leaseRace = {
  dsl: "1",
  key: "race.leases",
  timeout: "1d",
  steps: [
    {
      ...{ id: "work", task: { queue: "q", type: "t" } },
      ...{ retry: { max_attempts: 3, initial: "1ms", max: "1ms" }, timeout: { attempt: "1h", total: "2h" } },
    },
    wait("done", "done"),
  ],
  output: "=steps.work",
};

interface Consumed {
  readonly event: string;
  readonly scope: string;
  readonly payload: { readonly run: string; readonly name: string };
  readonly event_id: string;
}

/** Runs races, a number of them at the same time. */
async function runRaces(count: number, race: (seed: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const seed = next++;
      await race(seed).catch((error) => {
        throw new Error(`Race ${seed} failed.`, { cause: error });
      });
    }
  };
  await Promise.all(Array.from({ length: concurrentRaces }, lane));
}

/** Lets other calls proceed for a number of turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test("each event is consumed once, by a wait of its run and scope, however it meets the waits", async () => {
  const seen = { duplicates: 0, early: 0, orders: new Set<string>() };
  await runRaces(sized(300, 10_000), async (seed) => {
    const choose = chooser(seed);
    const nodeOf = () => nodes[choose(nodeCount)]!;
    const tenant = tenants[choose(tenants.length)]!;
    const scope = `scope ${seed % 7}`;
    const started = await nodeOf().start(tenant, {
      definition: "race.events",
      input: fromJson(ValueSchema, { scope }),
    });
    const runId = started.run!.id;
    let fresh = 0;
    const send = async (name: string, eventId: string, itsScope = scope): Promise<void> => {
      await turns(choose(4));
      const payload = fromJson(ValueSchema, { run: runId, name: eventId });
      const request = { runId, event: name, scope: itsScope, eventId, payload };
      try {
        const { duplicate } = await patiently(() => nodeOf().signal(tenant, request));
        if (duplicate) seen.duplicates++;
        else fresh++;
      } catch (error) {
        // A repeated event may arrive after the end of the run.
        if (!failsWith("FAILED_PRECONDITION", /has ended/)(error)) throw error;
      }
    };
    const wanted = ["a1", "a2", "b1", "b2"];
    const sends: (() => Promise<void>)[] = [];
    for (const eventId of ["begin", ...wanted]) {
      const name = eventId.replace(/\d/, "");
      // The ids are the same in all runs: a run is isolated from others.
      for (let copy = 0; copy <= choose(3); copy++) sends.push(() => send(name, eventId));
    }
    const elsewhere = ["a", "b"].slice(choose(3));
    for (const name of elsewhere) sends.push(() => send(name, `${name} elsewhere`, "elsewhere"));
    const order = shuffled(sends, choose);
    if (choose(2) === 0) await Promise.all(order.map((each) => each()));
    else for (const each of order) await each();
    if (choose(4) === 0) {
      const stranger = tenants.find((other) => other !== tenant)!;
      await assert.rejects(nodeOf().signal(stranger, { runId, event: "a", scope }), failsWith("NOT_FOUND"));
    }

    const run = await nodeOf().get(tenant, runId);
    assert.equal(run.status, "succeeded");
    const [left, right, last] = toJson(ValueSchema, run.output!) as unknown as Consumed[];
    const consumed = [left!, right!, last!];
    for (const { scope: its, payload, event, event_id } of consumed) {
      assert.deepEqual([its, payload], [scope, { run: runId, name: event_id }]);
      assert.equal(event, event_id.replace(/\d/, ""));
    }
    // Events for another scope may arrive after the end of the run.
    assert.ok(fresh >= 5 && fresh <= 5 + elsewhere.length, `${fresh} events were new`);
    const history = await database.sql`
      select e ->> 'kind' as kind, e ->> 'step' as step, e -> 'output' ->> 'event_id' as "eventId",
        coalesce(e ->> 'event_id', '') as received
      from workflow_history h, json_array_elements(h.entries) as e
      where h.tenant_id = ${tenant.tenantId} and h.run_id = ${runId} order by h.revision`;
    const received = history.filter(({ kind }) => kind === "event_received").map((entry) => entry.received);
    assert.equal(new Set(received).size, received.length, "an event was received twice");
    const completed = history.filter(({ kind, step }) => kind === "step_completed" && step !== "both");
    assert.deepEqual(completed.map(({ eventId }) => eventId).toSorted(), ["begin", ...wanted].toSorted());
    assert.deepEqual(completed.map(({ step }) => step).toSorted(), ["a", "any", "b", "begin", "last"]);
    if (received.indexOf("begin") > 0) seen.early++;
    seen.orders.add(completed.map(({ step, eventId }) => `${step}:${eventId}`).join(" "));
  });
  assert.ok(seen.duplicates > 0 && seen.early > 0 && seen.orders.size > 5, JSON.stringify([...seen.orders]));
  const [left] = await database.sql`select (select count(*)::int from workflow_mailbox) as mail`;
  assert.deepEqual(left, { mail: 0 });
});

function shuffled<T>(list: readonly T[], choose: (limit: number) => number): T[] {
  const result = [...list];
  for (let at = result.length - 1; at > 0; at--) {
    const other = choose(at + 1);
    [result[at], result[other]] = [result[other]!, result[at]!];
  }
  return result;
}

test("nodes that store advances of the same runs at the same time do not block each other", async () => {
  const [tenant] = tenants as [TestTenant];
  const input = fromJson(ValueSchema, { scope: "" });
  for (let round = 0; round < sized(5, 50); round++) {
    const starts = Array.from({ length: 40 }, () => nodes[0]!.start(tenant, { definition: "race.events", input }));
    const runIds = (await Promise.all(starts)).map(({ run }) => run!.id);
    // Each node ends the runs that the other one only changes.
    const calls = runIds.flatMap((runId, nth) => {
      const [one, other] = nth % 2 === 0 ? [nodes[0]!, nodes[1]!] : [nodes[1]!, nodes[0]!];
      return [
        patiently(() => one.signal(tenant, { runId, event: "noise" })).catch((error) => {
          if (!failsWith("FAILED_PRECONDITION", /has ended/)(error)) throw error;
        }),
        patiently(() => other.cancel(tenant, { runId })),
      ];
    });
    await Promise.all(calls);
  }
});

test("nodes that start runs with the same keys at the same time start each run once", async () => {
  const [tenant] = tenants as [TestTenant];
  const input = fromJson(ValueSchema, { scope: "" });
  const choose = chooser(2);
  for (let round = 0; round < sized(5, 50); round++) {
    const keys = Array.from({ length: 100 }, (_, nth) => `${round} ${nth}`);
    const starts = nodes.flatMap((node) =>
      shuffled(keys, choose).map((runKey) => node.start(tenant, { definition: "race.events", input, runKey })),
    );
    const started = await Promise.all(starts);
    assert.equal(started.filter((each) => each.started).length, keys.length);
    const runIds = new Set(started.map(({ run }) => run!.id));
    assert.equal(runIds.size, keys.length);
    await Promise.all([...runIds].map((runId) => nodes[0]!.cancel(tenant, { runId })));
  }
});

test("an attempt has one outcome: the late report of a worker races with the sweepers and with its successor", async () => {
  const seen = { zombieWon: 0, zombieLost: 0 };
  const race = async (seed: number, first?: "report" | "sweep") => {
    const choose = chooser(seed);
    const nodeOf = () => nodes[choose(nodeCount)]!;
    // Tenants of their own, so that polls do not take tasks of other races.
    const tenant = await newTenant(nodes[0]!.db);
    await nodes[0]!.publish(tenant, leaseRace);
    const started = await nodeOf().start(tenant, {
      definition: "race.leases",
      input: fromJson(ValueSchema, { scope: "" }),
    });
    const runId = started.run!.id;
    const poll = async (workerId: string, waitS: number) => {
      const worker = { queue: "q", workerId, buildId: "1", slots: 1, capabilities: [{ type: "t" }] };
      return (await nodeOf().poll(tenant, { ...worker, waitS })).tasks[0];
    };
    const complete = async (task: { taskId: string; token: string }, by: string) => {
      await turns(choose(6));
      const output = fromJson(ValueSchema, by);
      const request = { completions: [{ taskId: task.taskId, token: task.token, output }] };
      return (await patiently(() => nodeOf().complete(tenant, request))).results[0]!.status;
    };
    const sweep = async (node: WorkflowNode) => {
      await turns(choose(6));
      await node.sweepLeases();
    };
    const leased = (await poll("zombie", 20))!;
    await database.sql`
      update workflow_tasks set lease_until = now() - interval '1 second' where tenant_id = ${tenant.tenantId}`;
    if (first === "sweep") await Promise.all(nodes.map(sweep));
    const reporting = complete(leased, "zombie");
    if (first === "report") await reporting;
    const [status] = await Promise.all([reporting, ...nodes.map(sweep)]);
    assert.ok(status === "completed" || status === "stale", status);
    let winner = "zombie";
    if (status === "stale") {
      seen.zombieLost++;
      winner = "successor";
      const second = (await poll("successor", 20))!;
      assert.deepEqual([second.taskId, second.attempt], [leased.taskId, 2]);
      const [late, own] = await Promise.all([complete(leased, "zombie again"), complete(second, "successor")]);
      assert.deepEqual([late, own], ["stale", "completed"]);
    } else seen.zombieWon++;
    // Only the node that applied a report remembers it.
    const repeated = await complete(leased, "zombie");
    assert.ok(repeated === status || repeated === "stale", repeated);
    await nodeOf().signal(tenant, { runId, event: "done" });
    const run = await nodeOf().get(tenant, runId);
    assert.deepEqual([run.status, toJson(ValueSchema, run.output!)], ["succeeded", winner]);
    const outcomes = await database.sql`
      select e ->> 'kind' as kind from workflow_history h, json_array_elements(h.entries) as e
      where h.tenant_id = ${tenant.tenantId} and h.run_id = ${runId} and e ->> 'step' = 'work' and e ->> 'kind' in ('attempt_failed', 'step_completed')`;
    assert.equal(outcomes.length, status === "stale" ? 2 : 1);
  };
  await race(0, "report");
  await race(1, "sweep");
  assert.deepEqual(seen, { zombieWon: 1, zombieLost: 1 });
  await runRaces(sized(100, 2000), (seed) => race(seed));
  const [left] = await database.sql`select count(*)::int as tasks from workflow_tasks`;
  assert.deepEqual(left, { tasks: 0 });
});

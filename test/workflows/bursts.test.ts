import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromJson, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { newTenant, type TestTenant } from "../../src/modules/workflows/tasks/testing/task-fixture.ts";
import { failsWith } from "../harness/context.ts";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { startWorkflowNode, type WorkflowNode } from "./workflow-node.ts";

let database: TestDatabase;
let node: WorkflowNode;
let tenant: TestTenant;
let other: TestTenant;
before(async () => {
  database = await freshDatabase();
  node = await startWorkflowNode(database.url);
  [tenant, other] = [await newTenant(node.db), await newTenant(node.db)];
  for (const each of [tenant, other]) await node.publish(each, waiting);
  await node.publish(tenant, busy);
});
after(async () => {
  await node.stop();
  await database.drop();
});

const waiting = {
  ...{ dsl: "1", key: "waiting", timeout: "1d" },
  steps: [
    { id: "first", wait_event: { event: "go", timeout: "1d" } },
    { id: "last", wait_event: { event: "end", timeout: "1d" } },
  ],
};

const tasks = 10;

/** Has open tasks while events arrive, and takes the events after the event "open". */
const busy = {
  ...{ dsl: "1", key: "busy", timeout: "1d" },
  steps: [
    {
      id: "both",
      parallel: {
        branches: {
          work: [
            {
              id: "each",
              map: {
                ...{ in: `=[${Array.from({ length: tasks }).fill(0)}]`, max_items: tasks, max_parallel: tasks },
                steps: [{ id: "part", task: { queue: "q", type: "t" }, timeout: { attempt: "1h" } }],
              },
            },
          ],
          events: [
            { id: "open", wait_event: { event: "open", timeout: "1d" } },
            {
              id: "taken",
              map: {
                ...{ in: "=input.items", max_items: 1000 },
                steps: [{ id: "take", wait_event: { event: "go", timeout: "1d" } }],
              },
            },
          ],
        },
      },
    },
  ],
  output: { taken: "=steps.both.events" },
};

async function start(owner: TestTenant): Promise<string> {
  return (await node.start(owner, { definition: "waiting" })).run!.id;
}

const range = (count: number) => Array.from({ length: count }, (_, nth) => nth);

for (const count of [150, 500]) {
  test(`${count} events and the results of tasks that arrive together are one advance, and keep their order`, async () => {
    // One advance starts at most 1,000 steps, so it takes no more events.
    const items = range(Math.min(count, 400));
    const input = fromJson(ValueSchema, { items });
    const runId = (await node.start(tenant, { definition: "busy", input })).run!.id;
    const worker = { queue: "q", workerId: "w", buildId: "1", slots: tasks, capabilities: [{ type: "t" }] };
    const leased = (await node.poll(tenant, worker)).tasks;
    assert.equal(leased.length, tasks);
    const { revision } = await node.get(tenant, runId);
    const sent = range(count).map((nth) =>
      // The ids sort in the opposite order.
      node.signal(tenant, {
        ...{ runId, event: "go", eventId: `e${1000 - nth}`, payload: fromJson(ValueSchema, nth) },
      }),
    );
    const reported = leased.map(({ taskId, token }) => node.complete(tenant, { completions: [{ taskId, token }] }));
    const responses = await Promise.all(sent);
    assert.deepEqual(
      responses.map(({ eventId, duplicate }) => [eventId, duplicate]),
      range(count).map((nth) => [`e${1000 - nth}`, false]),
    );
    for (const { results } of await Promise.all(reported)) assert.equal(results[0]!.status, "completed");
    assert.equal((await node.get(tenant, runId)).revision, revision + 1);
    await node.signal(tenant, { runId, event: "open" });
    const { status, output } = await node.get(tenant, runId, 20);
    assert.equal(status, "succeeded");
    const { taken } = toJson(ValueSchema, output!) as { taken: { payload: number }[] };
    assert.deepEqual(
      taken.map(({ payload }) => payload),
      items,
    );
  });
}

test("calls that are repeated, refused or without effect are answered by the advance of their neighbours", async () => {
  const runId = await start(tenant);
  const sent = await Promise.allSettled([
    node.signal(tenant, { runId, event: "x", eventId: "e1" }),
    node.signal(tenant, { runId, event: "x", eventId: "e1" }),
    node.decide(tenant, { runId, step: "first", approved: true }),
    node.pause(tenant, { runId }),
    node.pause(tenant, { runId }),
    node.signal(tenant, { runId, event: "x", eventId: "e2" }),
    node.resume(tenant, { runId }),
    node.resume(tenant, { runId }),
    node.cancel(tenant, { runId }),
    node.signal(tenant, { runId, event: "x", eventId: "e3" }),
  ]);
  assert.deepEqual(
    sent.map((each) => {
      if (each.status === "rejected") return failsWith("FAILED_PRECONDITION")(each.reason) ? "refused" : each.reason;
      return "duplicate" in each.value ? each.value.duplicate : `${each.value.run!.status} ${each.value.run!.revision}`;
    }),
    [false, true, "refused", "paused 2", "paused 2", false, "waiting 2", "waiting 2", "cancelled 2", "refused"],
  );
  assert.equal((await node.get(tenant, runId)).revision, 2);
});

test("a call beside results that make a run too large is not answered with a run that was never stored", async () => {
  const input = fromJson(ValueSchema, { items: [0] });
  const runId = (await node.start(tenant, { definition: "busy", input })).run!.id;
  const worker = { queue: "q", workerId: "w", buildId: "1", slots: tasks, capabilities: [{ type: "t" }] };
  const leased = (await node.poll(tenant, worker)).tasks;
  // A paused run keeps the results without applying them.
  await node.pause(tenant, { runId });
  const output = fromJson(ValueSchema, "x".repeat(100_000));
  const [, ...pauses] = await Promise.allSettled([
    Promise.all(leased.map(({ taskId, token }) => node.complete(tenant, { completions: [{ taskId, token, output }] }))),
    node.pause(tenant, { runId }),
    node.pause(tenant, { runId }),
  ]);
  assert.equal((await node.get(tenant, runId)).status, "failed");
  for (const pause of pauses) {
    assert.equal(pause.status, "rejected", "the run had failed");
    assert.ok(failsWith("FAILED_PRECONDITION")(pause.reason));
  }
});

test("many changes of a run with much state are applied over several advances", async () => {
  const input = fromJson(ValueSchema, { items: [0], text: "x".repeat(100_000) });
  const runId = (await node.start(tenant, { definition: "busy", input })).run!.id;
  const { revision } = await node.get(tenant, runId);
  const changes = range(50).flatMap(() => [node.pause(tenant, { runId }), node.resume(tenant, { runId })]);
  const statuses = (await Promise.all(changes)).map(({ run }) => run!.status);
  assert.deepEqual(
    statuses,
    range(50).flatMap(() => ["paused", "running"]),
  );
  assert.ok((await node.get(tenant, runId)).revision > revision + 1);
});

test("a change without effect returns the run as it is", async () => {
  const runId = await start(tenant);
  const { status, revision, wakesAt } = (await node.resume(tenant, { runId })).run!;
  const stored = await node.get(tenant, runId);
  assert.deepEqual([status, revision, wakesAt], [stored.status, stored.revision, stored.wakesAt]);
});

test("events that arrive together are applied in one advance, each with its own response", async () => {
  const runId = await start(tenant);
  const responses = await Promise.all(Array.from({ length: 120 }, () => node.signal(tenant, { runId, event: "go" })));
  assert.equal(new Set(responses.map(({ eventId }) => eventId)).size, 120);
  assert.equal((await node.get(tenant, runId)).revision, 2);
});

test("changes that arrive together each show the run as they have left it", async () => {
  const runId = await start(tenant);
  const [paused, resumed] = await Promise.all([node.pause(tenant, { runId }), node.resume(tenant, { runId })]);
  assert.deepEqual([paused.run!.status, resumed.run!.status], ["paused", "waiting"]);
  assert.deepEqual([paused.run!.revision, resumed.run!.revision], [2, 2]);
});

test("an event that is sent twice at once is applied once, and recognised as a duplicate", async () => {
  const runId = await start(tenant);
  const send = () => node.signal(tenant, { runId, event: "go", eventId: "e1" });
  const responses = await Promise.all([send(), send()]);
  assert.deepEqual(
    responses.map(({ duplicate }) => duplicate),
    [false, true],
  );
});

test("a burst does not fill a mailbox beyond its limit", async () => {
  const runId = await start(tenant);
  const sent = await Promise.allSettled(
    Array.from({ length: 1010 }, () => node.signal(tenant, { runId, event: "unread" })),
  );
  const refused = sent.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  assert.equal(refused.length, 10);
  assert.ok(refused.every(failsWith("FAILED_PRECONDITION")));
});

test("a run that needs another advance does not hold back a run of another tenant", async () => {
  const [runId, beside] = [await start(tenant), await start(other)];
  const order: string[] = [];
  const send = async (name: string, owner: TestTenant, id: string) => {
    await node.signal(owner, { runId: id, event: "go", eventId: "e1" });
    order.push(name);
  };
  // An advance takes 1,000 calls.
  const first = range(1000).map(() => send("first", tenant, runId));
  await Promise.all([...first, send("later", tenant, runId), send("beside", other, beside)]);
  assert.deepEqual(order.slice(-2), ["beside", "later"]);
});

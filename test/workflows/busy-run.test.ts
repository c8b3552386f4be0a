import assert from "node:assert/strict";
import { before, test } from "node:test";
import { connect } from "../harness/postgres-server.ts";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";

// biome-ignore lint/suspicious/noExplicitAny: responses have many shapes.
type Json = any;

let service: TestService;
let rest: RestClient;
before(async () => {
  service = await startService({ "ratelimit.tenant_rps": "0" });
  rest = restClient(service.baseUrl, service.adminKey);
  await call("/api/workflow-definitions", { document: busy });
  await call("/api/workflow-definitions/busy/publish", {});
});

const tasks = 10;
const busy = {
  ...{ dsl: "1", key: "busy", timeout: "1d" },
  steps: [
    {
      id: "each",
      map: {
        ...{ in: `=[${Array.from({ length: tasks }).fill(0)}]`, max_items: tasks, max_parallel: tasks },
        steps: [{ id: "part", task: { queue: "q", type: "t" }, timeout: { attempt: "1h" } }],
      },
    },
    { id: "last", wait_event: { event: "end", timeout: "1d" } },
  ],
};

async function call(path: string, body: object, headers?: Record<string, string>): Promise<Json> {
  const response = await rest.call("POST", path, body, headers);
  assert.equal(response.status, 200, response.text);
  return response.body.data;
}

for (const count of [64, 150, 500]) {
  test(`${count} callers signal one run twice each beside the results of its tasks: all succeed, each event once`, async () => {
    const { run } = await call("/api/workflow-runs", { definition: "busy" });
    const poll = { queue: "q", worker_id: "w", slots: tasks, capabilities: [{ type: "t" }], wait_s: 5 };
    const { tasks: leased } = await call("/api/workflow-tasks:poll", poll);
    assert.equal(leased.length, tasks);
    const signal = (nth: number) =>
      call(
        `/api/workflow-runs/${run.id}/signal`,
        { event: "go", payload: nth },
        { "idempotency-key": `${run.id}-${nth}` },
      );
    const numbers = Array.from({ length: count }, (_, nth) => nth);
    const first = numbers.map(signal);
    const completed = leased.map(({ task_id, token }: Json) =>
      call("/api/workflow-tasks:complete", { completions: [{ task_id, token, output: {} }] }),
    );
    const repeated = numbers.map(signal);
    const responses = await Promise.all(first);
    assert.deepEqual(await Promise.all(repeated), responses);
    for (const { results } of await Promise.all(completed)) assert.equal(results[0].status, "completed");
    const ids = new Set(responses.map(({ event_id }) => event_id));
    assert.equal(ids.size, count);
    const sql = connect(service.databaseUrl, 1);
    const received = await sql<{ id: string }[]>`
      select e ->> 'event_id' as id from workflow_history, json_array_elements(entries) as e
      where run_id = ${run.id} and e ->> 'kind' = 'event_received'`;
    const [records] = await sql<{ count: number }[]>`
      select count(*)::int from idempotency_records where key like ${`${run.id}-%`} and state = 'completed'`;
    await sql.end();
    assert.equal(received.length, count);
    assert.deepEqual(new Set(received.map(({ id }) => id)), ids);
    assert.equal(records!.count, count);
  });
}

// Every path and message shape of our API that the bench uses.

const step = (id, transform) => ({ id, transform });
const task = (id, from) => ({ id, task: { queue: "bench", type: id }, with: { from } });

/** The published definitions. */
const definitions = {
  internal: [
    step("total", { total: "=input.amount * 2.0" }),
    step("tax", { tax: "=steps.total.total * 3.0", total: "=steps.total.total" }),
    step("label", { label: "=input.country + ' ' + input.order", sum: "=steps.tax.total + steps.tax.tax" }),
  ],
  "tasks-1": [task("one", "=input")],
  "tasks-3": [task("one", "=input"), task("two", "=steps.one"), task("three", "=steps.two")],
  sleeper: [{ id: "nap", wait_timer: { for: "=input.seconds" } }],
};

/** The type of the last task of a definition. */
export const lastTask = { "tasks-1": "one", "tasks-3": "three" };

/** Publishes the definitions that do not exist yet. */
export async function publishDefinitions(connection) {
  for (const [key, steps] of Object.entries(definitions)) {
    const document = { dsl: "1", key, timeout: "1h", steps };
    const { status, body } = await connection.send("POST", "/api/workflow-definitions", JSON.stringify({ document }));
    if (status === 409) continue;
    succeeded("/api/workflow-definitions", { status, body });
    await post(connection, `/api/workflow-definitions/${key}/publish`, {});
  }
}

/** Starts a run; returns its id. */
export async function startRun(connection, definition, input, { isEnded = false } = {}) {
  const path = "/api/workflow-runs";
  const body = succeeded(path, await connection.send("POST", path, JSON.stringify({ definition, input })));
  // Parsing the whole run would cost the caller more than the call.
  if (isEnded && !body.includes('"succeeded"')) throw new Error(`a run did not succeed: ${body}`);
  return /"id":\s*"(\w+)"/.exec(body)[1];
}

/** Reads a run. */
export async function readRun(connection, id) {
  const path = `/api/workflow-runs/${id}`;
  succeeded(path, await connection.send("GET", path));
}

const pollOf = (workerId, slots) => ({
  ...{ queue: "bench", worker_id: workerId, build_id: "bench", slots, wait_s: 2 },
  capabilities: ["one", "two", "three"].map((type) => ({ type, versions: ["1.0.0"] })),
});

/** Completes tasks and polls for the next ones in one call; returns the next ones. */
export async function completeAndPoll(connection, workerId, slots, tasks) {
  const poll = pollOf(workerId, slots);
  if (tasks.length === 0) return (await post(connection, "/api/workflow-tasks:poll", poll)).tasks;
  const completions = tasks.map(({ task_id, token, type }) => ({ task_id, token, output: { done: type } }));
  const { results, tasks: next } = await post(connection, "/api/workflow-tasks:complete", { completions, poll });
  const failed = results.find(({ status }) => status !== "completed");
  if (failed !== undefined) throw new Error(`a completion returned ${JSON.stringify(failed)}`);
  return next;
}

async function post(connection, path, body) {
  return JSON.parse(succeeded(path, await connection.send("POST", path, JSON.stringify(body)))).data;
}

function succeeded(path, { status, body }) {
  if (status >= 300) throw new Error(`${path} answered ${status}: ${body.slice(0, 300)}`);
  return body;
}

// A complete worker for workflow tasks, to copy and change. It needs no packages.
//
//   ADDRESS=http://127.0.0.1:8080 KEY=… node docs/guides/worker.mjs <queue> [version]
//
// When it is stopped (SIGTERM or Ctrl+C), its tasks in progress go back to the queue.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const { ADDRESS, KEY } = process.env;
const [queue, version = "2.1.0"] = process.argv.slice(2);
const slots = 4;

// A function for each type of task. It returns the output of the step or throws an error, with a `code` that the
// definition lists. `retryable: false` says that another attempt is useless.
const handlers = {
  async "document.read"({ url, pages = 1 }, { signal, report }) {
    if (!url?.startsWith("https://")) {
      throw Object.assign(new Error(`cannot read ${url}`), { code: "unreadable", retryable: false });
    }
    for (let page = 1; page <= pages; page++) {
      await sleep(50, undefined, { signal });
      report({ page });
    }
    return { url, words: 120 * pages };
  },
};

const worker = {
  queue,
  worker_id: `worker-${process.pid}`,
  build_id: `example-${version}`,
  capabilities: Object.keys(handlers).map((type) => ({ type, versions: [version] })),
};
const running = new Map();
const stop = new AbortController();
let onFreeSlot = () => {};

// Repeats a call until there is a response. The idempotency key makes that safe.
async function call(operation, body, signal) {
  const headers = { "x-api-key": KEY, "content-type": "application/json", "idempotency-key": randomUUID() };
  const request = { method: "POST", headers, body: JSON.stringify(body), signal };
  for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, 5000)) {
    const response = await fetch(`${ADDRESS}/api/workflow-tasks:${operation}`, request).catch((error) => error);
    if (response.ok) return (await response.json()).data;
    signal?.throwIfAborted();
    if (response.status < 500 && response.status !== 429) throw new Error(await response.text());
    await sleep(delayMs);
  }
}

async function run({ task_id, token, type, input, details, heartbeat_s, idempotency_key }) {
  const over = new AbortController();
  let progress = details;
  const beat = async () => {
    const { results } = await call("heartbeat", { tasks: [{ task_id, token, details: progress }] }, over.signal);
    // The run was cancelled, or another worker has the task: nobody needs the result.
    if (["cancel", "lost"].includes(results[0].status)) over.abort();
  };
  const timer = heartbeat_s > 0 && setInterval(() => beat().catch(() => {}), (heartbeat_s * 1000) / 3);
  let next = [];
  try {
    const report = (value) => (progress = value);
    const output = await handlers[type](input, { signal: over.signal, report, details, idempotency_key });
    // One call reports the result and asks for the next task.
    const poll = stop.signal.aborted ? undefined : { ...worker, slots: 1 };
    const { results, tasks } = await call("complete", { completions: [{ task_id, token, output }], poll });
    next = tasks;
    if (results[0].error_code === "INVALID_ARGUMENT") throw new Error(results[0].error_message);
  } catch (error) {
    const code = /^[a-z][a-z0-9_]*$/.test(error.code ?? "") ? error.code : "task_failed";
    const failure = { task_id, token, code, message: error.message.slice(0, 1000), retryable: error.retryable };
    if (!over.signal.aborted) await call("fail", { failures: [failure] }).catch(console.error);
  }
  clearInterval(timer);
  running.delete(task_id);
  start(next);
  onFreeSlot();
}

function start(tasks) {
  for (const task of tasks) {
    running.set(task.task_id, { task_id: task.task_id, token: task.token });
    void run(task);
  }
}

async function release() {
  stop.abort();
  if (running.size > 0) await call("release", { tasks: [...running.values()] });
  process.exit();
}
for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, release);

while (!stop.signal.aborted) {
  const free = slots - running.size;
  if (free === 0) {
    await new Promise((resolve) => (onFreeSlot = resolve));
    continue;
  }
  try {
    // One call asks for as many tasks as there are free slots.
    start((await call("poll", { ...worker, slots: free, wait_s: 20 }, stop.signal)).tasks);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
}

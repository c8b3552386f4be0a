import { setTimeout as delay } from "node:timers/promises";
import type { LeasedWorkflowTask } from "../../../../clients/typescript/src/index.ts";
import type { CreateWorkload } from "../workload.ts";

/** How long the timer between the two tasks waits. */
export const timerMs = 2000;
const openMax = 30;
const settleMs = 120_000;

const definition = `
dsl: "1"
key: proof
timeout: 1d
steps:
  - id: first
    task: { queue: proof, type: proof.step }
    timeout: { attempt: 5s }
    retry: { max_attempts: 100, initial: 1s }
  - id: pause
    wait_timer: { for: ${timerMs / 1000}s }
  - id: last
    task: { queue: proof, type: proof.step }
    timeout: { attempt: 5s }
    retry: { max_attempts: 100, initial: 1s }
`;

/** Starts workflow runs, works on their tasks, and watches the timer between them. */
export const createRunWorkload: CreateWorkload = async (context) => {
  const { tenant, history, random, loading, over, records, call } = context;
  const { value } = await call(
    (client, options) => client.workflowDefinitions.import({ text: definition, format: "yaml" }, options),
    "import",
  );
  const { id } = value.workflow_definition!;
  await call((client, options) => client.workflowDefinitions.publish({ id }, options), "publish");

  /** The runs that have not ended, by id, with the key of each. */
  const open = new Set<string>();
  const keys = new Map<string, string>();
  const ended = new Set<string>();
  /** When the first task was reported, for the first time and at last. */
  const firstDone = new Map<string, { readonly startMs: number; readonly endMs: number }>();
  const seen = new Set<string>();
  const settled = new AbortController();
  over.addEventListener("abort", () => settled.abort());
  let starts = 0;

  async function start(): Promise<void> {
    while (!loading.aborted) {
      if (open.size >= openMax) {
        await delay(50);
        continue;
      }
      const run_key = `run-${++starts}`;
      const answer = await call(
        (client, options) => client.workflowRuns.start({ definition: "proof", run_key }, options),
        run_key,
      );
      const run = answer.value.run!.id;
      keys.set(run, run_key);
      records.push({ kind: "run", id: run });
      if (!ended.has(run)) open.add(run);
      const { startMs, endMs, node } = answer;
      history.record({
        ...{ kind: "acknowledged", name: "start run", subject: `${tenant.name}/${run_key}` },
        ...{ startMs, endMs, node, facts: { run } },
      });
    }
  }

  async function work(number: number): Promise<void> {
    const poll = {
      ...{ queue: "proof", worker_id: `worker ${number}`, build_id: "proof", slots: 10, wait_s: 1 },
      capabilities: [{ type: "proof.step", versions: ["1.0.0"] }],
    };
    while (!settled.signal.aborted) {
      const { value: answer, endMs } = await call((client, options) => client.workflowTasks.poll(poll, options));
      for (const task of answer.tasks) recordTimer(task, endMs);
      if (answer.tasks.length === 0) continue;
      await delay(random() * 50);
      await complete(answer.tasks);
    }
  }

  function recordTimer({ run_id, step }: LeasedWorkflowTask, leasedMs: number): void {
    const done = firstDone.get(run_id);
    if (step !== "last" || done === undefined || seen.has(run_id)) return;
    seen.add(run_id);
    const facts = { "late ms": Math.max(0, Math.round(leasedMs - done.endMs - timerMs)) };
    history.record({
      ...{ kind: "observed", name: "timer", subject: `${tenant.name}/${run_id}` },
      ...{ startMs: done.startMs, endMs: leasedMs, facts },
    });
  }

  async function complete(tasks: readonly LeasedWorkflowTask[]): Promise<void> {
    const completions = tasks.map(({ task_id, token }) => ({ task_id, token, output: { token } }));
    const answer = await call(
      (client, options) => client.workflowTasks.complete({ completions }, options),
      `complete ${tasks[0]!.token}`,
    );
    const { startMs, endMs, node } = answer;
    for (const [at, { status, error_code }] of answer.value.results.entries()) {
      const { run_id, step, attempt } = tasks[at]!;
      const isAccepted = status === "completed";
      history.record({
        kind: isAccepted ? "acknowledged" : "refused",
        ...{ name: "complete task", subject: `${tenant.name}/${run_id}/${step}`, startMs, endMs, node },
        facts: { attempt, ...(isAccepted ? { status } : { error: error_code }) },
      });
      if (step === "first" && isAccepted) firstDone.set(run_id, { startMs, endMs });
      if (step !== "last") continue;
      ended.add(run_id);
      open.delete(run_id);
    }
  }

  const working = Promise.all([work(1), work(2)]);
  // A failure is reported when the workload settles.
  working.catch(() => settled.abort());
  return {
    load: start,
    async settle() {
      const untilMs = history.now() + settleMs;
      while (!settled.signal.aborted && history.now() < untilMs) {
        const status = "succeeded" as const;
        const { value: done } = await call((client) =>
          client.workflowRuns.list({ definition_id: id, status, limit: 100 }).take(1_000_000),
        );
        if (done.length >= keys.size) break;
        await delay(500);
      }
      settled.abort();
      await working;
      const { value: runs } = await call((client) =>
        client.workflowRuns.list({ definition_id: id, limit: 100 }).take(1_000_000),
      );
      const found = new Map(runs.map((run) => [run.id, run]));
      const nowMs = history.now();
      for (const [run, run_key] of keys) {
        history.record({
          ...{ kind: "observed", name: "run", subject: `${tenant.name}/${run_key}`, startMs: nowMs, endMs: nowMs },
          facts: { run, status: found.get(run)?.status ?? "absent" },
        });
      }
    },
  };
};

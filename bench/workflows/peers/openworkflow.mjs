// openworkflow, in process: its client and its worker.
import { OpenWorkflow } from "openworkflow";
import { BackendPostgres } from "openworkflow/postgres";
import { pgSettings } from "../../routing/pg-settings.mjs";
import { nextInput, steps } from "../input.mjs";
import { createEnds, startMany } from "../pacing.mjs";

const concurrency = 64;

export async function open({ databaseUrl }) {
  // Its client takes no socket folder, except from the environment.
  const { host, user, database } = pgSettings(databaseUrl);
  Object.assign(process.env, { PGHOST: host, PGUSER: user });
  const backend = await BackendPostgres.connect(`postgresql:///${database}`);
  const ends = createEnds();
  const late = [];
  // Its handle polls every second. Here the caller learns of the end when it is stored.
  const complete = backend.completeWorkflowRun.bind(backend);
  backend.completeWorkflowRun = async (params) => {
    const run = await complete(params);
    ends.end(params.workflowRunId);
    return run;
  };
  const client = new OpenWorkflow({ backend });
  const internal = client.defineWorkflow({ name: "internal" }, async ({ input, step }) => {
    const total = await step.run({ name: "total" }, async () => steps.total(input));
    const tax = await step.run({ name: "tax" }, async () => steps.tax(total));
    return step.run({ name: "label" }, async () => steps.label(tax, input));
  });
  const tasks = client.defineWorkflow({ name: "tasks" }, async ({ input, step }) => {
    for (let i = 0; i < input.count; i++) await step.run({ name: `step${i}` }, async () => ({ done: i }));
  });
  const sleeper = client.defineWorkflow({ name: "sleeper" }, async ({ input, step }) => {
    await step.sleep("nap", `${input.sleepMs}ms`);
    late.push(Date.now() - input.dueMs);
  });
  const worker = client.newWorker({ concurrency });
  await worker.start();
  const begin = async (workflow, input) => {
    const { workflowRun } = await workflow.run(input);
    return { ended: ends.wait(workflowRun.id) };
  };
  const name = `worker, concurrency ${concurrency}`;
  return {
    internal: { name, ahead: 16, begin: () => begin(internal, nextInput()) },
    tasks: {
      1: { name, ahead: 16, begin: () => begin(tasks, { ...nextInput(), count: 1 }) },
      3: { name, ahead: 16, begin: () => begin(tasks, { ...nextInput(), count: 3 }) },
    },
    sleepers: {
      name: "step.sleep",
      start: ({ count, sleepMs }) => startMany(count, () => sleeper.run({ sleepMs, dueMs: Date.now() + sleepMs })),
      async lateness({ count }) {
        while (late.length < count) await new Promise((resolve) => setTimeout(resolve, 200));
        return late;
      },
    },
    async close() {
      await worker.stop();
      await backend.stop();
    },
  };
}

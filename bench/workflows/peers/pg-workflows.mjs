// pg-workflows, in process: its engine with many workers, each of which handles one run at a time.
import pg from "pg";
import { WorkflowEngine, workflow } from "pg-workflows";
import { pgSettings } from "../../routing/pg-settings.mjs";
import { nextInput, steps } from "../input.mjs";
import { createEnds, startMany } from "../pacing.mjs";

const workers = 64;
const silent = {
  log() {},
  error: (text, ...more) => process.stderr.write(`pg-workflows: ${text} ${more.join(" ")}\n`),
};

export async function open({ databaseUrl }) {
  process.env.WORKFLOW_RUN_WORKERS = String(workers);
  const pool = new pg.Pool(pgSettings(databaseUrl));
  pool.on("error", () => {});
  const ends = createEnds();
  const late = [];
  const internal = workflow("internal", async ({ input, step }) => {
    const total = await step.run("total", async () => steps.total(input));
    const tax = await step.run("tax", async () => steps.tax(total));
    const result = await step.run("label", async () => steps.label(tax, input));
    // Its last commit follows; waiting for it would need a poll of the database.
    ends.end(input.order);
    return result;
  });
  const oneTask = workflow("tasks-1", async ({ input, step }) => {
    await step.run("one", async () => ({ done: 1 }));
    ends.end(input.order);
  });
  const threeTasks = workflow("tasks-3", async ({ input, step }) => {
    await step.run("one", async () => ({ done: 1 }));
    await step.run("two", async () => ({ done: 2 }));
    await step.run("three", async () => ({ done: 3 }));
    ends.end(input.order);
  });
  const sleeper = workflow("sleeper", async ({ input, step }) => {
    await step.waitUntil("nap", new Date(input.dueMs));
    late.push(Date.now() - input.dueMs);
  });
  const engine = new WorkflowEngine({ pool, workflows: [internal, oneTask, threeTasks, sleeper], logger: silent });
  await engine.start();
  const begin = async (workflowId) => {
    const input = nextInput();
    await engine.startWorkflow({ workflowId, input });
    return { ended: ends.wait(input.order) };
  };
  const name = `${workers} workers`;
  return {
    internal: { name, ahead: 16, begin: () => begin("internal") },
    tasks: {
      1: { name, ahead: 16, begin: () => begin("tasks-1") },
      3: { name, ahead: 16, begin: () => begin("tasks-3") },
    },
    sleepers: {
      name: "step.waitUntil",
      start: ({ count, sleepMs }) =>
        startMany(count, () => engine.startWorkflow({ workflowId: "sleeper", input: { dueMs: Date.now() + sleepMs } })),
      async lateness({ count }) {
        while (late.length < count) await new Promise((resolve) => setTimeout(resolve, 200));
        return late;
      },
    },
    async close() {
      await engine.stop();
      await pool.end();
    },
  };
}

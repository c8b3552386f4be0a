// DBOS, in process: a workflow that is awaited for internal runs, and a queue for workers.
import { DBOS } from "@dbos-inc/dbos-sdk";
import pg from "pg";
import { pgSettings } from "../../routing/pg-settings.mjs";
import { nextInput, steps } from "../input.mjs";
import { createEnds, startMany } from "../pacing.mjs";

const ends = createEnds();
const late = [];
const queueName = "bench";
const silent = { info() {}, debug() {}, warn() {}, error: (text) => process.stderr.write(`DBOS: ${text}\n`) };

const runStep = (name, work) => DBOS.runStep(async () => work(), { name });

async function internalRun(input) {
  const total = await runStep("total", () => steps.total(input));
  const tax = await runStep("tax", () => steps.tax(total));
  return runStep("label", () => steps.label(tax, input));
}

async function taskRun(input, count) {
  for (let i = 0; i < count; i++) await runStep(`step${i}`, () => ({ done: i }));
  // Its last commit follows; waiting for it would need a poll of the database.
  ends.end(input.order);
}

async function sleeperRun(sleepMs, dueMs) {
  await DBOS.sleep(sleepMs);
  late.push(Date.now() - dueMs);
}

export async function open({ databaseUrl }) {
  const internalWorkflow = DBOS.registerWorkflow(internalRun, { name: "internal" });
  const taskWorkflow = DBOS.registerWorkflow(taskRun, { name: "tasks" });
  const sleeper = DBOS.registerWorkflow(sleeperRun, { name: "sleeper" });
  const pool = new pg.Pool(pgSettings(databaseUrl));
  pool.on("error", () => {});
  DBOS.setConfig({ name: "bench", systemDatabaseUrl: databaseUrl, systemDatabasePool: pool, logger: silent });
  await DBOS.launch();
  await DBOS.registerQueue(queueName, { minPollingIntervalMs: 20 });
  const taskLane = (count) => ({
    name: `queue, polled every 20 ms, ${count} steps`,
    ahead: 16,
    async begin() {
      const input = nextInput();
      await DBOS.startWorkflow(taskWorkflow, { queueName })(input, count);
      return { ended: ends.wait(input.order) };
    },
  });
  return {
    internal: {
      name: "startWorkflow, 3 steps",
      ahead: 1,
      async begin() {
        const handle = await DBOS.startWorkflow(internalWorkflow)(nextInput());
        return { ended: handle.getResult() };
      },
    },
    tasks: { 1: taskLane(1), 3: taskLane(3) },
    sleepers: {
      name: "sleep",
      start: ({ count, sleepMs }) => startMany(count, () => DBOS.startWorkflow(sleeper)(sleepMs, Date.now() + sleepMs)),
      async lateness({ count }) {
        while (late.length < count) await new Promise((resolve) => setTimeout(resolve, 200));
        return late;
      },
    },
    async close() {
      await DBOS.shutdown();
      await pool.end();
    },
  };
}

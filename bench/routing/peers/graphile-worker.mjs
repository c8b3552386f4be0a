// graphile-worker, in process: addJob, addJobs, and its worker, plain and with its local queue and batched completion.
import { setImmediate } from "node:timers/promises";
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";
import { nextItem, nextItems } from "../item.mjs";
import { inBatches, lanes } from "../lanes.mjs";
import { pgSettings } from "../pg-settings.mjs";

const task = "lead";
const logger = new Logger(() => () => {});

export async function open({ databaseUrl }) {
  const pool = new pg.Pool(pgSettings(databaseUrl));
  // It requires a handler; errors are reported by the call that failed.
  pool.on("error", () => {}).on("connect", (client) => client.on("error", () => {}));
  const utils = await makeWorkerUtils({ pgPool: pool, logger });
  await utils.migrate();
  const addMany = (count) => utils.addJobs(nextItems(count).map((payload) => ({ identifier: task, payload })));
  const keyed = (spec) => () => {
    const item = nextItem();
    return utils.addJob(task, item, spec(item));
  };
  const single = lanes.single;

  return {
    accepts: [
      { ...single, name: "addJob", add: () => utils.addJob(task, nextItem()) },
      { ...lanes.batch100, name: "addJobs", add: () => addMany(100) },
      { ...lanes.batch1000, name: "addJobs", add: () => addMany(1_000) },
    ],
    drains: lanes.workers.flatMap((workers) => [
      {
        form: lanes.drainForm(workers, "single"),
        name: `concurrency ${workers}`,
        drain: (pace) => drain(pool, { concurrency: workers }, pace),
      },
      {
        form: lanes.drainForm(workers, "batched"),
        name: `concurrency ${workers}, localQueue 500, completeJobBatchDelay 0`,
        drain: (pace) => drain(pool, { concurrency: workers, preset: batched }, pace),
      },
    ]),
    // A second job with the same job key replaces the first; jobs with the same queue name run one at a time.
    admissions: [
      { ...single, constraint: "none", name: "addJob", add: keyed(() => ({})) },
      { ...single, constraint: "singleton", name: "jobKey", add: keyed((item) => ({ jobKey: item.attributes.order })) },
      {
        ...single,
        constraint: "debounce",
        name: "jobKey + runAt",
        add: keyed((item) => ({ jobKey: item.attributes.order, runAt: new Date(Date.now() + 1_000) })),
      },
      { ...single, constraint: "concurrency", name: "queueName", add: keyed((item) => ({ queueName: item.key })) },
    ],
    fill: (count) => inBatches(count, addMany),
    clear: () => pool.query("truncate graphile_worker._private_jobs, graphile_worker._private_job_queues cascade"),
    async waiting() {
      const { rows } = await pool.query("select count(*)::int as count from graphile_worker._private_jobs");
      return rows[0].count;
    },
    async close() {
      await utils.release();
      await pool.end();
    },
  };
}

const batched = { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } };

// A job counts when its task returns. Its completion is written later without anything waiting for it, so the clock
// runs until the worker has stopped and has no running query.
async function drain(pgPool, options, { target, limitMs }) {
  let done = 0;
  let finish;
  const finished = new Promise((resolve) => {
    finish = resolve;
  });
  const timer = setTimeout(finish, limitMs);
  const taskList = {
    [task]: () => {
      if (++done === target) finish();
    },
  };
  const startedAt = performance.now();
  const runner = await run({ pgPool, logger, taskList, noHandleSignals: true, ...options });
  await finished;
  await runner.stop();
  while (pgPool.idleCount < pgPool.totalCount || pgPool.waitingCount > 0) await setImmediate();
  clearTimeout(timer);
  return { done, tookMs: performance.now() - startedAt };
}

// BullMQ, in process: add, addBulk and its worker, on Redis as is common, or on the same PostgreSQL as the others.
import { createPostgresBackend, Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import pg from "pg";
import { nextItem, nextItems } from "../item.mjs";
import { inBatches, lanes } from "../lanes.mjs";
import { pgSettings } from "../pg-settings.mjs";
import { startRedis } from "../redis.mjs";

const name = "lead";

export async function open(settings) {
  const store = settings.store === "redis" ? await onRedis(settings) : await onPostgres(settings);
  const { connection, backend } = store;
  // The others store little or nothing of a completed job.
  const defaultJobOptions = { removeOnComplete: true };
  const queue = new Queue(name, { connection, defaultJobOptions }, backend);
  await queue.waitUntilReady();
  const addMany = (count) => queue.addBulk(nextItems(count).map((data) => ({ name, data })));
  const keyed = (options) => () => {
    const item = nextItem();
    return queue.add(name, item, options(item));
  };
  const single = lanes.single;

  return {
    accepts: [
      { ...single, name: "add", add: () => queue.add(name, nextItem()) },
      { ...lanes.batch100, name: "addBulk", add: () => addMany(100) },
      { ...lanes.batch1000, name: "addBulk", add: () => addMany(1_000) },
    ],
    // Its workers have no batches.
    drains: lanes.workers.map((workers) => ({
      form: lanes.drainForm(workers, "single"),
      name: `concurrency ${workers}`,
      drain: (pace) => drain({ connection, backend, concurrency: workers }, pace),
    })),
    admissions: [
      { ...single, constraint: "none", name: "add", add: keyed(() => ({})) },
      {
        ...single,
        constraint: "singleton",
        name: "deduplication",
        add: keyed((item) => ({ deduplication: { id: item.attributes.order } })),
      },
      {
        ...single,
        constraint: "debounce",
        name: "deduplication, ttl, extend, replace + delay",
        add: keyed((item) => ({
          delay: 1_000,
          deduplication: { id: item.attributes.order, ttl: 1_000, extend: true, replace: true },
        })),
      },
      {
        ...single,
        constraint: "throttle",
        name: "deduplication, ttl",
        add: keyed((item) => ({ deduplication: { id: item.attributes.order, ttl: 1_000 } })),
      },
    ],
    fill: (count) => inBatches(count, addMany),
    clear: store.clear,
    async waiting() {
      const { waiting, active, delayed, prioritized } = await queue.getJobCounts();
      return waiting + active + delayed + prioritized;
    },
    async close() {
      await queue.close();
      await store.close();
    },
  };
}

async function onRedis(settings) {
  const server = await startRedis(settings);
  const client = new Redis({ path: server.socket, maxRetriesPerRequest: null });
  return {
    connection: { path: server.socket, maxRetriesPerRequest: null },
    clear: () => client.flushall(),
    async close() {
      client.disconnect();
      await server.stop();
    },
  };
}

async function onPostgres({ databaseUrl }) {
  const connection = { ...pgSettings(databaseUrl), migrate: true };
  const pool = new pg.Pool(pgSettings(databaseUrl));
  return {
    connection,
    backend: createPostgresBackend,
    clear: () =>
      pool.query(
        "truncate bullmq.job, bullmq.job_dependency, bullmq.job_log, bullmq.event, bullmq.dedup, bullmq.dedup_next",
      ),
    close: () => pool.end(),
  };
}

async function drain({ connection, backend, concurrency }, { target, limitMs }) {
  const worker = new Worker(name, async () => {}, { connection, concurrency, autorun: false }, backend);
  worker.on("error", (error) => process.stderr.write(`BullMQ: ${error.message}\n`));
  await worker.waitUntilReady();
  let done = 0;
  const startedAt = performance.now();
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs);
    worker.on("completed", () => {
      if (++done !== target) return;
      clearTimeout(timer);
      resolve();
    });
    worker.run();
  });
  const tookMs = performance.now() - startedAt;
  await worker.close();
  return { done, tookMs };
}

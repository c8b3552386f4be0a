// pg-boss, in process: send, insert, and fetch + complete.
import { PgBoss } from "pg-boss";
import { nextItem, nextItems } from "../item.mjs";
import { inBatches, lanes } from "../lanes.mjs";
import { drainInLoops } from "../pacing.mjs";
import { pgSettings } from "../pg-settings.mjs";

const queue = "lead";
const singletonQueue = "lead-once";

export async function open({ databaseUrl }) {
  // Its maintenance would run while others are measured.
  const boss = new PgBoss({ ...pgSettings(databaseUrl), supervise: false, schedule: false });
  boss.on("error", (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
  await boss.start();
  await boss.createQueue(queue);
  await boss.createQueue(singletonQueue, { policy: "short" });
  const addMany = (count) =>
    boss.insert(
      queue,
      nextItems(count).map((data) => ({ data })),
    );
  const keyed = (send) => () => send(nextItem());
  const single = lanes.single;

  return {
    accepts: [
      { ...single, name: "send", add: () => boss.send(queue, nextItem()) },
      { ...lanes.batch100, name: "insert", add: () => addMany(100) },
      { ...lanes.batch1000, name: "insert", add: () => addMany(1_000) },
    ],
    drains: lanes.workers.flatMap((workers) => [
      drainLane(boss, workers, "single", 1),
      drainLane(boss, workers, "batched", 100),
      drainLane(boss, workers, "batched", 500),
    ]),
    admissions: [
      { ...single, constraint: "none", name: "send", add: keyed((item) => boss.send(queue, item)) },
      {
        ...single,
        constraint: "singleton",
        name: "policy short + singletonKey",
        add: keyed((item) => boss.send(singletonQueue, item, { singletonKey: item.attributes.order })),
      },
      {
        ...single,
        constraint: "debounce",
        name: "sendDebounced",
        add: keyed((item) => boss.sendDebounced(queue, item, null, 1, item.attributes.order)),
      },
      {
        ...single,
        constraint: "throttle",
        name: "sendThrottled",
        add: keyed((item) => boss.sendThrottled(queue, item, null, 1, item.attributes.order)),
      },
      {
        ...single,
        constraint: "concurrency",
        name: "group",
        add: keyed((item) => boss.send(queue, item, { group: { id: item.key } })),
      },
    ],
    fill: (count) => inBatches(count, addMany),
    clear: () => boss.deleteAllJobs(),
    async waiting() {
      const { rows } = await boss
        .getDb()
        .executeSql("select count(*)::int as count from pgboss.job where name = $1 and state < 'completed'", [queue]);
      return rows[0].count;
    },
    close: () => boss.stop({ graceful: false }),
  };
}

function drainLane(boss, workers, batching, batchSize) {
  const take = async () => {
    const jobs = await boss.fetch(queue, { batchSize });
    if (jobs.length > 0)
      await boss.complete(
        queue,
        jobs.map(({ id }) => id),
      );
    return jobs.length;
  };
  return {
    form: lanes.drainForm(workers, batching),
    name: `fetch ${batchSize} + complete`,
    drain: (pace) => drainInLoops({ take, workers, ...pace }),
  };
}

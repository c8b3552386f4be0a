// Switchyard, over HTTP with a key and the whole chain: this process is the caller and the workers, the service is another
// process.
import postgres from "postgres";
import { socketHost } from "../../../src/platform/db/embedded/socket-host.ts";
import { connection, connections } from "../../routing/http-connection.mjs";
import { authorized, startService } from "../../routing/ours/service.mjs";
import { nextInput } from "../input.mjs";
import { createEnds, pause, startMany } from "../pacing.mjs";
import { completeAndPoll, lastTask, publishDefinitions, readRun, startRun } from "./api.mjs";

const callersMax = 64;
const workers = 4;
const slots = 32;

export async function open(settings) {
  const service = await startService(settings);
  try {
    return await participant(service, settings);
  } catch (error) {
    await service.stop();
    throw error;
  }
}

async function participant(service, { databaseUrl }) {
  const headers = { headers: authorized };
  const callers = connections(callersMax, service.port, headers);
  await publishDefinitions(callers[0]);
  let lastRun;
  return {
    processes: [service.pid],
    internal: {
      name: "REST",
      ahead: 1,
      async begin(caller) {
        lastRun = await startRun(callers[caller], "internal", nextInput(), { isEnded: true });
        return {};
      },
    },
    tasks: { 1: taskLane(service, callers, "tasks-1"), 3: taskLane(service, callers, "tasks-3") },
    sleepers: sleepers(callers, databaseUrl),
    extras: {
      readFinished: {
        name: "REST",
        ahead: 1,
        async begin(caller) {
          await readRun(callers[caller], lastRun);
          return {};
        },
      },
    },
    async close() {
      for (const each of callers) each.close();
      await service.stop();
    },
  };
}

/** Runs whose tasks are executed by workers that complete and poll with one call. */
function taskLane(service, callers, definition) {
  const ends = createEnds();
  let isOpen = false;
  let loops = [];
  async function work(number) {
    const own = connection(service.port, { headers: authorized });
    let tasks = [];
    while (isOpen || tasks.length > 0) {
      const done = tasks;
      tasks = await completeAndPoll(own, `worker-${number}`, slots, done);
      // The run has ended when the completion of its last task has returned.
      for (const { type, run_id } of done) if (type === lastTask[definition]) ends.end(run_id);
    }
    own.close();
  }
  return {
    name: `REST, ${workers} workers with ${slots} slots`,
    ahead: 16,
    open() {
      isOpen = true;
      loops = Array.from({ length: workers }, (_, number) => work(number));
    },
    async begin(caller) {
      const id = await startRun(callers[caller], definition, nextInput());
      return { ended: ends.wait(id) };
    },
    async close() {
      isOpen = false;
      await Promise.all(loops);
    },
  };
}

function sleepers(callers, databaseUrl) {
  const sql = () => postgres(databaseUrl, { host: socketHost(databaseUrl), max: 1, onnotice: () => {} });
  let since;
  return {
    name: "wait_timer",
    async start({ count, sleepMs }) {
      since = new Date();
      await startMany(count, (_, caller) => startRun(callers[caller], "sleeper", { seconds: sleepMs / 1000 }));
    },
    /** The time from the due time of a timer until the end of its run was stored. */
    async lateness({ count, sleepMs }) {
      const reader = sql();
      const ended = async () => {
        const [row] = await reader`select count(*)::int as count from workflow_runs where created_at >= ${since}`;
        return row.count === 0;
      };
      await pause(sleepMs / 1000);
      while (!(await ended())) await pause(0.5);
      const rows = await reader`
        select extract(epoch from ended_at - created_at)::float8 * 1000 as took_ms from workflow_run_archive
        where created_at >= ${since} and status = 'succeeded'`;
      await reader.end();
      if (rows.length !== count) throw new Error(`${rows.length} of ${count} runs succeeded`);
      return rows.map((row) => row.took_ms - sleepMs);
    },
  };
}

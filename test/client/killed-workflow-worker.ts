// A workflow worker in a process of its own, for tests that kill it: node killed-workflow-worker.ts <queue> <milliseconds per task>
// It prints a line for each task that it starts.
import { setTimeout as delay } from "node:timers/promises";
import { createClient, createWorkflowWorker, runWorkers } from "../../clients/typescript/src/node.ts";

const [queue, taskMs] = process.argv.slice(2);
const client = createClient({ baseUrl: process.env.ADDRESS!, apiKey: process.env.KEY! });
const worker = createWorkflowWorker(client, {
  ...{ queue: queue!, concurrency: 4 },
  handlers: {
    async "job.work"({ key }: { key: string }) {
      process.stdout.write(`${key}\n`);
      await delay(Number(taskMs));
      return { done: key };
    },
  },
});
await runWorkers([worker]);

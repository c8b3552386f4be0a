// A worker in a process of its own, for tests that kill it:
// node killed-worker.ts <pool id> <milliseconds per item> <seconds of a lease>
// It prints a line for each item that it starts.
import { setTimeout as delay } from "node:timers/promises";
import { createClient, createQueueWorker, runWorkers } from "../../clients/typescript/src/node.ts";

const [poolId, itemMs, leaseS] = process.argv.slice(2);
const client = createClient({ baseUrl: process.env.ADDRESS!, apiKey: process.env.KEY! });
const worker = createQueueWorker(client, {
  ...{ poolId: poolId!, concurrency: 4, leaseSeconds: Number(leaseS) },
  async handle({ key }) {
    process.stdout.write(`${key}\n`);
    await delay(Number(itemMs));
  },
});
await runWorkers([worker]);

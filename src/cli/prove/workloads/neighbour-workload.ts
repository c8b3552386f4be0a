import { setTimeout as delay } from "node:timers/promises";
import { type Client, isApiError } from "../../../../clients/typescript/src/index.ts";
import type { CreateWorkload, SharedRecord } from "../workload.ts";

const readers: Readonly<Record<SharedRecord["kind"], (client: Client, id: string) => Promise<unknown>>> = {
  pool: (client, pool_id) => client.pools.get({ pool_id }),
  queue: (client, pool_id) => client.queues.getStatus({ pool_id }),
  run: (client, run_id) => client.workflowRuns.get({ run_id }),
};

/** Reads what belongs to the other tenant of the round, with this one's key. */
export const createNeighbourWorkload: CreateWorkload = async (context) => {
  const { tenant, history, random, loading, foreignRecords, call } = context;
  return {
    async load() {
      while (!loading.aborted) {
        await delay(50 + random() * 100);
        const foreign = foreignRecords();
        const record = foreign[Math.floor(random() * foreign.length)];
        if (record === undefined) continue;
        const startMs = history.now();
        const answer = await call((client) => readers[record.kind](client, record.id)).then(
          () => "given",
          (error) => {
            if (isApiError(error, "NOT_FOUND")) return "not found";
            throw error;
          },
        );
        history.record({
          ...{ kind: "observed", name: "foreign read", subject: `${tenant.name} reads ${record.kind} ${record.id}` },
          ...{ startMs, endMs: history.now(), facts: { answer } },
        });
      }
    },
    async settle() {},
  };
};

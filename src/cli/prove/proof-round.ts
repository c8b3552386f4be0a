import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "../../../clients/typescript/src/index.ts";
import { type Fault, injectFaults } from "./fault.ts";
import type { History } from "./history.ts";
import type { Cluster } from "./nodes/cluster.ts";
import type { Receiver } from "./receiver.ts";
import { type CreateWorkload, createWorkloadContext, type ScratchTenant, type SharedRecord } from "./workload.ts";

interface RoundOptions {
  readonly cluster: Cluster;
  readonly adminKey: string;
  readonly number: number;
  readonly workloads: readonly CreateWorkload[];
  readonly faults: readonly Fault[];
  readonly history: History;
  /** For what callers do. */
  readonly random: () => number;
  /** For what breaks. */
  readonly faultRandom: () => number;
  readonly loadMs: number;
  readonly receiver: Receiver;
  /** Ends the load early. */
  readonly stopping: AbortSignal;
  readonly onFault: (name: string) => void;
}

/** The tenants of each round. There are two, so that each has a neighbour. */
const tenantNames = ["alpha", "beta"] as const;

/** Loads new tenants while nodes are broken, mends the nodes, and waits until everything that was started has ended. */
export async function runRound(options: RoundOptions): Promise<void> {
  const { cluster, history, random, number, workloads, receiver, stopping } = options;
  const ended = new AbortController();
  const loading = AbortSignal.any([ended.signal, stopping]);
  const over = new AbortController();
  try {
    await loadAndSettle();
  } finally {
    over.abort();
  }

  async function loadAndSettle(): Promise<void> {
    const tenants = await Promise.all(
      tenantNames.map((name) => createTenant(cluster, options.adminKey, `${name}-${number}`)),
    );
    const shared = tenants.map((): SharedRecord[] => []);
    const running = await Promise.all(
      tenants.flatMap((tenant, at) =>
        workloads.map((create) => {
          const parts = { tenant, history, random, loading, over: over.signal, receiver, records: shared[at]! };
          const foreignRecords = () => shared[1 - at]!;
          return create(createWorkloadContext({ ...parts, foreignRecords }, cluster));
        }),
      ),
    );
    const faults = injectFaults({ ...options, random: options.faultRandom, ending: loading });
    const loads = Promise.all(running.map((workload) => workload.load()));
    // A failure is reported at the end of the round, when everything has stopped.
    const failed = Promise.race([loads.then(() => undefined), faults]).catch(() => ended.abort());
    await Promise.race([delay(options.loadMs, undefined, { signal: loading }).catch(() => {}), failed]);
    ended.abort();
    // A fault is mended also after a failure: what it broke may not be the run's.
    const [mended, loaded] = await Promise.allSettled([faults, loads]);
    for (const part of [mended, loaded]) if (part.status === "rejected") throw part.reason;
    await Promise.all(running.map((workload) => workload.settle()));
  }
}

async function createTenant({ call }: Cluster, adminKey: string, name: string): Promise<ScratchTenant> {
  const create = (client: Client, options: object) =>
    client.tenants.create({ name, slug: name, issue_admin_key: true }, options);
  const { value } = await call(adminKey, create, `tenant ${name}`);
  return { id: value.id, name, apiKey: value.admin_key! };
}

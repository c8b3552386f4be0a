import { createHash } from "node:crypto";
import type { History } from "./history.ts";
import type { Answer, Cluster, Work } from "./nodes/cluster.ts";
import type { Receiver } from "./receiver.ts";

/** A tenant of a round. */
export interface ScratchTenant {
  readonly id: string;
  readonly name: string;
  readonly apiKey: string;
}

/** A record that only its own tenant may read. */
export interface SharedRecord {
  readonly kind: "pool" | "queue" | "run";
  readonly id: string;
}

/** What a workload works with. */
export interface WorkloadContext {
  readonly tenant: ScratchTenant;
  readonly history: History;
  readonly random: () => number;
  /** Aborted when no more work is to be started. */
  readonly loading: AbortSignal;
  /** Aborted when the round is over, also if it failed. */
  readonly over: AbortSignal;
  /** The provider that actions write to. */
  readonly receiver: Receiver;
  /** The records of the tenant that its neighbour tries to read. */
  readonly records: SharedRecord[];
  /** The records of the neighbour. */
  readonly foreignRecords: () => readonly SharedRecord[];
  /** Calls any node. Some calls are made several times with the same idempotency key, and the answers compared. */
  call<T>(work: Work<T>, idempotencyKey?: string | null): Promise<TimedAnswer<T>>;
}

/** An answer with the times of the run. */
export interface TimedAnswer<T> extends Answer<T> {
  readonly startMs: number;
  readonly endMs: number;
}

/** Work of one kind, in one tenant. */
export interface Workload {
  /** Starts work until loading ends, and waits for the answers. */
  load(): Promise<void>;
  /** Waits until what was started has ended, without faults, and records what can be read then. */
  settle(): Promise<void>;
}

/** Creates a workload: its pools, definitions and so on. */
export type CreateWorkload = (context: WorkloadContext) => Promise<Workload>;

/** How many keyed calls are made several times: half of them at the same time, on any nodes, and half after the answer. */
const repeatedShare = 0.04;
const copiesAtOnce = 5;

/** Creates the context of a workload. */
export function createWorkloadContext(
  parts: Omit<WorkloadContext, "call">,
  { call }: Pick<Cluster, "call">,
): WorkloadContext {
  const { tenant, history, random } = parts;
  return {
    ...parts,
    async call<T>(work: Work<T>, key: string | null = null) {
      const draw = key === null ? 1 : random();
      const copies = draw < repeatedShare / 2 ? copiesAtOnce : 1;
      const startMs = history.now();
      const ask = () => call(tenant.apiKey, work, key);
      const [answer, ...repeats] = (await Promise.all(Array.from({ length: copies }, ask))) as [
        Answer<T>,
        ...Answer<T>[],
      ];
      const endMs = history.now();
      if (copies === 1 && draw < repeatedShare) repeats.push(await ask());
      for (const repeat of repeats) {
        const facts = { first: digestOf(answer.value), repeat: digestOf(repeat.value), "first node": answer.node };
        const { node } = repeat;
        history.record({
          ...{ kind: "observed", name: "repeated call", subject: `${tenant.id}/${key}` },
          ...{ startMs, endMs: history.now(), node, facts },
        });
      }
      return { ...answer, startMs, endMs };
    },
  };
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}

import { setTimeout as delay } from "node:timers/promises";
import type { History } from "./history.ts";
import type { Cluster, Member } from "./nodes/cluster.ts";

/** A way to break a part of the service. */
export interface Fault {
  readonly name: string;
  /** How often it is chosen, compared with the others. */
  readonly weight: number;
  /** Breaks a node, its way to the database or what all nodes share, and mends it. */
  inject(member: Member, random: () => number, members: readonly Member[]): Promise<void>;
}

interface Options {
  readonly cluster: Cluster;
  readonly faults: readonly Fault[];
  readonly history: History;
  readonly random: () => number;
  /** Aborted when nothing more is to be broken. */
  readonly ending: AbortSignal;
  readonly onFault: (name: string) => void;
}

/** The wait between two faults. They may overlap, as long as one node is sound. */
const pauseMs = [400, 1500] as const;

/** Breaks one node after another until the end or until one cannot be mended, and waits until all others are mended. */
export async function injectFaults({ cluster, faults, history, random, ending, onFault }: Options): Promise<void> {
  const broken = new Map<Member, Promise<void>>();
  const between = ([from, to]: readonly [number, number]) => from + random() * (to - from);
  const failed = new AbortController();
  const over = AbortSignal.any([ending, failed.signal]);
  while (!over.aborted) {
    await delay(between(pauseMs), undefined, { signal: over }).catch(() => {});
    const sound = cluster.members.filter((member) => !broken.has(member) && member.node.state === "serving");
    if (over.aborted || sound.length < 2) continue;
    const member = sound[Math.floor(random() * sound.length)]!;
    const fault = chooseFault(faults, random);
    const startMs = history.now();
    onFault(fault.name);
    const mended = fault.inject(member, random, cluster.members).finally(() => {
      broken.delete(member);
      const facts = { node: member.node.number };
      history.record({
        ...{ kind: "fault", name: fault.name, subject: `node ${member.node.number}` },
        ...{ startMs, endMs: history.now(), facts },
      });
    });
    mended.catch((error) => failed.abort(error));
    broken.set(member, mended);
  }
  await Promise.allSettled(broken.values());
  failed.signal.throwIfAborted();
}

function chooseFault(faults: readonly Fault[], random: () => number): Fault {
  const chances = faults.flatMap((fault) => Array<Fault>(fault.weight).fill(fault));
  return chances[Math.floor(random() * chances.length)]!;
}

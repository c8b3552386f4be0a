import assert from "node:assert/strict";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type NodeProcess, startNodeProcess } from "./node-process.ts";

/** How late the event loop of a node was, and how much memory it held. */
export interface LoopLateness {
  /**
   * The time that a timer or a call waited for the node's own work, at the percentile 99.9 of all moments. Time in which the
   * machine ran other processes is left out, so the figure does not depend on the machine's load.
   */
  readonly p999Ms: number;
  /** The longest such time. */
  readonly maxMs: number;
  /** The longest time by the clock, other processes included. */
  readonly wallMaxMs: number;
  readonly rssMaxBytes: number;
}

/** A node in its own process that measures its event loop, so that the caller's work does not count. */
export interface WatchedNode extends NodeProcess {
  /**
   * Checks that other callers hardly notice an attack: they wait at most 100 ms, and the node holds at most 500 MiB. An attack
   * that delays them is repeated twice, because a busy machine slows down one run, and a stall all of them.
   */
  assertServesDuring(attack: () => Promise<unknown>, log: (measured: string) => void): Promise<void>;
}

const lateMsMax = 100;
const rssBytesMax = 500 * 2 ** 20;
const attempts = 3;

const probe = fileURLToPath(new URL("loop-probe.ts", import.meta.url));

/** Starts a node whose event loop is watched. */
export async function startWatchedNode(settings: Readonly<Record<string, string>>): Promise<WatchedNode> {
  const node = await startNodeProcess(settings, { preload: probe });
  const report = async (): Promise<LoopLateness> => {
    const reported = once(node.process, "message");
    node.process.send("report");
    const [lateness] = await Promise.race([reported, node.exited.then((end) => Promise.reject(ended(node, end)))]);
    return lateness;
  };
  return {
    ...node,
    async assertServesDuring(attack, log) {
      const measured: string[] = [];
      for (let nth = 0; nth < attempts; nth++) {
        await report();
        await attack();
        const lateness = await report();
        measured.push(describeLateness(lateness));
        log(measured.at(-1)!);
        if (lateness.p999Ms <= lateMsMax && lateness.rssMaxBytes <= rssBytesMax) return;
      }
      assert.fail(measured.join("; "));
    },
  };
}

function ended(node: NodeProcess, end: number | NodeJS.Signals): Error {
  return new Error(`The node ended with ${end}:\n${node.output()}`);
}

/** The figures as one line. */
function describeLateness({ p999Ms, maxMs, wallMaxMs, rssMaxBytes }: LoopLateness): string {
  const [p999, max, wall] = [p999Ms, maxMs, wallMaxMs].map((ms) => ms.toFixed(0));
  return `late by ${p999} ms (p99.9), ${max} ms at most (${wall} ms by the clock), ${(rssMaxBytes / 2 ** 20).toFixed(0)} MiB`;
}

import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { type Json, type PickNode, request } from "./crash-cluster.ts";

/** Workers of one queue, and what the service accepted from them. */
export interface CrashWorkers {
  /** The tokens of accepted completions, by `run:step`. */
  readonly accepted: ReadonlyMap<string, ReadonlySet<string>>;
  /** The inputs of all leased tasks, by `run:step`. */
  readonly leased: ReadonlyMap<string, Json>;
  /** The number of tasks that were leased and never reported. */
  readonly vanished: () => number;
  /** Rejects when a worker got a response that it must not get. */
  readonly working: Promise<unknown>;
  stop(): Promise<void>;
}

interface Options {
  readonly queue: string;
  readonly types: readonly string[];
  readonly count: number;
  readonly chance: () => number;
  /** The share of tasks that a worker leases and forgets. */
  readonly vanishing?: number;
  /** The share of tasks that fail and are retried. */
  readonly failing?: number;
}

/** Errors of the service itself: what became of the report is unknown. */
const retryable = new Set(["UNAVAILABLE", "TIMEOUT", "CONFLICT"]);

/** Starts workers that poll and report on any node. A worker repeats a report whose response it did not get. */
export function startWorkers(pick: PickNode, options: Options): CrashWorkers {
  const { queue, types, count, chance, vanishing = 0, failing = 0 } = options;
  const accepted = new Map<string, Set<string>>();
  const leased = new Map<string, Json>();
  let vanished = 0;
  let isOver = false;

  /** Reports tasks, again while it is unknown what became of a report. */
  async function report(verb: "complete" | "fail", tasks: readonly Json[], body: object): Promise<void> {
    for (let tries = 0; tries < 5; tries++) {
      const received = await request(await pick(), "POST", `/api/workflow-tasks:${verb}`, body).catch(() => undefined);
      const results: Json[] = received?.status === 200 ? received.body.data.results : [];
      for (const [at, { status, error_code }] of results.entries()) {
        assert.ok(
          ["completed", "failed", "stale"].includes(status) || retryable.has(error_code),
          `${status} ${error_code}`,
        );
        if (status !== "completed") continue;
        const { run_id, step, token } = tasks[at];
        const name = `${run_id}:${step}`;
        accepted.set(name, (accepted.get(name) ?? new Set()).add(token));
      }
      if (results.length > 0 && results.every(({ error_code }) => error_code === "")) return;
      await delay(20);
    }
  }

  async function finish(tasks: readonly Json[]): Promise<void> {
    const done: Json[] = [];
    const failed: Json[] = [];
    for (const task of tasks) {
      leased.set(`${task.run_id}:${task.step}`, task.input);
      const draw = chance();
      if (draw < vanishing) vanished++;
      else if (draw < vanishing + failing) failed.push(task);
      else done.push(task);
    }
    if (failed.length > 0) {
      const failures = failed.map(({ task_id, token }) => ({ task_id, token, code: "task_failed", message: "again" }));
      await report("fail", failed, { failures });
    }
    if (done.length === 0) return;
    const completions = done.map(({ task_id, token, input }) => ({ task_id, token, output: { token, input } }));
    await report("complete", done, { completions });
  }

  async function work(n: number): Promise<void> {
    const poll = {
      ...{ queue, worker_id: `w${n}`, build_id: "b1", slots: 5, wait_s: 1 },
      capabilities: types.map((type) => ({ type, versions: ["1.0.0"] })),
    };
    while (!isOver) {
      const received = await request(await pick(), "POST", "/api/workflow-tasks:poll", poll).catch(() => undefined);
      // While nodes or the database are down a worker retries.
      if (received?.status !== 200) await delay(20);
      else if (received.body.data.tasks.length > 0) await finish(received.body.data.tasks);
    }
  }

  const working = Promise.all(Array.from({ length: count }, (_, n) => work(n))).finally(() => {
    isOver = true;
  });
  return {
    working,
    accepted,
    leased,
    vanished: () => vanished,
    async stop() {
      isOver = true;
      await working;
    },
  };
}

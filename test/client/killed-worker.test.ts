import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Client, createClient, defineWorkflow } from "../../clients/typescript/src/node.ts";
import { afterFile } from "../harness/after-file.ts";
import { avoidMidnight } from "../harness/midnight.ts";
import { findPython, whyNoPython } from "../harness/python.ts";
import { sized } from "../harness/run-size.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

/** How the workers of a client are started. */
interface WorkerPrograms {
  readonly language: string;
  /** Why the machine cannot run them. */
  readonly skip?: string;
  readonly path: string;
  readonly env: NodeJS.ProcessEnv;
  readonly queueWorker: string;
  readonly workflowWorker: string;
}

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const python = await findPython();
const programs: readonly WorkerPrograms[] = [
  {
    language: "TypeScript",
    path: process.execPath,
    env: process.env,
    queueWorker: pathOf("./killed-worker.ts"),
    workflowWorker: pathOf("./killed-workflow-worker.ts"),
  },
  {
    language: "Python",
    ...(python === undefined && { skip: whyNoPython() }),
    path: python?.path ?? "",
    env: { ...python?.env, PYTHONPATH: pathOf("../../clients/python"), PYTHONDONTWRITEBYTECODE: "1" },
    queueWorker: pathOf("./killed_worker.py"),
    workflowWorker: pathOf("./killed_workflow_worker.py"),
  },
];

for (const { language, skip = false, path, env: base, queueWorker, workflowWorker } of programs) {
  describe(`a worker process of the ${language} client`, { skip }, () => {
    let service: TestService;
    let client: Client;

    before(async () => {
      service = await startService();
      client = createClient({ baseUrl: service.baseUrl, apiKey: service.adminKey });
    });

    async function newPool(name: string): Promise<string> {
      const retry = { initial_ms: 1, max_ms: 1, max_attempts: 100 };
      const config = { retry, item_events: true };
      return (await client.pools.create({ name, strategy: "first_accept", config })).id;
    }

    async function route(poolId: string, keys: readonly string[]): Promise<void> {
      await client.routing.routeBatch({ items: keys.map((key) => ({ pool_id: poolId, type: "job", key })) });
    }

    /** Starts a worker of a pool or a queue of tasks, and resolves when it has started this many items. */
    async function startWorker(source: string, itemMs: number, startedCount: number, script = queueWorker, leaseS = 1) {
      const env = { ...base, ADDRESS: service.baseUrl, KEY: service.adminKey };
      const child = spawn(path, [script, source, String(itemMs), String(leaseS)], {
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      afterFile(() => child.kill("SIGKILL"));
      const started: string[] = [];
      const reached = new Promise<void>((resolve) => {
        createInterface({ input: child.stdout! }).on("line", (key) => {
          if (started.push(key) === startedCount) resolve();
        });
      });
      await Promise.race([reached, once(child, "exit")]);
      return { child, started };
    }

    async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
      const exited = once(child, "exit");
      child.kill(signal);
      const [code] = await exited;
      return code;
    }

    const items = async (poolId: string) => client.queues.listItems({ pool_id: poolId }).take(10_000);

    test("killed in the middle of items, again and again: nothing is lost, nothing is completed twice", async () => {
      const rounds = sized(3, 50);
      const poolId = await newPool("killed");
      const keys: string[] = [];
      for (let round = 0; round < rounds; round++) {
        const added = Array.from({ length: 8 }, (_, number) => `${round}.${number}`);
        keys.push(...added);
        await route(poolId, added);
        // Killed at another place each time: in the first items, and between reports of finished ones.
        const { child, started } = await startWorker(poolId, 15, 1 + ((round * 3) % 8));
        assert.notEqual(started.length, 0, "the worker is killed while it works");
        await end(child, "SIGKILL");
      }
      const { child } = await startWorker(poolId, 1, 1);
      await until(async () => (await items(poolId)).every(({ state }) => state === "completed"));
      assert.equal(await end(child, "SIGTERM"), 0);
      const completions = await client.events.list({ types: ["queue.item.completed"], limit: 1000 }).take(10_000);
      const completed = completions.map(({ subject }) => subject).sort();
      assert.equal(completed.length, keys.length);
      assert.deepEqual(completed, (await items(poolId)).map(({ id }) => id).sort());
      // Some may have been completed yesterday.
      await avoidMidnight();
      const { throughput_today } = await client.queues.getStatus({ pool_id: poolId });
      const today = new Date().toISOString().slice(0, 10);
      assert.equal(throughput_today, completions.filter(({ time }) => time?.startsWith(today)).length);
    });

    test("killed in the middle of workflow tasks: every run succeeds, and no task is completed twice", async () => {
      const rounds = sized(2, 50);
      const flow = defineWorkflow<{ key: string }>({ key: "killed", timeout: "1d" }, (steps, { input }) => {
        const work = { queue: "killed", type: "job.work", with: { key: input.key } };
        const policy = {
          timeout: { attempt: "1m", heartbeat: "1s" },
          retry: { max_attempts: 100, initial: "1ms" },
        } as const;
        steps.task<{ done: string }>("first", work, policy);
        return { done: steps.task<{ done: string }>("second", work, policy).done };
      });
      const { id } = await client.workflowDefinitions.create({ document: flow.document });
      await client.workflowDefinitions.publish({ id });
      const runs = new Map<string, string>();
      for (let round = 0; round < rounds; round++) {
        for (let number = 0; number < 6; number++) {
          const key = `${round}.${number}`;
          runs.set((await client.workflowRuns.start(flow.run({ key }))).run!.id, key);
        }
        // Killed at another place each time: in first tasks, in second tasks, and between reports of finished ones.
        const { child, started } = await startWorker("killed", 15, 1 + ((round * 5) % 12), workflowWorker);
        assert.notEqual(started.length, 0, "the worker is killed while it works");
        await end(child, "SIGKILL");
      }
      const { child } = await startWorker("killed", 1, 1, workflowWorker);
      for (const [run_id, key] of runs) {
        const run = await client.workflowRuns.get({ run_id, wait_s: 20 });
        assert.deepEqual([run.status, run.output], ["succeeded", { done: key }]);
        const advances = await client.workflowRuns.getHistory({ run_id, limit: 1000 }).take(1000);
        const completed = advances.flatMap(({ entries }) => entries).filter(({ kind }) => kind === "step_completed");
        assert.deepEqual(completed.map(({ step }) => step).sort(), ["first", "second"]);
      }
      assert.equal(await end(child, "SIGTERM"), 0);
    });

    test("SIGTERM completes what runs, starts nothing else and ends the process", async () => {
      const poolId = await newPool("drained");
      await route(poolId, ["a", "b", "c", "d", "e", "f"]);
      // Longer than the lease, and than the time that an aborted handler has. The lease is long enough for a late heartbeat.
      const { child, started } = await startWorker(poolId, 4_500, 4, queueWorker, 4);
      assert.equal(await end(child, "SIGTERM"), 0);
      const byState = Object.groupBy(await items(poolId), ({ state }) => state);
      assert.deepEqual(byState.completed?.map(({ key }) => key).sort(), started.sort());
      assert.equal(started.length, 4);
      assert.equal(byState.leased, undefined);
      assert.ok((byState.completed ?? []).every(({ attempt, failures }) => attempt === 1 && failures.length === 0));
    });
  });
}

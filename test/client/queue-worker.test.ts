import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import {
  type Client,
  createClient,
  createQueueWorker,
  LeaseLostError,
  type QueueWorkerOptions,
  runWorkers,
  WorkFailure,
} from "../../clients/typescript/src/node.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

describe("the queue worker of the client", () => {
  let service: TestService;
  let client: Client;

  before(async () => {
    service = await startService();
    client = createClient({ baseUrl: service.baseUrl, apiKey: service.adminKey });
  });

  async function newPool(name: string, count: number, max_attempts = 3): Promise<string> {
    const retry = { initial_ms: 1, max_ms: 1, max_attempts };
    const { id } = await client.pools.create({ name, strategy: "first_accept", config: { retry } });
    const items = Array.from({ length: count }, (_, number) => ({
      type: "job",
      key: String(number),
      payload: { number },
    }));
    if (count > 0) await client.routing.routeBatch({ items: items.map((item) => ({ pool_id: id, ...item })) });
    return id;
  }

  /** Runs a worker until a condition holds. */
  async function work(options: QueueWorkerOptions, condition: () => Promise<boolean> | boolean, over = client) {
    const stop = new AbortController();
    const running = createQueueWorker(over, options).run({ signal: stop.signal, drainMs: 5_000 });
    await Promise.race([until(condition), running]);
    stop.abort();
    await running;
  }

  const states = async (poolId: string) =>
    Object.groupBy(await client.queues.listItems({ pool_id: poolId }).take(1000), ({ state }) => state);
  const count = async (poolId: string, state: string) => (await states(poolId))[state]?.length ?? 0;

  test("items are processed up to the concurrency, and their results travel with the next lease", async () => {
    const calls: { completed: number; leases: boolean }[] = [];
    const counting = createClient({
      ...{ baseUrl: service.baseUrl, apiKey: service.adminKey },
      fetch: (url, init) => {
        const { completed = [], report_only } = JSON.parse(String(init?.body ?? "{}"));
        calls.push({ completed: completed.length, leases: report_only !== true });
        return fetch(url, init);
      },
    });
    const poolId = await newPool("batches", 60);
    const seen: number[] = [];
    const full = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const handle: QueueWorkerOptions["handle"] = async ({ payload }, { rate }) => {
      most = Math.max(most, ++running);
      // The first items wait until as many run as may, however many calls it takes to lease them.
      if (running === 20) full.resolve();
      await full.promise;
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(Number(payload!.number));
      running--;
      rate({ cost: 0.5 });
    };
    await work({ poolId, concurrency: 20, handle }, () => seen.length === 60, counting);
    assert.equal(await count(poolId, "completed"), 60);
    assert.equal(new Set(seen).size, 60);
    assert.equal(most, 20);
    assert.ok(
      calls.some(({ completed, leases }) => completed > 1 && leases),
      "one call reports several items and leases more",
    );
    assert.ok(calls.length < 60, "reports are batched");
  });

  test("what a handler returns is the result of its item, and its progress can be read while it runs", async () => {
    const poolId = await newPool("results", 0);
    const route = (key: string) => client.routing.route({ pool_id: poolId, type: "job", key });
    const { queue_item_id } = await route("good");
    const { queue_item_id: broken } = await route("broken");
    const read = (id: string, wait_s = 0) => client.queues.getItem({ pool_id: poolId, queue_item_id: id, wait_s });
    let during: Awaited<ReturnType<typeof read>> | undefined;
    await work(
      {
        poolId,
        async handle({ key }, { progress }) {
          if (key === "broken") return { size: 1n };
          await progress(40, "half way");
          during = await read(queue_item_id);
          return { pages: [1, 2] };
        },
      },
      async () => (await read(queue_item_id, 20)).state === "completed" && (await count(poolId, "dead_lettered")) === 1,
    );
    assert.deepEqual([during!.progress!.percent, during!.progress!.note, during!.state], [40, "half way", "leased"]);
    assert.deepEqual((await read(queue_item_id)).result, { pages: [1, 2] });
    assert.match((await read(broken)).failures.at(-1)!.reason, /BigInt/);
  });

  test("an item that fails is retried, unless the handler says that it is useless", async () => {
    const poolId = await newPool("failures", 2);
    const attempts: string[] = [];
    await work(
      {
        poolId,
        async handle({ key, attempt }) {
          attempts.push(`${key}:${attempt}`);
          if (key === "0" && attempt === 1) throw new Error("the printer is busy");
          if (key === "1") throw new WorkFailure("there is no such printer", { code: "no_printer", retryable: false });
        },
      },
      async () => (await count(poolId, "completed")) === 1 && (await count(poolId, "dead_lettered")) === 1,
    );
    assert.deepEqual(attempts.sort(), ["0:1", "0:2", "1:1"]);
    const { completed, dead_lettered: dead } = await states(poolId);
    assert.equal(completed![0]!.failures[0]!.reason, "the printer is busy");
    assert.equal(dead![0]!.failures[0]!.reason_code, "no_printer");
  });

  test("heartbeats keep an item beyond its lease, and a cancelled item aborts its handler", async () => {
    const poolId = await newPool("long", 2);
    const reasons: unknown[] = [];
    await work(
      {
        ...{ poolId, leaseSeconds: 5 },
        async handle({ key, queue_item_id, attempt, lease_expires_at }, { signal }) {
          assert.equal(attempt, 1);
          if (key === "0") {
            await until(() => Date.now() > Date.parse(lease_expires_at!) + 500);
          } else {
            await client.queues.cancelItem({ pool_id: poolId, queue_item_id });
            await until(() => signal.aborted);
            reasons.push(signal.reason);
          }
        },
      },
      async () => reasons.length === 1 && (await count(poolId, "completed")) === 1,
    );
    assert.ok(reasons[0] instanceof LeaseLostError);
    assert.equal(await count(poolId, "cancelled"), 1);
  });

  test("a worker survives lost responses: every item is leased and completed once", async () => {
    const poolId = await newPool("lossy", 30);
    let calls = 0;
    const lossy = createClient({
      ...{ baseUrl: service.baseUrl, apiKey: service.adminKey, backoff: { initialMs: 1, maxMs: 5 } },
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (++calls % 3 === 0) throw new TypeError("the connection was reset");
        return response;
      },
    });
    const seen: string[] = [];
    await work(
      {
        ...{ poolId, concurrency: 3 },
        handle: async ({ key }) => {
          seen.push(key);
        },
      },
      () => seen.length >= 30,
      lossy,
    );
    assert.equal(await count(poolId, "completed"), 30);
    assert.equal(seen.length, 30, "a repeated call gets the same items, so none waits for its lease to expire");
  });

  test("a stopped worker finishes what runs, and gives back what needs too long, without a failed attempt", async () => {
    const poolId = await newPool("stopped", 3, 1);
    const stop = new AbortController();
    const started: string[] = [];
    const worker = createQueueWorker(client, {
      ...{ poolId, concurrency: 2 },
      async handle({ key }, { signal }) {
        started.push(key);
        if (started.length === 2) stop.abort();
        if (key === "0") return;
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    });
    await runWorkers([worker], { signal: stop.signal, drainMs: 50 });
    assert.deepEqual(started, ["0", "1"]);
    const { completed, leased } = await states(poolId);
    assert.deepEqual([completed?.length, leased], [1, undefined]);
    const waiting = (await client.queues.listItems({ pool_id: poolId }).take(10)).find(({ key }) => key === "1");
    assert.deepEqual([waiting!.state, waiting!.attempt, waiting!.failures], ["ready", 0, []]);
  });

  test("items that a worker leases while it is stopped are given back, and never started", async () => {
    const poolId = await newPool("late", 2, 1);
    const stop = new AbortController();
    const stopping = createClient({
      ...{ baseUrl: service.baseUrl, apiKey: service.adminKey },
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        stop.abort();
        return response;
      },
    });
    const started: string[] = [];
    const handle = async ({ key }: { key: string }) => void started.push(key);
    await createQueueWorker(stopping, { poolId, handle }).run({ signal: stop.signal });
    assert.deepEqual(started, []);
    const items = await client.queues.listItems({ pool_id: poolId }).take(10);
    assert.deepEqual(
      items.map(({ state, attempt }) => [state, attempt]),
      [
        ["ready", 0],
        ["ready", 0],
      ],
    );
  });

  test("a worker that the service refuses for good ends with the error", async () => {
    const worker = createQueueWorker(client, { poolId: "01JZZZZZZZZZZZZZZZZZZZZZZZ", handle: async () => {} });
    await assert.rejects(worker.run({ signal: new AbortController().signal }), { code: "NOT_FOUND" });
  });
});

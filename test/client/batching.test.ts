import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { createBatcher } from "../../clients/typescript/src/batching/batcher.ts";
import {
  ApiError,
  BacklogError,
  type Client,
  type ClientOptions,
  createClient,
  DeadlineError,
  defineWorkflow,
  isApiError,
} from "../../clients/typescript/src/index.ts";
import { supervise } from "../chaos/supervised-node.ts";
import { afterFile } from "../harness/after-file.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { sized } from "../harness/run-size.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

/** A request that a client has sent. */
interface Sent {
  readonly path: string;
  readonly key: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests read requests of every shape.
  readonly body: any;
}

describe("a client that batches", () => {
  let service: TestService;
  let plain: Client;

  before(async () => {
    service = await startService();
    plain = createClient({ baseUrl: service.baseUrl, apiKey: service.adminKey });
  });

  /** A client that batches, and the requests that it has sent. They pass a function that can lose them. */
  function batching(
    options: ClientOptions = {},
    intercept: (send: () => Promise<Response>, request: Sent) => Promise<Response> = (send) => send(),
  ) {
    const sent: Sent[] = [];
    const client = createClient({
      ...{ baseUrl: service.baseUrl, apiKey: service.adminKey, batching: true },
      backoff: { initialMs: 1, maxMs: 5 },
      fetch: (url, init) => {
        const key = new Headers(init?.headers).get("idempotency-key");
        const request = { path: new URL(String(url)).pathname, key, body: JSON.parse(String(init?.body)) };
        sent.push(request);
        return intercept(() => fetch(url, init), request);
      },
      ...options,
    });
    return { client, sent };
  }

  /** A function that holds requests back until it is opened. */
  function gate() {
    const { promise, resolve: open } = Promise.withResolvers<void>();
    const pass = async (send: () => Promise<Response>) => {
      await promise;
      return send();
    };
    return { pass, open };
  }

  const newPool = async (config = {}) => (await plain.pools.create({ name: `p${crypto.randomUUID()}`, config })).id;
  const keysOf = async (pool_id: string) =>
    (await plain.queues.listItems({ pool_id }).take(5_000)).map(({ key }) => key).sort();
  const thrownBy = (call: Promise<unknown>) =>
    call.then(
      () => assert.fail("the call succeeded"),
      (error) => error,
    );
  const numbered = (count: number) => Array.from({ length: count }, (_, number) => String(number));

  test("1,000 concurrent routes are a few requests, and each call gets the decision of its own item", async () => {
    const { client, sent } = batching();
    const pool_id = await newPool();
    const keys = numbered(1_000);
    const decisions = await Promise.all(keys.map((key) => client.routing.route({ pool_id, type: "job", key })));
    assert.deepEqual(
      decisions.map(({ key }) => key),
      keys,
    );
    assert.ok(sent.length <= 3, `${sent.length} requests`);
    assert.deepEqual(await keysOf(pool_id), keys.toSorted());
  });

  test("a call without company is the plain call, and calls made while it is in flight are the next batch", async () => {
    const { pass, open } = gate();
    const { client, sent } = batching({}, pass);
    const pool_id = await newPool();
    const route = (key: string) => client.routing.route({ pool_id, type: "job", key });
    const first = route("a");
    await until(() => sent.length === 1);
    const others = [route("b"), route("c"), route("d")];
    open();
    await Promise.all([first, ...others]);
    assert.deepEqual(
      sent.map(({ path }) => path),
      ["/api/route", "/api/route:batch"],
    );
    assert.deepEqual(
      sent[1]!.body.items.map((item: { key: string }) => item.key),
      ["b", "c", "d"],
    );
  });

  test("calls that answered callers make at once join the next batch", async () => {
    const { client, sent } = batching();
    const pool_id = await newPool();
    const caller = async (_: unknown, number: number) => {
      for (const turn of ["a", "b", "c"]) await client.routing.route({ pool_id, type: "job", key: `${number}${turn}` });
    };
    await Promise.all(Array.from({ length: 20 }, caller));
    assert.deepEqual(
      sent.map(({ body }) => body.items.length),
      [20, 20, 20],
    );
  });

  test("an invalid item among 100 fails alone, with the error that a single call gets", async () => {
    const { client, sent } = batching();
    const pool_id = await newPool();
    const invalid = { pool_id, type: "job", priority: 5_000 };
    const calls = numbered(100).map((key) =>
      client.routing.route(key === "42" ? { ...invalid, key } : { pool_id, type: "job", key }),
    );
    const settled = await Promise.allSettled(calls);
    const { reason } = settled[42] as PromiseRejectedResult;
    const single = await thrownBy(plain.routing.route(invalid));
    assert.ok(reason instanceof ApiError && single instanceof ApiError);
    const visible = ({ name, message, code, status, retryable, violations, retryAfterMs, problem }: ApiError) => {
      const { type: _, request_id, ...members } = problem;
      return { name, message, code, status, retryable, violations, retryAfterMs, members, has: typeof request_id };
    };
    assert.deepEqual(visible(reason), visible(single));
    assert.notEqual(reason.requestId, "");
    assert.equal(settled.filter(({ status }) => status === "rejected").length, 1);
    assert.equal(sent.length, 1);
    assert.equal((await keysOf(pool_id)).length, 99);
  });

  test("an item that makes its whole batch unreadable fails alone, after a few requests", async () => {
    const { client, sent } = batching();
    const pool_id = await newPool();
    const calls = numbered(100).map((key) =>
      client.routing.route({ pool_id, type: "job", key, ...(key === "42" && { priority: "high" as never }) }),
    );
    const settled = await Promise.allSettled(calls);
    assert.ok(isApiError((settled[42] as PromiseRejectedResult).reason, "INVALID_ARGUMENT"));
    assert.equal(settled.filter(({ status }) => status === "rejected").length, 1);
    assert.ok(sent.length <= 15, `${sent.length} requests`);
    assert.equal((await keysOf(pool_id)).length, 99);
  });

  test("a batch that is too large for a proxy is divided", async () => {
    const { client, sent } = batching({}, async (send, { body }) =>
      (body.items?.length ?? 1) > 4 ? new Response("<h1>Request Entity Too Large</h1>", { status: 413 }) : send(),
    );
    const pool_id = await newPool();
    const keys = numbered(16);
    await Promise.all(keys.map((key) => client.routing.route({ pool_id, type: "job", key })));
    assert.deepEqual(
      sent.map(({ body }) => body.items.length),
      [16, 8, 4, 4, 8, 4, 4],
    );
    assert.deepEqual(await keysOf(pool_id), keys.toSorted());
  });

  test("a batch whose response is lost is sent again under its key, and no item is routed twice", async () => {
    let losses = 0;
    const { client, sent } = batching({}, async (send) => {
      const response = await send();
      if (losses++ < 2) throw new TypeError("the connection was lost");
      return response;
    });
    const pool_id = await newPool();
    const keys = numbered(50);
    const decisions = await Promise.all(keys.map((key) => client.routing.route({ pool_id, type: "job", key })));
    assert.deepEqual(
      sent.map(({ key, body }) => [key, body.items.length]),
      Array(3).fill([sent[0]!.key, 50]),
    );
    const stored = await plain.queues.listItems({ pool_id }).take(1_000);
    assert.deepEqual(stored.map(({ id }) => id).sort(), decisions.map(({ queue_item_id }) => queue_item_id).sort());
  });

  test("a batch that fails as a whole for good fails each of its calls", async () => {
    const { client, sent } = batching({ maxRetries: 1 }, async () => {
      throw new TypeError("the connection was lost");
    });
    const calls = numbered(3).map((key) => client.routing.route({ type: "job", key }));
    const settled = await Promise.allSettled(calls);
    assert.deepEqual(
      settled.map((each) => (each as PromiseRejectedResult).reason.name),
      Array(3).fill("ConnectionError"),
    );
    assert.equal(sent.length, 2);
  });

  test("a call with its own idempotency key is sent alone, and keeps its guarantee across clients", async () => {
    const pool_id = await newPool();
    const request = { pool_id, type: "job", key: "once" };
    const own = { idempotencyKey: `own-${pool_id}` };
    const ids: string[] = [];
    for (const { client, sent } of [batching(), batching()]) {
      const calls = [
        client.routing.route(request, own),
        client.routing.route({ ...request, key: "more" }),
        client.routing.route({ ...request, key: "more" }),
      ];
      ids.push((await Promise.all(calls))[0]!.queue_item_id);
      assert.deepEqual(
        sent.filter(({ key }) => key === own.idempotencyKey).map(({ path, body }) => [path, body.key]),
        [["/api/route", "once"]],
      );
      assert.equal(sent.length, 2);
    }
    assert.equal(ids[0], ids[1]);
    assert.deepEqual(await keysOf(pool_id), ["more", "more", "more", "more", "once"]);
  });

  test("an aborted call leaves its batch alone: one that waits is not sent, one in flight ends at once", async () => {
    const { pass, open } = gate();
    const { client, sent } = batching({}, pass);
    const pool_id = await newPool();
    const stop = new AbortController();
    const route = (key: string, signal?: AbortSignal) =>
      client.routing.route({ pool_id, type: "job", key }, { signal });
    const inFlight = [route("a"), route("b", stop.signal)];
    await until(() => sent.length === 1);
    const waiting = [route("c"), route("d", stop.signal), route("e")];
    stop.abort(new Error("not needed"));
    for (const call of [inFlight[1]!, waiting[1]!]) await assert.rejects(call, /not needed/);
    await assert.rejects(route("f", stop.signal), /not needed/);
    open();
    await Promise.all([inFlight[0], waiting[0], waiting[2]]);
    assert.deepEqual(await keysOf(pool_id), ["a", "b", "c", "e"]);
  });

  test("a request that nobody waits for any more is ended", async () => {
    const { promise: ended, resolve } = Promise.withResolvers<unknown>();
    const { client } = batching({
      fetch: (_, init) =>
        new Promise((_, reject) => {
          const { signal } = init!;
          signal!.addEventListener("abort", () => {
            reject(signal!.reason);
            resolve(signal!.reason);
          });
        }),
    });
    const stop = new AbortController();
    const calls = numbered(3).map((key) => client.routing.route({ type: "job", key }, { signal: stop.signal }));
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort(new Error("not needed"));
    for (const call of calls) await assert.rejects(call, /not needed/);
    await ended;
  });

  test("the deadline of a call includes its wait for a batch, and a call that it ends there is not sent", async () => {
    const { pass, open } = gate();
    const { client, sent } = batching({ timeoutMs: 60 }, pass);
    const pool_id = await newPool();
    const route = (key: string) => client.routing.route({ pool_id, type: "job", key });
    const inFlight = thrownBy(route("a"));
    await until(() => sent.length === 1);
    const waiting = thrownBy(route("b"));
    for (const call of [inFlight, waiting]) {
      const error = await call;
      assert.ok(error instanceof DeadlineError);
      assert.equal(error.message, "no response within 60 ms");
    }
    const last = route("c");
    open();
    await Promise.allSettled([last]);
    assert.ok(!JSON.stringify(sent).includes('"key":"b"'));
  });

  test("a request that cannot be written as JSON fails its own call, and leaves nothing behind", async () => {
    const { client } = batching({ timeoutMs: 5 }, () => new Promise(() => {}));
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", onUnhandled);
    const reason: Record<string, unknown> = {};
    reason.cause = reason;
    const item = { pool_id: "p", queue_item_id: "q", lease_token: "t", reason_code: "broken", reason: reason as never };
    await assert.rejects(client.work.failItem(item), /circular/);
    // The deadline of a later call is later than one that the first call left behind.
    await assert.rejects(client.routing.route({ type: "job" }), DeadlineError);
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", onUnhandled);
    assert.deepEqual(unhandled, []);
  });

  test("calls beyond the bound fail at once and are not sent; the others are not affected", async () => {
    const { pass, open } = gate();
    const { client, sent } = batching({ batching: { waitingMax: 3 } }, pass);
    const pool_id = await newPool();
    const route = (key: string) => client.routing.route({ pool_id, type: "job", key });
    const first = route("a");
    await until(() => sent.length === 1);
    const waiting = ["b", "c", "d"].map(route);
    const error = await thrownBy(route("e"));
    assert.ok(error instanceof BacklogError);
    assert.equal(error.retryable, true);
    open();
    await Promise.all([first, ...waiting]);
    await route("f");
    assert.deepEqual(await keysOf(pool_id), ["a", "b", "c", "d", "f"]);
  });

  test("a request that is changed after the call is sent as it was", async () => {
    const { client } = batching();
    const request = { pool_id: await newPool(), type: "job", key: "before" };
    const calls = [client.routing.route(request)];
    request.key = "after";
    calls.push(client.routing.route(request));
    request.key = "later";
    await Promise.all(calls);
    assert.deepEqual(await keysOf(request.pool_id), ["after", "before"]);
  });

  test("requests are divided where they would be too large", async () => {
    const { client, sent } = batching();
    const pool_id = await newPool();
    const payload = { text: "x".repeat(200_000) };
    await Promise.all(numbered(12).map((key) => client.routing.route({ pool_id, type: "job", key, payload })));
    assert.deepEqual(
      sent.map(({ body }) => body.items.length),
      [4, 4, 4],
    );
  });

  test("items that can be accepted later are repeated as one batch, after the time that the service asks for", async () => {
    const times: { readonly sentMs: number; readonly receivedMs: number }[] = [];
    const { client, sent } = batching({}, async (send) => {
      const sentMs = performance.now();
      const response = await send();
      times.push({ sentMs, receivedMs: performance.now() });
      return response;
    });
    const throttle = { key: "'all'", limit: 50, burst: 50, period_s: 1, on_limit: "reject" as const };
    const pool_id = await newPool({ admission: { throttle } });
    const route = (key: string) => client.routing.route({ pool_id, type: "job", key, reject_as_error: true });
    const decisions = await Promise.all(numbered(100).map(route));
    assert.deepEqual(new Set(decisions.map(({ outcome }) => outcome)), new Set(["queued"]));
    assert.ok(sent.length <= 3, `${sent.length} requests`);
    assert.equal(sent[1]!.path, "/api/route:batch");
    const waitMs = times[1]!.sentMs - times[0]!.receivedMs;
    // Timers of Node end up to a millisecond early.
    assert.ok(waitMs >= 999, `${waitMs} ms`);
  });

  /** A response that refuses each item of a batch. */
  const refusal = (request: Sent, members: object) => {
    const error = { error_code: "ROUTING_THROTTLED", error_message: "full", ...members };
    return Response.json({ data: { results: request.body.items.map(() => error) } });
  };

  test("an item that is refused each time fails with its own error, after as many requests as a single call", async () => {
    const { client, sent } = batching({ maxRetries: 3 }, async (_, request) => refusal(request, {}));
    const calls = numbered(20).map((key) => client.routing.route({ type: "job", key }));
    for (const call of calls) assert.ok(isApiError(await thrownBy(call), "ROUTING_THROTTLED"));
    assert.deepEqual(
      sent.map(({ body }) => body.items.length),
      Array(4).fill(20),
    );
  });

  test("an item whose wait would outlast its call fails at once with its own error", async () => {
    const { client, sent } = batching({}, async (_, request) => refusal(request, { retry_after_s: 31 }));
    const calls = numbered(2).map((key) => client.routing.route({ type: "job", key }));
    for (const call of calls) {
      const error = await thrownBy(call);
      assert.ok(isApiError(error, "ROUTING_THROTTLED"));
      assert.equal(error.retryAfterMs, 31_000);
    }
    assert.equal(sent.length, 1);
  });

  test("the request of a refused call has the time of the newest call in it", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<string>();
    const limitMs = 30_000;
    const batches: { readonly texts: readonly string[]; readonly endsAtMs: number }[] = [];
    const call = createBatcher({ ...plain.transport, timeoutMs: limitMs }, {})((_: object) => held, {
      divide: (item) => [{}, item],
      async send(_, texts, { timeoutMs }) {
        batches.push({ texts, endsAtMs: performance.now() + timeoutMs! });
        const error = { error_code: "ROUTING_THROTTLED", error_message: "full", retry_after_s: 0.2 };
        return texts.map(() => (batches.length === 1 ? { error } : { value: "done" }));
      },
    });
    const refused = [call({ key: "a" }), call({ key: "b" })];
    await until(() => batches.length === 1);
    const inFlight = call({ key: "x" });
    await new Promise((resolve) => setImmediate(resolve));
    const startedMs = performance.now();
    const newest = call({ key: "c" });
    await until(() => performance.now() - startedMs > 300);
    release("done");
    await Promise.all([...refused, inFlight, newest]);
    assert.deepEqual(
      batches[1]!.texts.map((text) => JSON.parse(text).key),
      ["c", "a", "b"],
    );
    assert.ok(batches[1]!.endsAtMs >= startedMs + limitMs);
  });

  test("refused calls count as waiting calls until their wait is over, and their signals end it", async () => {
    let isOpen = false;
    const { client, sent } = batching({ batching: { waitingMax: 2 } }, (send, request) =>
      isOpen ? send() : Promise.resolve(refusal(request, { retry_after_s: 10 })),
    );
    const pool_id = await newPool();
    const stop = new AbortController();
    const route = (key: string, signal?: AbortSignal) =>
      client.routing.route({ pool_id, type: "job", key }, { signal });
    const refused = ["a", "b"].map((key) => thrownBy(route(key, stop.signal)));
    await until(() => sent.length === 1);
    isOpen = true;
    await until(async () => (await route("c").catch((error) => error)) instanceof BacklogError);
    stop.abort(new Error("not needed"));
    for (const call of refused) assert.match((await call).message, /not needed/);
    const before = await keysOf(pool_id);
    await Promise.all([route("d"), route("e")]);
    assert.deepEqual(await keysOf(pool_id), [...before, "d", "e"].sort());
    assert.ok(!sent.slice(1).some(({ body }) => ["a", "b"].includes(body.key)));
  });

  test("completions and failures are batched, and a lost lease fails only its own call", async () => {
    const { client, sent } = batching();
    const pool_id = await newPool({ retry: { initial_ms: 1, max_ms: 1, max_attempts: 1 } });
    const items = numbered(30).map((key) => ({ pool_id, type: "job", key }));
    await plain.routing.routeBatch({ items });
    const { items: leased } = await plain.work.leaseItems({ pool_id, max_items: 30 });
    const refs = leased.map(({ queue_item_id, lease_token }) => ({ pool_id, queue_item_id, lease_token }));
    const stale = { ...refs[5]!, lease_token: "stale" };
    const calls = [
      ...refs.slice(0, 20).map((ref, at) => client.work.completeItem(at === 5 ? stale : { ...ref, result: { at } })),
      ...refs.slice(20, 29).map((ref) => client.work.failItem({ ...ref, reason_code: "broken", reason: "no paper" })),
      client.work.completeItem({ ...refs[29]!, cost: 2 }),
    ];
    const settled = await Promise.allSettled(calls);
    const lost = (settled[5] as PromiseRejectedResult).reason;
    assert.ok(isApiError(lost, "LEASE_LOST"));
    assert.equal(lost.message, (await thrownBy(plain.work.completeItem(stale))).message);
    assert.deepEqual(
      settled.flatMap((each) => (each.status === "fulfilled" ? [each.value.state] : [])),
      [...Array(19).fill("completed"), ...Array(9).fill("dead_lettered"), "completed"],
    );
    assert.deepEqual(sent.map(({ path }) => path.split("/").at(-1)).sort(), [
      "complete",
      "items:complete",
      "items:fail",
    ]);
    const stored = await plain.queues.getItem({ pool_id, queue_item_id: refs[7]!.queue_item_id });
    assert.deepEqual(stored.result, { at: 7 });
  });

  async function newStream(pins = {}) {
    const flow = defineWorkflow({ key: `waits-${crypto.randomUUID()}`, timeout: "1d" }, (steps) => {
      steps.task("never", { queue: "nobody", type: "job.work" }, { timeout: { attempt: "1h" } });
    });
    const { id } = await plain.workflowDefinitions.create({ document: flow.document });
    await plain.workflowDefinitions.publish({ id });
    const { run } = await plain.workflowRuns.start(flow.run({}));
    const stream = await plain.workflowStreams.create({ run_id: run!.id, name: "out", pins });
    return { run_id: run!.id, stream_id: stream.id };
  }

  test("appends keep their order and get their sequences, and an invalid record fails alone", async () => {
    const { client, sent } = batching();
    const stream = await newStream();
    const settled = await Promise.allSettled(
      numbered(40).map((payload) =>
        client.workflowStreams.appendRecord({ ...stream, payload, ...(payload === "9" && { content_class: "none" }) }),
      ),
    );
    assert.ok(isApiError((settled[9] as PromiseRejectedResult).reason, "INVALID_ARGUMENT"));
    const sequences = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value.sequence] : []));
    assert.deepEqual(
      sequences,
      Array.from({ length: 39 }, (_, at) => at + 1),
    );
    const { records } = await plain.workflowStreams.readRecords({ ...stream, limit: 100 });
    assert.deepEqual(
      records.map(({ payload }) => payload),
      numbered(40).filter((payload) => payload !== "9"),
    );
    assert.ok(sent.length < 15, `${sent.length} requests`);
  });

  test("appends that do not fit wait for acknowledgements and follow in order", async () => {
    const { client } = batching();
    const stream = await newStream({ ceilings: { unread_items: 4 }, on_unread_full: "block" });
    const appends = numbered(10).map((payload) => client.workflowStreams.appendRecord({ ...stream, payload }));
    for (const sequence of [4, 8]) {
      await Promise.all(appends.slice(0, sequence));
      await plain.workflowStreams.acknowledge({ ...stream, consumer_id: "reader", sequence });
    }
    const appended = await Promise.all(appends);
    assert.deepEqual(
      appended.map(({ sequence }) => sequence),
      Array.from({ length: 10 }, (_, at) => at + 1),
    );
  });

  test("a full stream refuses each append with its own error", async () => {
    const { client } = batching();
    const stream = await newStream({ ceilings: { unread_items: 4, total_items: 4 }, on_unread_full: "reject" });
    const settled = await Promise.allSettled(
      numbered(6).map((payload) => client.workflowStreams.appendRecord({ ...stream, payload })),
    );
    assert.deepEqual(
      settled.map((each) => (each.status === "fulfilled" ? each.value.sequence : each.reason.code)),
      [1, 2, 3, 4, "STREAM_QUOTA_EXHAUSTED", "STREAM_QUOTA_EXHAUSTED"],
    );
  });

  test("assignments and scores are batched, and each invalid one names its own fields", async () => {
    const { client, sent } = batching();
    const { id: experiment_id } = await plain.experiments.create({
      key: `e-${crypto.randomUUID()}`,
      variants: [{ key: "control" }, { key: "treatment" }],
      metrics: [{ key: "orders", type: "count" }],
    });
    await plain.experiments.start({ experiment_id });
    const units = numbered(20);
    const assignments = await Promise.allSettled(
      units.map((unit) => client.experiments.assign({ experiment_id, unit: unit === "3" ? "" : unit })),
    );
    assert.deepEqual(
      assignments.map((each) => (each.status === "fulfilled" ? each.value.unit : each.reason.violations[0].field)),
      units.map((unit) => (unit === "3" ? "unit" : unit)),
    );
    sent.length = 0;
    const scored = units.filter((unit) => unit !== "3");
    const scores = await Promise.allSettled(
      scored.map((unit) =>
        client.experiments.recordScore({
          ...{ experiment_id, unit, score_id: unit === "5" ? "4" : unit },
          metric: unit === "6" ? "unknown" : "orders",
        }),
      ),
    );
    assert.deepEqual(
      scores.flatMap((each) =>
        each.status === "rejected" ? [[each.reason.code, each.reason.violations[0]?.field]] : [],
      ),
      [
        ["SCORE_ID_REUSED", undefined],
        ["INVALID_ARGUMENT", "metric"],
      ],
    );
    assert.deepEqual(
      sent.map(({ path }) => path.split("/").at(-1)),
      ["scores:batch", "scores"],
    );
  });

  test("items that need calls of their own are sent one after the other", async () => {
    let open = 0;
    let openMax = 0;
    const { client, sent } = batching({}, async (send) => {
      openMax = Math.max(openMax, ++open);
      return send().finally(() => open--);
    });
    const { id: experiment_id } = await plain.experiments.create({
      key: `e-${crypto.randomUUID()}`,
      variants: [{ key: "control" }, { key: "treatment" }],
      metrics: [{ key: "orders", type: "count" }],
    });
    await plain.experiments.start({ experiment_id });
    const scores = numbered(20).map((unit) =>
      thrownBy(client.experiments.recordScore({ experiment_id, unit, score_id: unit, metric: "unknown" })),
    );
    for (const error of await Promise.all(scores)) assert.equal(error.violations[0].field, "metric");
    assert.equal(sent.length, 21);
    assert.equal(openMax, 1);
  });
});

test("a node that is killed in the middle of batches: every call succeeds, nothing is lost or doubled", async () => {
  const crashes = sized(2, 10);
  const database = await freshDatabase();
  const apiKey = "sk_test_batching_0123456789abcdef";
  const node = await supervise({ "database.url": database.url, "auth.bootstrap_api_key": apiKey }, crashes);
  afterFile(async () => {
    await node.stop();
    await database.drop();
  });
  const crashing: Promise<void>[] = [];
  let requests = 0;
  const client = createClient({
    ...{ baseUrl: "http://node.test", apiKey, batching: true },
    ...{ timeoutMs: 300_000, maxRetries: 1_000, backoff: { initialMs: 20, maxMs: 100 } },
    async fetch(url, init) {
      const { baseUrl } = await node.current;
      const sent = fetch(String(url).replace("http://node.test", baseUrl), init);
      if (String(url).endsWith(":batch") && ++requests % 4 === 2 && crashing.length < crashes) {
        // In turns: while the node routes, and when it has routed and nobody has got the response.
        const isRouted = crashing.length % 2 === 1;
        if (isRouted) await sent;
        crashing.push(node.crash());
        if (isRouted) throw new TypeError("the connection was lost");
      }
      return sent;
    },
  });
  const { id: pool_id } = await client.pools.create({ name: "killed" });
  const routed: string[] = [];
  const caller = async (_: unknown, number: number) => {
    for (let round = 0; round < 4 * crashes; round++) {
      const { queue_item_id } = await client.routing.route({ pool_id, type: "job", key: `${number}.${round}` });
      routed.push(queue_item_id);
    }
  };
  await Promise.all(Array.from({ length: 40 }, caller));
  await Promise.all(crashing);
  assert.equal(crashing.length, crashes);
  const items = await client.queues.listItems({ pool_id }).take(10_000);
  assert.equal(new Set(items.map(({ key }) => key)).size, 160 * crashes);
  assert.deepEqual(items.map(({ id }) => id).sort(), routed.sort());
});

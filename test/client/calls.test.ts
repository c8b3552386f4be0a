import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { before, describe, test } from "node:test";
import { createPoolService } from "../../clients/typescript/src/gen/pool.ts";
import {
  ApiError,
  type Client,
  ConnectionError,
  createClient,
  createTransport,
  DeadlineError,
  isApiError,
} from "../../clients/typescript/src/index.ts";
import { retryDelayMs } from "../../clients/typescript/src/transport/backoff.ts";
import { readRetryAfter } from "../../clients/typescript/src/transport/errors.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { PlainBrowser } from "../identity/plain-browser.ts";

describe("calls of the client", () => {
  let service: TestService;
  let client: Client;

  before(async () => {
    service = await startService();
    client = createClient({ baseUrl: service.baseUrl, apiKey: service.adminKey });
  });

  /** A client whose requests pass a function that can lose them. */
  function clientOver(intercept: (send: () => Promise<Response>, init: RequestInit) => Promise<Response>): Client {
    return createClient({
      baseUrl: service.baseUrl,
      apiKey: service.adminKey,
      backoff: { initialMs: 1, maxMs: 5 },
      fetch: (url, init) => intercept(() => fetch(url, init), init!),
    });
  }

  test("records are created, read, changed and deleted with the names of the API", async () => {
    const pool = await client.pools.create({ name: "orders", config: { lease: { duration_s: 7 } } });
    assert.deepEqual([pool.name, pool.config?.lease?.duration_s], ["orders", 7]);
    assert.equal(
      (await client.pools.update({ pool_id: pool.id, description: "All orders" })).description,
      "All orders",
    );
    assert.equal((await client.pools.get({ pool_id: pool.id })).name, "orders");
    assert.equal((await client.pools.delete({ pool_id: pool.id })).status, "STATUS_ARCHIVED");
  });

  test("a list is an iterator of items and of pages, and reads no further than the loop", async () => {
    for (let number = 0; number < 7; number++) await client.topics.create({ key: `news.${number}`, name: "News" });
    let requests = 0;
    const counted = clientOver((send) => {
      requests++;
      return send();
    });
    const keys: string[] = [];
    for await (const { key } of counted.topics.list({ limit: 3 })) keys.push(key);
    assert.equal(new Set(keys).size, 7);
    assert.equal(requests, 3);
    const sizes: number[] = [];
    for await (const page of counted.topics.list({ limit: 4 }).pages()) sizes.push(page.items.length);
    assert.deepEqual(sizes, [4, 3]);
    requests = 0;
    assert.equal((await counted.topics.list({ limit: 2 }).take(3)).length, 3);
    assert.equal(requests, 2);
    const page = await counted.topics.list({ limit: 2, offset: 6 }).page();
    assert.deepEqual([page.items.length, page.total, page.totalCapped, page.nextCursor], [1, 7, false, ""]);
    // A list with page numbers instead of cursors.
    assert.deepEqual(await client.marketplace.listInstallations({ per_page: 5 }).take(10), []);
  });

  test("dates, lists and numbers of a query arrive", async () => {
    await client.events.publish({ type: "order.paid", subject: "query", data: { cents: 4200 } });
    const since = new Date(Date.now() - 60_000);
    const [event] = await client.events.list({ types: ["order.paid", "order.sent"], subject: "query", since }).take(5);
    assert.deepEqual(event?.data, { cents: 4200 });
    const later = new Date(Date.now() + 60_000);
    assert.deepEqual(await client.events.list({ types: ["order.paid"], since: later }).take(5), []);
  });

  test("an error has the code of the catalogue, and isApiError tells codes apart", async () => {
    const error = await client.pools.get({ pool_id: "01JZZZZZZZZZZZZZZZZZZZZZZZ" }).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof ApiError);
    assert.ok(isApiError(error, "NOT_FOUND", "RATE_LIMITED"));
    assert.ok(!isApiError(error, "VERSION_CONFLICT"));
    assert.deepEqual([error.status, error.retryable], [404, false]);
    assert.notEqual(error.requestId, "");
    const invalid = await client.pools.create({ name: "" }).catch((thrown: unknown) => thrown);
    assert.ok(isApiError(invalid, "INVALID_ARGUMENT"));
    assert.equal(invalid.violations[0]?.field, "name");
    await assert.rejects(async () => client.pools.get({ pool_id: "" }), TypeError);
  });

  test("a response that is lost is fetched again under the same key, and the effect happens once", async () => {
    const keys: (string | null)[] = [];
    const losing = clientOver(async (send, { headers }) => {
      keys.push(new Headers(headers).get("idempotency-key"));
      const response = await send();
      if (keys.length < 3) throw new TypeError("the connection was lost");
      return response;
    });
    const attempts: number[] = [];
    const { id } = await losing.events.publish(
      { type: "order.lost", subject: "once" },
      { onResponse: ({ headers, attempt }) => attempts.push(headers.has("idempotency-replayed") ? attempt : -1) },
    );
    assert.deepEqual(keys, [keys[0], keys[0], keys[0]]);
    assert.match(keys[0]!, /^[0-9a-f]{32}$/);
    assert.deepEqual(attempts, [3], "the third attempt got the stored response");
    const stored = await client.events.list({ types: ["order.lost"] }).take(5);
    assert.deepEqual(
      stored.map((each) => each.id),
      [id],
    );
  });

  test("only a failure that the service calls retryable is repeated, and not before the time that it asks for", async () => {
    const problem = (code: string, retryable: boolean, headers = {}) =>
      Response.json({ errorCode: code, detail: "…", retryable }, { status: 503, headers });
    const times: number[] = [];
    const busy = clientOver(async (send) => {
      times.push(performance.now());
      return times.length === 1 ? problem("UNAVAILABLE", true, { "retry-after": "1" }) : send();
    });
    await busy.pools.list().page();
    assert.ok(times[1]! - times[0]! >= 990, "Retry-After is obeyed");
    let calls = 0;
    const refused = clientOver(async () => {
      calls++;
      return problem("FAILED_PRECONDITION", false);
    });
    await assert.rejects(refused.pools.list().page(), ApiError);
    assert.equal(calls, 1);
  });

  test("a wait that the service asks for is never shortened, and every other wait grows and is random", () => {
    const backoff = { initialMs: 100, maxMs: 1_000 };
    const range = (failures: number, retryAfterMs?: number) =>
      [0, 1].map((random) => retryDelayMs(backoff, failures, retryAfterMs, random));
    assert.deepEqual(
      [1, 2, 9].map((failures) => range(failures)),
      [
        [50, 100],
        [100, 200],
        [500, 1_000],
      ],
    );
    assert.deepEqual(range(1, 2_000), [2_000, 2_100]);
    const now = Date.parse("2026-03-01T12:00:00Z");
    const texts = ["2", "0.5", "Sun, 01 Mar 2026 12:00:03 GMT", "Sun, 01 Mar 2026 11:00:00 GMT", "soon", null];
    assert.deepEqual(
      texts.map((text) => readRetryAfter(text, now)),
      [2_000, 500, 3_000, 0, undefined, undefined],
    );
  });

  test("an address that cannot work is refused with a reason", async () => {
    assert.throws(
      () => createClient({ baseUrl: "localhost:8080" }),
      /must be an http or https URL .*, not localhost:8080$/,
    );
    await assert.rejects(createClient().pools.get({ pool_id: "any" }), /^TypeError: baseUrl is missing/);
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    const closed = createClient({ baseUrl: `http://127.0.0.1:${port}`, maxRetries: 0 });
    await assert.rejects(closed.pools.get({ pool_id: "any" }), {
      name: "ConnectionError",
      message: `the connection failed: connect ECONNREFUSED 127.0.0.1:${port}`,
    });
  });

  test("retries stop at the deadline, at their number and at the signal", async () => {
    let calls = 0;
    const broken = clientOver(async () => {
      calls++;
      throw new TypeError("no route to host");
    });
    await assert.rejects(broken.pools.list({}, { maxRetries: 4 }).page(), ConnectionError);
    assert.equal(calls, 5);
    // The wait would end after the deadline, so the error is reported at once.
    const patient = clientOver(async () => new Response("", { status: 503, headers: { "retry-after": "3600" } }));
    await assert.rejects(patient.pools.list().page(), { name: "ConnectionError", status: 503 });
    const silent = clientOver(async (_send, { signal }) => {
      signal!.throwIfAborted();
      return new Promise((_, reject) => signal!.addEventListener("abort", () => reject(signal!.reason)));
    });
    await assert.rejects(silent.pools.list({}, { timeoutMs: 20 }).page(), DeadlineError);
    const stop = new AbortController();
    const call = silent.pools.create({ name: "never" }, { signal: stop.signal });
    stop.abort(new Error("the user left"));
    await assert.rejects(call, /the user left/);
  });

  test("the service of one area works without the others, with the session of a browser", async () => {
    const browser = new PlainBrowser();
    const { body } = await restClient(service.baseUrl, service.adminKey).call(
      "POST",
      "/api/v2/identity/login-links",
      {},
    );
    await browser.openLink(body.data.url);
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const modes: unknown[] = [];
    const transport = createTransport({
      // A browser adds the cookie, the origin and the address by itself.
      fetch: (path, init) => {
        modes.push(init?.credentials);
        const headers = { ...(init?.headers as object), cookie, "sec-fetch-site": "same-origin" };
        return fetch(`${service.baseUrl}${path}`, { ...init, headers });
      },
    });
    const pools = createPoolService(transport);
    const { id } = await pools.create({ name: "by a page" });
    assert.equal((await pools.get({ pool_id: id })).name, "by a page");
    assert.deepEqual(modes, ["same-origin", "same-origin"]);
  });

  test("raw bytes are received as they are", async () => {
    const response = await client.workflowDefinitions.getSchema();
    assert.match(response.headers.get("content-type")!, /json/);
    assert.equal(typeof (await response.json()), "object");
  });
});

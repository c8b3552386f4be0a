import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { EventService } from "../../gen/service/api/event_pb.ts";
import { query, runs } from "../harness/embedded-owner.ts";
import { type NodeProcess, type NodeProcessOptions, startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { openWork, streamProtocols } from "../routing/work-reader.ts";
import { post } from "./supervised-node.ts";

const key = "sk_test_stop_0123456789abcdef";
const environments = "/api/v2/environments";

/** A node with its own database, which the test can read. */
async function scratch(t: TestContext, settings: Record<string, string> = {}, options: NodeProcessOptions = {}) {
  const database = await freshDatabase();
  const all = { "database.url": database.url, "auth.bootstrap_api_key": key, ...settings };
  const node = await startNodeProcess(all, options);
  let again: TestService | undefined;
  t.after(async () => {
    await node.kill();
    await again?.stop();
    await database.drop();
  });
  /** Starts the node again, in this process. */
  async function restart(): Promise<TestService> {
    again = await startService(all, database.url);
    return again;
  }
  return { node, sql: database.sql, restart };
}

/** Sends a node the stop signal; returns its exit code and how long it took. */
async function terminate({ process: child, exited }: NodeProcess): Promise<{ code: unknown; tookMs: number }> {
  const startedAtMs = performance.now();
  child.kill("SIGTERM");
  const code = await exited;
  return { code, tookMs: performance.now() - startedAtMs };
}

/** Publishes concurrently until the node accepts no more; returns the acknowledged events. */
function publishUntilGone(node: NodeProcess, onAcknowledged: (count: number) => void) {
  const acknowledged = new Map<string, string>();
  let sent = 0;
  const writer = async () => {
    for (;;) {
      const subject = `order-${sent++}`;
      const answer = await post(node, "/api/events", { type: "order.paid", subject }).catch(() => undefined);
      if (answer === undefined) return;
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      acknowledged.set(subject, answer.body.data.id);
      onAcknowledged(acknowledged.size);
    }
  };
  return Promise.all(Array.from({ length: 30 }, writer)).then(() => acknowledged);
}

/** Holds a lock that creating an environment needs, so that a call stays in flight as long as the test wants. */
async function hold(sql: Awaited<ReturnType<typeof freshDatabase>>["sql"]) {
  const holding = Promise.withResolvers<void>();
  const proceed = Promise.withResolvers<void>();
  const ended = sql.begin(async (tx) => {
    await tx`lock table environments in exclusive mode`;
    holding.resolve();
    await proceed.promise;
  });
  await holding.promise;
  return {
    waiting: () =>
      until(
        async () =>
          (await sql`select from pg_locks where not granted and relation = 'environments'::regclass`).count > 0,
      ),
    release: async () => {
      proceed.resolve();
      await ended;
    },
  };
}

test("a node stopped under load responds to every call that took effect, exits with 0, and restarts with all data", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-stop-"));
  let again: TestService | undefined;
  t.after(async () => {
    await again?.stop();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
  });
  const node = await startNodeProcess({ "data.dir": dataDir });
  const cluster = join(dataDir, "postgres", "cluster");
  const databasePid = Number.parseInt(await readFile(join(cluster, "postmaster.pid"), "utf8"), 10);
  const stopped = Promise.withResolvers<Awaited<ReturnType<typeof terminate>>>();
  const acknowledged = await publishUntilGone(node, (count) => {
    if (count === 300) stopped.resolve(terminate(node));
  });
  const { code, tookMs } = await stopped.promise;
  assert.equal(code, 0, node.output());
  assert.ok(tookMs < 10_000, `it took ${tookMs} ms`);
  assert.equal(await runs(databasePid), false, "the embedded database has stopped too");

  again = await startService({ "data.dir": dataDir }, "");
  const url = `postgres://switchyard@${encodeURIComponent(cluster)}/switchyard`;
  const rows = await query(url, "select subject, id from events where type = 'order.paid'");
  assert.deepEqual(new Map(rows.map((row) => [row.subject, row.id])), acknowledged);
});

test("during a stop, a call in flight gets its response, readiness fails, and later new connections are refused", async (t) => {
  // Long enough to see readiness fail, even on a busy machine.
  const { node, sql } = await scratch(t, { "server.drain_s": "4" });
  const held = await hold(sql);
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const creating = http.request(node.baseUrl + environments, {
    agent,
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
  });
  creating.end(JSON.stringify({ key: "lab" }));
  const answered = once(creating, "response") as Promise<[http.IncomingMessage]>;
  await held.waiting();
  const proxy = http2.connect(node.baseUrl);
  await once(proxy, "remoteSettings");
  const order: string[] = [];
  proxy.on("goaway", () => order.push("goaway"));
  const ended = terminate(node);
  let statuses = "";
  await until(async () => {
    const ready = await fetch(`${node.baseUrl}/ready`).catch(() => undefined);
    if (ready === undefined) return true;
    if (ready.status === 503) {
      assert.equal(ready.headers.get("connection"), "close");
      if (order.length === 0) {
        order.push("not ready");
        const [headers] = await once(proxy.request({ ":path": "/livez" }).resume(), "response");
        order.push(`over HTTP/2: ${headers[":status"]}`);
      }
    }
    statuses += `${ready.status} `;
    return false;
  });
  assert.deepEqual(order.slice(0, 3), ["not ready", "over HTTP/2: 200", "goaway"], "proxies have time to move on");
  assert.match(statuses, /^(200 )*(503 )+$/, "readiness returns 503 until the node accepts no more connections");
  await held.release();
  const [response] = await answered;
  assert.equal(response.statusCode, 200);
  assert.equal(response.headers.connection, "close");
  response.resume();
  const { code } = await ended;
  assert.equal(code, 0, node.output());
  assert.equal((await sql`select from environments where key = 'lab'`).count, 1);
});

/** Starts a long-polling lease call on a new pool; resolves when the node has admitted it. */
async function waitingLease(node: NodeProcess) {
  const created = await post(node, "/api/pools", { name: "crew", strategy: "round_robin" });
  assert.equal(created.status, 200, JSON.stringify(created.body));
  const answer = post(node, `/api/queues/${created.body.data.id}/lease`, { wait_s: 20 });
  await until(async () => {
    const text = await (await fetch(`${node.baseUrl}/metrics`)).text();
    return /^rpc_server_active_calls\{[^}]*\} 1$/m.test(text);
  });
  return { answer };
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`${signal} ends a waiting lease call with an empty response, and the node with 0, long before the wait is over`, async (t) => {
    const { node } = await scratch(t);
    const { answer } = await waitingLease(node);
    const startedAtMs = performance.now();
    node.process.kill(signal);
    const { status, body } = await answer;
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body.data.items, []);
    assert.equal(await node.exited, 0, node.output());
    assert.ok(performance.now() - startedAtMs < 10_000, "the lease would have waited for 20 seconds");
  });
}

test("a second Ctrl-C ends a node immediately, even with a call in flight", async (t) => {
  const { node, sql } = await scratch(t);
  const held = await hold(sql);
  const creating = post(node, environments, { key: "lab" }).then(
    () => "answered",
    () => "cut off",
  );
  await held.waiting();
  node.process.kill("SIGINT");
  await until(() => /press Ctrl-C again/.test(node.output()));
  // Signals right after the first one are the same key press, forwarded by a parent such as npm.
  const again = setInterval(() => node.process.kill("SIGINT"), 100);
  t.after(() => clearInterval(again));
  assert.equal(await node.exited, 130, node.output());
  assert.equal(await creating, "cut off");
  await held.release();
});

test("callers with keep-alive connections get every response while the node stops, and no reset", async (t) => {
  const { node } = await scratch(t);
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  let answers = 0;
  const caller = async (): Promise<void> => {
    for (;;) {
      const request = http.get(`${node.baseUrl}/api/v2/environments`, { agent, headers: { "x-api-key": key } });
      const [response] = (await once(request, "response")) as [http.IncomingMessage];
      await response.toArray();
      assert.equal(response.statusCode, 200);
      answers++;
      // The response asks the client to close the connection and reconnect to another node.
      if (response.headers.connection === "close") return;
    }
  };
  const callers = Promise.all(Array.from({ length: 8 }, caller));
  await until(() => answers > 100);
  assert.equal((await terminate(node)).code, 0, node.output());
  await callers;
});

test("streams end when the node stops, in every protocol and with any number of events in flight", async (t) => {
  const { node } = await scratch(t);
  const sse = await fetch(`${node.baseUrl}/api/events/subscribe`, { headers: { "x-api-key": key } });
  const text = sse.text();
  const client = createClient(EventService, createGrpcTransport({ baseUrl: node.baseUrl }));
  let received = 0;
  const grpc = (async () => {
    for await (const _ of client.subscribeEvents({}, { headers: { "x-api-key": key } })) received++;
  })().catch((error: unknown) => error);
  await until(async () => {
    await post(node, "/api/events", { type: "order.paid" });
    return received > 0;
  });
  const stopped = Promise.withResolvers<Awaited<ReturnType<typeof terminate>>>();
  await publishUntilGone(node, (count) => {
    if (count === 200) stopped.resolve(terminate(node));
  });
  const { code, tookMs } = await stopped.promise;
  assert.equal(code, 0, node.output());
  assert.ok(tookMs < 15_000, `it took ${tookMs} ms`);
  // Every event is complete, followed by a clean end of the stream.
  const blocks = (await text).split("\n\n");
  assert.equal(blocks.pop(), "");
  for (const block of blocks) assert.match(block, /^(:|id: [0-9A-Z]{26}\ndata: \{.*\}$|event: error\ndata: \{.*\}$)/);
  const outcome = await grpc;
  if (outcome !== undefined) {
    assert.ok(outcome instanceof ConnectError && outcome.code === Code.Unavailable, String(outcome));
  }
});

test("work streams end when the node stops, and say that the worker should connect again", async (t) => {
  const { node } = await scratch(t);
  const open = async (protocol: (typeof streamProtocols)[number]) => {
    const { body } = await post(node, "/api/pools", { name: protocol, strategy: "round_robin" });
    const pool_id = body.data.id;
    const stream = await openWork({ baseUrl: node.baseUrl, key }, pool_id, {}, protocol);
    const first = stream.next();
    await post(node, "/api/route", { pool_id, type: "task" });
    await first;
    return stream;
  };
  const streams = await Promise.all(streamProtocols.map(open));
  const ends = streams.map((stream) =>
    stream.next().then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
  const { code, tookMs } = await terminate(node);
  assert.equal(code, 0, node.output());
  assert.ok(tookMs < 15_000, `it took ${tookMs} ms`);
  for (const end of await Promise.all(ends)) {
    if (end instanceof ConnectError) assert.equal(end.code, Code.Unavailable, String(end));
    else assert.equal((end as { problem?: { errorCode?: string } }).problem?.errorCode, "UNAVAILABLE", String(end));
  }
});

test("idle or incomplete connections do not keep a node from stopping within its grace period", async (t) => {
  const { node } = await scratch(t, { "server.shutdown_grace_s": "1" });
  const { hostname, port } = new URL(node.baseUrl);
  const open = async (words: string) => {
    const socket = net.connect(Number(port), hostname).on("error", () => {});
    await once(socket, "connect");
    if (words !== "") socket.write(words);
    return socket;
  };
  const request = "POST /api/events HTTP/1.1\r\nHost: localhost\r\n";
  await Promise.all(
    ["", "POST /api/ev", request, `${request}X-API-Key: ${key}\r\nContent-Length: 100\r\n\r\n{`, "PRI * HT"].map(open),
  );
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const [response] = await once(http.get(`${node.baseUrl}/health`, { agent }), "response");
  await once(response.resume(), "end");
  const { code, tookMs } = await terminate(node);
  assert.equal(code, 0, node.output());
  assert.ok(tookMs < 10_000, `it took ${tookMs} ms`);
});

test("a call that takes longer than the grace period is aborted and leaves no partial write", async (t) => {
  const { node, sql, restart } = await scratch(t, { "server.shutdown_grace_s": "1" });
  const held = await hold(sql);
  const creating = post(node, environments, { key: "lab" }, { "idempotency-key": "k" }).then(
    () => "answered",
    () => "cut off",
  );
  await held.waiting();
  const { code, tookMs } = await terminate(node);
  assert.equal(code, 0, node.output());
  assert.ok(tookMs < 10_000, `it took ${tookMs} ms`);
  assert.equal(await creating, "cut off");
  await held.release();
  const again = await restart();
  const answer = await post(again, environments, { key: "lab" }, { "idempotency-key": "k" });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.equal((await sql`select from environments where key = 'lab'`).count, 1);
  assert.equal((await sql`select from events where type = 'environment.created'`).count, 1);
});

test("a repeated stop signal changes nothing: the call in flight gets its response, and the node exits with 0", async (t) => {
  const { node, sql } = await scratch(t);
  const held = await hold(sql);
  const creating = post(node, environments, { key: "lab" });
  await held.waiting();
  const ended = terminate(node);
  await until(() =>
    fetch(`${node.baseUrl}/health`).then(
      () => false,
      () => true,
    ),
  );
  for (const signal of ["SIGTERM", "SIGINT", "SIGINT"] as const) node.process.kill(signal);
  await held.release();
  assert.equal((await creating).status, 200);
  assert.equal((await ended).code, 0, node.output());
});

test("a node started through npm's shell receives the signal and stops the same way", async (t) => {
  const { node } = await scratch(t, {}, { shell: (command) => `exec ${command}` });
  const stopped = Promise.withResolvers<Awaited<ReturnType<typeof terminate>>>();
  await publishUntilGone(node, (count) => {
    if (count === 50) stopped.resolve(terminate(node));
  });
  assert.equal((await stopped.promise).code, 0, node.output());
});

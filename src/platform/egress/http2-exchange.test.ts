import assert from "node:assert/strict";
import { once } from "node:events";
import { createSecureServer, createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { test } from "node:test";
import { afterFile } from "../../../test/harness/after-file.ts";
import { createAuthority } from "../../../test/harness/certificates.ts";
import { createLog } from "../log/log.ts";
import { createMetrics } from "../telemetry/index.ts";
import { createEgress, EgressError } from "./index.ts";

const authority = await createAuthority("CN=Authority");
const identity = await authority.issue("CN=push", { addresses: ["127.0.0.1"] });

function newEgress(ca = authority.cert) {
  const egress = createEgress({
    mode: "enforce",
    allowedDomains: [],
    allowedIpNets: ["127.0.0.0/8"],
    log: createLog("silent"),
    metrics: createMetrics(),
    clock: { now: () => Date.now() },
    ca,
  });
  afterFile(() => egress.close());
  return egress;
}

/** Starts a server that hands each stream to a callback; counts its connections. */
async function serve(server: Http2Server, answer: (stream: ServerHttp2Stream, path: string) => void) {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.on("stream", (stream, headers) => answer(stream, headers[":path"]!));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterFile(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => sockets.size };
}

const echo = (stream: ServerHttp2Stream, path: string) => {
  stream.respond({ ":status": 200, "x-path": path });
  stream.pipe(stream);
};
const call = { method: "POST", body: "hello", timeoutMs: 5000, http2: true } as const;

test("concurrent requests share one connection with a verified certificate", async () => {
  const { port, connections } = await serve(createSecureServer(identity), echo);
  const egress = newEgress();
  const answers = await Promise.all(
    ["/a?x=1", "/b"].map((path) => egress.request({ ...call, url: `https://127.0.0.1:${port}${path}` })),
  );
  assert.deepEqual(
    answers.map(({ status, headers, body }) => [status, headers["x-path"], body.toString()]),
    [
      [200, "/a?x=1", "hello"],
      [200, "/b", "hello"],
    ],
  );
  assert.equal(connections(), 1);
  const other = await createAuthority("CN=Other");
  await assert.rejects(newEgress(other.cert).request({ ...call, url: `https://127.0.0.1:${port}/` }), isFault(false));
});

test("nothing is sent to a server that does not speak HTTP/2, or that is not there", async () => {
  const server = createTlsServer(identity, (_request, response) => response.end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const egress = newEgress();
  await assert.rejects(egress.request({ ...call, url: `https://127.0.0.1:${port}/` }), isFault(false));
  await assert.rejects(egress.request({ ...call, url: "http://127.0.0.1:9/" }), isFault(false));
});

test("a lost, refused, endless or slow answer says whether the request may have arrived", async () => {
  const { port } = await serve(createServer(), (stream, path) => {
    stream.on("error", () => {});
    if (path === "/lost") stream.session!.destroy();
    if (path === "/refused") stream.close(7);
    if (path === "/cut") {
      stream.respond({ ":status": 200, "content-length": "100" });
      stream.write("x", () => stream.close(8));
    }
    if (path === "/large") {
      stream.respond({ ":status": 200 });
      stream.end("x".repeat(2000));
    }
  });
  const egress = newEgress();
  const send = (path: string, more: object = {}) =>
    egress.request({ ...call, ...more, url: `http://127.0.0.1:${port}${path}` });
  await assert.rejects(send("/lost"), isFault(true, "connection_lost"));
  await assert.rejects(send("/refused"), isFault(false, "connection_lost"));
  await assert.rejects(send("/cut"), isFault(true, "connection_lost"));
  await assert.rejects(send("/large", { bytesMax: 1000 }), isFault(true, "too_large"));
  const cancelled = new AbortController();
  const waiting = send("/never", { signal: cancelled.signal });
  setImmediate(() => cancelled.abort());
  await assert.rejects(waiting, (error) => error instanceof EgressError && error.reason === "cancelled");
});

test("after a request that got no answer in time, the next one is sent over a new connection", async () => {
  const { port, connections } = await serve(createServer(), (stream, path) => {
    stream.on("error", () => {});
    if (path !== "/silent") echo(stream, path);
  });
  const egress = newEgress();
  const send = (path: string, timeoutMs: number) =>
    egress.request({ ...call, timeoutMs, url: `http://127.0.0.1:${port}${path}` });
  await send("/first", 60_000);
  const inProgress = send("/meanwhile", 60_000);
  await assert.rejects(send("/silent", 50), isFault(true, "timeout"));
  assert.equal((await inProgress).status, 200);
  assert.equal(connections(), 1);
  assert.equal((await send("/next", 60_000)).status, 200);
  assert.equal(connections(), 2);
});

function isFault(mayHaveArrived: boolean, reason?: string) {
  return (error: unknown) =>
    error instanceof EgressError &&
    error.mayHaveArrived === mayHaveArrived &&
    (reason === undefined || error.reason === reason);
}

test("a caller that cancels does not wait for a server that never completes the handshake", async (t) => {
  const silent = createTcpServer();
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  t.after(() => silent.close());
  const cancelled = new AbortController();
  const accepted = Promise.withResolvers<void>();
  silent.on("connection", (socket) => {
    socket.on("error", () => {});
    t.after(() => socket.destroy());
    accepted.resolve();
  });
  const egress = newEgress();
  const { port } = silent.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}/`;
  const requested = egress.request({ ...call, url, timeoutMs: 60_000, signal: cancelled.signal });
  await accepted.promise;
  cancelled.abort();
  await assert.rejects(requested, { reason: "cancelled" });
});

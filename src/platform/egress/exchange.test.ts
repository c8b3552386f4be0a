import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import type { TLSSocket } from "node:tls";
import { createAuthority } from "../../../test/harness/certificates.ts";
import { createLog } from "../log/log.ts";
import { createMetrics } from "../telemetry/index.ts";
import { createEgress, type EgressCall, EgressError, type EgressFailure } from "./index.ts";
import { startRawReceiver, startReceiver } from "./testing/receivers.ts";

type Options = Parameters<typeof createEgress>[0];

function egressWith(options: Partial<Options> = {}) {
  return createEgress({
    mode: "enforce",
    allowedDomains: [],
    allowedIpNets: ["127.0.0.0/8"],
    log: createLog("silent"),
    metrics: createMetrics(),
    clock: { now: () => 0 },
    resolver: async () => [{ address: "127.0.0.1", family: 4 }],
    ...options,
  });
}

function post(port: number, more: Partial<EgressCall> = {}): EgressCall {
  return { method: "POST", url: `http://127.0.0.1:${port}/`, body: "{}", timeoutMs: 30_000, ...more };
}

function fault(reason: EgressFailure, mayHaveArrived: boolean) {
  return (error: unknown) =>
    error instanceof EgressError && error.reason === reason && error.mayHaveArrived === mayHaveArrived;
}

/** A promise that resolves when a server sees the end of a connection. */
function left(): { seen: Promise<void>; leave: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { seen: promise, leave: resolve };
}

test("a response that trickles in is aborted at the timeout", async () => {
  const { seen, leave } = left();
  const { port } = await startRawReceiver((socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n");
    const drip = setInterval(() => socket.write("x"), 10);
    socket.on("close", () => {
      clearInterval(drip);
      leave();
    });
  });
  await assert.rejects(egressWith().request(post(port, { timeoutMs: 300 })), fault("timeout", true));
  await seen;
});

test("a server that accepts the connection and never responds causes a timeout, of the call or of the first byte", async () => {
  const { port } = await startRawReceiver((socket) => socket.resume());
  await assert.rejects(egressWith().request(post(port, { timeoutMs: 200 })), fault("timeout", true));
  await assert.rejects(egressWith().request(post(port, { firstByteTimeoutMs: 200 })), fault("timeout", true));
});

test("a TLS handshake that times out means that the request cannot have arrived", async () => {
  const { port } = await startRawReceiver((socket) => socket.resume());
  const call = post(port, { url: `https://127.0.0.1:${port}/`, connectTimeoutMs: 200 });
  await assert.rejects(egressWith().request(call), fault("timeout", false));
});

test("a slow DNS lookup causes a timeout", async () => {
  const egress = egressWith({ resolver: () => new Promise(() => {}) });
  await assert.rejects(
    egress.request({ method: "GET", url: "http://slow.example/", timeoutMs: 100 }),
    fault("timeout", false),
  );
});

test("a response above the size limit is aborted, with or without a Content-Length", async () => {
  const { seen, leave } = left();
  const { port } = await startReceiver((_request, response) => {
    response.on("close", leave);
    const more = () => {
      while (response.write(Buffer.alloc(64 * 1024))) {}
    };
    response.on("drain", more);
    more();
  });
  await assert.rejects(egressWith().request(post(port, { bytesMax: 100_000 })), fault("too_large", true));
  await seen;
  const exact = await startReceiver((_request, response) => response.end(Buffer.alloc(1000)));
  assert.equal((await egressWith().request(post(exact.port, { bytesMax: 1000 }))).body.length, 1000);
  await assert.rejects(egressWith().request(post(exact.port, { bytesMax: 999 })), fault("too_large", true));
});

test("endless headers are aborted", async () => {
  const { port } = await startRawReceiver((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    const more = () => {
      for (let i = 0; i < 1000; i++) socket.write(`x-${i}: ${"y".repeat(100)}\r\n`);
    };
    socket.on("data", more);
  });
  await assert.rejects(egressWith().request(post(port)), fault("too_large", true));
});

test("with ignoreBody the status is returned immediately, even if the body is large, slow or broken", async () => {
  const { seen, leave } = left();
  const slow = await startRawReceiver((socket) => {
    socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx"));
    socket.on("close", leave);
  });
  const answer = await egressWith().request(post(slow.port, { ignoreBody: true }));
  assert.deepEqual([answer.status, answer.body.length], [200, 0]);
  await seen;
  const broken = await startRawReceiver((socket) => {
    socket.once("data", () => {
      socket.write("HTTP/1.1 503 Busy\r\ncontent-length: 10\r\n\r\nx");
      socket.destroySoon();
    });
  });
  assert.equal((await egressWith().request(post(broken.port, { ignoreBody: true }))).status, 503);
  const { port, connections } = await startReceiver();
  const egress = egressWith();
  for (let i = 0; i < 3; i++) {
    await egress.request(post(port, { ignoreBody: true }));
    // The body is drained in the background; after another whole request this is done.
    await egress.request(post(port));
  }
  assert.ok(connections() <= 4);
});

test("a caller that cancels aborts the exchange", async () => {
  const { seen, leave } = left();
  const controller = new AbortController();
  const { port } = await startRawReceiver((socket) => {
    socket.on("close", leave);
    socket.once("data", () => controller.abort());
  });
  await assert.rejects(egressWith().request(post(port, { signal: controller.signal })), fault("cancelled", true));
  await seen;
  await assert.rejects(egressWith().request(post(port, { signal: AbortSignal.abort() })), fault("cancelled", false));
});

test("a failure reports whether the request may have arrived", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => closed.once("listening", resolve));
  const { port: nobody } = closed.address() as { port: number };
  await new Promise((resolve) => closed.close(resolve));
  await assert.rejects(egressWith().request(post(nobody)), fault("connect_failed", false));

  const hangsUp = await startRawReceiver((socket) => socket.once("data", () => socket.destroy()));
  await assert.rejects(egressWith().request(post(hangsUp.port)), fault("connection_lost", true));

  const talksNonsense = await startRawReceiver((socket) => socket.once("data", () => socket.end("what?\r\n\r\n")));
  await assert.rejects(egressWith().request(post(talksNonsense.port)), fault("connection_lost", true));

  const breaksOff = await startRawReceiver((socket) =>
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx")),
  );
  await assert.rejects(egressWith().request(post(breaksOff.port)), fault("connection_lost", true));

  const switches = await startRawReceiver((socket) =>
    socket.once("data", () =>
      socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
    ),
  );
  await assert.rejects(egressWith().request(post(switches.port)), fault("connection_lost", true));

  const egress = egressWith({ resolver: async () => [] });
  await assert.rejects(egress.request(post(1, { url: "http://none.example/" })), fault("dns_failed", false));
});

test("certificates are verified against the name although the connection is made to an address", async () => {
  const authority = await createAuthority("CN=tests");
  const tls = await authority.issue("CN=hooks.example");
  const { port, requests } = await startReceiver(undefined, { tls });
  const egress = egressWith({ ca: authority.cert });
  const call = (host: string) => post(port, { url: `https://${host}:${port}/` });
  assert.equal((await egress.request(call("hooks.example"))).status, 200);
  await assert.rejects(egress.request(call("other.example")), fault("tls_failed", false));
  await assert.rejects(egress.request(call("127.0.0.1")), fault("tls_failed", false));
  await assert.rejects(egressWith().request(call("hooks.example")), fault("tls_failed", false));
  assert.deepEqual(
    requests.map(({ socket }) => (socket as TLSSocket).servername),
    ["hooks.example"],
  );
});

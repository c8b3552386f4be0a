import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { createLog } from "../log/log.ts";
import { createMetrics } from "../telemetry/index.ts";
import { createEgress, type EgressCall, EgressError, type EgressFailure } from "./index.ts";
import { startReceiver } from "./testing/receivers.ts";

type Options = Parameters<typeof createEgress>[0];

/** An egress with scripted DNS: each lookup of a name returns its next entry, and the last entry repeats. */
function egressWith(options: Partial<Options> = {}, answers: Record<string, readonly string[][]> = {}) {
  const lookups = new Map<string, number>();
  const metrics = createMetrics();
  const egress = createEgress({
    mode: "enforce",
    allowedDomains: [],
    allowedIpNets: [],
    log: createLog("silent"),
    metrics,
    clock: { now: () => 0 },
    resolver: async (host) => {
      const turn = lookups.get(host) ?? 0;
      lookups.set(host, turn + 1);
      const turns = answers[host];
      if (turns === undefined) throw new Error("ENOTFOUND");
      return turns[Math.min(turn, turns.length - 1)]!.map((address) => ({
        address,
        family: address.includes(":") ? (6 as const) : (4 as const),
      }));
    },
    ...options,
  });
  return { egress, metrics, lookups };
}

function get(url: string, more: Partial<EgressCall> = {}): EgressCall {
  return { method: "GET", url, timeoutMs: 10_000, ...more };
}

function fault(reason: EgressFailure, mayHaveArrived = false) {
  return (error: unknown) =>
    error instanceof EgressError && error.reason === reason && error.mayHaveArrived === mayHaveArrived;
}

const loopback = { allowedIpNets: ["127.0.0.0/8"] };

test("a request reaches its host by name, with the requested Host, body and headers", async () => {
  const { port, requests } = await startReceiver(async (request, response) => {
    const body = await request.toArray();
    response.writeHead(201, { "x-seen": "yes", "set-cookie": ["a=1", "b=2"] }).end(Buffer.concat(body));
  });
  const { egress } = egressWith(loopback, { "hooks.example": [["127.0.0.1"]] });
  const answer = await egress.request({
    method: "POST",
    url: `http://hooks.example:${port}/path?q=1#fragment`,
    headers: { "content-type": "text/plain" },
    body: "hello",
    timeoutMs: 10_000,
  });
  assert.equal(answer.status, 201);
  assert.equal(answer.body.toString(), "hello");
  assert.equal(answer.headers["x-seen"], "yes");
  assert.equal(answer.headers["set-cookie"], "a=1, b=2");
  assert.equal(requests[0]!.url, "/path?q=1");
  assert.equal(requests[0]!.headers.host, `hooks.example:${port}`);
  assert.equal(requests[0]!.headers["content-length"], "5");
});

test("a loopback address is refused in every notation, and nothing is sent", async () => {
  const { port, connections } = await startReceiver();
  const { egress } = egressWith({}, { "inside.example": [["127.0.0.1"]], "six.example": [["::ffff:127.0.0.1"]] });
  const hosts = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::127.0.0.1]",
    "inside.example",
    "inside.example.",
    "INSIDE.example",
    "six.example",
  ];
  for (const host of hosts) {
    await assert.rejects(egress.request(get(`http://${host}:${port}/`)), fault("denied"), host);
  }
  for (const url of [`http://public.example@127.0.0.1:${port}/`, `http://[fe80::1%25lo]:${port}/`, "ftp://8.8.8.8/"]) {
    await assert.rejects(egress.request(get(url)), fault("invalid_url"), url);
  }
  assert.equal(connections(), 0);
});

test("the connection is made to the checked address, and a name that changes is checked again", async () => {
  const open = await startReceiver((_request, response) => response.end("open"), { address: "127.0.0.2" });
  const { egress, lookups } = egressWith(
    { allowedIpNets: ["127.0.0.2/32"] },
    // One lookup per request: if the connection resolved the name again, it would get the second entry.
    { "rebinding.example": [["127.0.0.2"], ["127.0.0.1"]] },
  );
  const url = `http://rebinding.example:${open.port}/`;
  assert.equal((await egress.request(get(url))).body.toString(), "open");
  assert.equal(lookups.get("rebinding.example"), 1);
  // The first connection is still open, but it is not reused for a name that now resolves to another address.
  await assert.rejects(egress.request(get(url)), fault("denied"));
  assert.equal(open.requests.length, 1);
});

test("connections are reused only for a name with the same addresses", async () => {
  const { port, connections, requests } = await startReceiver(undefined, { address: "0.0.0.0" });
  const { egress } = egressWith(loopback, {
    "steady.example": [["127.0.0.1"]],
    "moving.example": [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2"]],
  });
  for (let i = 0; i < 3; i++) await egress.request(get(`http://steady.example:${port}/`));
  assert.equal(connections(), 1);
  for (let i = 0; i < 3; i++) await egress.request(get(`http://moving.example:${port}/`));
  assert.equal(connections(), 3);
  assert.deepEqual(
    requests.slice(3).map(({ socket }) => socket.localAddress),
    ["127.0.0.1", "127.0.0.2", "127.0.0.2"],
  );
});

test("a name with one public and one private address is refused", async () => {
  const { egress } = egressWith({}, { "mixed.example": [["93.184.215.14", "10.0.0.1"]] });
  await assert.rejects(egress.request(get("http://mixed.example/")), fault("denied"));
});

test("a redirect is returned as a response and never followed", async () => {
  const inside = await startReceiver(undefined, { address: "127.0.0.1" });
  const outside = await startReceiver(
    (_request, response) => response.writeHead(302, { location: `http://127.0.0.1:${inside.port}/` }).end(),
    { address: "127.0.0.2" },
  );
  const { egress } = egressWith({ allowedIpNets: ["127.0.0.2/32"] });
  const answer = await egress.request(get(`http://127.0.0.2:${outside.port}/`));
  assert.equal(answer.status, 302);
  assert.equal(inside.connections(), 0);
});

test("shadow mode allows private addresses, counts them and logs each host once a minute; metadata stays refused", async () => {
  const { port } = await startReceiver();
  const lines: object[] = [];
  const log = createLog("silent");
  log.warn = (line: object) => lines.push(line);
  let nowMs = 0;
  const { egress, metrics } = egressWith(
    { mode: "shadow", log, clock: { now: () => nowMs } },
    { "inside.example": [["127.0.0.1"]], "metadata.example": [["::ffff:169.254.169.254"]] },
  );
  for (let i = 0; i < 3; i++) await egress.request(get(`http://inside.example:${port}/`));
  assert.deepEqual(lines, [{ host: "inside.example", reason: "loopback", outcome: "let_through" }]);
  nowMs += 60_000;
  await egress.request(get(`http://inside.example:${port}/`));
  assert.equal(lines.length, 2);
  await assert.rejects(egress.request(get("http://metadata.example/")), fault("denied"));
  await assert.rejects(egress.request(get("http://169.254.169.254/")), fault("denied"));
  const text = await metrics.render();
  assert.match(text, /egress_objections_total\{reason="loopback",outcome="let_through"\} 4/);
  assert.match(text, /egress_objections_total\{reason="metadata",outcome="refused"\} 2/);
});

test("resolve returns the checked address of a host, or throws", async () => {
  const { egress } = egressWith(loopback, {
    "mail.example": [["2606:4700::1111", "8.8.8.8"]],
    "inside.example": [["10.0.0.1"]],
  });
  assert.deepEqual(await egress.resolve("mail.example"), { address: "8.8.8.8", family: 4 });
  assert.deepEqual(await egress.resolve("127.1"), { address: "127.0.0.1", family: 4 });
  await assert.rejects(egress.resolve("inside.example"), fault("denied"));
  await assert.rejects(egress.resolve("10.1"), fault("denied"));
  await assert.rejects(egress.resolve("unknown.example"), fault("dns_failed"));
  await assert.rejects(egress.resolve("a host"), fault("invalid_url"));
});

test("headers for message framing and the recipient are rejected, and so are invalid methods and header values", async () => {
  const { port, connections } = await startReceiver();
  const { egress } = egressWith(loopback);
  const url = `http://127.0.0.1:${port}/`;
  for (const name of ["Host", "content-length", "Transfer-Encoding", "connection", "expect", "proxy-authorization"]) {
    await assert.rejects(egress.request(get(url, { headers: { [name]: "x" } })), fault("invalid_url"), name);
  }
  for (const method of ["CONNECT", "TRACE", "G T", "get"]) {
    await assert.rejects(egress.request({ ...get(url), method }), fault("invalid_url"), method);
  }
  await assert.rejects(egress.request(get(url, { headers: { "x-a": "b\r\nx-c: d" } })), fault("invalid_url"));
  assert.equal(connections(), 0);
});

test("a compressed response is decoded within the limit of the response, and a bomb or a broken one is refused", async () => {
  const text = "hello ".repeat(1000);
  const bodies: Record<string, readonly [encoding: string, body: Buffer]> = {
    "/gzip": ["gzip", gzipSync(text)],
    "/upper": ["GZIP", gzipSync(text)],
    "/br": ["br", brotliCompressSync(text)],
    "/unknown": ["aws-chunked", Buffer.from(text)],
    "/bomb": ["gzip", gzipSync(Buffer.alloc(100_000_000))],
    "/broken": ["gzip", gzipSync(text).subarray(0, 30)],
  };
  const { port } = await startReceiver(async (request, response) => {
    const [encoding, body] = bodies[request.url!]!;
    response.writeHead(200, { "content-encoding": encoding, "content-length": body.length }).end(body);
  });
  const { egress } = egressWith(loopback);
  const ask = (path: string) => egress.request(get(`http://127.0.0.1:${port}${path}`, { bytesMax: 200_000 }));
  for (const path of ["/gzip", "/upper", "/br"]) {
    const { body, headers } = await ask(path);
    assert.equal(body.toString(), text, path);
    assert.deepEqual([headers["content-encoding"], headers["content-length"]], [undefined, undefined], path);
  }
  assert.equal((await ask("/unknown")).body.toString(), text);
  await assert.rejects(ask("/bomb"), fault("too_large", true));
  await assert.rejects(ask("/broken"), fault("connection_lost", true));
});

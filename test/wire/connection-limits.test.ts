import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { before, describe, test } from "node:test";
import { discardDocument } from "../harness/http-client.ts";
import { encodeFrame, encodePreface } from "../harness/http2-frames.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

let service: TestService;
/** A node that waits for callers, but not for those that do not read its responses. */
let patient: TestService;
before(async () => {
  [service, patient] = await Promise.all([
    startService({
      "server.header_timeout_s": "1",
      "server.body_timeout_s": "1",
      "server.idle_timeout_s": "1",
      "server.max_connections_per_address": "1",
    }),
    startService({ "server.body_timeout_s": "1", "api.max_request_body_size": "65536" }),
  ]);
});

interface Connection {
  readonly socket: Socket;
  /** The received data, once the service has closed the connection. */
  readonly ended: Promise<string>;
}

/** Opens a connection, sends some bytes and then stays silent. */
async function open(words: string | Buffer, baseUrl = service.baseUrl): Promise<Connection> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connectTcp(Number(port), hostname).on("error", () => {});
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
  });
  const ended = new Promise<string>((resolve) => socket.once("close", () => resolve(received)));
  await once(socket, "connect");
  if (words.length > 0) socket.write(words);
  return { socket, ended };
}

const preface = encodePreface();

const lingering: readonly (readonly [what: string, words: string | Buffer])[] = [
  ["says nothing", ""],
  ["sends half a request line", "POST /api/ev"],
  ["sends headers that never end", "POST /api/events HTTP/1.1\r\nHost: localhost\r\n"],
  ["keeps its connection after an answer", "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"],
  ["sends eight bytes of the HTTP/2 preface", "PRI * HT"],
  ["sends one byte that may begin a preface", "P"],
  ["sends the HTTP/2 preface without settings", preface.subarray(0, 24)],
  ["opens an HTTP/2 session and asks for nothing", preface],
  ["sends an HTTP/2 header block that never ends", Buffer.concat([preface, encodeFrame(1, 0, 1, Buffer.from([0x83]))])],
];

/** Opens a stream whose body never ends; resolves when the service has closed the stream. */
async function stall(session: http2.ClientHttp2Session, headers: http2.OutgoingHttpHeaders) {
  const stream = session.request({ ":method": "POST", "content-type": "application/json", ...headers });
  stream.on("error", () => {});
  const closed = once(stream, "close");
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk) => {
    text += chunk;
  });
  stream.write("{");
  const [head, , flags] = await once(stream, "response");
  await closed;
  return { head, flags, text, rstCode: stream.rstCode };
}

describe("callers that stay silent", { concurrency: true }, () => {
  for (const [what, words] of lingering) {
    test(`an unauthenticated caller that ${what} is disconnected`, async () => {
      const { ended } = await open(words);
      await ended;
    });
  }

  test("headers that do not arrive in time get a problem response that says so", async () => {
    const { ended } = await open("POST /api/events HTTP/1.1\r\nHost: localhost\r\n");
    const [head, body] = (await ended).split("\r\n\r\n", 2);
    assert.match(head!, /^HTTP\/1\.1 408 /);
    assert.equal(JSON.parse(body!).errorCode, "REQUEST_TIMEOUT");
  });

  test("a body over HTTP/1.1 that does not arrive in time gets 408, and the connection ends", async () => {
    const { ended } = await open(
      `POST /api/v2/environments HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${service.adminKey}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    const [head, body] = (await ended).split("\r\n\r\n", 2);
    assert.match(head!, /^HTTP\/1\.1 408 /);
    const problem = JSON.parse(body!);
    assert.equal(problem.errorCode, "REQUEST_TIMEOUT");
    assert.equal(problem.retryable, true);
  });

  test("a rejected caller over HTTP/1.1 that never sends its body is disconnected after the response", async () => {
    const { ended } = await open(
      "POST /api/v2/environments HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    );
    assert.match(await ended, /^HTTP\/1\.1 401 /);
  });

  test("a body over HTTP/2 that does not arrive in time gets an error in its protocol, and its stream ends", async (t) => {
    const session = http2.connect(service.baseUrl);
    t.after(() => session.destroy());
    const key = { "x-api-key": service.adminKey };
    const create = "/service.api.EnvironmentService/CreateEnvironment";
    const asGrpc = { "content-type": "application/grpc" };
    const [rest, connect, grpc, reflection] = await Promise.all([
      stall(session, { ":path": "/api/v2/environments", ...key }),
      stall(session, { ":path": create, ...key }),
      stall(session, { ":path": create, ...key, ...asGrpc }),
      stall(session, { ":path": "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", ...asGrpc }),
    ]);
    assert.equal(rest.head[":status"], 408);
    assert.equal(JSON.parse(rest.text).errorCode, "REQUEST_TIMEOUT");
    assert.equal(JSON.parse(connect.text).code, "deadline_exceeded");
    assert.equal(grpc.head["grpc-status"], "4");
    assert.equal(reflection.rstCode, 0);
  });

  test("the stream of a rejected HTTP/2 caller that never sends its body is closed after the response", async (t) => {
    const session = http2.connect(service.baseUrl);
    t.after(() => session.destroy());
    const { head, rstCode } = await stall(session, { ":path": "/api/v2/environments" });
    assert.equal(head[":status"], 401);
    assert.equal(rstCode, 0);
  });
});

test("a caller that times out and never closes its side does not keep its connection", async (t) => {
  const { hostname, port } = new URL(service.baseUrl);
  const ends: Promise<void>[] = [];
  for (const [, words] of lingering) {
    const socket = connectTcp({ port: Number(port), host: hostname, allowHalfOpen: true }).on("error", () => {});
    t.after(() => socket.destroy());
    ends.push(new Promise((resolve) => socket.once("end", resolve).once("close", () => resolve())));
    await once(socket, "connect");
    socket.resume().write(words);
  }
  await Promise.all(ends);
  await until(async () => (await openConnections(service)) === 0);
});

async function openConnections({ metricsUrl }: TestService): Promise<number> {
  const metrics = await (await fetch(`${metricsUrl}/metrics`)).text();
  const open = /^open_connections\{plane="external"\} (\d+)$/m.exec(metrics)?.[1];
  assert.ok(open !== undefined, "the metric exists");
  return Number(open);
}

test("a rejected body beyond the maximum size is cut off, and the connection stays usable", async (t) => {
  const session = http2.connect(patient.baseUrl);
  t.after(() => session.destroy());
  const stream = session.request({ ":method": "POST", ":path": "/api/v2/environments" }).resume();
  stream.on("error", () => {});
  const closed = once(stream, "close");
  const endless = setInterval(() => stream.writable && stream.write(Buffer.alloc(16_384)), 1);
  t.after(() => clearInterval(endless));
  await closed;
  clearInterval(endless);
  const health = session.request({ ":path": "/health" });
  const [head] = await once(health.resume(), "response");
  assert.equal(head[":status"], 200);
});

/**
 * Has the document created, which happens once: later responses are free. Leaves no connection open. On a busy machine the
 * node may give up a response that this process, the same, reads too late.
 */
async function requestDocument(): Promise<void> {
  const request = () => discardDocument(`${patient.baseUrl}/openapi.yaml`, { connection: "close" });
  await until(() =>
    request()
      .then(() => true)
      .catch(() => false),
  );
  await until(async () => (await openConnections(patient)) === 0);
}

test("a response that the caller does not read is abandoned, over HTTP/1.1 and HTTP/2", async (t) => {
  const { baseUrl } = patient;
  await requestDocument();
  const { socket } = await open("GET /openapi.yaml HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20), baseUrl);
  t.after(() => socket.destroy());
  socket.removeAllListeners("data").pause();
  const session = http2.connect(baseUrl, { settings: { initialWindowSize: 0 } });
  t.after(() => session.destroy());
  await once(session, "remoteSettings");
  const stream = session.request({ ":path": "/openapi.yaml" });
  stream.on("error", () => {});
  await once(stream, "close");
  assert.equal(stream.rstCode, http2.constants.NGHTTP2_CANCEL);
  // The kernel reports the end only after all data is read, so the test queries the service.
  session.destroy();
  await until(async () => (await openConnections(patient)) === 0);
});

test("pipelined responses that are ready early are abandoned when the caller does not read them", async (t) => {
  const { baseUrl, adminKey } = patient;
  await requestDocument();
  // The first response needs the database. The documents are ready immediately, and wait for it.
  const first = `GET /api/v2/environments HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${adminKey}\r\n\r\n`;
  const documents = "GET /openapi.yaml HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20);
  const { socket } = await open(first + documents, baseUrl);
  t.after(() => socket.destroy());
  await once(socket, "data");
  socket.removeAllListeners("data").pause();
  await until(async () => (await openConnections(patient)) === 0);
});

test("an HTTP/2 session with an open stream outlives the idle timeout while its peer responds to pings", async (t) => {
  const session = http2.connect(service.baseUrl);
  t.after(() => session.destroy());
  const stream = session.request({ ":path": "/api/events/subscribe", "x-api-key": service.adminKey });
  await once(stream, "response");
  stream.resume();
  // Two pings are one more than an unresponsive peer gets.
  for (let pings = 0; pings < 2; pings++) await once(session, "ping");
  assert.equal(stream.closed, false);
});

test("an HTTP/2 peer that no longer responds to pings is disconnected, with its streams", async () => {
  const { ended } = await open(
    Buffer.concat([
      preface,
      // :method POST, :scheme http, :path of the health protocol's Watch, :authority localhost and the content type;
      // the body is one empty message.
      encodeFrame(
        1,
        4,
        1,
        Buffer.concat([
          Buffer.from([0x83, 0x86]),
          literal(0x04, "/grpc.health.v1.Health/Watch"),
          literal(0x01, "localhost"),
          literal(0x0f, 0x10, "application/grpc"),
        ]),
      ),
      encodeFrame(0, 1, 1, Buffer.alloc(5)),
    ]),
  );
  assert.match(await ended, /\x06\0\0\0\0\0/, "the peer was pinged");
});

/** Encodes an HPACK header with an index of the static table, neither indexed nor compressed. */
function literal(...parts: [...index: number[], value: string]): Buffer {
  const value = Buffer.from(parts.at(-1) as string);
  return Buffer.concat([Buffer.from([...(parts.slice(0, -1) as number[]), value.length]), value]);
}

test("connections beyond the limits, per address or in total, are refused until others close", async (t) => {
  const cases: readonly Record<string, string>[] = [
    { "server.max_connections_per_address": "3", "server.proxy_networks": "" },
    { "server.max_connections": "3" },
  ];
  const assertLimited = async (limits: Record<string, string>) => {
    // A silent connection that its caller closes is released immediately, before its timeout.
    const limited = await startService({ "server.header_timeout_s": "300", ...limits });
    const health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const held = await Promise.all([1, 2, 3].map(() => open("", limited.baseUrl)));
    t.after(() => {
      for (const { socket } of held) socket.destroy();
    });
    assert.equal(await (await open(health, limited.baseUrl)).ended, "", "refused without a response");
    held[0]!.socket.destroy();
    await until(async () => {
      const { socket, ended } = await open(
        health.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"),
        limited.baseUrl,
      );
      const answer = await ended;
      socket.destroy();
      return answer.startsWith("HTTP/1.1 200");
    });
    // Another plane has its own limit.
    const metrics = await (await fetch(`${limited.metricsUrl}/metrics`)).text();
    assert.match(metrics, /^connections_refused_total\{limit="(address|total)"\} [1-9]/m);
  };
  await Promise.all(cases.map(assertLimited));
});

test("the limit per address does not apply to a proxy's network", async (t) => {
  const held = await Promise.all([1, 2, 3].map(() => open("")));
  t.after(() => {
    for (const { socket } of held) socket.destroy();
  });
  assert.equal((await fetch(`${service.baseUrl}/health`)).status, 200);
});

import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { connect as connectTcp } from "node:net";
import { before, test } from "node:test";
import { catalogue, type ErrorCode } from "../../src/errors/index.ts";
import { type Rows, readRows } from "../harness/rows.ts";
import { until } from "../harness/until.ts";
import { createMatrixFixture, type MatrixFixture } from "../matrix/fixture.ts";

let fixture: MatrixFixture;
let held: Rows;
let url: URL;
let key: string;
before(async () => {
  fixture = await createMatrixFixture({ "api.max_request_body_size": "65536" });
  held = await readRows(fixture.sql);
  url = new URL(fixture.service.baseUrl);
  key = fixture.service.adminKey;
});

/** Writes bytes to the port; reads the response until the connection ends or stays silent. */
async function converse(bytes: string | Buffer): Promise<string> {
  const socket = connectTcp(Number(url.port), url.hostname);
  let said = "";
  socket.on("data", (chunk) => {
    said += chunk.toString("latin1");
  });
  socket.on("error", () => {});
  const closed = once(socket, "close");
  socket.write(bytes);
  // Only complete responses: those on a persistent connection declare their length.
  await Promise.race([closed, answered()]);
  socket.destroy();
  return said;

  async function answered(): Promise<void> {
    await until(() => {
      const [head, body] = said.split("\r\n\r\n", 2);
      const length = /content-length: (\d+)/i.exec(head ?? "")?.[1];
      return socket.destroyed || (body !== undefined && length !== undefined && body.length >= Number(length));
    });
  }
}

function problemOf(answer: string) {
  const [head, body] = answer.split("\r\n\r\n", 2);
  assert.match(head!, /content-type: application\/problem\+json/i, answer);
  const problem = JSON.parse(body!);
  assert.equal(problem.status, Number(/^HTTP\/1\.1 (\d+)/.exec(head!)![1]));
  assert.ok(problem.errorCode in catalogue, answer);
  assert.equal(problem.status, catalogue[problem.errorCode as ErrorCode].http);
  assert.match(problem.type, new RegExp(`^http://.*/errors/${problem.errorCode}$`));
  assert.match(problem.request_id, /^[0-9a-f-]{36}$/);
  assert.match(head!, new RegExp(`x-request-id: ${problem.request_id}`, "i"));
  return problem;
}

const host = "Host: localhost\r\n";
const garbage: readonly (readonly [what: string, bytes: string | Buffer])[] = [
  ["no HTTP at all", "GARBAGE\r\n\r\n"],
  ["bytes", Buffer.from([0, 1, 2, 3, 255, 254, 13, 10, 13, 10])],
  ["a TLS greeting", Buffer.from("16030100a5010000a10303", "hex")],
  ["an unknown version", `GET / HTTP/9.9\r\n${host}\r\n`],
  ["an unknown verb", `FROBNICATE / HTTP/1.1\r\n${host}\r\n`],
  ["no Host", "GET /api/tenants HTTP/1.1\r\n\r\n"],
  ["two Hosts", `GET /api/tenants HTTP/1.1\r\n${host}${host}\r\n`],
  ["a header without a colon", `GET / HTTP/1.1\r\n${host}nonsense\r\n\r\n`],
  ["U+0000 in a header", `GET / HTTP/1.1\r\n${host}x: a\u0000b\r\n\r\n`],
  ["a negative length", `POST /api/tenants HTTP/1.1\r\n${host}content-length: -1\r\n\r\n`],
  ["a length that is not a number", `POST /api/tenants HTTP/1.1\r\n${host}content-length: five\r\n\r\n`],
  ["two lengths", `POST /api/tenants HTTP/1.1\r\n${host}content-length: 1\r\ncontent-length: 2\r\n\r\nab`],
  [
    "a length and chunks",
    `POST /api/tenants HTTP/1.1\r\n${host}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    "a chunk whose length is no number",
    `POST /api/v2/environments HTTP/1.1\r\n${host}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
  ],
  ["an unknown transfer encoding", `POST /api/tenants HTTP/1.1\r\n${host}transfer-encoding: magic\r\n\r\n`],
  ["a space in the path", `GET /api/ten ants HTTP/1.1\r\n${host}\r\n`],
  ["an unsupported Expect header", `GET /api/tenants HTTP/1.1\r\n${host}expect: wonders\r\n\r\n`],
];

for (const [what, bytes] of garbage) {
  test(`${what} gets a problem response instead of silence`, async () => {
    const problem = problemOf(await converse(bytes));
    assert.ok(problem.status >= 400 && problem.status < 500, JSON.stringify(problem));
  });
}

test("an unknown Expect header gets 417, and changes nothing", async () => {
  const body = '{"key":"wonders"}';
  const request = `POST /api/v2/environments HTTP/1.1\r\n${host}x-api-key: ${key}\r\ncontent-type: application/json\r\nexpect: wonders\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  assert.equal(problemOf(await converse(request)).errorCode, "EXPECTATION_FAILED");
  const created = await fixture.sql`select id from environments where key = 'wonders'`;
  assert.equal(created.length, 0);
});

test("a caller that expects 100-continue is refused before it sends its body", async () => {
  const refused = await converse(
    `POST /api/v2/environments HTTP/1.1\r\n${host}expect: 100-continue\r\ncontent-length: 1000\r\n\r\n`,
  );
  assert.equal(problemOf(refused).errorCode, "UNAUTHENTICATED");
  assert.match(refused, /connection: close/i);
});

test("a caller that expects 100-continue and may call the operation is asked for its body", async () => {
  const body = Buffer.from('{"dry_run":true}');
  const session = http2.connect(url.origin);
  const statuses = await Promise.all([
    new Promise((resolve, reject) => {
      const headers = { expect: "100-continue", "x-api-key": key, "content-type": "application/json" };
      const request = http.request(url, { method: "POST", path: "/api/rules/validate", headers });
      request.on("continue", () => request.end(body));
      request.on("response", (response) => resolve(response.resume().statusCode));
      request.on("error", reject).flushHeaders();
    }),
    new Promise((resolve, reject) => {
      const headers = { ":method": "POST", ":path": "/api/rules/validate", expect: "100-continue", "x-api-key": key };
      const stream = session.request({ ...headers, "content-type": "application/json" });
      stream.on("continue", () => stream.end(body));
      stream.on("response", (response) => resolve(response[":status"]));
      stream.on("error", reject).resume();
    }),
  ]);
  session.close();
  assert.deepEqual(statuses, [400, 400]);
});

test("headers of 24 KiB are accepted, and larger ones are rejected with 431", async () => {
  const allowed = `GET /health HTTP/1.1\r\n${host}x-large: ${"x".repeat(24 * 1024)}\r\n\r\n`;
  assert.match(await converse(allowed), /^HTTP\/1\.1 200 /);
  const large = `GET /api/tenants HTTP/1.1\r\n${host}x-large: ${"x".repeat(64 * 1024)}\r\n\r\n`;
  assert.equal(problemOf(await converse(large)).errorCode, "HEADERS_TOO_LARGE");
  const long = `GET /api/tenants/${"x".repeat(64 * 1024)} HTTP/1.1\r\n${host}\r\n`;
  assert.equal(problemOf(await converse(long)).errorCode, "HEADERS_TOO_LARGE");
});

test("a path in absolute form is accepted like any other", async () => {
  for (const target of ["http://localhost/health", "http://LOCALHOST:80/health", "https://localhost:443/health?a=b"]) {
    assert.match(await converse(`GET ${target} HTTP/1.1\r\n${host}\r\n`), /^HTTP\/1\.1 200/, target);
  }
});

test("a request with two hosts is rejected, whichever of them is listed", async () => {
  for (const [target, hosts] of [
    ["/health", ["localhost", "evil.example"]],
    ["/health", ["localhost", "localhost"]],
    ["http://evil.example/health", ["localhost"]],
    ["http://localhost/health", ["evil.example"]],
    ["http://localhost:8081/health", ["localhost:8080"]],
    ["http://localhost@evil.example/health", ["localhost"]],
  ] as const) {
    const headers = hosts.map((name) => `Host: ${name}\r\n`).join("");
    const problem = problemOf(await converse(`GET ${target} HTTP/1.1\r\n${headers}\r\n`));
    assert.equal(problem.status, 400, `${target} ${hosts}`);
    assert.equal(problem.violations[0].field, "Host");
  }
  const foreign = problemOf(await converse("GET http://evil.example/health HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
  assert.equal(foreign.errorCode, "HOST_NOT_ALLOWED");
});

test("over HTTP/2, a Host that differs from the authority is rejected", async (t) => {
  const session = http2.connect(url.origin);
  t.after(() => session.destroy());
  const stream = session.request({ ":path": "/health", ":authority": "localhost", host: "evil.example" });
  const [head] = await once(stream.resume(), "response");
  assert.equal(head[":status"], 400);
});

test("a connection that starts as HTTP/2 and continues with other bytes is closed, and others are served", async () => {
  const socket = connectTcp(Number(url.port), url.hostname);
  socket.on("error", () => {});
  const closed = once(socket, "close");
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  socket.write(Buffer.alloc(1024, 0xff));
  socket.resume();
  await closed;
  assert.equal((await fetch(`${url.origin}/health`)).status, 200);
});

test("a body with a declared size above the limit is rejected before it is read", async () => {
  for (const path of ["/api/v2/environments", "/service.api.EnvironmentService/CreateEnvironment"]) {
    const answer = await converse(
      `POST ${path} HTTP/1.1\r\n${host}x-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: 65537\r\n\r\n`,
    );
    assert.match(answer, path.startsWith("/api") ? /^HTTP\/1\.1 413 / : /^HTTP\/1\.1 429 /);
    assert.match(answer, /PAYLOAD_TOO_LARGE/);
  }
  const withGet = `GET /api/v2/environments HTTP/1.1\r\n${host}x-api-key: ${key}\r\ncontent-length: 65537\r\n\r\n`;
  assert.equal(problemOf(await converse(withGet)).errorCode, "PAYLOAD_TOO_LARGE");
});

test("a body that exceeds the limit is rejected, whatever size was declared", async () => {
  for (const path of ["/api/v2/environments", "/service.api.EnvironmentService/CreateEnvironment"]) {
    const request = http.request(`${url.origin}${path}`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json", "transfer-encoding": "chunked" },
    });
    request.on("error", () => {});
    const answer = once(request, "response");
    for (let i = 0; i < 5; i++) request.write(Buffer.alloc(16 * 1024, 0x20));
    const [response] = (await answer) as [http.IncomingMessage];
    const body = (await response.toArray()).join("");
    assert.equal(response.statusCode, path.startsWith("/api") ? 413 : 429);
    assert.match(body, /PAYLOAD_TOO_LARGE/);
    request.destroy();
  }
});

test("a body of exactly the maximum size is accepted", async () => {
  const body = `{"key": "${"x".repeat(65536 - '{"key": ""}'.length)}"}`;
  const response = await fetch(`${url.origin}/api/v2/environments`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body,
  });
  assert.equal(((await response.json()) as { errorCode: string }).errorCode, "INVALID_ARGUMENT");
});

test("the same limits apply over HTTP/2", async (t) => {
  const session = http2.connect(url.origin);
  t.after(() => session.destroy());
  const ask = async (headers: http2.OutgoingHttpHeaders, body?: Buffer) => {
    const stream = session.request({
      ":method": "POST",
      "x-api-key": key,
      "content-type": "application/json",
      ...headers,
    });
    const answered = once(stream, "response");
    stream.on("error", () => {});
    if (body !== undefined) stream.end(body);
    const [head] = await answered;
    return { status: head[":status"], text: (await stream.setEncoding("utf8").toArray()).join("") };
  };
  const large = await ask({ ":path": "/api/v2/environments" }, Buffer.alloc(100_000, 0x20));
  assert.equal(large.status, 413);
  assert.equal(JSON.parse(large.text).errorCode, "PAYLOAD_TOO_LARGE");
  const broken = await ask({ ":path": "/api/v2/environments" }, Buffer.from("{"));
  assert.equal(broken.status, 400);
  assert.equal((await ask({ ":path": "/health", ":method": "GET" })).status, 200);
});

test("a caller that disconnects in the middle of its body leaves nothing behind", async () => {
  const socket = connectTcp(Number(url.port), url.hostname);
  socket.write(
    `POST /api/v2/environments HTTP/1.1\r\n${host}x-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"key": "half`,
  );
  await once(socket, "ready");
  socket.resetAndDestroy();
  assert.equal((await fetch(`${url.origin}/health`)).status, 200);
});

test("none of these requests changed anything, and the service is healthy", async () => {
  assert.deepEqual(await readRows(fixture.sql), held);
  assert.equal((await fetch(`${url.origin}/ready`)).status, 200);
});

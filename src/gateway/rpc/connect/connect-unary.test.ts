import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { connect as connectSocket } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { toBinary } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { createConnectTransport } from "@connectrpc/connect-node";
import { GetTenantRequestSchema, TenantService } from "../../../../gen/service/api/tenant_pb.ts";
import { fail } from "../../../errors/index.ts";
import { startRpcServer } from "../testing/rpc-server.ts";

const path = "/service.api.TenantService/GetTenant";
const json = { "content-type": "application/json" };
const unauthenticated = { invoke: () => Promise.reject(fail("UNAUTHENTICATED")) };

const post = (url: string, body: string | Buffer, headers: Record<string, string> = json) =>
  fetch(url, { method: "POST", body, headers });

test("an error is Connect's JSON with the status of its Connect code, not REST's", async (t) => {
  const { url } = await startRpcServer(t, "1.1", { invoke: () => Promise.reject(fail("FAILED_PRECONDITION")) });
  const response = await post(url + path, "{}");
  assert.equal(response.status, 400);
  assert.equal(response.headers.get("content-type"), "application/json");
  const error = (await response.json()) as {
    code: string;
    message: string;
    details: { type: string; value: string; debug: object }[];
  };
  assert.equal(error.code, "failed_precondition");
  assert.equal(error.details[0]?.type, "google.rpc.ErrorInfo");
  assert.doesNotMatch(error.details[0]!.value, /=/);
  assert.deepEqual(error.details[0]?.debug, {
    reason: "FAILED_PRECONDITION",
    domain: "service.api",
    metadata: { retryable: "false" },
  });
});

test("a request without credentials and with an invalid body fails because of the credentials", async (t) => {
  const { url } = await startRpcServer(t, "1.1", unauthenticated);
  assert.equal((await post(url + path, "{broken")).status, 401);
  assert.equal((await post(url + path, "{}", { ...json, "content-encoding": "zstd" })).status, 401);
  assert.equal((await post(url + path, "{}", { ...json, "connect-timeout-ms": "soon" })).status, 401);
});

test("a caller without credentials gets the error before its body arrives over HTTP/1.1", async (t) => {
  const { port } = await startRpcServer(t, "1.1", unauthenticated);
  const socket = connectSocket(port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n`);
  const [chunk] = await once(socket, "data");
  assert.match(String(chunk), /^HTTP\/1\.1 401 /);
});

test("a caller without credentials gets the error before its body arrives over HTTP/2", async (t) => {
  const { url } = await startRpcServer(t, "2", unauthenticated);
  const session = connect(url);
  t.after(() => session.destroy());
  for (const [type, status] of [
    ["application/json", 401],
    ["application/grpc", 200],
    ["application/grpc-web", 200],
  ] as const) {
    const request = session.request({ ":method": "POST", ":path": path, "content-type": type }, { endStream: false });
    const [head] = await once(request, "response");
    assert.equal(head[":status"], status);
    await once(request.resume(), "end");
  }
});

test("a body that is not a message is refused", async (t) => {
  const { url } = await startRpcServer(t, "1.1", {});
  for (const body of ["{broken", "", "[]", '{"no_such_field":1}', '{"tenantId":"a\\u0000"}']) {
    const response = await post(url + path, body);
    assert.equal(response.status, 400, body);
    assert.equal(((await response.json()) as { code: string }).code, "invalid_argument");
  }
  for (const body of [Buffer.from([0xff, 0xff]), Buffer.from([0x0a, 0x05, 0x61])]) {
    const response = await post(url + path, body, { "content-type": "application/proto" });
    assert.equal(response.status, 400);
    assert.match(await response.text(), /not a valid message/);
  }
});

test("a body over the limit is refused, and one at the limit is accepted", async (t) => {
  const { url } = await startRpcServer(t, "1.1", { bodyBytesMax: 100 });
  const body = (size: number) => JSON.stringify({ tenantId: "x".repeat(size - 15) });
  assert.equal((await post(url + path, body(100))).status, 200);
  const response = await post(url + path, body(101));
  assert.equal(response.status, 429);
  assert.match(await response.text(), /PAYLOAD_TOO_LARGE/);
});

test("an unknown method is 404, a wrong verb 405 with Allow, a wrong content type 415 with Accept-Post", async (t) => {
  const { url } = await startRpcServer(t, "1.1", {});
  const unknown = await post(`${url}/service.api.TenantService/Nothing`, "{}");
  assert.equal(unknown.status, 404);
  assert.equal(((await unknown.json()) as { code: string }).code, "unimplemented");

  const wrongVerb = await fetch(url + path, { method: "PUT", body: "{}", headers: json });
  assert.equal(wrongVerb.status, 405);
  assert.equal(wrongVerb.headers.get("allow"), "GET, POST");
  const mutating = await fetch(`${url}/service.api.TenantService/CreateTenant?encoding=json&message={}`);
  assert.equal(mutating.status, 405);
  assert.equal(mutating.headers.get("allow"), "POST");

  const wrongType = await post(url + path, "a=b", { "content-type": "application/x-www-form-urlencoded" });
  assert.equal(wrongType.status, 415);
  assert.match(wrongType.headers.get("accept-post")!, /application\/json, application\/proto, application\/grpc,/);
  assert.equal((await post(url + path, "{}", { "content-type": "application/connect+json" })).status, 415);
  const stream = await post(`${url}/service.api.EventService/SubscribeEvents`, "{}");
  assert.equal(stream.status, 415);
  assert.match(stream.headers.get("accept-post")!, /^application\/connect\+json/);
});

test("a content type may name UTF-8, in any case, and no other charset", async (t) => {
  const { url } = await startRpcServer(t, "1.1", {});
  assert.equal((await post(url + path, "{}", { "content-type": "Application/JSON; charset=UTF-8" })).status, 200);
  assert.equal((await post(url + path, "{}", { "content-type": "application/json; charset=latin1" })).status, 415);
});

test("gRPC over HTTP/1.1 is refused with an alternative", async (t) => {
  const { url } = await startRpcServer(t, "1.1", {});
  const response = await post(url + path, Buffer.alloc(5), { "content-type": "application/grpc" });
  assert.equal(response.status, 505);
  assert.match(await response.text(), /gRPC needs HTTP\/2/);
});

test("third-party clients can call a read-only method with GET, in JSON and in binary", async (t) => {
  const { url } = await startRpcServer(t, "1.1", {});
  const method = { ...TenantService.method.getTenant, idempotency: MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS };
  for (const useBinaryFormat of [false, true]) {
    const transport = createConnectTransport({ baseUrl: url, httpVersion: "1.1", useHttpGet: true, useBinaryFormat });
    const { message } = await transport.unary(method as never, undefined, undefined, undefined, {
      tenantId: "ü+?/",
    } as never);
    assert.equal((message as unknown as { tenant: { id: string } }).tenant.id, "ü+?/");
  }
});

test("GET reads the request from the query and refuses an incomplete query", async (t) => {
  const { url } = await startRpcServer(t, "1.1", {});
  const get = (query: string) => fetch(`${url}${path}?${query}`);
  const base64 = Buffer.from(
    toBinary(GetTenantRequestSchema, { $typeName: "service.api.GetTenantRequest", tenantId: "~~~>>>" }),
  ).toString("base64");
  const plain = await get(`connect=v1&encoding=json&message=${encodeURIComponent('{"tenantId":"a"}')}`);
  assert.equal(plain.status, 200);
  assert.equal(plain.headers.get("vary"), "accept-encoding");
  assert.match(await (await get(`encoding=proto&base64=1&message=${base64}`)).text(), /~~~>>>/);
  assert.equal((await get("encoding=xml&message={}")).status, 415);
  assert.equal((await get("connect=v2&encoding=json&message={}")).status, 400);
  assert.equal((await get("encoding=json")).status, 400);
  assert.equal((await get("encoding=json&compression=zstd&base64=1&message=e30")).status, 501);
});

test("version 1 of the protocol is accepted, another is refused", async (t) => {
  const { url } = await startRpcServer(t, "1.1", {});
  assert.equal((await post(url + path, "{}", { ...json, "connect-protocol-version": "1" })).status, 200);
  assert.equal((await post(url + path, "{}", { ...json, "connect-protocol-version": "2" })).status, 400);
});

test("an invalid timeout is refused, and a huge one does not end the call early", async (t) => {
  const { url } = await startRpcServer(t, "1.1", {});
  assert.equal((await post(url + path, "{}", { ...json, "connect-timeout-ms": "1.5" })).status, 400);
  assert.equal((await post(url + path, "{}", { ...json, "connect-timeout-ms": "9999999999" })).status, 200);
});

test("a caller that disconnects in the middle of its body makes no call", async (t) => {
  for (const type of ["application/proto", "application/grpc"]) {
    const outcome = Promise.withResolvers<string>();
    const reached = Promise.withResolvers<void>();
    const { url } = await startRpcServer(t, "2", {
      invoke: async (call) => {
        reached.resolve();
        await Promise.resolve(call.decode()).then(
          () => outcome.resolve("decoded"),
          (error) => outcome.resolve(error.code),
        );
        throw fail("CANCELED");
      },
    });
    const session = connect(url);
    t.after(() => session.destroy());
    const request = session.request({ ":method": "POST", ":path": path, "content-type": type }, { endStream: false });
    request.on("error", () => {});
    // A complete message: only the end of the stream is missing.
    request.write(Buffer.from([0, 0, 0, 0, 3, 0x0a, 0x01, 0x61].slice(type === "application/grpc" ? 0 : 5)));
    await reached.promise;
    request.destroy();
    assert.equal(await outcome.promise, "CANCELED");
  }
});

test("a caller that disconnects before its body is read makes no call", async (t) => {
  const outcome = Promise.withResolvers<string>();
  const reached = Promise.withResolvers<void>();
  const { url } = await startRpcServer(t, "2", {
    invoke: async (call) => {
      const gone = new Promise((resolve) => call.signal.addEventListener("abort", resolve));
      reached.resolve();
      await gone;
      await Promise.resolve(call.decode()).then(
        () => outcome.resolve("decoded"),
        (error) => outcome.resolve(error.code),
      );
      throw fail("CANCELED");
    },
  });
  const session = connect(url);
  t.after(() => session.destroy());
  const request = session.request(
    { ":method": "POST", ":path": path, "content-type": "application/proto" },
    { endStream: false },
  );
  request.on("error", () => {});
  await reached.promise;
  request.destroy();
  assert.equal(await outcome.promise, "CANCELED");
});

test("a second call on the same connection succeeds after a refusal with an unread body", async (t) => {
  const { port } = await startRpcServer(t, "1.1", {
    invoke: async (call) => {
      throw fail(call.header("authorization") === undefined ? "UNAUTHENTICATED" : "NOT_FOUND");
    },
  });
  const socket = connectSocket(port, "127.0.0.1");
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
  socket.write(
    `${head}content-length: 4\r\n\r\nxxxx${head}authorization: y\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
  );
  assert.match(await text(socket), /^HTTP\/1\.1 401 .*HTTP\/1\.1 404 /s);
});

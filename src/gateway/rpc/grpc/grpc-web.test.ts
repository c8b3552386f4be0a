import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { StatusSchema } from "../../../../gen/google/rpc/status_pb.ts";
import { SubscribeEventsResponseSchema } from "../../../../gen/service/api/event_pb.ts";
import { GetTenantRequestSchema, GetTenantResponseSchema } from "../../../../gen/service/api/tenant_pb.ts";
import { fail } from "../../../errors/index.ts";
import { writeEnvelope } from "../codec/envelope.ts";
import { startRpcServer } from "../testing/rpc-server.ts";

const path = "/service.api.TenantService/GetTenant";
const request = writeEnvelope(
  0,
  toBinary(GetTenantRequestSchema, create(GetTenantRequestSchema, { tenantId: "t-12" })),
);

// Base64 text has padding wherever the server flushed.
function framesOf(text: string) {
  const bytes = Buffer.concat((text.match(/[^=]+=*/g) ?? []).map((part) => Buffer.from(part, "base64")));
  const frames: { flags: number; data: Buffer }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at + 1);
    frames.push({ flags: bytes[at]!, data: bytes.subarray(at + 5, at + 5 + length) });
    at += 5 + length;
  }
  return frames;
}

async function ask(url: string, body: string, type = "application/grpc-web-text") {
  const response = await fetch(url, { method: "POST", body, headers: { "content-type": type } });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), type);
  return framesOf(await response.text());
}

test("gRPC-Web-text is read and written as base64, trailers included", async (t) => {
  const { url } = await startRpcServer(t, "1.1", {});
  for (const type of ["application/grpc-web-text", "application/grpc-web-text+proto"]) {
    const [message, trailers, ...rest] = await ask(url + path, request.toString("base64"), type);
    assert.equal(fromBinary(GetTenantResponseSchema, message!.data).tenant?.id, "t-12");
    assert.equal(trailers?.flags, 0x80);
    assert.equal(trailers?.data.toString(), "grpc-status: 0\r\n");
    assert.deepEqual(rest, []);
  }
});

test("gRPC-Web-text may be padded in the middle, where a client flushed", async (t) => {
  const { url } = await startRpcServer(t, "1.1", {});
  const body = request.subarray(0, 5).toString("base64") + request.subarray(5).toString("base64");
  assert.match(body, /=.+/);
  const [message] = await ask(url + path, body);
  assert.equal(fromBinary(GetTenantResponseSchema, message!.data).tenant?.id, "t-12");
});

test("gRPC-Web-text that is not valid base64 is refused", async (t) => {
  const { url } = await startRpcServer(t, "1.1", {});
  for (const body of ["!!!!", "AAA", "A===", request.toString("latin1")]) {
    const [trailers] = await ask(url + path, body);
    assert.match(trailers!.data.toString(), /^grpc-status: 3\r\n/);
  }
});

test("a stream in gRPC-Web-text ends with its error in the trailers", async (t) => {
  const { url } = await startRpcServer(t, "1.1", {
    invoke: async () =>
      (async function* () {
        yield create(SubscribeEventsResponseSchema, { event: { id: "1" } });
        yield create(SubscribeEventsResponseSchema, { event: { id: "22" } });
        throw fail("UNAVAILABLE", { public: "Stopping." });
      })(),
  });
  const frames = await ask(`${url}/service.api.EventService/SubscribeEvents`, writeEnvelope(0, "").toString("base64"));
  assert.deepEqual(
    frames.slice(0, 2).map(({ data }) => fromBinary(SubscribeEventsResponseSchema, data).event?.id),
    ["1", "22"],
  );
  const trailers = frames[2]!.data.toString();
  assert.match(trailers, /grpc-status: 14\r\ngrpc-message: Stopping\.\r\n/);
  const details = /grpc-status-details-bin: (\S+)/.exec(trailers)![1]!;
  assert.equal(fromBinary(StatusSchema, Buffer.from(details, "base64")).message, "Stopping.");
});

test("a body must contain exactly one complete message", async (t) => {
  const { url } = await startRpcServer(t, "1.1", {});
  for (const body of [
    Buffer.alloc(0),
    Buffer.concat([request, request]),
    request.subarray(0, 7),
    request.subarray(0, 3),
  ]) {
    const response = await fetch(url + path, {
      method: "POST",
      body,
      headers: { "content-type": "application/grpc-web" },
    });
    assert.match(await response.text(), /grpc-status: 3\r\n/);
  }
});

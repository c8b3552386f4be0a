import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { type TestContext, test } from "node:test";
import { create, type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { Client, type ClientOptions, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { BadRequestSchema, ErrorInfoSchema } from "../../../../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../../../gen/google/rpc/status_pb.ts";
import { EventService, SubscribeEventsResponseSchema } from "../../../../gen/service/api/event_pb.ts";
import { TenantService } from "../../../../gen/service/api/tenant_pb.ts";
import { fail } from "../../../errors/index.ts";
import { startRpcServer } from "../testing/rpc-server.ts";

const { getTenant } = TenantService.method;
const { subscribeEvents } = EventService.method;

function clientOf(t: TestContext, port: number, options: ClientOptions = {}): Client {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options);
  t.after(() => client.close());
  return client;
}

function shapeOf(method: DescMethod) {
  return [
    `/${method.parent.typeName}/${method.name}`,
    (message: Message) => Buffer.from(toBinary(method.input, message)),
    (bytes: Buffer) => fromBinary(method.output, bytes),
  ] as const;
}

function unary(client: Client, tenantId: string, options = {}): Promise<{ response?: Message; error?: ServiceError }> {
  const request: Message = create(getTenant.input, { tenantId });
  return new Promise((resolve) => {
    client.makeUnaryRequest(...shapeOf(getTenant), request, new Metadata(), options, (error, response) =>
      resolve(error === null ? { response } : { error }),
    );
  });
}

test("grpc-js gets the response of a unary call", async (t) => {
  const { port } = await startRpcServer(t, "2", {});
  const { response } = await unary(clientOf(t, port), "t-1");
  assert.equal((response as unknown as { tenant: { id: string } }).tenant.id, "t-1");
});

test("grpc-js gets compressed responses, and its compressed requests are read", async (t) => {
  const { port } = await startRpcServer(t, "2", { compressBytesMin: 1 });
  const gzip = 2;
  const { response } = await unary(clientOf(t, port, { "grpc.default_compression_algorithm": gzip }), "t".repeat(5000));
  assert.equal((response as unknown as { tenant: { id: string } }).tenant.id, "t".repeat(5000));
});

test("grpc-js gets the code, message and details of an error", async (t) => {
  const { port } = await startRpcServer(t, "2", {
    invoke: async (call) => {
      call.requestId = "req-1";
      await call.decode();
      throw fail("VERSION_CONFLICT", { public: "Älter: 50 %", headers: { "Retry-After": "3" } });
    },
  });
  const { error } = await unary(clientOf(t, port), "t-1");
  assert.equal(error?.code, status.ABORTED);
  assert.equal(error?.details, "Älter: 50 %");
  assert.deepEqual(error?.metadata.get("retry-after"), ["3"]);
  const [bytes] = error!.metadata.get("grpc-status-details-bin") as Buffer[];
  const { code, details } = fromBinary(StatusSchema, bytes!);
  assert.equal(code, status.ABORTED);
  assert.equal(details[0]?.typeUrl, "type.googleapis.com/google.rpc.ErrorInfo");
  const info = fromBinary(ErrorInfoSchema, details[0]!.value);
  assert.equal(info.reason, "VERSION_CONFLICT");
  assert.equal(info.metadata.request_id, "req-1");
});

test("violations that do not fit into the trailers are truncated, not lost", async (t) => {
  const violations = Array.from({ length: 1000 }, (_, i) => ({
    field: `items[${i}].name`,
    rule: "r",
    message: "m".repeat(50),
  }));
  const { port } = await startRpcServer(t, "2", {
    invoke: () => Promise.reject(fail("INVALID_ARGUMENT", { public: "ü".repeat(5000), violations })),
  });
  const { error } = await unary(clientOf(t, port), "t-1");
  assert.equal(error?.code, status.INVALID_ARGUMENT);
  const [bytes] = error!.metadata.get("grpc-status-details-bin") as Buffer[];
  const { details } = fromBinary(StatusSchema, bytes!);
  const { fieldViolations } = fromBinary(BadRequestSchema, details[1]!.value);
  assert.ok(fieldViolations.length > 5 && fieldViolations.length < 100);
  assert.equal(fieldViolations[0]?.field, "items[0].name");
});

test("grpc-js gets a stream, an error after it, and its deadline", async (t) => {
  const { port } = await startRpcServer(t, "2", {
    invoke: async (call) => {
      const { subject } = (await call.decode()) as unknown as { subject: string };
      return (async function* () {
        for (const id of ["1", "2", "3"]) yield create(SubscribeEventsResponseSchema, { event: { id } });
        if (subject === "fail") throw fail("UNAVAILABLE");
        if (subject === "hang") await new Promise((resolve) => call.signal.addEventListener("abort", resolve));
      })();
    },
  });
  const client = clientOf(t, port);
  const ask = async (subject: string, options = {}) => {
    const request: Message = create(subscribeEvents.input, { subject });
    const stream = client.makeServerStreamRequest(...shapeOf(subscribeEvents), request, new Metadata(), options);
    const ids: string[] = [];
    stream.on("data", ({ event }) => ids.push(event.id));
    stream.on("error", () => {});
    const { code } = await new Promise<{ code: number }>((resolve) => stream.on("status", resolve));
    return { ids, code };
  };
  assert.deepEqual(await ask(""), { ids: ["1", "2", "3"], code: status.OK });
  assert.deepEqual(await ask("fail"), { ids: ["1", "2", "3"], code: status.UNAVAILABLE });
  assert.equal((await ask("hang", { deadline: Date.now() + 50 })).code, status.DEADLINE_EXCEEDED);
});

test("a call that grpc-js cancels is aborted on the server", async (t) => {
  const reached = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<string>();
  const { port } = await startRpcServer(t, "2", {
    invoke: ({ signal }) => {
      signal.addEventListener("abort", () => aborted.resolve(signal.reason.code));
      reached.resolve();
      return new Promise(() => {});
    },
  });
  const request: Message = create(getTenant.input);
  const call = clientOf(t, port).makeUnaryRequest(...shapeOf(getTenant), request, () => {});
  await reached.promise;
  call.cancel();
  assert.equal(await aborted.promise, "CANCELED");
});

test("an unknown method is unimplemented, an oversized message is refused, and an unknown compression lists the supported ones", async (t) => {
  const { port, url } = await startRpcServer(t, "2", { bodyBytesMax: 1000 });
  const client = clientOf(t, port);
  assert.equal((await unary(client, "x".repeat(1001))).error?.code, status.RESOURCE_EXHAUSTED);
  const [, serialize, deserialize] = shapeOf(getTenant);
  const request: Message = create(getTenant.input);
  const error = await new Promise<ServiceError | null>((resolve) =>
    client.makeUnaryRequest("/service.api.TenantService/Nothing", serialize, deserialize, request, resolve),
  );
  assert.equal(error?.code, status.UNIMPLEMENTED);

  const session = connect(url);
  t.after(() => session.destroy());
  const head = { ":method": "POST", ":path": shapeOf(getTenant)[0], "content-type": "application/grpc" };
  const stream = session.request({ ...head, "grpc-encoding": "snappy" });
  stream.end(Buffer.alloc(5));
  const [headers] = await once(stream, "response");
  assert.equal(headers["grpc-status"], "12");
  assert.equal(headers["grpc-accept-encoding"], "gzip");
});

test("a failure before the first message is a headers-only response, with the headers of the chain", async (t) => {
  const { url } = await startRpcServer(t, "2", {
    invoke: (call) => {
      call.responseHeaders["X-Request-ID"] = "req-1";
      return Promise.reject(fail("UNAUTHENTICATED"));
    },
  });
  const session = connect(url);
  t.after(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": shapeOf(getTenant)[0],
    "content-type": "application/grpc+proto",
  });
  stream.resume().end(Buffer.alloc(5));
  const [headers, flags] = await once(stream, "response");
  assert.equal(headers[":status"], 200);
  assert.equal(headers["grpc-status"], "16");
  assert.equal(headers["x-request-id"], "req-1");
  assert.equal(headers["content-type"], "application/grpc+proto");
  const endStream = 0x01;
  assert.equal(flags & endStream, endStream);
});

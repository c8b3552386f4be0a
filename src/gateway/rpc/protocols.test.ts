import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { EventService, SubscribeEventsResponseSchema } from "../../../gen/service/api/event_pb.ts";
import { GetTenantResponseSchema, TenantService } from "../../../gen/service/api/tenant_pb.ts";
import type { Call } from "../../chain/call.ts";
import { fail, invalid } from "../../errors/index.ts";
import { clientProtocols, startRpcServer } from "./testing/rpc-server.ts";

const event = (id: string) => create(SubscribeEventsResponseSchema, { event: { id } });

async function failing(promise: Promise<unknown>): Promise<ConnectError> {
  try {
    await promise;
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("The call succeeded.");
}

for (const { name, version, transport } of clientProtocols) {
  test(`${name}: a unary call returns its response, with the headers of the chain`, async (t) => {
    let seen: Call | undefined;
    const server = await startRpcServer(t, version, {
      invoke: async (call) => {
        seen = call;
        call.responseHeaders["X-Request-ID"] = "req-1";
        const { tenantId } = (await call.decode()) as unknown as { tenantId: string };
        return create(GetTenantResponseSchema, {
          tenant: { id: tenantId, name: "Näme", recordVersion: 9007199254740993n },
        });
      },
    });
    let headers = new Headers();
    const { tenant } = await createClient(TenantService, transport(server)).getTenant(
      { tenantId: "t-1" },
      {
        headers: { authorization: "Bearer x" },
        onHeader: (given) => {
          headers = given;
        },
      },
    );
    assert.equal(tenant?.id, "t-1");
    assert.equal(tenant?.name, "Näme");
    assert.equal(tenant?.recordVersion, 9007199254740993n);
    assert.equal(headers.get("x-request-id"), "req-1");
    assert.equal(seen?.operation.id, "service.api.TenantService/GetTenant");
    assert.equal(seen?.header("authorization"), "Bearer x");
    assert.equal(seen?.protocol, name.split(" ")[0]!.toLowerCase().replace("-", "_"));
  });

  test(`${name}: an error has code, message, errorCode, retryable, request id, violations and headers`, async (t) => {
    const server = await startRpcServer(t, version, {
      invoke: async (call) => {
        call.requestId = "req-2";
        call.responseHeaders["X-Request-ID"] = "req-2";
        await call.decode();
        throw fail("RATE_LIMITED", {
          public: "Too many: 100 % – wait",
          violations: [{ field: "tenant_id", rule: "string.min_len", message: "too short" }],
          headers: { "Retry-After": "7" },
          extra: { limit: 5 },
        });
      },
    });
    const error = await failing(createClient(TenantService, transport(server)).getTenant({ tenantId: "t-1" }));
    assert.equal(error.code, Code.ResourceExhausted);
    assert.equal(error.rawMessage, "Too many: 100 % – wait");
    const [info] = error.findDetails(ErrorInfoSchema);
    assert.equal(info?.reason, "RATE_LIMITED");
    assert.equal(info?.domain, "service.api");
    assert.deepEqual({ ...info?.metadata }, { retryable: "true", request_id: "req-2", limit: "5" });
    const [violation] = error.findDetails(BadRequestSchema)[0]!.fieldViolations;
    assert.deepEqual(
      [violation?.field, violation?.reason, violation?.description],
      ["tenant_id", "string.min_len", "too short"],
    );
    assert.equal(error.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds, 7n);
    assert.equal(error.metadata.get("retry-after"), "7");
    assert.equal(error.metadata.get("x-request-id"), "req-2");
  });

  test(`${name}: an unexpected error reveals nothing to callers`, async (t) => {
    const server = await startRpcServer(t, version, { invoke: () => Promise.reject(new Error("password=hunter2")) });
    const error = await failing(createClient(TenantService, transport(server)).getTenant({ tenantId: "t-1" }));
    assert.equal(error.code, Code.Internal);
    assert.doesNotMatch(JSON.stringify(error), /hunter2/);
    assert.equal(error.findDetails(ErrorInfoSchema)[0]?.reason, "INTERNAL");
  });

  test(`${name}: a stream sends its messages in order and ends`, async (t) => {
    const server = await startRpcServer(t, version, {
      invoke: async (call) => {
        const { subject } = (await call.decode()) as unknown as { subject: string };
        return (async function* () {
          for (let i = 0; i < 100; i++) yield event(`${subject}-${i}`);
        })();
      },
    });
    const ids: string[] = [];
    for await (const message of createClient(EventService, transport(server)).subscribeEvents({ subject: "s" })) {
      ids.push(message.event!.id);
    }
    assert.deepEqual(
      ids,
      Array.from({ length: 100 }, (_, i) => `s-${i}`),
    );
  });

  test(`${name}: an error in mid-stream follows the messages before it`, async (t) => {
    const server = await startRpcServer(t, version, {
      invoke: async () =>
        (async function* () {
          yield event("1");
          throw invalid("cursor", "cursor.known", "is too old");
        })(),
    });
    const ids: string[] = [];
    const error = await failing(
      (async () => {
        for await (const message of createClient(EventService, transport(server)).subscribeEvents({})) {
          ids.push(message.event!.id);
        }
      })(),
    );
    assert.deepEqual(ids, ["1"]);
    assert.equal(error.code, Code.InvalidArgument);
    assert.equal(error.findDetails(BadRequestSchema)[0]?.fieldViolations[0]?.field, "cursor");
  });

  test(`${name}: a stream that fails before its first message fails with the same details`, async (t) => {
    const server = await startRpcServer(t, version, { invoke: () => Promise.reject(fail("UNAUTHENTICATED")) });
    const stream = createClient(EventService, transport(server)).subscribeEvents({});
    const error = await failing(stream[Symbol.asyncIterator]().next());
    assert.equal(error.code, Code.Unauthenticated);
    assert.equal(error.findDetails(ErrorInfoSchema)[0]?.reason, "UNAUTHENTICATED");
  });

  test(`${name}: a caller that disconnects from a stream aborts the call and ends the iterator`, async (t) => {
    const aborted = Promise.withResolvers<unknown>();
    const returned = Promise.withResolvers<void>();
    const server = await startRpcServer(t, version, {
      invoke: async (call) => {
        await call.decode();
        call.signal.addEventListener("abort", () => aborted.resolve(call.signal.reason.code));
        return (async function* () {
          try {
            yield event("1");
            await aborted.promise;
            yield event("2");
          } finally {
            returned.resolve();
          }
        })();
      },
    });
    const leave = new AbortController();
    const error = await failing(
      (async () => {
        const client = createClient(EventService, transport(server));
        for await (const _ of client.subscribeEvents({}, { signal: leave.signal })) leave.abort();
      })(),
    );
    assert.equal(error.code, Code.Canceled);
    assert.equal(await aborted.promise, "CANCELED");
    await returned.promise;
  });

  test(`${name}: a deadline ends a call whose handler hangs`, async (t) => {
    const server = await startRpcServer(t, version, { invoke: () => new Promise(() => {}) });
    const error = await failing(
      // The client's own timer would hide the server's response, so only the header is sent.
      createClient(TenantService, transport(server)).getTenant(
        {},
        { headers: { "connect-timeout-ms": "20", "grpc-timeout": "20m" } },
      ),
    );
    assert.equal(error.code, Code.DeadlineExceeded);
    assert.equal(error.findDetails(ErrorInfoSchema)[0]?.reason, "TIMEOUT");
  });

  test(`${name}: a deadline ends a stream whose handler hangs`, async (t) => {
    const returned = Promise.withResolvers<void>();
    const server = await startRpcServer(t, version, {
      invoke: async ({ signal }) =>
        (async function* () {
          try {
            yield event("1");
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
          } finally {
            returned.resolve();
          }
        })(),
    });
    const error = await failing(
      (async () => {
        const client = createClient(EventService, transport(server));
        const headers = { "connect-timeout-ms": "20", "grpc-timeout": "20m" };
        for await (const _ of client.subscribeEvents({}, { headers })) void _;
      })(),
    );
    assert.equal(error.code, Code.DeadlineExceeded);
    await returned.promise;
  });

  test(`${name}: a method that the plane does not serve is unimplemented`, async (t) => {
    const server = await startRpcServer(t, version, { operations: [] as never, reflection: true });
    // Only reflection is served.
    const method = { ...TenantService.method.getTenant, parent: { typeName: "grpc.reflection.v1.Nothing" } };
    const error = await failing(transport(server).unary(method as never, undefined, undefined, undefined, {} as never));
    assert.equal(error.code, Code.Unimplemented);
    assert.equal(error.findDetails(ErrorInfoSchema)[0]?.reason, "ROUTE_NOT_FOUND");
  });
}

test("a slow reader causes back-pressure instead of filling memory", async (t) => {
  for (const { version, transport } of clientProtocols.filter(({ name }) => name.includes("binary"))) {
    let produced = 0;
    const big = create(SubscribeEventsResponseSchema, { event: { subject: "x".repeat(50_000) } });
    const total = 2000;
    const server = await startRpcServer(t, version, {
      invoke: async () =>
        (async function* () {
          for (; produced < total; produced++) yield big;
        })(),
    });
    const stream = createClient(EventService, transport(server)).subscribeEvents({})[Symbol.asyncIterator]();
    await stream.next();
    // The producer pauses once the buffers of both sides are full.
    for (let before = -1; before !== produced; ) {
      before = produced;
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(produced < total, `produced ${produced} messages for a reader that read one`);
    await stream.return?.();
  }
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { before, test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Client, credentials, Metadata, status } from "@grpc/grpc-js";
import { parse } from "yaml";
import {
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { readRows } from "../harness/rows.ts";
import { type Caller, callOperation, restRequest, send } from "../harness/wire.ts";
import { atRest, createMatrixFixture, type MatrixFixture, operations, protocols, requestFor } from "./fixture.ts";

let fixture: MatrixFixture;
before(async () => {
  fixture = await createMatrixFixture();
});

const hidden = operations.filter(({ governance }) => governance.internalOnly);
const open = operations.filter(({ governance }) => !governance.internalOnly);

test("there are operations of both kinds to test", () => {
  assert.ok(hidden.length > 0 && open.length > 0);
});

for (const operation of hidden) {
  const { id, service, method } = operation;

  test(`${id} accepts a service token on the internal plane`, async () => {
    for (const protocol of protocols) {
      const { own } = fixture;
      const outcome = await callOperation(protocol, operation, own.service, await requestFor(operation, own));
      assert.equal(outcome.code, "OK", `${protocol}: ${outcome.text}`);
    }
  });

  test(`${id} does not exist for REST on the external plane, for any caller and verb`, async () => {
    const { own, sql } = fixture;
    const request = restRequest(operation, await requestFor(operation, own));
    await atRest(sql);
    const held = await readRows(sql);
    for (const headers of [own.admin.headers, own.service.headers, {}]) {
      const outcome = await send("REST", own.admin.baseUrl + request.path, {
        ...request,
        headers: { ...headers, ...request.headers },
      });
      assert.equal(outcome.code, "ROUTE_NOT_FOUND", outcome.text);
      assert.equal(outcome.status, 404);
    }
    assert.deepEqual(await readRows(sql), held);
  });

  test(`${id} is unimplemented for Connect, gRPC and gRPC-Web on the external plane, for any caller`, async () => {
    const { own } = fixture;
    const request = await requestFor(operation, own);
    const { baseUrl } = own.admin;
    const transports = [
      createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
      createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: true }),
      createGrpcTransport({ baseUrl }),
      createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
    ];
    for (const transport of transports) {
      for (const headers of [own.admin.headers, {}]) {
        const call = createClient(service, transport)[method.localName]! as (
          request: object,
          options: object,
        ) => Promise<unknown>;
        const error = await call(fieldsOf(request), { headers }).then(
          () => assert.fail("the call succeeded"),
          (reason: unknown) => ConnectError.from(reason),
        );
        assert.equal(error.code, Code.Unimplemented, error.message);
      }
    }
  });
}

test("the service report lists exactly each plane's operations", async () => {
  const { own } = fixture;
  const report = operations.find(({ id }) => id === "service.api.DiscoveryService/GetServicesReport")!;
  const named = async (caller: typeof own.admin) => {
    const { body } = await callOperation("REST", report, caller, {});
    return body.data.services.flatMap((service: { methods: { connect_path: string }[] }) =>
      service.methods.map(({ connect_path }) => connect_path.slice(1)),
    );
  };
  assert.deepEqual((await named(own.admin)).sort(), open.map(({ id }) => id).sort());
  assert.deepEqual((await named(own.service)).sort(), operations.map(({ id }) => id).sort());
});

test("the OpenAPI document lists every external operation and no internal one", async () => {
  const { own } = fixture;
  const served = async ({ baseUrl }: Caller) => (await fetch(`${baseUrl}/openapi.yaml`)).text();
  // Parsing a document takes seconds, and both planes may serve the same one.
  for (const text of new Set([await served(own.admin), await served(own.service)])) {
    const paths = Object.keys(parse(text).paths);
    for (const { bindings } of open) for (const { path } of bindings) assert.ok(paths.includes(path), path);
    for (const { bindings } of hidden) for (const { path } of bindings) assert.ok(!paths.includes(path), path);
    for (const { method } of hidden) assert.ok(!text.includes(method.name), method.name);
  }
});

test("reflection lists exactly each plane's operations", async (t) => {
  const { own } = fixture;
  const described = async (baseUrl: string) => {
    const client = new Client(new URL(baseUrl).host, credentials.createInsecure());
    t.after(() => client.close());
    const stream = client.makeBidiStreamRequest(
      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      (symbol: string) =>
        Buffer.from(
          toBinary(
            ServerReflectionRequestSchema,
            create(ServerReflectionRequestSchema, { messageRequest: { case: "fileContainingSymbol", value: symbol } }),
          ),
        ),
      (bytes: Buffer) => fromBinary(ServerReflectionResponseSchema, bytes),
      new Metadata(),
    );
    const found = new Set<string>();
    for (const service of new Set(operations.map((each) => each.service))) {
      stream.write(service.typeName);
      const [answer] = await once(stream, "data");
      const { case: kind, value } = answer.messageResponse;
      assert.equal(kind, "fileDescriptorResponse");
      for (const bytes of value.fileDescriptorProto) {
        const file = fromBinary(FileDescriptorProtoSchema, bytes);
        for (const each of file.service)
          for (const method of each.method) found.add(`${file.package}.${each.name}/${method.name}`);
      }
    }
    const ended = once(stream, "status");
    stream.resume().end();
    assert.equal((await ended)[0].code, status.OK);
    return [...found].filter((id) => id.startsWith("service.api.")).sort();
  };
  assert.deepEqual(await described(own.admin.baseUrl), open.map(({ id }) => id).sort());
  assert.deepEqual(await described(own.service.baseUrl), operations.map(({ id }) => id).sort());
});

/** A request with the field names of the generated code. */
function fieldsOf(request: Record<string, unknown>): object {
  return Object.fromEntries(
    Object.entries(request).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()),
      value,
    ]),
  );
}

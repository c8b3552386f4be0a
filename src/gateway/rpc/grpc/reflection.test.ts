import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { create, createFileRegistry, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import {
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from "../../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { type Operation, readOperations } from "../../../definitions/index.ts";
import { fail } from "../../../errors/index.ts";
import { startRpcServer } from "../testing/rpc-server.ts";

type Question = MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"];

const external = readOperations().filter(({ governance }) => !governance.internalOnly);
const hidden = readOperations().filter(({ governance }) => governance.internalOnly);

async function conversation(t: TestContext, operations: readonly Operation[] = external, version = "v1") {
  const { port } = await startRpcServer(t, "2", {
    operations,
    reflection: true,
    health: { isServing: () => true, onChange: () => () => {} },
    invoke: () => Promise.reject(fail("UNAUTHENTICATED")),
  });
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  t.after(() => client.close());
  const stream = client.makeBidiStreamRequest(
    `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    (request: MessageInitShape<typeof ServerReflectionRequestSchema>) =>
      Buffer.from(toBinary(ServerReflectionRequestSchema, create(ServerReflectionRequestSchema, request))),
    (bytes: Buffer) => fromBinary(ServerReflectionResponseSchema, bytes),
    new Metadata(),
  );
  // The server closes first at the end of a test. During the test, an error fails the pending request.
  stream.on("error", () => {});
  return async (messageRequest: Question): Promise<ServerReflectionResponse["messageResponse"]> => {
    stream.write({ host: "h", messageRequest });
    const [response] = await once(stream, "data");
    assert.equal(response.validHost, "h");
    return response.messageResponse;
  };
}

function filesOf(reply: ServerReflectionResponse["messageResponse"]) {
  assert.equal(reply.case, "fileDescriptorResponse");
  return (reply.value as { fileDescriptorProto: Uint8Array[] }).fileDescriptorProto.map((bytes) =>
    fromBinary(FileDescriptorProtoSchema, bytes),
  );
}

function registryOf(files: FileDescriptorProto[]) {
  const ordered = new Set<FileDescriptorProto>();
  const add = (file: FileDescriptorProto) => {
    for (const name of file.dependency) {
      const needed = files.find((each) => each.name === name);
      if (needed !== undefined && !ordered.has(needed)) add(needed);
    }
    ordered.add(file);
  };
  add(files[0]!);
  return createFileRegistry(create(FileDescriptorSetSchema, { file: [...ordered] }));
}

for (const version of ["v1", "v1alpha"]) {
  test(`${version} lists every served service, without credentials`, async (t) => {
    const ask = await conversation(t, external, version);
    const reply = await ask({ case: "listServices", value: "" });
    assert.equal(reply.case, "listServicesResponse");
    const names = (reply.value as { service: { name: string }[] }).service.map(({ name }) => name);
    const offered = [...new Set(external.map(({ service }) => service.typeName))];
    assert.deepEqual(names, ["grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", ...offered].sort());
  });
}

test("a third-party registry can be built from the files of one symbol, with the method and its options", async (t) => {
  const ask = await conversation(t);
  const file = filesOf(await ask({ case: "fileContainingSymbol", value: "service.api.TenantService" }));
  assert.equal(file[0]?.name, "service/api/tenant.proto");
  const registry = registryOf(file);
  const service = registry.getService("service.api.TenantService");
  assert.equal(service?.methods.length, 6);
  assert.ok((service?.method.createTenant?.proto.options?.$unknown?.length ?? 0) > 0);
});

test("a file is not sent twice on a stream, unless it is requested by name", async (t) => {
  const ask = await conversation(t);
  const first = filesOf(await ask({ case: "fileByFilename", value: "service/api/tenant.proto" }));
  assert.ok(first.length > 3);
  assert.equal(filesOf(await ask({ case: "fileByFilename", value: "service/api/tenant.proto" })).length, 1);
  assert.equal(filesOf(await ask({ case: "fileContainingSymbol", value: "service.api.Tenant.Status" })).length, 1);
});

test("extensions are found by type and number", async (t) => {
  const ask = await conversation(t);
  const containingType = "google.protobuf.MethodOptions";
  const numbers = await ask({ case: "allExtensionNumbersOfType", value: containingType });
  assert.deepEqual((numbers.value as { extensionNumber: number[] }).extensionNumber, [51001, 51002, 72295728]);
  const reply = await ask({ case: "fileContainingExtension", value: { containingType, extensionNumber: 51001 } });
  assert.equal(filesOf(reply)[0]?.name, "service/options/governance.proto");
});

test("an unknown definition is not found, and the stream continues", async (t) => {
  const ask = await conversation(t);
  for (const question of [
    { case: "fileByFilename", value: "nothing.proto" },
    { case: "fileContainingSymbol", value: "service.api.Nothing" },
    { case: "fileContainingExtension", value: { containingType: "x.Y", extensionNumber: 1 } },
    { case: "allExtensionNumbersOfType", value: "x.Y" },
  ] as const) {
    const reply = await ask(question);
    assert.equal(reply.case, "errorResponse");
    assert.equal((reply.value as { errorCode: number }).errorCode, 5);
  }
});

test("internal methods and the types that only they use are not in the external plane's reflection", async (t) => {
  assert.ok(hidden.length > 0);
  const ask = await conversation(t);
  const askInside = await conversation(t, readOperations());
  for (const { method, service } of hidden) {
    for (const symbol of [`${service.typeName}.${method.name}`, method.input.typeName, method.output.typeName]) {
      assert.equal((await ask({ case: "fileContainingSymbol", value: symbol })).case, "errorResponse", symbol);
      assert.equal((await askInside({ case: "fileContainingSymbol", value: symbol })).case, "fileDescriptorResponse");
    }
    const file = filesOf(await ask({ case: "fileContainingSymbol", value: service.typeName }));
    const text = Buffer.concat(file.map((each) => toBinary(FileDescriptorProtoSchema, each))).toString("latin1");
    assert.ok(!text.includes(method.name), method.name);
  }
});

test("every file in the external plane's reflection resolves on its own", async (t) => {
  for (const service of new Set(external.map((operation) => operation.service))) {
    const ask = await conversation(t);
    const file = filesOf(await ask({ case: "fileContainingSymbol", value: service.typeName }));
    const registry = registryOf(file);
    const shown = registry.getService(service.typeName)?.methods.map(({ name }) => name);
    const offered = external.filter((each) => each.service === service).map(({ method }) => method.name);
    assert.deepEqual(shown, offered);
  }
});

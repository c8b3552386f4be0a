import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { EventService, SubscribeEventsResponseSchema } from "../../../../gen/service/api/event_pb.ts";
import { TenantService } from "../../../../gen/service/api/tenant_pb.ts";
import { clientProtocols, type RpcServer, startRpcServer } from "../testing/rpc-server.ts";
import { responseEncoding } from "./compression.ts";
import { writeEnvelope } from "./envelope.ts";

const path = "/service.api.TenantService/GetTenant";
const long = "x".repeat(5000);

// Not fetch, which would decompress the response.
function post({ port }: RpcServer, headers: Record<string, string>, body: Buffer) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const request = httpRequest({ port, host: "127.0.0.1", path, method: "POST", headers }, async (response) =>
      resolve({ status: response.statusCode!, headers: response.headers, body: await buffer(response) }),
    );
    request.on("error", reject).end(body);
  });
}

for (const { name, version, transport } of clientProtocols) {
  for (const compression of name.startsWith("Connect") ? [compressionGzip, compressionBrotli] : [compressionGzip]) {
    const options = { sendCompression: compression, acceptCompression: [compression], compressMinBytes: 1 };

    test(`${name}: ${compression.name} is read and written, in calls and in streams`, async (t) => {
      const server = await startRpcServer(t, version, {});
      const client = createClient(TenantService, transport(server, options));
      assert.equal((await client.getTenant({ tenantId: long })).tenant?.id, long);
      const streaming = await startRpcServer(t, version, {
        invoke: async (call) => {
          const { subject } = (await call.decode()) as unknown as { subject: string };
          return (async function* () {
            yield create(SubscribeEventsResponseSchema, { event: { subject } });
          })();
        },
      });
      const events = createClient(EventService, transport(streaming, options));
      for await (const { event } of events.subscribeEvents({ subject: long })) assert.equal(event?.subject, long);
    });

    test(`${name}: a ${compression.name} bomb is refused for its size`, async (t) => {
      const server = await startRpcServer(t, version, { bodyBytesMax: 20_000 });
      const client = createClient(TenantService, transport(server, options));
      const error = await client.getTenant({ tenantId: "x".repeat(1_000_000) }).then(
        () => assert.fail("the bomb was accepted"),
        (reason) => ConnectError.from(reason),
      );
      assert.equal(error.code, Code.ResourceExhausted);
      assert.match(error.rawMessage, /larger than 20000 bytes/);
    });
  }
}

test("a large response is compressed with the caller's first choice, a small one never", async (t) => {
  const server = await startRpcServer(t, "1.1", {});
  const ask = (id: string, accept: string) =>
    post(
      server,
      { "content-type": "application/json", "accept-encoding": accept },
      Buffer.from(JSON.stringify({ tenantId: id })),
    );
  const gzipped = await ask(long, "gzip, br");
  assert.equal(gzipped.headers["content-encoding"], "gzip");
  assert.equal(JSON.parse(gunzipSync(gzipped.body).toString()).tenant.id, long);
  assert.equal(gzipped.headers["content-length"], String(gzipped.body.length));
  const brotli = await ask(long, "zstd, br;q=0.5, gzip");
  assert.equal(brotli.headers["content-encoding"], "br");
  assert.equal(JSON.parse(brotliDecompressSync(brotli.body).toString()).tenant.id, long);
  assert.equal((await ask(long, "identity")).headers["content-encoding"], undefined);
  assert.equal((await ask("t-1", "gzip")).headers["content-encoding"], undefined);
});

test("the caller's first supported encoding is chosen, and one with weight 0 is not accepted", () => {
  assert.equal(responseEncoding("deflate, BR, gzip", ["gzip", "br"]), "br");
  assert.equal(responseEncoding("gzip;q=0, br;q=0.1", ["gzip", "br"]), "br");
  assert.equal(responseEncoding("gzip; q=0.000", ["gzip"]), undefined);
  assert.equal(responseEncoding("br", ["gzip"]), undefined);
  assert.equal(responseEncoding("", ["gzip"]), undefined);
  assert.equal(responseEncoding(undefined, ["gzip"]), undefined);
});

test("an unknown encoding is unimplemented, and the response lists the supported ones", async (t) => {
  const server = await startRpcServer(t, "1.1", {});
  const connect = await post(
    server,
    { "content-type": "application/json", "content-encoding": "zstd" },
    Buffer.from("{}"),
  );
  assert.equal(connect.status, 501);
  assert.equal(JSON.parse(connect.body.toString()).code, "unimplemented");
  assert.equal(connect.headers["accept-encoding"], "gzip,br");
  const web = await post(
    server,
    { "content-type": "application/grpc-web", "grpc-encoding": "br" },
    writeEnvelope(0, ""),
  );
  assert.match(web.body.toString("latin1"), /grpc-status: 12\r\n/);
  assert.equal(web.headers["grpc-accept-encoding"], "gzip");
});

test("data that does not match its encoding is refused", async (t) => {
  const server = await startRpcServer(t, "1.1", {});
  for (const [encoding, body] of [
    ["gzip", Buffer.from("{}")],
    ["gzip", gzipSync("{}").subarray(0, 10)],
    ["br", Buffer.from("{}")],
  ] as const) {
    const { status, body: responseBody } = await post(
      server,
      { "content-type": "application/json", "content-encoding": encoding },
      body,
    );
    assert.equal(status, 400);
    assert.match(responseBody.toString(), new RegExp(`not valid ${encoding} data`));
  }
});

test("an empty body is not decompressed, and a GET may use compression", async (t) => {
  const server = await startRpcServer(t, "1.1", {});
  const empty = await post(
    server,
    { "content-type": "application/proto", "content-encoding": "gzip" },
    Buffer.alloc(0),
  );
  assert.equal(empty.status, 200);
  const message = brotliCompressSync('{"tenantId":"t-1"}').toString("base64url");
  const response = await fetch(`${server.url}${path}?encoding=json&compression=br&base64=1&message=${message}`);
  assert.match(await response.text(), /t-1/);
});

test("a message that is flagged as compressed without an encoding is refused", async (t) => {
  const server = await startRpcServer(t, "1.1", {});
  const { body } = await post(server, { "content-type": "application/grpc-web" }, writeEnvelope(1, gzipSync("")));
  assert.match(body.toString("latin1"), /grpc-status: 3\r\n/);
});

import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { type DescMessage, fromJson, type JsonObject, ScalarType, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { Operation } from "../../src/definitions/index.ts";
import { catalogue, grpcCodes } from "../../src/errors/index.ts";
import type { Json } from "../harness/operations.ts";
import { type Rows, readRows } from "../harness/rows.ts";
import { sampled, shareText } from "../harness/run-size.ts";
import { enveloped, type Outcome, send } from "../harness/wire.ts";
import { callerFor, createMatrixFixture, type MatrixFixture, operations, requestsForAll } from "../matrix/fixture.ts";

let fixture: MatrixFixture;
let held: Rows;
let requests: ReadonlyMap<Operation, Json>;
let session: http2.ClientHttp2Session;
before(async () => {
  fixture = await createMatrixFixture({ "api.max_request_body_size": "1048576" });
  requests = await requestsForAll(fixture.platform);
  held = await readRows(fixture.sql);
  session = http2.connect(fixture.service.baseUrl);
  session.unref();
});
after(() => session.destroy());

type Bytes = Uint8Array<ArrayBuffer>;
const bytesOf = (...values: number[]): Bytes => new Uint8Array(values);

const deep = nestedStruct(200);
const veryDeep = nestedStruct(1000);

/** Bytes that are not a valid message of any method; a field number in them is unused by every method. */
const brokenMessages: readonly (readonly [what: string, bytes: Bytes])[] = [
  ["a truncated field", bytesOf(0x7a, 0x7f, 0x41)],
  ["an endless varint", new Uint8Array(64).fill(0xff)],
  ["a tag of field 0", bytesOf(0x00, 0x01)],
  ["an unknown wire type", bytesOf(0x7f, 0x01)],
  ["an end-group tag without a start", bytesOf(0x7c)],
  ["groups nested very deep", new Uint8Array(200_000).fill(0x7b)],
];

for (const [turn, operation] of operations.entries()) {
  test(`${operation.id} rejects malformed binary messages${shareText(6, "messages")}${shareText(8, "fields")}`, async () => {
    for (const [what, bytes] of sampled(brokenMessages, 6, turn)) await refusedBinary(operation, bytes, what);
    // The last occurrence of a repeated field wins, so only this field is invalid.
    const { input } = operation.method;
    const valid = toBinary(input, fromJson(input, requests.get(operation) as JsonObject));
    for (const [what, bytes] of sampled(badFields(input), 8, turn)) {
      await refusedBinary(operation, new Uint8Array(Buffer.concat([valid, bytes])), what);
    }
  });

  test(`${operation.id} rejects malformed frames over gRPC and gRPC-Web${shareText(6, "frames")}`, async () => {
    const whole = enveloped(new Uint8Array());
    const frames: readonly (readonly [what: string, bytes: Bytes])[] = [
      ["nothing", new Uint8Array()],
      ["half a head", whole.slice(0, 3)],
      ["less data than declared", bytesOf(0, 0, 0, 0, 9, 1, 2)],
      ["more data than declared", bytesOf(0, 0, 0, 0, 0, 1, 2, 3)],
      ["a length beyond every limit", bytesOf(0, 0xff, 0xff, 0xff, 0xff)],
      ["two messages", new Uint8Array(Buffer.concat([whole, whole]))],
      ["an unknown flag", enveloped(new Uint8Array(), 0x40)],
      ["the compression flag without compression", enveloped(bytesOf(1, 2, 3), 1)],
      ["a broken message", enveloped(bytesOf(0x7a, 0x7f))],
    ];
    const types = ["application/grpc", "application/grpc-web+proto"];
    for (const [at, [what, bytes]] of frames.entries()) {
      // A few operations together get every frame with each content type.
      for (const type of sampled(types, 6, turn + at)) {
        const { status, code } = await overHttp2(operation, type, bytes);
        assert.equal(status, 200, `${type}, ${what}`);
        assert.ok(
          code === grpcCodes.invalid_argument || code === grpcCodes.resource_exhausted,
          `${type}, ${what}: ${code}`,
        );
      }
    }
    const garbage = await overHttp2(operation, "application/grpc-web-text", new Uint8Array(Buffer.from("!?*")));
    assert.equal(garbage.code, grpcCodes.invalid_argument);
  });
}

test("a compressed message that expands beyond the limit is rejected, in every protocol with compression", async () => {
  const operation = operations.find(({ id }) => id === "service.api.SecretService/CreateSecret")!;
  const bomb = new Uint8Array(gzipSync(Buffer.alloc(50_000_000, 0x20)));
  const unary = await sendBinary(operation, bomb, { "content-encoding": "gzip", "content-type": "application/json" });
  assert.equal(unary.code, "PAYLOAD_TOO_LARGE");
  const framed = await overHttp2(operation, "application/grpc", enveloped(bomb, 1), { "grpc-encoding": "gzip" });
  assert.equal(framed.code, grpcCodes.resource_exhausted);
});

test("bytes declared as compressed that are not are rejected", async () => {
  const operation = operations.find(({ id }) => id === "service.api.SecretService/CreateSecret")!;
  for (const encoding of ["gzip", "br"]) {
    const headers = { "content-encoding": encoding, "content-type": "application/json" };
    const outcome = await sendBinary(operation, new Uint8Array(Buffer.from("{}")), headers);
    assert.equal(outcome.code, "INVALID_ARGUMENT", `${encoding}: ${outcome.text}`);
  }
  // Connect requires this code, and with it status 501, for an unknown compression.
  const unknown = await sendBinary(operation, new Uint8Array(2), { "content-encoding": "magic" });
  assert.equal(unknown.body.code, "unimplemented");
});

test("gRPC over HTTP/1.1 is rejected with an explanation", async () => {
  const operation = operations[0]!;
  const outcome = await sendBinary(operation, enveloped(new Uint8Array()), { "content-type": "application/grpc" });
  assert.equal(outcome.status, 505);
  assert.match(outcome.text, /HTTP\/2/);
});

test("none of these requests changed anything, and the service is healthy", async () => {
  assert.deepEqual(await readRows(fixture.sql), held);
  assert.equal((await fetch(`${fixture.service.baseUrl}/ready`)).status, 200);
});

/** For each field, bytes that its type or the database cannot accept. */
function badFields(desc: DescMessage): (readonly [what: string, bytes: Bytes])[] {
  return desc.fields.flatMap((field) => {
    const put = (what: string, write: (writer: BinaryWriter) => BinaryWriter) =>
      [`${field.name}: ${what}`, write(new BinaryWriter()).finish() as Bytes] as const;
    const { number } = field;
    if (field.fieldKind === "map") return [];
    if (field.message !== undefined) return messageFaults(number, field.message.typeName, put);
    if (field.scalar === ScalarType.STRING) {
      return [
        put("no UTF-8", (w) => w.tag(number, WireType.LengthDelimited).bytes(bytesOf(0xff, 0xfe))),
        put("U+0000", (w) => w.tag(number, WireType.LengthDelimited).bytes(bytesOf(0x61, 0x00, 0x62))),
        put("an encoded surrogate", (w) => w.tag(number, WireType.LengthDelimited).bytes(bytesOf(0xed, 0xa0, 0x80))),
      ];
    }
    if (field.enum !== undefined) return [put("an unknown number", (w) => w.tag(number, WireType.Varint).int32(999))];
    return [];
  });
}

function messageFaults(
  number: number,
  typeName: string,
  put: (what: string, write: (writer: BinaryWriter) => BinaryWriter) => readonly [string, Bytes],
) {
  const holding = (bytes: Uint8Array) => (w: BinaryWriter) => w.tag(number, WireType.LengthDelimited).bytes(bytes);
  switch (typeName) {
    case "google.protobuf.Timestamp":
      return [
        put("a time after every year", holding(timestamp(2n ** 62n, 0))),
        put("a time before every year", holding(timestamp(-(2n ** 62n), 0))),
        put("the year 10000", holding(timestamp(253_402_300_800n, 0))),
        put("too many nanoseconds", holding(timestamp(0n, 2_000_000_000))),
        put("less than no nanoseconds", holding(timestamp(0n, -1))),
      ];
    case "google.protobuf.Struct":
      return [
        put("no number", holding(struct(number64(Number.NaN)))),
        put("an infinite number", holding(struct(number64(Number.POSITIVE_INFINITY)))),
        put("nested deep", holding(deep)),
        put("nested very deep", holding(veryDeep)),
        put("U+0000", holding(struct(new BinaryWriter().tag(3, WireType.LengthDelimited).string("\u0000").finish()))),
      ];
    case "google.protobuf.Value":
      return [
        put("no number", holding(number64(Number.NaN))),
        put("nested very deep", holding(new BinaryWriter().tag(5, WireType.LengthDelimited).bytes(veryDeep).finish())),
      ];
    default:
      // An unknown field that is truncated.
      return [put("a broken message", holding(bytesOf(0x7a, 0x7f)))];
  }
}

function timestamp(seconds: bigint, nanos: number): Uint8Array {
  return new BinaryWriter().tag(1, WireType.Varint).int64(seconds).tag(2, WireType.Varint).int32(nanos).finish();
}

function number64(value: number): Uint8Array {
  return new BinaryWriter().tag(2, WireType.Bit64).double(value).finish();
}

/** A Struct with one member and the given value. */
function struct(value: Uint8Array): Uint8Array {
  const entry = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string("a")
    .tag(2, WireType.LengthDelimited)
    .bytes(value);
  return new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(entry.finish()).finish();
}

function nestedStruct(depth: number): Uint8Array {
  let bytes = struct(number64(1));
  for (let i = 0; i < depth; i++)
    bytes = struct(new BinaryWriter().tag(5, WireType.LengthDelimited).bytes(bytes).finish());
  return bytes;
}

/** Sends a malformed binary message over Connect; asserts that it is rejected. */
async function refusedBinary(operation: Operation, bytes: Bytes, what: string): Promise<void> {
  const body = operation.streaming ? enveloped(bytes) : bytes;
  if (operation.streaming) {
    const { code } = await overHttp2(operation, "application/grpc", body);
    assert.equal(code, grpcCodes.invalid_argument, what);
    return;
  }
  const outcome = await sendBinary(operation, body, {});
  const told = `${what}: ${outcome.status} ${outcome.text.slice(0, 400)}`;
  assert.ok(outcome.status >= 400 && outcome.status < 500, told);
  assert.ok(outcome.code in catalogue, told);
}

function sendBinary(operation: Operation, body: Bytes, headers: Record<string, string>): Promise<Outcome> {
  const caller = callerFor(fixture.platform, operation);
  return send("Connect", `${caller.baseUrl}/${operation.id}`, {
    method: "POST",
    headers: { ...caller.headers, "content-type": "application/proto", ...headers },
    body,
  });
}

/** Sends a body over HTTP/2; returns the gRPC code from the headers or trailers. */
async function overHttp2(operation: Operation, type: string, body: Bytes, headers: Record<string, string> = {}) {
  const caller = callerFor(fixture.platform, operation);
  const over = caller.baseUrl === fixture.service.baseUrl ? session : http2.connect(caller.baseUrl);
  const stream = over.request({
    ":method": "POST",
    ":path": `/${operation.id}`,
    "content-type": type,
    ...caller.headers,
    ...headers,
  });
  stream.on("error", () => {});
  const trailers: Record<string, unknown> = {};
  stream.on("trailers", (each) => Object.assign(trailers, each));
  const answered = once(stream, "response");
  stream.end(body);
  const [head] = await answered;
  const bytes = Buffer.concat(await stream.toArray());
  if (over !== session) over.destroy();
  const text = type.includes("text")
    ? Buffer.from(bytes.toString(), "base64").toString("latin1")
    : bytes.toString("latin1");
  const inBody = /grpc-status: (\d+)/.exec(text)?.[1];
  const code = Number(head["grpc-status"] ?? trailers["grpc-status"] ?? inBody ?? Number.NaN);
  return { status: head[":status"] as unknown as number, code };
}

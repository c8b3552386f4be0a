import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { PublishEventRequestSchema } from "../../../../gen/service/api/event_pb.ts";
import { RouteBatchRequestSchema, RouteRequestSchema } from "../../../../gen/service/api/routing_pb.ts";
import {
  CreateTenantRequestSchema,
  UpdateTenantRequestSchema,
  UpdateTenantResponseSchema,
} from "../../../../gen/service/api/tenant_pb.ts";
import { failsWith } from "../../../../test/harness/context.ts";
import { Failure } from "../../../errors/index.ts";
import { protoCodec } from "./codec.ts";

function violationOf(action: () => unknown): string | undefined {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof Failure);
    assert.equal(error.code, "INVALID_ARGUMENT");
    return error.violations[0]?.field ?? "";
  }
  return undefined;
}

test("U+0000 in a binary message is refused with the path of its field, at any depth", () => {
  const tenant = (init: object) => {
    const codec = protoCodec(CreateTenantRequestSchema, UpdateTenantResponseSchema);
    const bytes = Buffer.from(toBinary(CreateTenantRequestSchema, create(CreateTenantRequestSchema, init)));
    return violationOf(() => codec.decode(bytes));
  };
  assert.equal(tenant({ name: "a\0" }), "name");
  assert.equal(tenant({ quotas: { "a\0": {} } }), 'quotas["a\\u0000"]');
  assert.equal(tenant({ settings: { a: [{ b: "\0" }] } }), 'settings["a"][0]["b"]');
  assert.equal(tenant({ settings: { "\0": 1 } }), 'settings["\\u0000"]');
  assert.equal(
    tenant({ name: "a", quotas: { route: { limitPerDay: 0n } }, settings: { zero: 0, none: null } }),
    undefined,
  );
});

test("zero bytes outside of strings are accepted", () => {
  const update = protoCodec(UpdateTenantRequestSchema, UpdateTenantResponseSchema);
  const request = create(UpdateTenantRequestSchema, { name: "", recordVersion: 0n });
  assert.equal(
    violationOf(() => update.decode(Buffer.from(toBinary(UpdateTenantRequestSchema, request)))),
    undefined,
  );
  const publish = protoCodec(PublishEventRequestSchema, UpdateTenantResponseSchema);
  const event = create(PublishEventRequestSchema, { data: { n: 1 }, time: { seconds: 0n, nanos: 0 } });
  assert.equal(
    violationOf(() => publish.decode(Buffer.from(toBinary(PublishEventRequestSchema, event)))),
    undefined,
  );
});

test("a binary message over the limits is refused before it is decoded", () => {
  const codec = protoCodec(RouteRequestSchema, UpdateTenantResponseSchema);
  const bytesOf = (payload: JsonObject) =>
    Buffer.from(toBinary(RouteRequestSchema, create(RouteRequestSchema, { payload })));
  const keyed = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]));
  const refusalOf = (body: Buffer) => {
    try {
      codec.decode(body);
    } catch (error) {
      assert.ok(error instanceof Failure);
      return error.message;
    }
    return "";
  };
  assert.equal(refusalOf(bytesOf({ ...keyed(9_000), list: Array(50_000).fill(1) })), "");
  assert.equal(refusalOf(bytesOf({ rows: Array(1000).fill(keyed(20)) })), "", "repeated keys count once");
  // The decoder is never reached: it would refuse these bodies as invalid messages.
  const cut = (payload: JsonObject) => bytesOf(payload).subarray(0, -1);
  const whole = (body: Buffer) => Buffer.concat([body, Buffer.from([0x07])]);
  assert.match(refusalOf(whole(bytesOf(keyed(10_001)))), /more than 10000 different keys/);
  assert.match(refusalOf(whole(bytesOf({ text: "x".repeat(2_000_000) }))), /payload: must take at most 262144 bytes/);
  assert.match(refusalOf(cut({ text: "x" })), /not a valid message/);
  const repeated = Buffer.concat(Array(500_001).fill(Buffer.from([0x50, 0x01])));
  assert.match(refusalOf(repeated), /more than 500000 fields/);
  const random = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256));
  for (let i = 0; i < 500; i++) assert.ok(refusalOf(random.subarray(i * 10, i * 10 + 200)) !== undefined);
});

/** A length-delimited field with a varint length. */
function delimited(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const head = [tag];
  let length = content.length;
  for (; length >= 0x80; length >>>= 7) head.push((length & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([...head, length]), content]);
}

test("no encoding of a binary message passes more fields or keys to the decoder than the limits allow", () => {
  const tooManyKeys = Array.from({ length: 10_001 }, (_, i) => Buffer.from(`k${i}`));
  const one = delimited(0x12, Buffer.from([0x20, 0x01]));
  const entries = tooManyKeys.map((key) => delimited(0x0a, delimited(0x0a, key), one));
  const struct = Buffer.concat(entries);
  // RouteRequest.payload is field 6, a Struct.
  const payload = delimited(0x32, struct);
  const lengthAbove32Bits = (field: Buffer) => {
    // The length is padded to five bytes, and a sixth byte sets bit 35.
    const bytes = [...field.subarray(1)];
    const last = bytes.findIndex((byte) => byte < 0x80);
    const padding = Array<number>(5 - last - 1).fill(0x80);
    const length = [...bytes.slice(0, last), bytes[last]! | 0x80, ...padding, 0x01];
    return Buffer.concat([field.subarray(0, 1), Buffer.from([...length, ...bytes.slice(last + 1)])]);
  };
  const spellings: Record<string, Buffer> = {
    "a stray tag in each map entry": delimited(
      0x32,
      ...tooManyKeys.map((key) => delimited(0x0a, Buffer.from([0x18]), delimited(0x0a, key), one)),
    ),
    "a length with bits above 32": lengthAbove32Bits(payload),
    "a message tagged as a varint": Buffer.concat([Buffer.from([0x30]), payload.subarray(1)]),
    "map entries tagged as varints": delimited(
      0x32,
      ...entries.map((entry) => Buffer.concat([Buffer.from([0x08]), entry.subarray(1)])),
    ),
    "a map key tagged as a varint": delimited(
      0x32,
      ...tooManyKeys.map((key) =>
        delimited(0x0a, Buffer.concat([Buffer.from([0x08]), delimited(0x0a, key).subarray(1)])),
      ),
    ),
    // RouteRequest.priority is field 7, an int32.
    "a number tagged as bytes, which hides what follows": delimited(0x3a, payload),
    "an unknown varint of more than ten bytes": Buffer.concat([
      Buffer.from([0xf8, 0x7f, ...Array<number>(10).fill(0x80), 0x00]),
      payload,
    ]),
  };
  const codec = protoCodec(RouteRequestSchema, UpdateTenantResponseSchema);
  assert.equal(
    violationOf(() => codec.decode(payload)),
    "",
  );
  for (const [spelling, body] of Object.entries(spellings)) {
    assert.ok(fromBinary(RouteRequestSchema, body).payload, `the decoder alone accepts ${spelling}`);
    assert.equal(
      violationOf(() => codec.decode(body)),
      "",
      spelling,
    );
  }
});

test("unknown fields, including groups, are ignored", () => {
  const request = create(RouteRequestSchema, { payload: { a: 1 } });
  const body = Buffer.concat([
    // Field 2047: a varint, fixed64, bytes, a group with a field 6 that is no payload, and fixed32.
    Buffer.from([0xf8, 0x7f, 0x01]),
    Buffer.from([0xf9, 0x7f, 1, 2, 3, 4, 5, 6, 7, 8]),
    Buffer.from([0xfa, 0x7f, 0x01, 0xff]),
    Buffer.from([0xfb, 0x7f, 0x30, 0x05, 0xfc, 0x7f]),
    Buffer.from([0xfd, 0x7f, 1, 2, 3, 4]),
    toBinary(RouteRequestSchema, request),
  ]);
  const codec = protoCodec(RouteRequestSchema, UpdateTenantResponseSchema);
  assert.deepEqual((codec.decode(body) as typeof request).payload, { a: 1 });
});

test("truncated, too deeply nested and random binary messages are refused with a clear error", () => {
  const codec = protoCodec(PublishEventRequestSchema, UpdateTenantResponseSchema);
  let deep = Buffer.alloc(0);
  // Each round wraps a Struct's value: fields → entry → value → list_value → values.
  for (let i = 0; i < 300; i++) {
    for (const tag of [0x0a, 0x32]) {
      const size = Buffer.from(deep.length < 128 ? [deep.length] : [(deep.length & 0x7f) | 0x80, deep.length >> 7]);
      deep = Buffer.concat([Buffer.from([tag]), size, deep]);
    }
  }
  const wrap = (tag: number, body: Buffer) =>
    Buffer.concat([Buffer.from([tag, (body.length & 0x7f) | 0x80, body.length >> 7]), body]);
  for (const bytes of [
    Buffer.from([0x0a, 0x05, 0x61]),
    Buffer.from([0xff]),
    wrap(0x2a, wrap(0x0a, wrap(0x12, deep))),
  ]) {
    assert.equal(
      violationOf(() => codec.decode(bytes)),
      "",
    );
  }
});

test("a large binary message with lists is decoded and encoded over many turns, and like in one", async () => {
  const items = Array.from({ length: 500 }, (_, n) => ({
    poolId: `p${n}`,
    type: "task",
    payload: { n, list: ["a", 1, {}] },
  }));
  const message = create(RouteBatchRequestSchema, { dryRun: true, items });
  const whole = toBinary(RouteBatchRequestSchema, message);
  // The other field may be in the middle of the list.
  const [first, second] = [{ items: items.slice(0, 9) }, { dryRun: true, items: items.slice(9) }].map((part) =>
    toBinary(RouteBatchRequestSchema, create(RouteBatchRequestSchema, part)),
  );
  const codec = protoCodec(RouteBatchRequestSchema, RouteBatchRequestSchema);
  for (const body of [whole, Buffer.concat([second!.subarray(-2), first!, second!.subarray(0, -2)])]) {
    const padded = Buffer.concat([body, delimited(0x7a, Buffer.alloc(64 * 1024))]);
    const decoding = codec.decode(padded);
    assert.ok(decoding instanceof Promise);
    assert.deepEqual(await decoding, message);
  }
  const encoding = codec.encode(message);
  assert.ok(encoding instanceof Promise);
  assert.deepEqual(fromBinary(RouteBatchRequestSchema, (await encoding) as Uint8Array), message);
  const bad = create(RouteBatchRequestSchema, { items: [...items, { poolId: "p", type: "a\0" }] });
  const large = Buffer.concat([toBinary(RouteBatchRequestSchema, bad), delimited(0x7a, Buffer.alloc(64 * 1024))]);
  await assert.rejects(async () => codec.decode(large), failsWith("INVALID_ARGUMENT", /items\[500\]\.type/));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { PublishEventRequestSchema } from "../../../gen/service/api/event_pb.ts";
import { RouteRequestSchema } from "../../../gen/service/api/routing_pb.ts";
import {
  CreateTenantRequestSchema,
  UpdateTenantRequestSchema,
  UpdateTenantResponseSchema,
} from "../../../gen/service/api/tenant_pb.ts";
import { Failure } from "../../errors/index.ts";
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

test("U+0000 in a binary message is refused with the path of its field, wherever it hides", () => {
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

test("zero bytes that are no text are fine", () => {
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

test("a binary message that holds too much is refused before it is decoded", () => {
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
  assert.equal(refusalOf(bytesOf({ rows: Array(1000).fill(keyed(20)) })), "", "the same keys again count once");
  // What decodes is never reached: cut off, each of these would otherwise be no valid message.
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

test("binary that is cut off, nests too deep or is noise is refused with our own text", () => {
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

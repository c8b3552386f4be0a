import assert from "node:assert/strict";
import { test } from "node:test";
import { failsWith } from "../../../../../test/harness/context.ts";
import { Failure } from "../../../../errors/index.ts";
import { fullReason, usageOf } from "./credit.ts";
import { requireReadable } from "./cursor.ts";
import { contentClassOf, meansHiddenReasoning, type Pins, toPins } from "./pins.ts";
import { checkRedaction, redact } from "./redaction.ts";
import { requireRegion } from "./region.ts";

const empty: Pins = {
  ...{ metadata_home: "", metadata_replicas: [], object_regions: [], egress_regions: [], log_region: "" },
  ...{ retention: { max_age_s: 0 }, redaction: [], authorization: { readers: [], writers: [] }, content_classes: [] },
  ceilings: { unread_items: 0, unread_bytes: 0, total_items: 0, total_bytes: 0 },
  on_unread_full: "" as "block",
};

test("pins that are left out have defaults, and regions follow the node that creates the stream", () => {
  const pins = toPins(empty, "eu");
  assert.deepEqual(pins, {
    ...{ metadata_home: "eu", metadata_replicas: [], object_regions: ["eu"], egress_regions: ["eu"], log_region: "eu" },
    ...{ retention: { max_age_s: 604_800 }, redaction: [], authorization: { readers: [], writers: [] } },
    content_classes: ["data"],
    ceilings: { unread_items: 10_000, unread_bytes: 67_108_864, total_items: 1_000_000, total_bytes: 1_073_741_824 },
    on_unread_full: "block",
  });
});

test("hidden model reasoning is refused as a content class, however it is named", () => {
  for (const name of ["reasoning", "hidden_reasoning", "chain_of_thought", "model_thinking", "cot", "scratchpad"]) {
    assert.ok(meansHiddenReasoning(name), name);
    assert.throws(() => toPins({ ...empty, content_classes: ["message", name] }, "eu"), failsWith("INVALID_ARGUMENT"));
  }
  for (const name of ["message", "tool_result", "seasoning", "cottage", "data"]) {
    assert.ok(!meansHiddenReasoning(name), name);
  }
});

test("a record has one of the pinned classes, and needs none if there is one", () => {
  const pins = toPins({ ...empty, content_classes: ["message", "log"] }, "eu");
  assert.equal(contentClassOf(pins, "log"), "log");
  assert.throws(() => contentClassOf(pins, ""), failsWith("INVALID_ARGUMENT"));
  assert.throws(() => contentClassOf(pins, "data"), failsWith("INVALID_ARGUMENT"));
  assert.equal(contentClassOf(toPins(empty, "eu"), ""), "data");
});

test("redaction drops, masks and hashes the parts that its paths name", () => {
  const key = Buffer.alloc(32, 1);
  const apply = (payload: unknown, path: string, action: "drop" | "mask" | "hash") =>
    redact(structuredClone(payload) as never, [{ path, action }], key);
  assert.deepEqual(apply({ a: { b: 1, c: 2 } }, "/a/b", "drop"), { a: { c: 2 } });
  assert.deepEqual(apply({ a: [1, 2, 3] }, "/a/1", "drop"), { a: [1, 3] });
  assert.deepEqual(apply({ a: [{ x: 1 }, { y: 2 }, { x: 3 }] }, "/a/*/x", "mask"), {
    a: [{ x: "***" }, { y: 2 }, { x: "***" }],
  });
  assert.deepEqual(apply([1, 2, 3], "/*", "drop"), []);
  assert.deepEqual(apply({ "a/b": 1, "c~d": 2 }, "/a~1b", "drop"), { "c~d": 2 });
  assert.deepEqual(apply({ a: 1 }, "/b/c", "mask"), { a: 1 });
  assert.deepEqual(apply("text", "/a", "mask"), "text");
  const hashed = apply({ a: "x", b: "x", c: "y" }, "/*", "hash") as Record<string, string>;
  assert.match(hashed.a!, /^hmac:[0-9a-f]{64}$/);
  assert.equal(hashed.a, hashed.b);
  assert.notEqual(hashed.a, hashed.c);
  const other = redact({ a: "x" }, [{ path: "/a", action: "hash" }], Buffer.alloc(32, 2)) as Record<string, string>;
  assert.notEqual(other.a, hashed.a, "another stream has another key");
  assert.throws(() => checkRedaction([{ path: "a/b", action: "drop" }]), failsWith("INVALID_ARGUMENT"));
});

test("usage counts neither removed records nor those that every consumer has acknowledged", () => {
  const head = { firstSequence: 11, lastSequence: 30, firstCumBytes: 100, lastCumBytes: 300 };
  assert.deepEqual(usageOf(head, { ackedSequence: 20, ackedCumBytes: 200 }), {
    ...{ items: 20, bytes: 200, unreadItems: 10, unreadBytes: 100 },
  });
  assert.deepEqual(usageOf(head, { ackedSequence: 0, ackedCumBytes: 0 }), {
    ...{ items: 20, bytes: 200, unreadItems: 20, unreadBytes: 200 },
  });
  const ceilings = { unread_items: 11, unread_bytes: 105, total_items: 21, total_bytes: 205 };
  const usage = { items: 20, bytes: 200, unreadItems: 10, unreadBytes: 100 };
  assert.equal(fullReason(usage, 5, ceilings), undefined);
  assert.equal(fullReason(usage, 6, ceilings), "total_full");
  assert.equal(fullReason(usage, 6, { ...ceilings, total_bytes: 1000 }), "unread_full");
  assert.equal(fullReason({ ...usage, unreadItems: 11 }, 1, ceilings), "unread_full");
});

test("a cursor is valid from the record before the earliest to the latest", () => {
  const head = { firstSequence: 5, lastSequence: 9 };
  for (const cursor of [4, 5, 9]) requireReadable(cursor, head);
  assert.throws(() => requireReadable(3, head), { code: "STREAM_RESYNC_REQUIRED" });
  assert.throws(() => requireReadable(10, head), { code: "INVALID_ARGUMENT" });
});

test("only the home writes, replicas read, and only egress regions send payloads", () => {
  const pins = { ...toPins(empty, "eu"), metadata_replicas: ["us"], egress_regions: ["eu"], object_regions: ["asia"] };
  const allowed = (region: string) =>
    (["define", "read", "acknowledge", "write", "hold", "upload", "download"] as const).filter((access) => {
      try {
        requireRegion(access, pins, region);
        return true;
      } catch (error) {
        assert.ok(error instanceof Failure && error.code === "REGION_NOT_ALLOWED");
        return false;
      }
    });
  assert.deepEqual(allowed("eu"), ["define", "read", "acknowledge", "write", "hold"]);
  assert.deepEqual(allowed("us"), ["define"]);
  assert.deepEqual(allowed("asia"), ["upload"]);
  assert.deepEqual(allowed("mars"), []);
});

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { type DescMessage, equals, fromJson, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { services } from "../../../gen/services.ts";
import { fc } from "../../../test/harness/random.ts";
import { Failure } from "../../errors/index.ts";
import { createJsonDecoder, createJsonEncoder } from "./index.ts";
import { arbitraryMessage, trickyText } from "./testing/arbitrary.ts";
import { everyKind } from "./testing/every-kind.ts";

const apiTypes = services
  .map((service) => service.file)
  .flatMap((file) => [...nestedTypes(file)])
  .filter((type): type is DescMessage => type.kind === "message");
const types = [...new Set([...apiTypes, everyKind])];

// The type with every kind of field is large, so its messages are nested less deeply.
function messagesOf(desc: DescMessage) {
  return arbitraryMessage(desc, { depth: desc === everyKind ? 1 : 2 });
}

function runsFor(desc: DescMessage): number {
  return desc === everyKind ? 100 : 25;
}

function decoded(desc: DescMessage, json: unknown): Message | undefined {
  try {
    return createJsonDecoder(desc)(json);
  } catch (error) {
    assert.ok(error instanceof Failure, "only failures of the catalogue are thrown");
    assert.ok(error.violations.length > 0);
    return undefined;
  }
}

suite("JSON against protobuf-es, with random messages of every type", () => {
  test("there are types to compare", () => assert.ok(types.length > 50));

  for (const desc of types) {
    suite(desc.typeName, () => {
      // Creating random messages takes as long as comparing them, so the tests of a type share them.
      let messages: Message[];
      before(() => {
        messages = fc.sample(messagesOf(desc), runsFor(desc));
      });
      after(() => {
        messages = [];
      });

      test(`${desc.typeName} is encoded like in protobuf-es`, () => {
        const encode = createJsonEncoder(desc, "json");
        for (const message of messages) {
          const json = JSON.parse(encode(message)) as JsonValue;
          const expected = toJson(desc, message, { alwaysEmitImplicit: true });
          assert.deepEqual(json, JSON.parse(JSON.stringify(expected)));
          assert.ok(equals(desc, fromJson(desc, json), message), JSON.stringify(json));
        }
      });

      test(`${desc.typeName} is decoded like in protobuf-es, under both names`, () => {
        const decode = createJsonDecoder(desc);
        for (const [at, message] of messages.entries()) {
          const text = JSON.stringify(toJson(desc, message, { useProtoFieldName: at % 2 === 0 }));
          assert.ok(equals(desc, decode(JSON.parse(text)), message), text);
        }
      });

      test(`${desc.typeName} survives a round trip under both names`, () => {
        const decode = createJsonDecoder(desc);
        const encoders = [createJsonEncoder(desc, "proto"), createJsonEncoder(desc, "json")];
        for (const [at, message] of messages.entries()) {
          const text = encoders[at % 2]!(message);
          assert.ok(equals(desc, decode(JSON.parse(text)), message), text);
        }
      });

      test(`${desc.typeName} is never decoded from JSON that protobuf-es rejects, nor decoded differently`, () => {
        const changes = fc.sample(fc.tuple(fc.nat(), anything), messages.length);
        for (const [at, message] of messages.entries()) {
          const json = replaced(toJson(desc, message), ...changes[at]!);
          const ours = decoded(desc, structuredClone(json));
          if (ours === undefined) continue;
          const theirs = fromJson(desc, json);
          // equals() treats NaN as different from NaN.
          if (!equals(desc, ours, theirs)) assert.deepEqual(ours, theirs);
        }
      });
    });
  }
});

const anything: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(
    null,
    true,
    0,
    -1,
    1.5,
    2 ** 31,
    2 ** 53,
    "",
    "1",
    "-1",
    "1.5",
    "1s",
    "NaN",
    "AQ==",
    [],
    {},
  ),
  fc.constantFrom<JsonValue>("2026-02-29T00:00:00Z", "2024-02-29T23:59:59.5+05:30", "0001-01-01T00:00:00+00:01"),
  trickyText,
  fc.array(trickyText, { maxLength: 2 }),
  fc.dictionary(trickyText, trickyText, { maxKeys: 2, noNullPrototype: true }),
);

/** A copy of JSON with one of its values, at any depth, replaced. */
function replaced(json: JsonValue, place: number, replacement: JsonValue): JsonValue {
  if (typeof json !== "object" || json === null || place % 7 === 0) return replacement;
  const keys = Object.keys(json);
  const key = keys[place % keys.length];
  if (key === undefined) return replacement;
  const copy = (Array.isArray(json) ? [...json] : { ...json }) as Record<string, JsonValue>;
  Object.defineProperty(copy, key, {
    value: replaced(copy[key]!, Math.floor(place / 3), replacement),
    enumerable: true,
  });
  return copy;
}

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { CreateLayoutRequestSchema } from "../../../../gen/service/api/layout_pb.ts";
import { RouteBatchRequestSchema, RouteRequestSchema } from "../../../../gen/service/api/routing_pb.ts";
import { Failure, type Violation } from "../../../errors/index.ts";
import { parseJson } from "../index.ts";

function violationOf(json: string, desc: Parameters<typeof parseJson>[1]): Violation | undefined {
  try {
    parseJson(Buffer.from(json), desc);
  } catch (error) {
    assert.ok(error instanceof Failure);
    return error.violations[0];
  }
  return undefined;
}

const long = "x".repeat(256 * 1024);

suite("the fields of parsed JSON", () => {
  test("violations use proto names for fields and keys for free-form JSON", () => {
    for (const [json, field] of [
      ['{"poolId": 1, "poolId": 2}', "pool_id"],
      ['{"payload": {"a": [1, {"b": 1, "b": 2}]}}', 'payload["a"][1]["b"]'],
      ['{"requirements": {"skills": [], "skills": []}}', "requirements.skills"],
      ['{"nobody": {"a": 9007199254740993}}', "nobody"],
    ] as const) {
      assert.equal(violationOf(json, RouteRequestSchema)?.field, field);
    }
    const batch = '{"items": [{}, {"attributes": {"n": 12345678901234567890}}]}';
    assert.equal(violationOf(batch, RouteBatchRequestSchema)?.field, 'items[1].attributes["n"]');
  });

  test("a value that is too large for its field is rejected before it is parsed, regardless of its surroundings", (t) => {
    t.mock.method(JSON, "parse", () => assert.fail("was parsed"));
    for (const [json, desc, field] of [
      [`{"payload": {"a": "${long}"}}`, RouteRequestSchema, "payload"],
      [`{"payload": {"a": ["${long}x"]}}`, RouteRequestSchema, "payload"],
      [`{"items": [{}, {"attributes": {"a": "${long}"}}]}`, RouteBatchRequestSchema, "items[1].attributes"],
      [`{"text_body": "${long}x"}`, CreateLayoutRequestSchema, "text_body"],
    ] as const) {
      const violation = violationOf(json, desc);
      assert.ok(violation?.field.startsWith(field), violation?.field);
      assert.deepEqual([violation?.rule, violation?.message], ["max_bytes", "must take at most 262144 bytes"]);
    }
  });

  test("whitespace, escapes and many fields that are each small enough do not count towards the limit", () => {
    const most = long.slice(100);
    assert.equal(violationOf(`{"payload": {${" ".repeat(300_000)}"a": "${most}"}}`, RouteRequestSchema), undefined);
    const escaped = `{"payload": {"a": "${"\\u0061".repeat(200_000)}"}}`;
    assert.equal(violationOf(escaped, RouteRequestSchema), undefined);
    const items = Array(14).fill(`{"payload": {"a": "${most}"}}`);
    assert.equal(violationOf(`{"items": [${items.join()}]}`, RouteBatchRequestSchema), undefined);
  });
});

import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Operation } from "../../src/definitions/index.ts";
import { broken, type InvalidValue, invalidValuesOf, itemwiseFields } from "../harness/invalid-requests.ts";
import { readRows } from "../harness/rows.ts";
import { sampled, shareText } from "../harness/run-size.ts";
import { callOperation, type Protocol, restPagingNames } from "../harness/wire.ts";
import {
  callerFor,
  createMatrixFixture,
  itemsOnly,
  type MatrixFixture,
  operations,
  protocols,
  requestFor,
} from "./fixture.ts";

let fixture: MatrixFixture;
before(async () => {
  fixture = await createMatrixFixture();
});

const unknownField: InvalidValue = { field: "no_such_field", what: "an unknown field", value: "1" };

/** A limit or an offset out of range is clamped. A raw body can be any bytes. */
function isTaken(
  protocol: Protocol,
  { rawBodyBytesMax, bindings }: Operation,
  { field, value }: InvalidValue,
): boolean {
  if (protocol !== "REST") return false;
  if (rawBodyBytesMax !== undefined && field === bindings[0]!.body) return true;
  return /^(page_size|skip)$/.test(field) && /^\d+$/.test(String(value));
}

for (const [turn, operation] of operations.entries()) {
  test(`${operation.id} names every field that violates a rule of its definition, without effect${shareText(2, "protocols")}`, async () => {
    const { platform, sql } = fixture;
    const request = await requestFor(operation, platform);
    const held = await readRows(sql);
    for (const [at, breakage] of [...invalidValuesOf(operation), unknownField].entries()) {
      const { field, what } = breakage;
      for (const protocol of sampled(protocols, 2, turn + at).filter((each) => !isTaken(each, operation, breakage))) {
        const outcome = await callOperation(
          protocol,
          operation,
          callerFor(platform, operation),
          broken(request, breakage),
        );
        const named = protocol === "REST" ? (restPagingNames[field] ?? field) : field;
        const told = `${protocol}, ${field}, ${what}: ${outcome.text}`;
        assert.equal(outcome.code, "INVALID_ARGUMENT", told);
        // A Connect stream always starts with status 200.
        if (protocol === "REST" || !operation.streaming) assert.equal(outcome.status, 400, told);
        assert.equal(outcome.retryable, false, told);
        assert.ok(
          outcome.violations.some((each) => each.field === named || each.field.startsWith(`${named}[`)),
          told,
        );
        for (const { rule, message } of outcome.violations) assert.ok(rule !== "" && message !== "", told);
      }
    }
    assert.deepEqual(await readRows(sql), held);
  });
}

for (const { operation, field } of operations.flatMap((operation) =>
  itemwiseFields(operation).map((field) => ({ operation, field })),
)) {
  const name = `${operation.id} returns an error of its own for one of ${field.name} that violates a rule`;
  test(name, async () => {
    const { platform, sql } = fixture;
    const request = { ...(await requestFor(operation, platform)), ...itemsOnly[operation.id], [field.name]: [{}] };
    const held = await readRows(sql);
    for (const protocol of protocols) {
      const outcome = await callOperation(protocol, operation, callerFor(platform, operation), request);
      const told = `${protocol}: ${outcome.text}`;
      assert.equal(outcome.code, "OK", told);
      const [result] = protocol === "REST" ? outcome.body.data.results : outcome.body.results;
      assert.equal(result.error_code ?? result.errorCode, "INVALID_ARGUMENT", told);
      assert.ok(result.violations.length > 0, told);
      for (const each of result.violations) assert.ok(each.field && each.rule && each.message, told);
    }
    assert.deepEqual(await readRows(sql), held);
  });
}

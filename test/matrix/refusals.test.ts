import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Operation } from "../../src/definitions/index.ts";
import { catalogue, type ErrorCode } from "../../src/errors/index.ts";
import { broken, type InvalidValue, invalidValuesOf, itemwiseFields } from "../harness/invalid-requests.ts";
import type { Json } from "../harness/operations.ts";
import { type Rows, readRows } from "../harness/rows.ts";
import { sampled, shareText } from "../harness/run-size.ts";
import { type Caller, callOperation, type Protocol, restPagingNames } from "../harness/wire.ts";
import {
  atRest,
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

const wrongCredentials = [
  {},
  { "x-api-key": "sk_live_nobody_has_this" },
  { "x-api-key": "" },
  { authorization: "Bearer a.b.c" },
];

for (const [turn, operation] of operations.entries()) {
  const { id, governance } = operation;

  // Created and read once: a rejected call changes nothing.
  let made: Promise<{ request: Json; held: Rows }> | undefined;

  function madeRequest() {
    made ??= makeRequest();
    return made;
  }

  async function makeRequest() {
    const request = await requestFor(operation, fixture.platform);
    await atRest(fixture.sql);
    return { request, held: await readRows(fixture.sql) };
  }

  /** Asserts that every caller is rejected over every protocol and that no row changes. */
  async function refuses(code: ErrorCode, callers: readonly Caller[]): Promise<void> {
    const { request, held } = await madeRequest();
    const refusal = async (protocol: Protocol, caller: Caller) => {
      const outcome = await callOperation(protocol, operation, caller, request);
      assert.equal(outcome.code, code, `${protocol}: ${outcome.text}`);
      assert.equal(outcome.retryable, catalogue[code].retryable);
      assert.notEqual(outcome.requestId, "", "an error names its request");
      assert.equal(outcome.headers.get("x-request-id"), outcome.requestId);
      if (protocol === "REST") assert.equal(outcome.status, catalogue[code].http);
    };
    await Promise.all(protocols.flatMap((protocol) => callers.map((caller) => refusal(protocol, caller))));
    assert.deepEqual(await readRows(fixture.sql), held);
  }

  if (governance.authenticationRequired) {
    test(`${id} rejects callers without valid credentials, without effect`, async () => {
      const { baseUrl } = callerFor(fixture.platform, operation);
      await refuses(
        "UNAUTHENTICATED",
        wrongCredentials.map((headers) => ({ baseUrl, headers: headers as Record<string, string> })),
      );
    });

    test(`${id} rejects credentials of the other plane, without effect`, async () => {
      const { admin, service } = fixture.platform;
      const callers = [{ baseUrl: service.baseUrl, headers: admin.headers }];
      if (!governance.internalOnly) callers.push({ baseUrl: admin.baseUrl, headers: service.headers });
      await refuses("UNAUTHENTICATED", callers);
    });
  }

  if (governance.authorizationRequired && !governance.internalOnly) {
    test(`${id} rejects a key without roles and scopes, without effect`, async () => {
      await refuses("PERMISSION_DENIED", [fixture.platform.nobody]);
    });
  }

  if (governance.roles.length > 0) {
    test(`${id} rejects a key with every scope but without the role, without effect`, async () => {
      await refuses("PERMISSION_DENIED", [fixture.platform.roleless]);
    });
  }

  test(`${id} names every field that violates a rule of its definition, without effect${shareText(2, "protocols")}`, async () => {
    const { request, held } = await madeRequest();
    for (const [at, breakage] of [...invalidValuesOf(operation), unknownField].entries()) {
      const { field, what } = breakage;
      for (const protocol of sampled(protocols, 2, turn + at).filter((each) => !isTaken(each, operation, breakage))) {
        const outcome = await callOperation(
          protocol,
          operation,
          callerFor(fixture.platform, operation),
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
    assert.deepEqual(await readRows(fixture.sql), held);
  });

  test(`${id} accepts a request generated from its definition`, async () => {
    const { request } = await madeRequest();
    const other = governance.mutating ? await requestFor(operation, fixture.platform) : request;
    const held = governance.mutating ? undefined : await readRows(fixture.sql);
    for (const [protocol, message] of [["REST", request] as const, ["Connect", other] as const]) {
      const outcome = await callOperation(protocol, operation, callerFor(fixture.platform, operation), message);
      assert.equal(outcome.code, "OK", `${protocol}: ${JSON.stringify(message)} returned ${outcome.text}`);
      assert.equal(outcome.status, 200);
    }
    if (held !== undefined)
      assert.deepEqual(await readRows(fixture.sql), held, "a read-only operation changes nothing");
  });
}

for (const { operation, field } of operations.flatMap((operation) =>
  itemwiseFields(operation).map((field) => ({ operation, field })),
)) {
  const name = `${operation.id} returns an error of its own for one of ${field.name} that violates a rule`;
  test(name, async () => {
    const { platform, sql } = fixture;
    const request = { ...(await requestFor(operation, platform)), ...itemsOnly[operation.id], [field.name]: [{}] };
    await atRest(sql);
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

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { catalogue, type ErrorCode } from "../../src/errors/index.ts";
import type { Json } from "../harness/operations.ts";
import { type Rows, readRows } from "../harness/rows.ts";
import { type Caller, callOperation, type Protocol } from "../harness/wire.ts";
import {
  atRest,
  callerFor,
  createMatrixFixture,
  type MatrixFixture,
  operations,
  protocols,
  requestFor,
} from "./fixture.ts";

let fixture: MatrixFixture;
before(async () => {
  fixture = await createMatrixFixture();
});

const wrongCredentials = [
  {},
  { "x-api-key": "sk_live_nobody_has_this" },
  { "x-api-key": "" },
  { authorization: "Bearer a.b.c" },
];

for (const operation of operations) {
  const { id, governance } = operation;

  // Created and read once: a rejected caller changes nothing.
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

import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { DescMessage } from "@bufbuild/protobuf";
import type { Operation } from "../../src/definitions/index.ts";
import { freshWord, type Json } from "../harness/operations.ts";
import { changedRows, markRows, readRows } from "../harness/rows.ts";
import { sampled, shareText } from "../harness/run-size.ts";
import { callOperation, type Outcome, type Protocol } from "../harness/wire.ts";
import { must, operationNamed } from "./calls.ts";
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
  // The first call of a tenant writes other rows than later ones, which are compared with each other.
  for (const name of ["BillingSubscriptionService/SetSubscription", "LayoutService/SetDefaultLayout"]) {
    const operation = operationNamed(name);
    await must(operation, fixture.platform, await requestFor(operation, fixture.platform));
  }
});

const mutating = operations.filter(({ acceptsIdempotencyKey }) => acceptsIdempotencyKey);

/** The service's rows, except the idempotency keys themselves. */
const effects = async () => {
  await atRest(fixture.sql);
  return readRows(fixture.sql, ["idempotency_records"]);
};

const inProtocols = shareText(2, "protocols");

function isReplayed({ headers }: Outcome): boolean {
  return headers.get("idempotency-replayed") === "true";
}

for (const [turn, operation] of mutating.entries()) {
  const { id } = operation;
  const ask = (protocol: Protocol, request: Json, key: string) =>
    callOperation(protocol, operation, callerFor(fixture.platform, operation), request, {
      "idempotency-key": key,
      "x-request-id": "the-same",
    });

  /** The key of the first call over each protocol. */
  const used = new Map<Protocol, string>();
  /** The rows that one call writes, by table. */
  let writtenOnce: Readonly<Record<string, number>>;
  /** A request that was rejected, and so is still valid. */
  let unused: Json;

  test(`${id} repeated with one key takes effect once and returns the same response, without secrets${inProtocols}`, async () => {
    for (const protocol of sampled(protocols, 2, turn)) {
      const request = await requestFor(operation, fixture.platform);
      const key = freshWord();
      used.set(protocol, key);
      const untouched = await effects();
      const mark = await markRows(fixture.sql);
      const first = await ask(protocol, request, key);
      assert.equal(first.code, "OK", `${protocol}: ${first.text}`);
      assert.ok(!isReplayed(first));
      await atRest(fixture.sql);
      writtenOnce = await changedRows(fixture.sql, mark);
      const once = await effects();
      assert.notDeepEqual(once, untouched, "the first call takes effect");
      for (const again of [protocol, ...protocols]) {
        const repeat = await ask(again, request, key);
        assert.equal(repeat.code, "OK", `${again}: ${repeat.text}`);
        assert.ok(isReplayed(repeat));
        if (again === protocol) assert.deepEqual(shownTwice(operation, repeat), shownTwice(operation, first));
      }
      assert.deepEqual(await effects(), once);
    }
  });

  test(`${id} rejects a key that was used with another request, without effect${inProtocols}`, async () => {
    unused = await requestFor(operation, fixture.platform);
    const held = await effects();
    for (const [protocol, key] of used) {
      const outcome = await ask(protocol, unused, key);
      assert.equal(outcome.code, "IDEMPOTENCY_KEY_REUSED", `${protocol}: ${outcome.text}`);
      assert.equal(outcome.status, 409);
      assert.equal(outcome.retryable, false);
    }
    assert.deepEqual(await effects(), held);
  });

  test(`${id} rejects a key that is unprintable or too long, without effect${shareText(3, "keys")}`, async () => {
    const held = await effects();
    for (const protocol of protocols) {
      for (const key of sampled(["", "\u00e9", "k".repeat(256)], 3, turn)) {
        const outcome = await ask(protocol, unused, key);
        assert.equal(outcome.code, "INVALID_ARGUMENT", `${protocol}, ${key}: ${outcome.text}`);
        assert.equal(outcome.violations[0]?.field, "Idempotency-Key");
      }
    }
    assert.deepEqual(await effects(), held);
  });

  test(`${id} sent many times concurrently with one key takes effect once`, async () => {
    const key = freshWord();
    const mark = await markRows(fixture.sql);
    const outcomes = await Promise.all(Array.from({ length: 6 }, (_, i) => ask(protocols[i % 2]!, unused, key)));
    await atRest(fixture.sql);
    for (const { code, retryable, text } of outcomes) {
      assert.ok(code === "OK" || (code === "IDEMPOTENCY_IN_PROGRESS" && retryable), text);
    }
    assert.equal(outcomes.filter((each) => each.code === "OK" && !isReplayed(each)).length, 1);
    assert.deepEqual(await changedRows(fixture.sql, mark), writtenOnce);
  });
}

test("keys are scoped by caller, tenant and operation", async () => {
  const { platform, own } = fixture;
  const create = operations.find(({ id }) => id === "service.api.EnvironmentService/CreateEnvironment")!;
  const invite = operations.find(({ id }) => id === "service.api.MemberService/InviteMember")!;
  const key = { "idempotency-key": freshWord() };
  const calls = [
    await callOperation("REST", create, platform.admin, { key: "one" }, key),
    await callOperation("REST", create, own.admin, { key: "two" }, key),
    await callOperation("REST", create, platform.service, { key: "three" }, key),
    await callOperation("REST", invite, platform.admin, { email: "ada@example.com" }, key),
  ];
  for (const outcome of calls) {
    assert.equal(outcome.code, "OK", outcome.text);
    assert.ok(!isReplayed(outcome));
  }
});

test("a failed call leaves its key free for the corrected one", async () => {
  const { platform } = fixture;
  const create = operations.find(({ id }) => id === "service.api.EnvironmentService/CreateEnvironment")!;
  const key = { "idempotency-key": freshWord() };
  assert.equal(
    (await callOperation("REST", create, platform.admin, { key: "production" }, key)).code,
    "ALREADY_EXISTS",
  );
  assert.equal((await callOperation("REST", create, platform.admin, { key: "mended" }, key)).code, "OK");
});

/** A response without its secrets, which only the first response has. */
function shownTwice({ method }: Operation, { text }: Outcome): unknown {
  const secrets = secretsOf(method.output);
  if (secrets.size === 0) return text;
  return JSON.parse(text, (name, value) => (secrets.has(name) ? undefined : value));
}

/** The names of the secret fields of a message, at any depth, in both spellings. */
function secretsOf(desc: DescMessage, visited = new Set<string>()): ReadonlySet<string> {
  if (visited.has(desc.typeName)) return new Set();
  visited.add(desc.typeName);
  return new Set(
    desc.fields.flatMap((field) => [
      ...(field.proto.options?.debugRedact ? [field.name, field.jsonName] : []),
      ...(field.message === undefined ? [] : secretsOf(field.message, visited)),
    ]),
  );
}

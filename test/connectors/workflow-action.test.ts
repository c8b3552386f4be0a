import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { MockFailure, MockProvider } from "../../src/modules/connectors/manifests/testing/mock-provider.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, type ResponseData } from "../routing/tenant-fixture.ts";
import { type AcmeTenant, newAcmeTenant, startAcme } from "./acme.ts";

let service: TestService;
let mock: MockProvider;
let own: AcmeTenant;
before(async () => {
  service = await startService();
  mock = await startAcme();
  own = await newAcmeTenant(service, mock);
});

const step = (action: string, input: object = { text: "=input.text" }, more: object = {}) => ({
  ...{ id: "call", action: { action: `acme.${action}`, connection: "=input.connection" }, with: input },
  ...more,
});

/** Publishes a definition; returns its key. */
async function publish(steps: readonly object[]): Promise<string> {
  const key = `w${freshName()}`;
  await own.ok("POST", "/api/workflow-definitions", { document: { dsl: "1", key, timeout: "1h", steps } });
  await own.ok("POST", `/api/workflow-definitions/${key}/publish`, {});
  return key;
}

/** Runs a definition to its end. */
async function run(steps: readonly object[], input: object = {}): Promise<ResponseData> {
  const definition = await publish(steps);
  const start = { definition, input: { connection: own.connectionId, text: "hi", ...input } };
  const { run } = (await own.ok("POST", "/api/workflow-runs", start)).data;
  return until(
    async () => (await own.ok("GET", `/api/workflow-runs/${run.id}`)).data,
    ({ status }) => ["succeeded", "failed"].includes(status),
  );
}

const fast = { retry: { max_attempts: 2, initial: "10ms" } };

test("an action step executes the action once, and its output is that of the action", async () => {
  mock.answer("note.add", { id: "n7", text: "hi" });
  const from = mock.requests.length;
  const ended = await run([step("note.add"), { id: "end", transform: "=steps.call.id" }]);
  assert.deepEqual([ended.status, ended.output], ["succeeded", "n7"]);
  assert.equal(mock.requests.length, from + 1);
  const [execution] = (await own.ok("GET", "/api/v2/connector/executions?origin=workflow")).data;
  assert.deepEqual([execution.origin, execution.origin_id], ["workflow", ended.id]);
});

test("a step with an unknown outcome fails with outcome_unknown, is never retried and can be caught", async () => {
  const from = mock.requests.length;
  mock.fail("note.add", { kind: "cut" });
  const failed = await run([step("note.add", undefined, fast)]);
  assert.deepEqual([failed.status, failed.error.code], ["failed", "outcome_unknown"]);
  assert.ok(failed.error.details.execution_id);
  assert.equal(mock.requests.length, from + 1);
  mock.fail("note.add", { kind: "cut" });
  const fallback = [{ id: "ask", transform: { to_check: "=err.details.execution_id" } }];
  const caught = await run([step("note.add", undefined, { catch: [{ on: ["outcome_unknown"], steps: fallback }] })]);
  assert.equal(caught.status, "succeeded");
  assert.ok(caught.output.to_check);
});

const refusals: readonly [code: string, fault: MockFailure][] = [
  ["not_found", { kind: "answer", status: 404, body: {} }],
  ["permission_denied", { kind: "answer", status: 403, body: {} }],
  ["conflict", { kind: "answer", status: 409, body: {} }],
  ["invalid_input", { kind: "answer", status: 400, body: {} }],
  ["failed", { kind: "answer", status: 418, body: {} }],
];

for (const [code, fault] of refusals) {
  test(`a refusal of the class ${code} fails the step with that code and is not retried`, async () => {
    const from = mock.requests.length;
    mock.fail("note.add", fault);
    const { status, error } = await run([step("note.add", undefined, fast)]);
    assert.deepEqual([status, error.code, error.details.error_code], ["failed", code, "CONNECTOR_FAILED"]);
    assert.equal(mock.requests.length, from + 1);
  });
}

test("a step is retried when the provider was unavailable and nothing was changed", async () => {
  mock.fail("note.get", { kind: "answer", status: 503 }, 3);
  const from = mock.requests.length;
  const ended = await run([step("note.get", { id: "1" }, fast)]);
  assert.equal(ended.status, "succeeded", JSON.stringify(ended.error));
  // Three requests of the first execution, one of the second.
  assert.equal(mock.requests.length, from + 4);
});

test("input that does not fit, an unusable connection and a missing one have codes of their own", async () => {
  const wrong = await run([step("note.add", { text: "=input.number" })], { number: 5 });
  assert.deepEqual([wrong.error.code, wrong.error.details.error_code], ["invalid_input", "INVALID_ARGUMENT"]);
  const revoked = await own.connect({});
  await own.ok("POST", `/api/v2/connector/connections/${revoked}/revoke`, {});
  assert.equal((await run([step("note.add")], { connection: revoked })).error.code, "connection_unusable");
  assert.equal((await run([step("note.add")], { connection: freshName() })).error.code, "action_failed");
});

test("publishing refuses actions that do not exist or are not executable", async () => {
  for (const [action, message] of [
    ["note.nothing", /there is no action/],
    ["note.scan", /only described in the catalogue: It needs a file/],
  ] as const) {
    const key = `w${freshName()}`;
    const document = { dsl: "1", key, timeout: "1h", steps: [step(action)] };
    await own.ok("POST", "/api/workflow-definitions", { document });
    const { body, text } = await own.rest.call("POST", `/api/workflow-definitions/${key}/publish`, {});
    assert.equal(body.violations?.[0]?.field, "draft.steps[0].action.action", text);
    assert.match(body.violations[0].message, message);
  }
});

test("publishing refuses a compensation by an action that cannot be sent again", async () => {
  const publishing = async (action: string, input: object) => {
    const key = `w${freshName()}`;
    const { id: _, ...compensate } = step(action, input);
    const document = { dsl: "1", key, timeout: "1h", steps: [{ id: "one", transform: {}, compensate }] };
    await own.ok("POST", "/api/workflow-definitions", { document });
    const { body } = await own.rest.call("POST", `/api/workflow-definitions/${key}/publish`, {});
    return body.violations?.map(({ field, rule }: ResponseData) => [field, rule]) ?? [];
  };
  assert.deepEqual(await publishing("note.add", { text: "a" }), [
    ["draft.steps[0].compensate.action.action", "compensate"],
  ]);
  assert.deepEqual(await publishing("note.put", { id: "1", text: "a" }), []);
});

test("publishing refuses literals that the schema of the action's input refuses, and knows nothing of expressions", async () => {
  const publishing = async (input: object) => {
    const key = `w${freshName()}`;
    const document = { dsl: "1", key, timeout: "1h", steps: [step("note.put", input)] };
    await own.ok("POST", "/api/workflow-definitions", { document });
    const { body } = await own.rest.call("POST", `/api/workflow-definitions/${key}/publish`, {});
    return body.violations?.map(({ field, rule }: ResponseData) => [field, rule]) ?? [];
  };
  assert.deepEqual(await publishing({ text: 5, txet: "a" }), [
    ["draft.steps[0].with.id", "input.required"],
    ["draft.steps[0].with.text", "input.type"],
    ["draft.steps[0].with.txet", "input.additionalProperties"],
  ]);
  assert.deepEqual(await publishing({ id: "=input.number", text: "==literal" }), []);
});

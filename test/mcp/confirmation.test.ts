import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Json } from "../harness/operations.ts";
import { restClient } from "../harness/rest.ts";
import {
  createMatrixFixture,
  type MatrixFixture,
  operations,
  requestFor,
  type TenantFixture,
} from "../matrix/fixture.ts";
import { type McpResponse, sendMessage } from "./mcp-client.ts";

let fixture: MatrixFixture;
let url: string;
before(async () => {
  fixture = await createMatrixFixture({ "mcp.enabled": "true" });
  url = `${fixture.service.baseUrl}/mcp`;
});

const name = "cancel_workflow_run";
const capabilities = { elicitation: { form: {} } };
const accepted = { confirm: { action: "accept", content: { confirm: true } } };

/** A run in progress. */
async function startRun(tenant: TenantFixture): Promise<string> {
  const operation = operations.find(({ id }) => id.endsWith("/CancelWorkflowRun"))!;
  return (await requestFor(operation, tenant)).run_id as string;
}

function cancel(tenant: TenantFixture, params: Json, client: Json = capabilities): Promise<McpResponse> {
  return sendMessage(url, "tools/call", { name, ...params }, { headers: tenant.admin.headers, capabilities: client });
}

async function statusOf({ admin }: TenantFixture, runId: string): Promise<string> {
  const { body } = await restClient(admin.baseUrl, admin.headers["x-api-key"]).call(
    "GET",
    `/api/workflow-runs/${runId}`,
  );
  return body.data.status;
}

/** The request for input in a response. */
function inputRequestIn({ status, body }: McpResponse): { state: string; message: string } {
  assert.deepEqual([status, body.result.resultType], [200, "input_required"], JSON.stringify(body));
  const { method, params } = body.result.inputRequests.confirm;
  assert.equal(method, "elicitation/create");
  return { state: body.result.requestState, message: params.message };
}

test("a destructive tool asks the user, and acts after the user agrees", async () => {
  const { own } = fixture;
  const run_id = await startRun(own);
  const before = await statusOf(own, run_id);
  const { state, message } = inputRequestIn(await cancel(own, { arguments: { run_id } }));
  assert.match(message, new RegExp(run_id));
  assert.equal(await statusOf(own, run_id), before, "asking changes nothing");
  const params = { arguments: { run_id }, requestState: state, inputResponses: accepted };
  const { body } = await cancel(own, params);
  assert.equal(body.result.resultType, "complete");
  assert.notEqual(body.result.isError, true, JSON.stringify(body));
  assert.notEqual(await statusOf(own, run_id), before);
  const again = await cancel(own, params);
  assert.deepEqual(
    again.body.result.structuredContent.data,
    body.result.structuredContent.data,
    "answered twice, done once",
  );
});

test("a user who declines, cancels or does not confirm changes nothing", async () => {
  const { own } = fixture;
  const run_id = await startRun(own);
  const before = await statusOf(own, run_id);
  const { state } = inputRequestIn(await cancel(own, { arguments: { run_id } }));
  for (const response of [
    { action: "decline" },
    { action: "cancel" },
    { action: "accept", content: { confirm: false } },
    { action: "accept" },
  ]) {
    const { body } = await cancel(own, {
      arguments: { run_id },
      requestState: state,
      inputResponses: { confirm: response },
    });
    assert.equal(body.result.isError, true);
    assert.equal(JSON.parse(body.result.content[0].text).errorCode, "FAILED_PRECONDITION");
  }
  assert.equal(await statusOf(own, run_id), before);
});

test("consent counts only for the same caller, tool and arguments; otherwise the user is asked again", async () => {
  const { own, foreign } = fixture;
  const [run_id, other] = [await startRun(own), await startRun(own)];
  const before = await statusOf(own, run_id);
  const { state } = inputRequestIn(await cancel(own, { arguments: { run_id } }));
  const answer = { inputResponses: accepted, requestState: state };
  inputRequestIn(await cancel(own, { ...answer, arguments: { run_id: other } }));
  inputRequestIn(await cancel(own, { ...answer, arguments: { run_id, reason: "other" } }));
  inputRequestIn(await cancel(foreign, { ...answer, arguments: { run_id } }));
  const [expiry, signature] = state.split(".");
  const forged = [`${Number(expiry) + 1}.${signature}`, `${expiry}.${"A".repeat(22)}`, "", "x", state.slice(1)];
  for (const requestState of forged)
    inputRequestIn(await cancel(own, { ...answer, requestState, arguments: { run_id } }));
  inputRequestIn(await cancel(own, { inputResponses: accepted, arguments: { run_id } }));
  assert.equal(await statusOf(own, run_id), before);
  assert.equal(await statusOf(own, other), before);
});

test("the argument confirm does not replace the question if the client can ask", async () => {
  const run_id = await startRun(fixture.own);
  inputRequestIn(await cancel(fixture.own, { arguments: { run_id, confirm: true } }));
});

test("a client that cannot ask passes confirm, and is told so", async () => {
  const { own } = fixture;
  const run_id = await startRun(own);
  const before = await statusOf(own, run_id);
  for (const args of [{ run_id }, { run_id, confirm: false }, { run_id, confirm: "true" }]) {
    const { body } = await cancel(own, { arguments: args }, {});
    assert.equal(body.result.isError, true);
    assert.equal(JSON.parse(body.result.content[0].text).violations[0].field, "confirm");
  }
  assert.equal(await statusOf(own, run_id), before);
  const { body } = await cancel(own, { arguments: { run_id, confirm: true } }, {});
  assert.notEqual(body.result.isError, true, JSON.stringify(body));
});

test("a caller who may not call the tool is refused and not asked", async () => {
  const run_id = await startRun(fixture.own);
  const { headers } = fixture.own.nobody;
  const { body } = await sendMessage(url, "tools/call", { name, arguments: { run_id } }, { headers, capabilities });
  assert.equal(JSON.parse(body.result.content[0].text).errorCode, "PERMISSION_DENIED");
});

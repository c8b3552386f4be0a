import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";

// biome-ignore lint/suspicious/noExplicitAny: responses have many shapes.
type Json = any;

let service: TestService;
before(async () => {
  service = await startService();
});

async function call(path: string, body?: object, key = service.adminKey): Promise<Json> {
  const response = await fetch(`${service.baseUrl}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return response.json();
}

/** Starts a run that waits for two approvals. Returns the path of its decisions and a function that reads it. */
async function startApproval(key: string) {
  const approval = { by: ["role:admin", "role:workflow_approver"], quorum: 2, timeout: "1h" };
  const document = { dsl: "1", key, timeout: "1h", steps: [{ id: "ask", approval }] };
  await call("/api/workflow-definitions", { document });
  await call(`/api/workflow-definitions/${key}/publish`, {});
  const { id } = (await call("/api/workflow-runs", { definition: key })).data.run;
  const path = `/api/workflow-runs/${id}`;
  return { decide: `${path}/approvals/ask/decide`, read: async () => (await call(path)).data };
}

test("a decision that does not say whether it approves is refused and changes nothing", async () => {
  const { decide, read } = await startApproval("approval.empty");
  const refused = await call(decide, { comment: "looks good" });
  assert.equal(refused.errorCode, "INVALID_ARGUMENT");
  assert.equal(refused.violations[0].field, "approved");
  const run = await read();
  assert.deepEqual([run.status, run.revision], ["waiting", 1]);
  assert.equal((await call(decide, { approved: false })).data.error.code, "approval_rejected");
});

test("a quorum needs different people, each with one of the roles", async () => {
  const { decide, read } = await startApproval("approval.quorum");
  const keyOf = async (role: string) => (await call("/api/v2/api-keys", { name: role, roles: [role] })).data.secret;
  assert.equal((await call(decide, { approved: true })).data.status, "waiting");
  assert.equal((await call(decide, { approved: true })).detail, "You have already decided.");
  assert.equal((await call(decide, { approved: true }, await keyOf("operator"))).errorCode, "PERMISSION_DENIED");
  assert.equal((await read()).status, "waiting");
  const decided = await call(decide, { approved: true }, await keyOf("workflow_approver"));
  assert.equal(decided.data.status, "succeeded");
  assert.equal(decided.data.output.decisions.length, 2);
});

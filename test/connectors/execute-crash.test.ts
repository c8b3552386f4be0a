import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, partyAt } from "../routing/tenant-fixture.ts";
import { newAcmeTenant, startAcme } from "./acme.ts";

const settings = {
  "auth.bootstrap_api_key": "sk_test_actioncrash_0123456789abcdef",
  "connector.encryption_key": Buffer.from("0123456789abcdefghijklmnopqrstuv").toString("base64"),
};

/** A node that is killed while the provider holds the request of an action, and the means to continue without it. */
async function crashed(t: TestContext, action: string, input: object) {
  const database = await freshDatabase();
  t.after(() => database.drop());
  const mock = await startAcme();
  const node = await startNodeProcess({ ...settings, "database.url": database.url });
  t.after(() => node.kill());
  const tenant = await newAcmeTenant(node, mock);
  const headers = { "idempotency-key": freshName() };
  mock.fail(action, { kind: "slow" });
  const answered = tenant.execute(action, input, {}, headers).catch(() => undefined);
  await until(
    () => mock.requests.length,
    (count) => count === 1,
  );
  // The first commit says that the request may be on its way.
  const [begun] = await database.sql<{ id: string; status: string }[]>`select id, status from connector_executions`;
  assert.equal(begun!.status, "running");
  await node.kill();
  assert.equal(await answered, undefined);
  const next = await startService(settings, database.url);
  const party = partyAt(next, tenant);
  const path = `/api/v2/connector/actions/acme.${action}:execute`;
  return {
    mock,
    sql: database.sql,
    execution: async () => (await party.ok("GET", `/api/v2/connector/executions/${begun!.id}`)).data,
    explain: async () => (await party.ok("GET", `/api/v2/connector/executions/${begun!.id}:explain`)).data,
    events: async () => (await party.ok("GET", "/api/events?types=connector.action.failed")).data,
    repeat: () => party.rest.call("POST", path, { connection_id: tenant.connectionId, input }, headers),
    async endLease() {
      await database.sql`update connector_executions set lease_until = now() - interval '1 second'`;
    },
  };
}

test("a write that a killed node was sending has an unknown outcome and is never sent again", async (t) => {
  const { mock, execution, explain, events, repeat, endLease } = await crashed(t, "note.add", { text: "a" });
  // Until the lease ends, the node may still be working.
  const early = await repeat();
  assert.deepEqual([early.status, early.body.errorCode], [409, "IDEMPOTENCY_IN_PROGRESS"]);
  await endLease();
  const ended = await until(execution, ({ status }) => status !== "running");
  assert.deepEqual([ended.status, ended.code, ended.repeatable ?? false], ["outcome_unknown", "node_lost", false]);
  const { effect, remedies } = await explain();
  assert.equal(effect, "unknown");
  assert.match(remedies.join(" "), /Check at the provider/);
  const later = await repeat();
  assert.deepEqual([later.status, later.body.errorCode], [502, "CONNECTOR_OUTCOME_UNKNOWN"]);
  assert.equal(later.body.execution_id, ended.id);
  assert.equal(mock.requests.length, 1);
  const [event] = await events();
  assert.deepEqual([event.subject, event.data.status], [ended.id, "outcome_unknown"]);
});

test("a write with a key that a killed node was sending can be repeated with the same key", async (t) => {
  const { mock, execution, repeat, endLease } = await crashed(t, "charge.create", { text: "a" });
  await endLease();
  const ended = await until(execution, ({ status }) => status !== "running");
  assert.deepEqual([ended.status, ended.repeatable], ["outcome_unknown", true]);
  const later = await repeat();
  assert.equal(later.status, 200, later.text);
  const keys = mock.requests.map((each) => each.headers["idempotency-key"]);
  assert.equal(keys.length, 2);
  assert.equal(new Set(keys).size, 1);
});

test("a read that a killed node was sending has failed, and a repeat reads again", async (t) => {
  const { execution, repeat, endLease } = await crashed(t, "note.get", { id: "1" });
  await endLease();
  const ended = await until(execution, ({ status }) => status !== "running");
  assert.deepEqual([ended.status, ended.code], ["failed", "node_lost"]);
  assert.equal((await repeat()).status, 200);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, tenantAt } from "../routing/tenant-fixture.ts";
import { newAcmeTenant, startAcme } from "./acme.ts";

const settings = {
  "auth.bootstrap_api_key": "sk_test_actioncrash_0123456789abcdef",
  "connector.encryption_key": Buffer.from("0123456789abcdefghijklmnopqrstuv").toString("base64"),
};

const database = await freshDatabase();
afterFile(database.drop);

/** An action of a new tenant whose provider holds the request. */
async function prepare(node: NodeProcess, action: string, input: object) {
  const mock = await startAcme();
  const tenant = await newAcmeTenant(node, mock);
  const headers = { "idempotency-key": freshName() };
  mock.fail(action, { kind: "slow" });
  let id: string;
  return {
    /** Executes the action until the provider has the request; returns the promise of its response. */
    async begin() {
      const answered = tenant.execute(action, input, {}, headers).catch(() => undefined);
      await until(
        () => mock.requests.length,
        (count) => count === 1,
      );
      // The first commit says that the request may be on its way.
      const [begun] = await database.sql<{ id: string; status: string }[]>`
        select id, status from connector_executions where tenant_id = ${tenant.id}`;
      assert.equal(begun!.status, "running");
      id = begun!.id;
      return { answered };
    },
    /** The means to continue without the node. */
    continueAt(next: TestService) {
      const owner = tenantAt(next, tenant);
      const path = `/api/v2/connector/actions/acme.${action}:execute`;
      return {
        mock,
        execution: async () => (await owner.ok("GET", `/api/v2/connector/executions/${id}`)).data,
        explain: async () => (await owner.ok("GET", `/api/v2/connector/executions/${id}:explain`)).data,
        events: async () => (await owner.ok("GET", "/api/events?types=connector.action.failed")).data,
        repeat: () => owner.rest.call("POST", path, { connection_id: tenant.connectionId, input }, headers),
        async endLease() {
          await database.sql`
            update connector_executions set lease_until = now() - interval '1 second' where tenant_id = ${tenant.id}`;
        },
      };
    },
  };
}

// One node is killed while providers hold a request of each test.
const doomed = await startNodeProcess({ ...settings, "database.url": database.url });
afterFile(() => doomed.kill());
const prepared = await Promise.all([
  prepare(doomed, "note.add", { text: "a" }),
  prepare(doomed, "charge.create", { text: "a" }),
  prepare(doomed, "note.get", { id: "1" }),
]);
const begun = await Promise.all(prepared.map(({ begin }) => begin()));
await doomed.kill();
for (const { answered } of begun) assert.equal(await answered, undefined);
// Leases end when a test ends them.
await database.sql`update connector_executions set lease_until = now() + interval '1 hour' where status = 'running'`;
const next = await startService(settings, database.url);
const [write, keyedWrite, read] = prepared.map(({ continueAt }) => continueAt(next));

test("a write that a killed node was sending has an unknown outcome and is never sent again", async () => {
  const { mock, execution, explain, events, repeat, endLease } = write!;
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

test("a write with a key that a killed node was sending can be repeated with the same key", async () => {
  const { mock, execution, repeat, endLease } = keyedWrite!;
  await endLease();
  const ended = await until(execution, ({ status }) => status !== "running");
  assert.deepEqual([ended.status, ended.repeatable], ["outcome_unknown", true]);
  const later = await repeat();
  assert.equal(later.status, 200, later.text);
  const keys = mock.requests.map((each) => each.headers["idempotency-key"]);
  assert.equal(keys.length, 2);
  assert.equal(new Set(keys).size, 1);
});

test("a read that a killed node was sending has failed, and a repeat reads again", async () => {
  const { execution, repeat, endLease } = read!;
  await endLease();
  const ended = await until(execution, ({ status }) => status !== "running");
  assert.deepEqual([ended.status, ended.code], ["failed", "node_lost"]);
  assert.equal((await repeat()).status, 200);
});

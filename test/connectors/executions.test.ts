import assert from "node:assert/strict";
import { before, test } from "node:test";
import { maintainExecutionsJob } from "../../src/modules/connectors/actions/records/retention-job.ts";
import type { MockProvider } from "../../src/modules/connectors/manifests/testing/mock-provider.ts";
import { openDatabase } from "../../src/platform/db/index.ts";
import { ulidFrom } from "../../src/platform/ids/ulid.ts";
import { afterFile } from "../harness/after-file.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newTenant, type ResponseData } from "../routing/tenant-fixture.ts";
import { type AcmeTenant, newAcmeTenant, startAcme } from "./acme.ts";

let service: TestService;
let mock: MockProvider;
let own: AcmeTenant;
let sql: TestSql;
before(async () => {
  service = await startService();
  mock = await startAcme();
  own = await newAcmeTenant(service, mock);
  sql = connect(service.databaseUrl, 1);
  afterFile(() => sql.end({ timeout: 1 }));
});

const path = "/api/v2/connector/executions";
const refusal = { kind: "answer", status: 403, body: { message: "You shall not pass." } } as const;

test("executions are listed newest first, by connection, action, provider, status and origin", async () => {
  const tenant = await newAcmeTenant(service, mock);
  const other = await tenant.connect({});
  await tenant.execute("note.add", { text: "a" });
  await tenant.execute("note.get", { id: "1" });
  mock.fail("note.get", refusal);
  await tenant.execute("note.get", { id: "1" }, { connection_id: other });
  const list = async (query: string) =>
    (await tenant.ok("GET", `${path}?${query}`)).data.map((each: ResponseData) => [each.action_key, each.status]);
  const [add, get, failed] = [
    ["acme.note.add", "succeeded"],
    ["acme.note.get", "succeeded"],
    ["acme.note.get", "failed"],
  ];
  assert.deepEqual(await list(""), [failed, get, add]);
  assert.deepEqual(await list(`connection_id=${other}`), [failed]);
  assert.deepEqual(await list("action_key=acme.note.get"), [failed, get]);
  assert.deepEqual(await list("status=succeeded"), [get, add]);
  assert.deepEqual(await list("provider_key=acme&status=failed"), [failed]);
  assert.deepEqual(await list("origin=workflow"), []);
  const first = await tenant.ok("GET", `${path}?limit=2`);
  assert.equal(first.data.length, 2);
  // Outputs are left to the single record.
  assert.equal(first.data[0].output, undefined);
  const rest = await tenant.ok("GET", `${path}?limit=2&cursor=${encodeURIComponent(first.next_cursor)}`);
  assert.deepEqual(
    rest.data.map((each: ResponseData) => each.action_key),
    ["acme.note.add"],
  );
});

test("executions of another tenant do not exist", async () => {
  const { body } = await own.execute("note.add", { text: "a" });
  const stranger = await newTenant(service);
  for (const suffix of ["", ":explain"]) {
    await stranger.refused("NOT_FOUND", "GET", `${path}/${body.data.execution.id}${suffix}`);
  }
  await stranger.refused("NOT_FOUND", "GET", `${path}?connection_id=${own.connectionId}`);
  await stranger.refused("NOT_FOUND", "GET", `${path}/nothing`);
  assert.deepEqual((await stranger.ok("GET", path)).data, []);
});

test("an explanation says why an execution failed, what each attempt did and what would help", async () => {
  mock.fail("note.get", refusal);
  const denied = await own.execute("note.get", { id: "1" });
  const explained = await own.explain(denied.body.execution_id);
  assert.deepEqual([explained.status, explained.effect], ["failed", "no"]);
  assert.match(
    explained.summary,
    /acme\.note\.get failed after 1 request: .*\(http_403\)\. It said: You shall not pass\./,
  );
  assert.match(explained.remedies.join(" "), /Give the connected account access/);

  mock.fail("charge.create", { kind: "answer", status: 503 });
  mock.fail("charge.create", { kind: "answer", status: 409, body: { message: "Already there." } });
  const unknown = await own.execute("charge.create", { text: "a" });
  assert.equal(unknown.body.errorCode, "CONNECTOR_OUTCOME_UNKNOWN", unknown.text);
  const { effect, attempts, remedies } = await own.explain(unknown.body.execution_id);
  assert.equal(effect, "unknown");
  assert.match(attempts[0].outcome, /^status 503 after \d+ ms: .*could not answer/);
  assert.match(attempts[0].consequence, /sent again, because performing it twice has no further effect/);
  assert.match(attempts[1].consequence, /may have performed it/);
  assert.match(remedies.join(" "), /deduplicates by the key [0-9A-Za-z]+/);

  mock.fail("note.add", { kind: "cut" });
  const once = await own.execute("note.add", { text: "a" });
  const cut = await own.explain(once.body.execution_id);
  assert.match(cut.attempts[0].outcome, /^no answer \(connection_lost\)/);
  assert.match(cut.attempts[0].consequence, /not sent again, because the provider may have performed it/);
});

test("ended executions are events of the tenant", async () => {
  const tenant = await newAcmeTenant(service, mock);
  const { body } = await tenant.execute("note.add", { text: "a" });
  mock.fail("note.add", { kind: "cut" });
  const unknown = await tenant.execute("note.add", { text: "a" });
  const events = (await tenant.ok("GET", "/api/events?types=connector.action.*")).data;
  const found = events
    .map((each: ResponseData) => [each.type, each.subject, each.data.action_key, each.data.status])
    .sort();
  assert.deepEqual(found, [
    ["connector.action.executed", body.data.execution.id, "acme.note.add", undefined],
    ["connector.action.failed", unknown.body.execution_id, "acme.note.add", "outcome_unknown"],
  ]);
});

test("an execution that was given up too early gets its true outcome", async () => {
  const headers = { "idempotency-key": freshName() };
  const from = mock.requests.length;
  const answered = Promise.withResolvers<void>();
  mock.fail("note.add", { kind: "held", until: answered.promise });
  const call = own.execute("note.add", { text: "a" }, {}, headers);
  await until(
    () => mock.requests.length,
    (count) => count > from,
  );
  const [running] = await sql<{ id: string }[]>`
    update connector_executions set lease_until = now() - interval '1 second' where status = 'running' returning id`;
  const { id } = running!;
  await until(
    () => own.execution(id),
    ({ code }) => code === "node_lost",
  );
  answered.resolve();
  assert.equal((await call).status, 200);
  assert.deepEqual([(await own.execution(id)).status, (await own.execution(id)).code ?? ""], ["succeeded", ""]);
  const again = await own.execute("note.add", { text: "a" }, {}, headers);
  assert.deepEqual([again.status, again.body.data.execution.id], [200, id]);
  assert.equal(mock.requests.length, from + 1);
});

test("executions have a partition per day and are dropped after their retention", async () => {
  const db = openDatabase(service.databaseUrl, { maxConnections: 1 });
  afterFile(() => db.close());
  const nowMs = Date.now();
  const oldMs = nowMs - 31 * 86_400_000;
  const id = ulidFrom(oldMs, Buffer.alloc(16));
  await sql`
    insert into connector_executions (tenant_id, id, action_key, provider_key, manifest_version, connection_id, status,
      request, idempotency_key, origin, origin_id, safety, claim_principal, claim_key, started_at)
    values (${own.id}, ${id}, 'a.b', 'a', '1', '', 'succeeded', '{}', '', 'api', '', 'read', '', '', ${new Date(oldMs)})`;
  const job = maintainExecutionsJob({
    ...{ db, clock: { now: () => nowMs }, retentionDays: 30, platformTenantId: () => "" },
  });
  await job.handler({ signal: new AbortController().signal } as never);
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from connector_executions where started_at < ${new Date(nowMs - 30 * 86_400_000)}`;
  assert.equal(row!.count, 0);
  const { body } = await own.execute("note.add", { text: "a" });
  const [place] = await sql<{ name: string }[]>`
    select tableoid::regclass::text as name from connector_executions where id = ${body.data.execution.id}`;
  assert.match(place!.name, /^connector_executions_\d{8}$/);
});

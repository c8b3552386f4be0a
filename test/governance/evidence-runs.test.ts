import assert from "node:assert/strict";
import { before, test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { connect } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";
import { artifactOf, createPack, environmentId, type TestPack } from "./evidence-fixture.ts";

type Status = "pending" | "running" | "succeeded" | "failed" | "cancelled" | "lease_expired" | "deadline_exceeded";

const workflow = artifactOf("workflow", "order.fulfil");
let service: TestService;
let tenant: TenantFixture;
let pack: TestPack;
/** Runs for every status and call, and the token that each had. */
const runs = new Map<string, ResponseData>();

/** What brings a new run into each status. Calls, the end of its lease and time do the rest. */
const starts: Readonly<Record<Status, object>> = {
  pending: { claim: false },
  running: { lease_s: 600 },
  succeeded: {},
  failed: {},
  cancelled: {},
  // Whoever claims it again has it as long.
  lease_expired: { lease_s: 600 },
  deadline_exceeded: { deadline_s: 1 },
};

const calls: Readonly<Record<string, (run: ResponseData) => readonly [method: string, path: string, body: object]>> = {
  claim: ({ id }) => ["POST", `${pack.runPath(id)}:heartbeat`, {}],
  heartbeat: ({ id, token }) => ["POST", `${pack.runPath(id)}:heartbeat`, { token: token ?? "1.stale" }],
  report: ({ id, pack_id, token }) => [
    "POST",
    `/api/rollout-evidence/packs/${pack.environmentId}/${pack_id}/receipts`,
    { type: "graph", result: "passed", run_id: id, token: token ?? "1.stale" },
  ],
  cancel: ({ id }) => ["POST", `${pack.runPath(id)}:cancel`, { reason: "test" }],
};

/** The status after every possible call; the other pairs are refused. */
const table: Readonly<Record<Status, Readonly<Record<string, Status>>>> = {
  pending: { claim: "running", cancel: "cancelled" },
  running: { heartbeat: "running", report: "succeeded", cancel: "cancelled" },
  lease_expired: { claim: "running", cancel: "cancelled" },
  succeeded: {},
  failed: {},
  cancelled: {},
  deadline_exceeded: {},
};

const statuses = Object.keys(table) as Status[];

async function newPack(): Promise<TestPack> {
  const created = await createPack(tenant, await environmentId(tenant, "staging"));
  await created.add(workflow);
  return created;
}

async function read(run: ResponseData): Promise<ResponseData> {
  return (await tenant.ok("GET", pack.runPath(run.id))).data;
}

before(async () => {
  service = await startService();
  const sql = connect(service.databaseUrl, 1);
  afterFile(() => sql.end({ timeout: 1 }));
  tenant = await newTenant(service);
  for (const call of Object.keys(calls)) {
    pack = await newPack();
    for (const status of statuses) {
      const run = await pack.startRun(starts[status]);
      const result = status === "failed" ? "failed" : "passed";
      const [method, path, body] = calls.report!(run);
      if (status === "succeeded" || status === "failed") await tenant.ok(method, path, { ...body, result });
      if (status === "cancelled") await tenant.ok(...(calls.cancel!(run) as [string, string, object]));
      runs.set(`${status} ${call}`, run);
    }
  }
  const expired = [...runs].flatMap(([name, { id }]) => (name.startsWith("lease_expired") ? [id] : []));
  await sql`update evidence_runs set lease_until = now(), due_at = now() where id = any(${expired})`;
  for (const [name, run] of runs) {
    // The end of a lease or a deadline is also stored, some time after it is visible.
    const version = name.startsWith("lease_expired") || name.startsWith("deadline_exceeded") ? 3 : 1;
    await until(
      () => read(run),
      ({ status, record_version }) => name.startsWith(`${status} `) && record_version >= version,
    );
  }
});

for (const status of statuses) {
  for (const [call, requestOf] of Object.entries(calls)) {
    const next = table[status][call];
    test(`${call} of a run that is ${status} ${next === undefined ? "is refused with what is possible" : "is possible"}`, async () => {
      const run = runs.get(`${status} ${call}`);
      const before = await read(run);
      const response = await tenant.rest.call(...(requestOf(run) as [string, string, object]));
      const after = await read(run);
      if (next !== undefined) {
        assert.equal(response.status, 200, response.text);
        assert.equal(after.status, next);
        assert.deepEqual(after.possible_calls, Object.keys(table[next]));
        return;
      }
      // Whoever has no token is told of the status; whoever has one is told that it is worth nothing.
      const hasToken = call === "heartbeat" || call === "report";
      assert.equal(response.body.errorCode, hasToken ? "LEASE_LOST" : "FAILED_PRECONDITION", response.text);
      assert.equal(response.body.current_status, status);
      assert.deepEqual(response.body.possible_calls, Object.keys(table[status]));
      assert.deepEqual(after, before);
    });
  }
}

test("a heartbeat renews the lease, and never beyond the deadline", async () => {
  const own = await newPack();
  const run = await own.startRun({ lease_s: 600, deadline_s: 660 });
  const [method, path] = calls.claim!(run);
  const { data: renewed } = await tenant.ok(method, path, { token: run.token });
  assert.ok(Date.parse(renewed.lease_until) > Date.parse(run.lease_until));
  assert.equal(renewed.deadline_at, run.deadline_at);
  assert.equal(renewed.token, undefined);
  const short = await own.startRun({ lease_s: 600, deadline_s: 60 });
  assert.equal(short.lease_until, short.deadline_at);
  const { data: beaten } = await tenant.ok("POST", own.runPath(short.id).concat(":heartbeat"), { token: short.token });
  assert.equal(beaten.lease_until, short.deadline_at);
});

test("after another worker has claimed a run, the stale token writes nothing", async () => {
  const own = await newPack();
  const first = await own.startRun({ lease_s: 1 });
  const path = `${own.runPath(first.id)}:heartbeat`;
  const claim = () => tenant.rest.call("POST", path, {});
  const { body } = await until(claim, ({ status }) => status === 200);
  const second = body.data;
  assert.deepEqual([first.fence, second.fence], [1, 2]);
  const report = { type: "graph", result: "passed", run_id: first.id };
  const before = (await tenant.ok("GET", own.path)).data;
  await tenant.refused("LEASE_LOST", "POST", path, { token: first.token });
  await tenant.refused("LEASE_LOST", "POST", `${own.path}/receipts`, { ...report, token: first.token });
  assert.deepEqual((await tenant.ok("GET", own.path)).data, before);
  assert.equal((await own.gate()).state, "closed");
  const { status } = await tenant.rest.call("POST", `${own.path}/receipts`, { ...report, token: second.token });
  // The second lease lasts a second too; a slow machine may lose it, and then nothing is written either.
  const { data: receipts } = await tenant.ok("GET", `${own.path}/receipts`);
  assert.equal(receipts.length, status === 200 ? 1 : 0);
});

test("twenty concurrent reports with one token make one receipt", async () => {
  const own = await newPack();
  const run = await own.startRun({});
  const report = { type: "graph", result: "passed", run_id: run.id, token: run.token };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => tenant.rest.call("POST", `${own.path}/receipts`, report)),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array.from({ length: 19 }, () => 409)]);
  const { data } = await tenant.ok("GET", `${own.path}/receipts`);
  assert.deepEqual([data.length, data[0].run_id], [1, run.id]);
});

test("a receipt of a run is about what the run pinned, even if the artifact changed meanwhile", async () => {
  const own = await newPack();
  const run = await own.startRun({});
  await own.add(artifactOf("workflow", "order.fulfil", "2"));
  const receipt = await own.receipt("graph", [], { run_id: run.id, token: run.token });
  assert.equal(receipt.subjects[0].sha256, workflow.sha256);
  const { reasons } = await own.gate();
  assert.deepEqual(
    reasons.map(({ reason }: ResponseData) => reason),
    ["stale", "missing"],
  );
  assert.equal((await tenant.ok("GET", own.runPath(run.id))).data.receipt_id, receipt.id);
});

test("a run acts only in a mode that its environment allows, on artifacts that it can check", async () => {
  const live = await createPack(tenant, await environmentId(tenant, "production"));
  await live.add(workflow);
  const refused: [of: TestPack, fields: object, detail: RegExp][] = [
    [live, { type: "graph", mode: "sandbox" }, /Allowed: dry_run\./],
    [pack, { type: "connector", mode: "sandbox" }, /no artifact that a connector run could check/],
  ];
  for (const [of, fields, detail] of refused) {
    const { body } = await tenant.refused("FAILED_PRECONDITION", "POST", `${of.path}/runs`, fields);
    assert.match(body.detail, detail);
  }
  await tenant.refused("INVALID_ARGUMENT", "POST", `${live.path}/runs`, { type: "canary", mode: "dry_run" });
  assert.equal((await live.startRun({ type: "graph", mode: "dry_run" })).mode, "dry_run");
  const { data } = await tenant.ok("GET", `${live.path}/runs`);
  assert.equal(data.length, 1);
  assert.equal(data[0].token, undefined);
});

test("a pack has at most twenty runs that have not ended", async () => {
  const own = await newPack();
  for (let n = 0; n < 20; n++) await own.startRun({ claim: false });
  await tenant.refused("FAILED_PRECONDITION", "POST", `${own.path}/runs`, { type: "graph", mode: "sandbox" });
});

test("the life of a run is in the event log, its ends by time too", async () => {
  const types = async (run: ResponseData) =>
    (await tenant.ok("GET", `/api/events?subject=${run.id}`)).data.map(({ type }: ResponseData) => type).toReversed();
  assert.deepEqual(await types(runs.get("succeeded claim")), [
    "evidence.run.started",
    "evidence.run.claimed",
    "evidence.run.ended",
  ]);
  const ended = runs.get("deadline_exceeded claim");
  const expired = runs.get("lease_expired heartbeat");
  await until(
    () => types(ended),
    (found) => found.at(-1) === "evidence.run.ended",
  );
  await until(
    () => types(expired),
    (found) => found.at(-1) === "evidence.run.lease_expired",
  );
  const text = await (await fetch(`${service.metricsUrl}/metrics`)).text();
  assert.match(text, /evidence_runs_ended_total\{status="deadline_exceeded"\} \d/);
  assert.match(text, /evidence_receipts_total\{type="graph",result="passed"\} \d/);
});

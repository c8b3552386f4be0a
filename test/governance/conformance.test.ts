import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { before, describe, test } from "node:test";
import { canonicalJson } from "../../src/platform/crypto/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";
import { mutations } from "./mutations.ts";
import { createBreakableAreas, type Fault } from "./test-build.ts";

const base = "/api/runtime-conformance";
const suiteIds = [
  "access",
  "admission",
  "bridge",
  "connector-lifecycle",
  "delivery",
  "experiments",
  "mcp",
  "runtime",
  "worker-protocol",
];
const faults = new Map<string, Fault>();

let service: TestService;
let own: TenantFixture;
let sql: TestSql;
let environments: Record<string, string>;
before(async () => {
  const settings = { "mcp.enabled": "true", "identity.scim.enabled": "true", "conformance.max_running_runs": "9" };
  service = await startService(
    settings,
    undefined,
    "all",
    createBreakableAreas((operation) => faults.get(operation)),
  );
  sql = connect(service.databaseUrl, 1);
  afterFile(() => sql.end({ timeout: 1 }));
  own = await newTenant(service);
  environments = await environmentsOf(own);
});

async function environmentsOf(tenant: TenantFixture): Promise<Record<string, string>> {
  const { data } = await tenant.ok("GET", "/api/v2/environments");
  return Object.fromEntries(data.map(({ key, id }: ResponseData) => [key, id]));
}

const pathOf = ({ environment_id, id }: ResponseData) => `${base}/runs/${environment_id}/${id}`;
const request = (suite: string, fields: object = {}) => ({
  path: `${base}/suites/${suite}:run`,
  body: { environment_id: environments.staging, ...fields },
});

/** Requests a run. */
async function start(suite: string, fields: object = {}, tenant = own): Promise<ResponseData> {
  const { path, body } = request(suite, fields);
  return (await tenant.ok("POST", path, body)).data.run;
}

/** Waits for the end of a run. */
function ended(run: ResponseData, tenant = own): Promise<ResponseData> {
  return until(
    async () => (await tenant.ok("GET", `${pathOf(run)}?wait_s=20`)).data,
    ({ ended_at }) => ended_at !== undefined,
    120_000,
  );
}

/** Runs suites, a few at a time: a busy machine cannot decide many cases at once within their time. */
async function reports(suites: readonly string[], fields: object = {}, tenant = own): Promise<ResponseData[]> {
  const found: ResponseData[] = [];
  for (let from = 0; from < suites.length; from += 3) {
    found.push(...(await Promise.all(suites.slice(from, from + 3).map((suite) => report(suite, fields, tenant)))));
  }
  return found;
}

/** Runs a suite and returns its report. */
async function report(suite: string, fields: object = {}, tenant = own): Promise<ResponseData> {
  const run = await ended(await start(suite, fields, tenant), tenant);
  assert.equal(run.state, "completed", JSON.stringify(run));
  return (await tenant.ok("GET", `${base}/reports/${run.environment_id}/${run.report_id}`)).data;
}

const statuses = ({ cases }: ResponseData): Record<string, string> =>
  Object.fromEntries(cases.map(({ case_id, status }: ResponseData) => [case_id, status]));
const failures = ({ cases }: ResponseData) => cases.filter(({ status }: ResponseData) => status !== "passed");

/** Runs a function while an operation is broken. */
async function whileBroken<T>(broken: Readonly<Record<string, Fault>>, act: () => Promise<T>): Promise<T> {
  for (const [operation, fault] of Object.entries(broken)) faults.set(operation, fault);
  try {
    return await act();
  } finally {
    faults.clear();
  }
}

test("there are nine suites, and their cases have ids of their own", async () => {
  const { data } = await own.ok("GET", `${base}/suites`);
  assert.deepEqual(
    data.map(({ id }: ResponseData) => id),
    suiteIds,
  );
  const ids = data.flatMap(({ cases }: ResponseData) => cases.map(({ id }: ResponseData) => id));
  assert.equal(new Set(ids).size, ids.length);
  const { data: mcp } = await own.ok("GET", `${base}/suites/mcp`);
  assert.ok(mcp.cases.every(({ capabilities, dry_run }: ResponseData) => capabilities.includes("mcp") && dry_run));
  const unknown = await own.refused("NOT_FOUND", "GET", `${base}/suites/worker-protocols`);
  assert.match(unknown.body.detail, /Did you mean worker-protocol\?/);
});

test("every guarantee holds, and the same build and state give the same report", async () => {
  const first = await reports(suiteIds);
  for (const each of first) {
    assert.deepEqual(failures(each), [], each.suite_id);
    assert.deepEqual(
      [each.verdict, each.coverage.passed, each.coverage.decided_share],
      ["passed", each.cases.length, 1],
    );
    assert.equal(each.id, digestOf(each), "anybody can verify the id");
  }
  const again = await Promise.all(["bridge", "worker-protocol"].map((suite) => report(suite)));
  for (const { id, suite_id, produced_count } of again) {
    assert.equal(id, first.find((each) => each.suite_id === suite_id)!.id);
    assert.equal(produced_count, 2);
  }
  const { data: listed, total } = await own.ok("GET", `${base}/reports?environment_id=${environments.staging}`);
  assert.deepEqual([listed.length, total], [9, 9], "repeated reports are one");
  assert.deepEqual(listed[0].cases, []);
});

test("a run works in scratch tenants, and leaves nothing in the caller's tenant or behind it", async () => {
  const run = await ended(await start("admission"));
  const { data: pools } = await own.ok("GET", "/api/pools");
  assert.deepEqual(pools, []);
  // The run ends before its sandbox is removed.
  const scratch = await until(
    async () => [...(await sql`select id, status from tenants where name like ${`% run ${run.id}`}`)],
    (found) => found.length === 2 && found.every(({ status }) => status === "deleted"),
  );
  const ids = scratch.map(({ id }) => id);
  const jobs = await sql`select kind from jobs where tenant_id = any(${ids}) and kind = 'tenant.purge'`;
  assert.equal(jobs.length, 2, "their rows will be deleted");
  const { data: events } = await own.ok("GET", `/api/events?subject=${run.id}`);
  assert.deepEqual(events.map(({ type }: ResponseData) => type).sort(), [
    "conformance.run.completed",
    "conformance.run.requested",
  ]);
});

describe("a live environment", () => {
  test("is refused without a dry run, and nothing is started", async () => {
    const { path, body } = request("bridge", { environment_id: environments.production });
    const refused = await own.refused("FAILED_PRECONDITION", "POST", path, body);
    assert.match(refused.body.detail, /production is live\. Set dry_run/);
    await own.refused("FAILED_PRECONDITION", "POST", path, {});
    const { data } = await own.ok("GET", `${base}/runs?environment_id=${environments.production}`);
    assert.deepEqual(data, []);
  });

  test("gets a report of the cases that change nothing", async () => {
    const fields = { environment_id: environments.production, dry_run: true };
    const [bridge, worker] = await Promise.all(["bridge", "worker-protocol"].map((suite) => report(suite, fields)));
    assert.deepEqual([bridge.verdict, bridge.mode, bridge.coverage.passed], ["passed", "dry_run", 6]);
    assert.deepEqual([worker.verdict, worker.coverage.blocked], ["incomplete", worker.cases.length]);
    assert.ok(worker.cases.every(({ reason_code }: ResponseData) => reason_code === "needs_sandbox"));
    const changes = await sql`
      select distinct e.type from events e join tenants t on t.id = e.tenant_id
      where t.name = ${`Conformance run ${bridge.last_run_id}`}`;
    assert.deepEqual([...changes], [{ type: "api_key.created" }]);
  });
});

for (const [suite, caseId] of [
  ["connector-lifecycle", "connector.secret-never-echoed"],
  ["worker-protocol", "worker.stale-token-refused"],
] as const) {
  test(`the report of a build that breaks ${caseId} explains it and reveals nothing`, async () => {
    const { operations } = mutations[caseId]!({ admin: own.rest.call, keys: {} });
    const failed = await whileBroken(operations!, () => report(suite));
    assert.equal(failed.verdict, "failed");
    assert.equal(statuses(failed)[caseId], "failed");
    const body = { suite_id: suite };
    const { data } = await own.ok("POST", `${base}/reports/${environments.staging}:explain`, body);
    assert.equal(data.report_id, failed.id);
    const found = data.cases.find(({ case_id }: ResponseData) => case_id === caseId);
    assert.ok(found.failed_checks.length > 0, JSON.stringify(data.cases));
    assert.equal(data.cases[0].status, "failed", "failed cases come first");
    assert.match(data.summary, /of \d+ applicable cases failed/);
    assert.ok(data.changes.some((each: ResponseData) => each.case_id === caseId && each.before === "passed"));
    const text = JSON.stringify([failed, data]);
    for (const planted of ["planted-", own.id, own.key, service.adminKey]) {
      assert.ok(!text.includes(planted), planted);
    }
  });
}

describe("a run in progress", () => {
  /** Starts a run of which some cases hang, and waits until another one has ended, or the run has. */
  async function whileHanging<T>(act: (run: ResponseData) => Promise<T>, fields: object = {}): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const hang: Fault = (_, original) => promise.then(original);
    return whileBroken({ "EnvironmentService/listEnvironments": hang }, async () => {
      const run = await start("bridge", fields);
      await until(
        async () => (await own.ok("GET", pathOf(run))).data,
        ({ cases_done, ended_at }) => cases_done > 0 || ended_at !== undefined,
      );
      return act(run).finally(resolve);
    });
  }

  test("can be cancelled once and for all, and leaves no report", async () => {
    await whileHanging(async (run) => {
      const { data: cancelled } = await own.ok("POST", `${pathOf(run)}:cancel`, {});
      assert.deepEqual([cancelled.state, cancelled.report_id], ["cancelled", ""]);
      assert.deepEqual((await own.ok("POST", `${pathOf(run)}:cancel`, {})).data, cancelled);
      await until(
        () => sql`select status from tenants where name = ${`Conformance run ${run.id}`}`,
        ([tenant]) => tenant!.status === "deleted",
      );
      assert.deepEqual((await own.ok("GET", pathOf(run))).data, cancelled);
    });
    const { data } = await own.ok("GET", `${base}/runs?state=completed&limit=1`);
    const refused = await own.refused("FAILED_PRECONDITION", "POST", `${pathOf(data[0])}:cancel`, {});
    assert.match(refused.body.detail, /is completed and cannot be cancelled/);
  });

  test("ends at its deadline", async () => {
    await whileHanging(async (run) => assert.equal((await ended(run)).state, "deadline_exceeded"), { timeout_s: 10 });
    const { path, body } = request("worker-protocol", { timeout_s: 181 });
    const refused = await own.refused("INVALID_ARGUMENT", "POST", path, body);
    assert.match(refused.body.violations[0].message, /at most 180/);
  });

  test("counts towards the tenant's limit until it ends", async () => {
    await whileHanging(async (run) => {
      const more = await Promise.all(suiteIds.slice(1).map(() => start("bridge")));
      const { path, body } = request("worker-protocol");
      const refused = await own.refused("FAILED_PRECONDITION", "POST", path, body);
      assert.match(refused.body.detail, /9 conformance runs have not ended yet/);
      for (const each of [run, ...more]) await own.ok("POST", `${pathOf(each)}:cancel`, {});
    });
    assert.equal((await start("bridge", { wait_s: 0 })).state, "queued");
  });
});

test("the response has the report if the run ends within the wait, and a repeat is the same run", async () => {
  const { path, body } = request("bridge", { wait_s: 20 });
  const headers = { "idempotency-key": "run-bridge" };
  const { data } = await own.ok("POST", path, body, headers);
  assert.deepEqual([data.run.state, data.report.id], ["completed", data.run.report_id]);
  const { data: repeated } = await own.ok("POST", path, body, headers);
  assert.deepEqual(repeated, data);
});

test("cases of capabilities that are off are not applicable, and show nothing", async () => {
  const off = await startService({ "connector.encryption_key": "" });
  const tenant = await newTenant(off);
  const { staging } = await environmentsOf(tenant);
  const found = await reports(["mcp", "connector-lifecycle"], { environment_id: staging }, tenant);
  for (const { verdict, coverage, cases } of found) {
    assert.deepEqual([verdict, coverage.not_applicable, coverage.decided_share], ["incomplete", cases.length, 0]);
    assert.ok(cases.every(({ reason_code }: ResponseData) => reason_code === "capability_off"));
  }
  const { data } = await tenant.ok("POST", `${base}/reports/${staging}:explain`, {
    case_id: "mcp.initialize",
    suite_id: "mcp",
  });
  assert.match(data.cases[0].reason, /The capability mcp is off/);
});

test("a suite in which a setting turns a guarantee off does not pass", async () => {
  const unguarded = await startService({ "egress.mode": "disabled" });
  const tenant = await newTenant(unguarded);
  const { staging } = await environmentsOf(tenant);
  const { verdict, cases } = await report("connector-lifecycle", { environment_id: staging }, tenant);
  const [blocked] = failures({ cases });
  assert.deepEqual([verdict, failures({ cases }).length], ["incomplete", 1]);
  assert.deepEqual(
    [blocked.case_id, blocked.status, blocked.reason_code, blocked.reason_subject],
    ["connector.egress-guarded", "blocked", "setting_off", "egress.mode"],
  );
});

test("cases whose calls an entitlement refuses are blocked, not failed", async () => {
  const strict = await startService({
    ...{ "entitlement.enforcement": "strict", "identity.scim.enabled": "true", "conformance.max_running_runs": "9" },
  });
  const tenant = await newTenant(strict);
  const { staging } = await environmentsOf(tenant);
  const affected = ["access", "admission", "connector-lifecycle", "delivery", "runtime", "worker-protocol"];
  const found = await reports(affected, { environment_id: staging }, tenant);
  for (const { suite_id, verdict, cases } of found) {
    const blocked = failures({ cases });
    assert.deepEqual([suite_id, verdict], [suite_id, "incomplete"], JSON.stringify(blocked));
    assert.ok(
      blocked.every(({ reason_subject }: ResponseData) => reason_subject === "ENTITLEMENT_DENIED"),
      JSON.stringify(blocked),
    );
  }
});

/** The id of a report, computed from its REST form. */
function digestOf({ environment_id, suite_id, suite_version, mode, build, cases }: ResponseData): string {
  const content = { format: 1, environment_id, suite_id, suite_version, mode, build, cases };
  return createHash("sha256").update(canonicalJson(content)).digest("hex");
}

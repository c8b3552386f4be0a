import assert from "node:assert/strict";
import { before, test } from "node:test";
import { deleteUnitsOfEndedJob } from "../../src/modules/experiments/retention/index.ts";
import { openDatabase } from "../../src/platform/db/index.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";
import { surfacesOf } from "../wire/surfaces.ts";
import { assign, assignAll, results, scoreAll, startExperiment } from "./experiment-fixture.ts";

let service: TestService;
let tenant: TenantFixture;
let sql: TestSql;
before(async () => {
  service = await startService();
  tenant = await newTenant(service);
  sql = connect(service.databaseUrl, 2);
});

const recordScore = "ExperimentService/RecordScore";

/** Ends the windows of all units, as if they had been exposed a window earlier. */
async function endWindows(id: string, windowS = 30 * 86_400): Promise<void> {
  await sql`
    update experiment_exposures set first_exposed_at = first_exposed_at - make_interval(secs => ${windowS + 1}),
      due_at = now() where experiment_id = ${id} and due_at is not null`;
}

/** Waits until this many units are in the results; returns them. */
function matureResults(id: string, count: number, of: TenantFixture = tenant): Promise<ResponseData> {
  return until(
    () => results(of, id),
    ({ mature_units }) => mature_units === count,
  );
}

const metricOf = (found: ResponseData, variant: string, metric = "revenue") =>
  found.variants
    .find((each: ResponseData) => each.variant === variant)
    .metrics.find((each: ResponseData) => each.metric === metric);

test("50 copies of a score over every protocol count once, and another content is refused", async (t) => {
  const { id } = await startExperiment(tenant, { metrics: [{ key: "orders", type: "count" }] });
  const { receipt, variant } = await assign(tenant, id, "ada");
  const { surfaces, close } = surfacesOf(service.baseUrl);
  t.after(close);
  const score = { experiment_id: id, score_id: "order-1", receipt: receipt.token, metric: "orders", value: 3 };
  const send = (at: number, change: object = {}) =>
    surfaces[at % surfaces.length]!.call(recordScore, { ...score, ...change }, { "x-api-key": tenant.key });
  const copies = await Promise.all(Array.from({ length: 50 }, (_, at) => send(at)));
  for (const { data, refusal } of copies) {
    assert.equal(refusal, undefined, JSON.stringify(refusal));
    assert.deepEqual(data, copies[0]!.data);
  }
  for (const [at, { name }] of surfaces.entries()) {
    const { refusal } = await send(at, { value: 4 });
    assert.deepEqual([refusal?.errorCode, refusal?.retryable], ["SCORE_ID_REUSED", false], name);
  }
  await endWindows(id);
  const found = await matureResults(id, 1);
  const { n, mean } = metricOf(found, variant, "orders");
  assert.deepEqual([n, mean], [1, 3]);
});

test("a forged receipt and one of another experiment or tenant are refused", async () => {
  const { id } = await startExperiment(tenant);
  const other = await startExperiment(tenant);
  const foreign = await newTenant(service);
  const theirs = await startExperiment(foreign);
  const { receipt } = await assign(tenant, id, "ada");
  const elsewhere = await assign(tenant, other.id, "ada");
  const stolen = await assign(foreign, theirs.id, "ada");
  const [text] = receipt.token.split(".");
  const forged = `${text}.${Buffer.alloc(16, 7).toString("base64url")}`;
  const score = { score_id: "s1", metric: "revenue", value: 1 };
  const path = `/api/experiments/${id}/scores`;
  for (const [token, rule] of [
    [forged, "wrong_signature"],
    [elsewhere.receipt.token, "foreign"],
    [stolen.receipt.token, "foreign"],
    ["nonsense", "malformed"],
  ]) {
    const refused = await tenant.refused("INVALID_ARGUMENT", "POST", path, { ...score, receipt: token });
    assert.deepEqual([refused.body.violations[0].field, refused.body.violations[0].rule], ["receipt", rule]);
  }
  const both = await tenant.refused("INVALID_ARGUMENT", "POST", path, {
    ...score,
    receipt: receipt.token,
    unit: "ada",
  });
  assert.equal(both.body.violations[0].rule, "exactly_one");
  const missing = await tenant.refused("FAILED_PRECONDITION", "POST", path, { ...score, unit: "nobody" });
  assert.match(missing.body.detail, /never exposed/);
  const [{ count } = { count: -1 }] = await sql<
    { count: number }[]
  >`select count(*)::int as count from experiment_scores where experiment_id = ${id}`;
  assert.equal(count, 0);
});

test("a batch records valid scores and says what is wrong with the others", async () => {
  const { id } = await startExperiment(tenant);
  const [ada] = await assignAll(tenant, id, ["ada"]);
  const told = await scoreAll(tenant, id, [
    { score_id: "1", unit: "ada", metric: "revenue", value: 5 },
    { score_id: "2", receipt: ada.receipt.token, metric: "revenu", value: 5 },
    { score_id: "3", unit: "nobody", metric: "revenue" },
    { score_id: "1", unit: "ada", metric: "revenue", value: 6 },
    { score_id: "", unit: "ada", metric: "revenue" },
    { score_id: "4", unit: "ada", metric: "revenue", denominator: 2 },
    { score_id: "1", unit: "ada", metric: "revenue", value: 5 },
  ]);
  assert.deepEqual(
    told.map(({ score, error_code }) => score?.state ?? error_code),
    [
      "pending",
      "INVALID_ARGUMENT",
      "FAILED_PRECONDITION",
      "SCORE_ID_REUSED",
      ...Array(2).fill("INVALID_ARGUMENT"),
      "pending",
    ],
  );
  assert.match(told[1].error, /did you mean revenue\?/);
});

test("only scores inside the window count, and a unit enters the results when its window ends", async () => {
  const { id } = await startExperiment(tenant, { score_window_s: 3600 });
  const [ada] = await assignAll(tenant, id, ["ada", "grace"]);
  const at = (offsetS: number) => new Date(Date.parse(ada.receipt.first_exposed_at) + offsetS * 1000).toISOString();
  const told = await scoreAll(
    tenant,
    id,
    [-600, 60, 120, 3601].map((offsetS) => ({
      ...{ score_id: String(offsetS), unit: "ada", metric: "revenue", value: 10, observed_at: at(offsetS) },
    })),
  );
  assert.deepEqual(
    told.map(({ score }) => score.state),
    ["early", "pending", "pending", "late"],
  );
  assert.equal((await results(tenant, id)).mature_units, 0);
  await endWindows(id, 3600);
  const found = await matureResults(id, 2);
  const { n, mean } = metricOf(found, ada.variant);
  assert.deepEqual([n, mean], [1, 20]);
  // A score that happened in time and arrives after the window does not count either.
  const brief = await startExperiment(tenant, { score_window_s: 1 });
  const { receipt } = await assign(tenant, brief.id, "grace");
  const inTime = { unit: "grace", metric: "revenue", observed_at: receipt.first_exposed_at };
  let sent = 0;
  await until(
    async () => (await scoreAll(tenant, brief.id, [{ ...inTime, score_id: String(sent++) }]))[0],
    ({ score }) => score.state === "late",
  );
});

test("scores after the end are kept and not counted, and the results stay as they are", async () => {
  const { id } = await startExperiment(tenant, { score_window_s: 0 });
  const { variant } = await assign(tenant, id, "ada");
  await scoreAll(tenant, id, [{ score_id: "1", unit: "ada", metric: "revenue", value: 7 }]);
  await until(
    () => results(tenant, id),
    (found) => metricOf(found, variant).mean === 7,
  );
  await tenant.ok("POST", `/api/experiments/${id}/complete`, {});
  const frozen = await results(tenant, id);
  const [after] = await scoreAll(tenant, id, [{ score_id: "2", unit: "ada", metric: "revenue", value: 100 }]);
  assert.equal(after.score.state, "ended");
  const [{ count } = { count: -1 }] = await sql<
    { count: number }[]
  >`select count(*)::int as count from experiment_scores where experiment_id = ${id}`;
  assert.equal(count, 2);
  assert.deepEqual(await results(tenant, id), frozen);
  assert.equal(frozen.frozen, true);
});

test("retention removes exposures and scores of ended experiments, and keeps their results", async (t) => {
  const db = openDatabase(service.databaseUrl, { maxConnections: 1 });
  t.after(() => db.close());
  const ids: string[] = [];
  for (const end of ["complete", "stop", "complete", ""]) {
    const { id } = await startExperiment(tenant, { score_window_s: 0 });
    await assignAll(tenant, id, ["ada", "bob"]);
    await scoreAll(tenant, id, [{ score_id: "1", unit: "ada", metric: "revenue", value: 7 }]);
    await matureResults(id, 2);
    if (end !== "") await tenant.ok("POST", `/api/experiments/${id}/${end}`, {});
    ids.push(id);
  }
  // All but the first two ended recently, or not at all.
  await sql`update experiments set ended_at = now() - interval '91 days' where id = any(${ids.slice(0, 2)})`;
  const before = await Promise.all(ids.map((id) => results(tenant, id)));
  const parts = { sql: db.sql, clock: { now: () => Date.now() }, retentionDays: 90, platformTenantId: () => "" };
  const job = deleteUnitsOfEndedJob(parts as never);
  for (let times = 0; times < 2; times++) await job.handler({ signal: t.signal } as never);
  const rows = await sql<{ id: string; exposures: number; scores: number }[]>`
    select id, (select count(*)::int from experiment_exposures where experiment_id = id) as exposures,
      (select count(*)::int from experiment_scores where experiment_id = id) as scores
    from unnest(${ids}::text[]) as id`;
  assert.deepEqual(
    rows.map(({ exposures, scores }) => [exposures, scores]),
    [...Array(2).fill([0, 0]), ...Array(2).fill([2, 1])],
  );
  assert.deepEqual(await Promise.all(ids.slice(0, 3).map((id) => results(tenant, id))), before.slice(0, 3));
  const [late] = await scoreAll(tenant, ids[0]!, [{ score_id: "2", unit: "ada", metric: "revenue" }]);
  assert.match(late.error, /ended long ago/);
});

test("without a window a unit counts at once, and every further score replaces its value", async () => {
  const { id } = await startExperiment(tenant, {
    score_window_s: 0,
    metrics: [
      { key: "errors", type: "proportion", direction: "decrease" },
      { key: "revenue", type: "mean" },
    ],
  });
  const assigned = await assignAll(
    tenant,
    id,
    Array.from({ length: 40 }, (_, at) => `u${at}`),
  );
  const { variant } = assigned[0];
  const inArm = assigned.filter((each) => each.variant === variant).length;
  let found = await matureResults(id, 40);
  assert.deepEqual([metricOf(found, variant, "errors").mean, metricOf(found, variant, "errors").n], [0, inArm]);
  for (let at = 1; at <= 3; at++) {
    await scoreAll(tenant, id, [
      { score_id: `r${at}`, unit: "u0", metric: "revenue", value: at },
      { score_id: `e${at}`, unit: "u0", metric: "errors" },
    ]);
  }
  found = await until(
    () => results(tenant, id),
    (each) => metricOf(each, variant).mean === 6,
  );
  assert.ok(Math.abs(metricOf(found, variant, "errors").mean - 1 / inArm) < 1e-9);
  assert.equal(metricOf(found, variant, "errors").n, inArm);
});

test("many workers count every unit exactly once", async () => {
  const { id } = await startExperiment(tenant, { metrics: [{ key: "orders", type: "count" }] });
  const units = Array.from({ length: 3000 }, (_, at) => `u${at}`);
  await assignAll(tenant, id, units);
  for (let at = 0; at < units.length; at += 1000) {
    const scores = units.slice(at, at + 1000).map((unit) => ({ score_id: unit, unit, metric: "orders", value: 2 }));
    await scoreAll(tenant, id, scores);
  }
  const startOther = () => startService({ "auth.bootstrap_api_key": service.adminKey }, service.databaseUrl);
  const others = await Promise.all([startOther(), startOther()]);
  await endWindows(id);
  const found = await matureResults(id, 3000);
  const sums = found.variants.map((each: ResponseData) => each.metrics[0]);
  assert.equal(
    sums.reduce((sum: number, each: ResponseData) => sum + each.n, 0),
    3000,
  );
  for (const { mean, variance } of sums) assert.deepEqual([mean, variance], [2, 0]);
  await Promise.all(others.map((other) => other.stop()));
});

test("a value that cannot be summed is refused, and does not affect the others of its batch", async () => {
  const metrics = [
    { key: "revenue", type: "mean" },
    { key: "rate", type: "ratio" },
  ];
  const { id } = await startExperiment(tenant, { metrics });
  await assign(tenant, id, "ada");
  const wrong = [{ value: 1e200 }, { value: -1e308 }, { value: 1e-200 }, { metric: "rate", denominator: 1e-100 }];
  const scores = [{ value: 1e30 }, ...wrong].map((fields, at) => {
    return { score_id: `s-${at}`, unit: "ada", metric: "revenue", ...fields };
  });
  const [right, ...refused] = await scoreAll(tenant, id, scores);
  assert.equal(right!.error, "", JSON.stringify(right));
  for (const { error } of refused)
    assert.match(JSON.stringify(error), /must be 0 or between 1e-30 and 1e30 in magnitude/);
  const covariates = { revenue: 1e200 };
  await tenant.refused("INVALID_ARGUMENT", "POST", `/api/experiments/${id}/assign`, { unit: "bob", covariates });
});

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { avoidMidnight } from "../harness/midnight.ts";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { connect } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture, tenantAt } from "../routing/tenant-fixture.ts";
import { assign, assignAll, createDraft, scoreAll, startExperiment, twoVariants } from "./experiment-fixture.ts";

let service: TestService;
let tenant: TenantFixture;
before(async () => {
  service = await startService();
  tenant = await newTenant(service);
});

const names = (count: number, prefix = "unit") => Array.from({ length: count }, (_, at) => `${prefix}-${at}`);
const variantsOf = (all: readonly ResponseData[]) => all.map(({ variant }) => variant);

test("a unit keeps its variant and its receipt, alone and in a batch, and is stored once", async (t) => {
  const sql = connect(service.databaseUrl, 1);
  t.after(() => sql.end({ timeout: 1 }));
  const { id } = await startExperiment(tenant);
  const first = await assign(tenant, id, "ada");
  assert.deepEqual([first.in_experiment, first.reason, first.receipt.phase], [true, "assigned", 1]);
  assert.deepEqual(await assign(tenant, id, "ada"), first);
  const [inBatch, other] = await assignAll(tenant, id, ["ada", "grace"]);
  assert.deepEqual(inBatch, first);
  assert.notEqual(other.receipt.unit_hash, first.receipt.unit_hash);
  const rows = await sql`select * from experiment_exposures where experiment_id = ${id}`;
  assert.equal(rows.length, 2);
  const [{ units } = { units: 0 }] =
    await sql`select sum(units)::int as units from experiment_unit_counts where experiment_id = ${id}`;
  assert.equal(units, 2);
});

test("concurrent first calls for one unit agree on one exposure", async () => {
  const { id } = await startExperiment(tenant);
  const all = await Promise.all(Array.from({ length: 20 }, () => assign(tenant, id, "the same")));
  for (const each of all) assert.deepEqual(each, all[0]);
});

test("an id or a key with a suffix is not the experiment without it", async () => {
  const { id, key } = await startExperiment(tenant);
  await assign(tenant, id, "ada");
  await tenant.refused("NOT_FOUND", "POST", `/api/experiments/${id}%20more/assign`, { unit: "ada" });
  const pool = await tenant.pool();
  await tenant.rule(pool, { type: "assign_experiment", experiment_key: `${key} more` });
  const { experiments } = await tenant.route(pool, { key: "ada" });
  assert.deepEqual(experiments, {});
});

test("an experiment is assigned and scored by its key like by its id, one by one and in batches", async () => {
  const { id, key } = await startExperiment(tenant);
  const byId = await assign(tenant, id, "ada");
  assert.deepEqual(await assign(tenant, key, "ada"), byId);
  assert.deepEqual(await assignAll(tenant, key, ["ada", "grace"]), await assignAll(tenant, id, ["ada", "grace"]));
  const keyed = { "idempotency-key": freshName() };
  const path = `/api/experiments/${key}/assign`;
  const first = (await tenant.ok("POST", path, { unit: "keyed" }, keyed)).data;
  assert.deepEqual((await tenant.ok("POST", path, { unit: "keyed" }, keyed)).data, first);
  assert.deepEqual(await assign(tenant, id, "keyed"), first);
  const score = { score_id: "one", unit: "ada", metric: "revenue", value: 3 };
  const scored = (await tenant.ok("POST", `/api/experiments/${key}/scores`, score)).data;
  assert.deepEqual([scored.experiment_id, scored.variant], [id, byId.variant]);
  const [again] = await scoreAll(tenant, key, [{ ...score, score_id: "two" }]);
  assert.equal(again.score.experiment_id, id);
});

test("a key names the experiment of one tenant and one environment, production by default", async () => {
  const key = `e-${freshName()}`;
  const inProduction = await startExperiment(tenant, { key });
  const inStaging = await startExperiment(tenant, { key, environment_id: "staging" });
  const other = await newTenant(service);
  await other.refused("NOT_FOUND", "POST", `/api/experiments/${key}/assign`, { unit: "ada" });
  const foreign = await startExperiment(other, { key });
  const experimentOf = async (of: TenantFixture, fields: object) =>
    (await assign(of, key, "ada", fields)).experiment_id;
  for (let round = 0; round < 2; round++) {
    assert.equal(await experimentOf(tenant, {}), inProduction.id);
    assert.equal(await experimentOf(tenant, { environment_id: inProduction.environment_id }), inProduction.id);
    assert.equal(await experimentOf(tenant, { environment_id: "staging" }), inStaging.id);
    assert.equal(await experimentOf(tenant, { environment_id: inStaging.environment_id }), inStaging.id);
    assert.equal(await experimentOf(other, {}), foreign.id);
  }
  const limited = await tenant.caller({ roles: ["admin"], environment_mode: "production_only" });
  const path = `/api/experiments/${key}/assign`;
  const refused = await limited.call("POST", path, { unit: "ada", environment_id: "staging" });
  assert.equal(refused.body.errorCode, "PERMISSION_DENIED");
  const { text } = await tenant.refused("NOT_FOUND", "POST", "/api/experiments/nothing/assign", { unit: "ada" });
  assert.match(text, /A key is looked up in the environment environment_id, which is production by default\./);
});

test("an environment beside the id of an experiment must be the experiment's", async () => {
  const { id, environment_id } = await startExperiment(tenant, { environment_id: "staging" });
  for (const own of [environment_id, "staging"]) {
    assert.equal((await assign(tenant, id, "ada", { environment_id: own })).experiment_id, id);
  }
  const path = `/api/experiments/${id}/assign`;
  await tenant.refused("NOT_FOUND", "POST", path, { unit: "ada", environment_id: "production" });
});

test("a key names the experiment that has it now, after the earlier one was deleted", async () => {
  const key = `e-${freshName()}`;
  const path = `/api/experiments/${key}/assign`;
  await tenant.refused("NOT_FOUND", "POST", path, { unit: "ada" });
  const draft = await createDraft(tenant, { key });
  await tenant.refused("FAILED_PRECONDITION", "POST", path, { unit: "ada" });
  await tenant.ok("DELETE", `/api/experiments/${draft.id}`);
  await tenant.refused("NOT_FOUND", "POST", path, { unit: "ada" });
  const { id } = await startExperiment(tenant, { key });
  assert.equal((await assign(tenant, key, "ada")).experiment_id, id);
});

test("an environment and a key with spaces are not mistaken for others", async () => {
  const { key } = await startExperiment(tenant);
  await assign(tenant, key, "ada");
  const path = `/api/experiments/${encodeURIComponent(`${key} x`)}/assign`;
  await tenant.refused("NOT_FOUND", "POST", path, { unit: "ada" });
  const environment_id = "production ";
  await tenant.refused("NOT_FOUND", "POST", `/api/experiments/${key}/assign`, { unit: "ada", environment_id });
});

test("targeting, allocation and layer keep units out without storing anything", async (t) => {
  const sql = connect(service.databaseUrl, 1);
  t.after(() => sql.end({ timeout: 1 }));
  const targeted = await startExperiment(tenant, { targeting: 'attributes.country == "CH"' });
  const inside = await assign(tenant, targeted.id, "a", { attributes: { country: "CH" } });
  const outside = await assign(tenant, targeted.id, "b", { attributes: { country: "AT" } });
  const unknown = await assign(tenant, targeted.id, "c");
  assert.deepEqual([inside.reason, outside.reason, unknown.reason], ["assigned", "not_targeted", "targeting_failed"]);
  assert.deepEqual([outside.variant, outside.receipt, outside.in_experiment], ["", undefined, false]);
  const allocated = await startExperiment(tenant, { allocation_pct: 30 });
  const all = await assignAll(tenant, allocated.id, names(1000));
  const entered = all.filter(({ in_experiment }) => in_experiment).length;
  // Six standard deviations of a binomial count.
  assert.ok(entered > 213 && entered < 387, String(entered));
  const rows = await sql`select from experiment_exposures where experiment_id = any(${[targeted.id, allocated.id]})`;
  assert.equal(rows.length, 1 + entered);
});

test("experiments of one layer share no unit, and a layer cannot be given away twice", async () => {
  const layer = { key: "checkout", pct: 50 };
  const one = await startExperiment(tenant, { layer });
  const two = await startExperiment(tenant, { layer });
  const units = names(2000);
  const inOne = await assignAll(tenant, one.id, units);
  const inTwo = await assignAll(tenant, two.id, units);
  for (const [at] of units.entries()) assert.ok(inOne[at].in_experiment !== inTwo[at].in_experiment, units[at]);
  assert.ok(inOne.some(({ reason }) => reason === "excluded_by_layer"));
  const three = await createDraft(tenant, { layer: { key: "checkout", pct: 10 } });
  const refused = await tenant.refused("FAILED_PRECONDITION", "POST", `/api/experiments/${three.id}/start`, {});
  assert.match(refused.body.detail, /layer checkout has 0 percent free/);
  await tenant.ok("POST", `/api/experiments/${one.id}/stop`, {});
  await tenant.ok("POST", `/api/experiments/${three.id}/start`, {});
});

test("no unit switches its variant when weights, allocation or its attributes change; new units follow the new phase", async () => {
  const { id } = await startExperiment(tenant);
  const targeted = await startExperiment(tenant, { targeting: 'attributes.country == "CH"' });
  const swiss = await assign(tenant, targeted.id, "ada", { attributes: { country: "CH" } });
  const units = names(600);
  const before = await assignAll(tenant, id, units);
  const weights = twoVariants.map(({ key }, at) => ({ key, weight: at }));
  await tenant.ok("PATCH", `/api/experiments/${id}`, { variant_set: { variants: weights } });
  assert.deepEqual(await assignAll(tenant, id, units), before);
  const fresh = await assignAll(tenant, id, names(200, "fresh"));
  assert.deepEqual(new Set(variantsOf(fresh)), new Set(["treatment"]));
  assert.deepEqual(new Set(fresh.map(({ receipt }) => receipt.phase)), new Set([2]));
  await tenant.ok("PATCH", `/api/experiments/${id}`, { allocation_pct: 10 });
  // Another node has nothing in memory.
  const other = await startService({ "auth.bootstrap_api_key": service.adminKey }, service.databaseUrl);
  const elsewhere = tenantAt(other, tenant);
  assert.deepEqual(await assignAll(elsewhere, id, units), before);
  const newest = await assignAll(elsewhere, id, names(1000, "newest"));
  const entered = newest.filter(({ in_experiment }) => in_experiment).length;
  // Six standard deviations of a binomial count.
  assert.ok(entered > 43 && entered < 157, String(entered));
  // Targeting decides who enters, not who stays.
  for (const node of [tenant, elsewhere]) {
    for (const attributes of [{ country: "AT" }, {}]) {
      assert.deepEqual(await assign(node, targeted.id, "ada", { attributes }), swiss);
    }
    const stranger = await assign(node, targeted.id, "bob", { attributes: { country: "AT" } });
    assert.deepEqual([stranger.variant, stranger.reason], ["", "not_targeted"]);
  }
  await other.stop();
});

test("a paused experiment keeps the variants of its units and takes no new ones", async () => {
  const { id } = await startExperiment(tenant);
  const before = await assign(tenant, id, "known");
  await tenant.ok("POST", `/api/experiments/${id}/pause`, {});
  assert.deepEqual(await assign(tenant, id, "known"), before);
  const stranger = await assign(tenant, id, "stranger");
  assert.deepEqual([stranger.reason, stranger.variant], ["paused", ""]);
  await tenant.ok("POST", `/api/experiments/${id}/start`, {});
  assert.equal((await assign(tenant, id, "stranger")).reason, "assigned");
});

test("units keep their variants after a node was killed", async (t) => {
  const database = await freshDatabase();
  t.after(() => database.drop());
  const settings = { "auth.bootstrap_api_key": "sk_test_expcrash_0123456789abcdef", "database.url": database.url };
  const node = await startNodeProcess(settings);
  t.after(() => node.kill());
  const own = await newTenant(node);
  const { id } = await startExperiment(own);
  const acknowledged = new Map<string, ResponseData>();
  let isKilled = false;
  const callers = Array.from({ length: 8 }, async (_, caller) => {
    for (let at = 0; !isKilled; at++) {
      const unit = `${caller}-${at}`;
      const response = await own.rest.call("POST", `/api/experiments/${id}/assign`, { unit }).catch(() => undefined);
      if (response?.status === 200) acknowledged.set(unit, response.body.data);
      if (acknowledged.size >= 200 && !isKilled) {
        isKilled = true;
        await node.kill();
      }
    }
  });
  await Promise.all(callers);
  const next = await startService(settings, database.url);
  const after = await assignAll(tenantAt(next, own), id, [...acknowledged.keys()]);
  assert.deepEqual(after, [...acknowledged.values()]);
  const [{ stored, counted } = { stored: 0, counted: -1 }] = await database.sql<{ stored: number; counted: number }[]>`
    select (select count(*)::int from experiment_exposures) as stored,
      (select sum(units)::int from experiment_unit_counts) as counted`;
  assert.equal(counted, stored);
  await next.stop();
});

test("anybody can verify a receipt, and a changed one is not valid", async () => {
  const { id } = await startExperiment(tenant);
  const { receipt } = await assign(tenant, id, "ada");
  const stranger = restClient(service.baseUrl);
  const verify = async (token: string) =>
    (await stranger.call("POST", "/api/experiments/receipts:verify", { token })).body.data;
  assert.deepEqual(await verify(receipt.token), { valid: true, reason: "", receipt });
  const [text, signature] = receipt.token.split(".");
  const changed = Buffer.from(text, "base64url").toString().replace(receipt.variant, "another");
  for (const [token, reason] of [
    [`${Buffer.from(changed).toString("base64url")}.${signature}`, "wrong_signature"],
    [`${text}.${Buffer.from("0123456789abcdef").toString("base64url")}`, "wrong_signature"],
    [`${Buffer.from(changed.replace(/^1/, "2")).toString("base64url")}.${signature}`, "unsupported_version"],
    ["nonsense", "malformed"],
    [`${text}.${signature}.more`, "malformed"],
  ] as const) {
    assert.deepEqual(await verify(token), { valid: false, reason }, token);
  }
});

test("first exposures count towards the quota experiment.assign, and repeats do not", async () => {
  await avoidMidnight();
  const own = await newTenant(service, { quotas: { "experiment.assign": { limit_per_day: 2 } } });
  const { id } = await startExperiment(own);
  const first = await assign(own, id, "a");
  await assign(own, id, "b");
  await own.refused("QUOTA_EXCEEDED", "POST", `/api/experiments/${id}/assign`, { unit: "c" });
  assert.deepEqual(await assign(own, id, "a"), first);
});

test("a variant's value is returned, and an unknown covariate is refused with what is known", async () => {
  const variants = [{ key: "on", weight: 1, value: { colour: "red", size: 3 } }];
  const { id } = await startExperiment(tenant, { variants });
  assert.deepEqual((await assign(tenant, id, "a")).value, { colour: "red", size: 3 });
  const request = { unit: "b", covariates: { revenu: 1 } };
  const refused = await tenant.refused("INVALID_ARGUMENT", "POST", `/api/experiments/${id}/assign`, request);
  assert.match(refused.body.detail, /it has revenue; did you mean revenue\?/);
});

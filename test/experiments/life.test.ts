import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { startService, type TestService } from "../harness/service.ts";
import { freshName, newTenant, type TenantFixture } from "../routing/tenant-fixture.ts";
import { assign, assignAll, createDraft, results, startExperiment, twoVariants } from "./experiment-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-experiments-"));
const auditPath = join(folder, "audit.log");
afterFile(() => rmSync(folder, { recursive: true, force: true }));

let service: TestService;
let tenant: TenantFixture;
before(async () => {
  service = await startService({ "audit.sink": "file", "audit.path": auditPath });
  tenant = await newTenant(service);
});

type Status = "draft" | "running" | "paused" | "completed" | "stopped";

const steps: Readonly<Record<Status, readonly string[]>> = {
  draft: [],
  running: ["start"],
  paused: ["start", "pause"],
  completed: ["start", "complete"],
  stopped: ["start", "stop"],
};

async function experimentIn(status: Status): Promise<string> {
  const { id } = await createDraft(tenant);
  for (const step of steps[status]) await tenant.ok("POST", `/api/experiments/${id}/${step}`, {});
  return id;
}

const calls: Readonly<Record<string, (id: string) => readonly [method: string, path: string, body?: object]>> = {
  update: (id) => ["PATCH", `/api/experiments/${id}`, { description: "changed" }],
  delete: (id) => ["DELETE", `/api/experiments/${id}`],
  start: (id) => ["POST", `/api/experiments/${id}/start`, {}],
  pause: (id) => ["POST", `/api/experiments/${id}/pause`, {}],
  complete: (id) => ["POST", `/api/experiments/${id}/complete`, { variant: "treatment" }],
  stop: (id) => ["POST", `/api/experiments/${id}/stop`, {}],
  assign: (id) => ["POST", `/api/experiments/${id}/assign`, { unit: "u1" }],
  score: (id) => ["POST", `/api/experiments/${id}/scores:batch`, { scores: [{ score_id: "s", unit: "u1" }] }],
  results: (id) => ["GET", `/api/experiments/${id}/results`],
};

/** The status after every possible call; the other pairs are refused. */
const table: Readonly<Record<Status, Readonly<Record<string, string>>>> = {
  draft: { update: "draft", delete: "", start: "running" },
  running: {
    update: "running",
    pause: "paused",
    complete: "completed",
    stop: "stopped",
    assign: "running",
    score: "running",
    results: "running",
  },
  paused: {
    update: "paused",
    start: "running",
    complete: "completed",
    stop: "stopped",
    assign: "paused",
    score: "paused",
    results: "paused",
  },
  completed: { assign: "completed", score: "completed", results: "completed" },
  stopped: { assign: "stopped", score: "stopped", results: "stopped" },
};

for (const status of Object.keys(table) as Status[]) {
  for (const [call, requestOf] of Object.entries(calls)) {
    const next = table[status][call];
    test(`${call} of an experiment that is ${status} ${next === undefined ? "is refused with what is possible" : "is possible"}`, async () => {
      const id = await experimentIn(status);
      const [method, path, body] = requestOf(id);
      const response = await tenant.rest.call(method, path, body);
      if (next === undefined) {
        assert.equal(response.body.errorCode, "FAILED_PRECONDITION", response.text);
        assert.match(response.body.detail, new RegExp(`does not allow ${call}`));
        assert.deepEqual([response.body.status, response.body.current_status], [412, status]);
        assert.deepEqual(response.body.possible_calls, Object.keys(table[status]));
      } else assert.equal(response.status, 200, response.text);
      const after = await tenant.rest.call("GET", `/api/experiments/${id}`);
      if (next === "") assert.equal(after.status, 404);
      else assert.equal(after.body.data.status, next ?? status);
      if (next !== "" && next !== undefined) {
        assert.deepEqual(after.body.data.possible_calls, Object.keys(table[next as Status]));
      }
    });
  }
}

test("a draft that cannot work is refused with every reason", async () => {
  const response = await tenant.refused("INVALID_ARGUMENT", "POST", "/api/experiments", {
    key: "broken",
    variants: [
      { key: "a", weight: 0 },
      { key: "a", weight: 0 },
    ],
    control: "c",
    targeting: "attributes.country = 1",
    metrics: [
      { key: "m", type: "proportion", margin: 1, winsor_cap: 3, baseline: 7 },
      { key: "m", type: "ratio", aggregation: "max" },
    ],
  });
  const rules = response.body.violations.map(({ field, rule }: { field: string; rule: string }) => `${field} ${rule}`);
  assert.deepEqual(rules, [
    "variants[1].key unique",
    "variants weights",
    "control unknown",
    "targeting cel.syntax",
    "metrics[0].margin guardrail_only",
    "metrics[0].winsor_cap unsupported",
    "metrics[0].baseline range",
    "metrics[1].aggregation unsupported",
    "metrics[1].key unique",
  ]);
});

test("validation estimates the units and the days that a draft needs, and says what is worth to know", async () => {
  const metric = { key: "conversion", type: "proportion", baseline: 0.1, minimum_lift: 0.1 };
  const draft = {
    ...{ key: "estimate", variants: twoVariants, metrics: [metric] },
    ...{ expected_units_per_day: 1000, score_window_s: 86_400 },
  };
  const { data: plan } = await tenant.ok("POST", "/api/experiments:validate", draft);
  assert.equal(plan.valid, true);
  const units = Number(plan.minimum_units);
  assert.ok(units > 25_000 && units < 100_000, plan.minimum_units);
  assert.ok(Math.abs(plan.expected_days - (units / 1000 + 1)) <= 1, String(plan.expected_days));
  assert.match(plan.notes.join(" "), /planned_units is 10000, but about/);
  const halved = { ...draft, allocation_pct: 50, targeting: "nonsense(" };
  const { data: broken } = await tenant.ok("POST", "/api/experiments:validate", halved);
  assert.equal(broken.valid, false);
  assert.equal(broken.violations[0].field, "targeting");
});

test("a key is unique in its environment, and experiments are listed by status, key and layer", async () => {
  const own = await newTenant(service);
  const first = await createDraft(own, { key: "checkout", layer: { key: "page", pct: 50 } });
  await own.refused("ALREADY_EXISTS", "POST", "/api/experiments", { key: "checkout", variants: twoVariants });
  const second = await startExperiment(own, { key: "search" });
  const ids = async (query: string) =>
    (await own.ok("GET", `/api/experiments?${query}`)).data.map(({ id }: { id: string }) => id);
  assert.deepEqual(await ids(""), [first.id, second.id]);
  assert.deepEqual(await ids("status=running"), [second.id]);
  assert.deepEqual(await ids("key=checkout"), [first.id]);
  assert.deepEqual(await ids("layer=page"), [first.id]);
  assert.deepEqual(await ids("status=stopped"), []);
});

test("what the start fixed cannot be changed, and new weights begin a new phase", async () => {
  const { id } = await startExperiment(tenant, { targeting: "attributes.vip == true" });
  const path = `/api/experiments/${id}`;
  for (const change of [{ targeting: "" }, { metric_set: { metrics: [] } }, { alpha: 0.1 }, { control: "treatment" }]) {
    const refused = await tenant.refused("FAILED_PRECONDITION", "PATCH", path, change);
    assert.match(refused.body.detail, /was fixed by its start/);
  }
  const others = { variant_set: { variants: [{ key: "control", weight: 1 }] } };
  await tenant.refused("FAILED_PRECONDITION", "PATCH", path, others);
  const weights = twoVariants.map(({ key }, at) => ({ key, weight: at + 1 }));
  const { data } = await tenant.ok("PATCH", path, { variant_set: { variants: weights } });
  assert.deepEqual(
    data.phases.map(({ number, weights: each }: { number: number; weights: number[] }) => [number, each]),
    [
      [1, [50, 50]],
      [2, [1, 2]],
    ],
  );
  const same = await tenant.ok("PATCH", path, { variant_set: { variants: weights }, name: "renamed" });
  assert.equal(same.data.phases.length, 2);
  const stale = { name: "late", record_version: 1 };
  await tenant.refused("VERSION_CONFLICT", "PATCH", path, stale);
});

test("every change is an event of the experiment, with its environment", async () => {
  const own = await newTenant(service);
  const { id } = await startExperiment(own);
  await own.ok("PATCH", `/api/experiments/${id}`, { allocation_pct: 50 });
  await own.ok("POST", `/api/experiments/${id}/pause`, {});
  await own.ok("POST", `/api/experiments/${id}/start`, {});
  await own.ok("POST", `/api/experiments/${id}/complete`, { variant: "control", reason: "no difference" });
  const { data } = await own.ok("GET", `/api/events?subject=${id}`);
  const types = data.map(({ type }: { type: string }) => type).toReversed();
  assert.deepEqual(types, [
    "experiment.created",
    "experiment.started",
    "experiment.updated",
    "experiment.phase_started",
    "experiment.paused",
    "experiment.started",
    "experiment.completed",
  ]);
  assert.equal(data[0].data.variant, "control");
});

test("after a decision every unit gets the decided variant, without an exposure", async () => {
  const { id } = await startExperiment(tenant);
  const before = await assign(tenant, id, "somebody");
  assert.equal(before.in_experiment, true);
  const { data } = await tenant.ok("POST", `/api/experiments/${id}/complete`, {
    variant: "treatment",
    reason: "better",
  });
  assert.deepEqual([data.decision.variant, data.decision.reason], ["treatment", "better"]);
  for (const unit of ["somebody", "somebody else"]) {
    const after = await assign(tenant, id, unit);
    assert.deepEqual([after.variant, after.reason, after.in_experiment], ["treatment", "decided", false]);
  }
  const { frozen, units } = await results(tenant, id);
  assert.deepEqual([frozen, units], [true, 1]);
});

test("a caller for one environment neither sees nor uses experiments of another one", async () => {
  const { id } = await startExperiment(tenant);
  const sandbox = await tenant.caller({ roles: ["operator"], environment_mode: "non_production_only" });
  for (const [call, requestOf] of Object.entries(calls)) {
    const { status, text } = await sandbox.call(...requestOf(id));
    assert.equal(status, 403, `${call}: ${text}`);
  }
  assert.equal((await sandbox.call("GET", "/api/experiments")).body.data.length, 0);
});

test("every change of an experiment is audited with its experiment and outcome, and units and values are not", async () => {
  const own = await newTenant(service);
  const { id } = await startExperiment(own);
  const unit = "unit-of-a-person";
  const score = { score_id: "s1", unit, metric: "revenue", value: 271_828 };
  const path = `/api/experiments/${id}`;
  await own.ok("PATCH", path, { description: "changed" });
  await assign(own, id, unit);
  await own.ok("POST", `${path}/assign:batch`, { units: [{ unit }] });
  await own.ok("POST", `${path}/scores`, score);
  await own.ok("POST", `${path}/scores:batch`, { scores: [score] });
  await own.ok("POST", `${path}/pause`, {});
  await own.ok("POST", `${path}/complete`, { variant: "control" });
  await own.refused("FAILED_PRECONDITION", "POST", `${path}/start`, {});
  const viewer = await own.caller({ roles: ["viewer"] });
  // Refused before its request is decoded, so that its ids are not known.
  assert.equal((await viewer.call("POST", `${path}/stop`, {})).status, 403);
  const draft = await createDraft(own);
  await own.ok("DELETE", `/api/experiments/${draft.id}`);
  await viewer.call("GET", `${path}/results`);
  const log = readFileSync(auditPath, "utf8");
  const entries = log
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ tenant_id, resource }) => tenant_id === own.id && resource === "experiment");
  const seen = entries.map(({ operation, outcome, details }) => {
    const ids = [...Object.values(details.ids), ...(details.records ?? []).map((each: { id: string }) => each.id)];
    return `${operation.split("/")[1]} ${outcome} ${ids.includes(id) || ids.includes(draft.id)}`;
  });
  assert.deepEqual(seen, [
    ...["CreateExperiment succeeded true", "StartExperiment succeeded true", "UpdateExperiment succeeded true"],
    ...["AssignExperiment succeeded true", "AssignExperimentBatch succeeded true", "RecordScore succeeded true"],
    ...["RecordScoreBatch succeeded true", "PauseExperiment succeeded true", "CompleteExperiment succeeded true"],
    ...["StartExperiment failed true", "StopExperiment denied false", "CreateExperiment succeeded true"],
    "DeleteExperiment succeeded true",
  ]);
  assert.ok(entries.every(({ actor, request_id }) => actor !== "" && request_id !== ""));
  assert.ok(!log.includes(unit) && !log.includes("271828"));
});

test("omitted weights are equal weights, and all of them are given or none", async () => {
  const variants = [{ key: "control" }, { key: "one" }, { key: "two" }];
  const { id, phases } = await startExperiment(tenant, { variants });
  assert.deepEqual(phases[0].weights, [1, 1, 1]);
  const chosen = new Set(
    (
      await assignAll(
        tenant,
        id,
        Array.from({ length: 50 }, (_, n) => `u${n}`),
      )
    ).map((each) => each.variant),
  );
  assert.deepEqual([...chosen].sort(), ["control", "one", "two"]);
  const some = { key: `e-${freshName()}`, variants: [{ key: "control", weight: 50 }, { key: "one" }] };
  const { body } = await tenant.refused("INVALID_ARGUMENT", "POST", "/api/experiments", some);
  assert.equal(body.violations[0].field, "variants[1].weight");
});

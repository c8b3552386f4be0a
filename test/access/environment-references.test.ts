import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

let service: TestService;
let tenant: TenantFixture;
let production: string;
let staging: string;
before(async () => {
  service = await startService();
  tenant = await newTenant(service);
  [production, staging] = await environmentIds(tenant);
});

async function environmentIds(of: TenantFixture): Promise<[string, string]> {
  const { data } = await of.ok("GET", "/api/v2/environments");
  const idOf = (key: string) => data.find((each: ResponseData) => each.key === key).id as string;
  return [idOf("production"), idOf("staging")];
}

const variants = [
  { key: "a", weight: 1 },
  { key: "b", weight: 1 },
];

async function publish(): Promise<string> {
  const key = `w.${freshName()}`;
  const steps = [{ id: "t", task: { queue: key, type: "t" } }];
  const { data } = await tenant.ok("POST", "/api/workflow-definitions", {
    document: { dsl: "1", key, timeout: "1d", steps },
  });
  await tenant.ok("POST", `/api/workflow-definitions/${data.id}/publish`, {});
  return key;
}

/** What each operation creates in an environment, with the member of its response that has the environment. */
const creations: Readonly<Record<string, (environment: object) => Promise<ResponseData>>> = {
  pool: async (environment) => (await tenant.ok("POST", "/api/pools", { name: freshName(), ...environment })).data,
  experiment: async (environment) =>
    (await tenant.ok("POST", "/api/experiments", { key: `e-${freshName()}`, variants, ...environment })).data,
  "workflow run": async (environment) =>
    (await tenant.ok("POST", "/api/workflow-runs", { definition: await publish(), ...environment })).data.run,
  "workflow trigger": async (environment) => {
    const trigger = { name: freshName(), definition: await publish(), schedule: { cron: "0 0 1 1 *" } };
    return (await tenant.ok("POST", "/api/workflow-triggers", { ...trigger, ...environment })).data;
  },
  promotion: async (environment) => {
    const ref = await tenant.pool(environment);
    const artifacts = [{ kind: "strategy", ref, version: 1 }];
    return (await tenant.ok("POST", "/api/promotions/candidates", { artifacts, ...environment })).data;
  },
  "evidence pack": async (environment) =>
    (await tenant.ok("POST", "/api/rollout-evidence/packs", { name: freshName(), ...environment })).data,
};

for (const [what, create] of Object.entries(creations)) {
  test(`the environment of a new ${what} is named by its id or its key, and is production by default`, async () => {
    const made = [await create({ environment_id: "staging" }), await create({ environment_id: staging })];
    made.push(await create({ environment_id: "production" }), await create({}));
    assert.deepEqual(
      made.map(({ environment_id }) => environment_id),
      [staging, staging, production, production],
    );
  });
}

test("a list is filtered by the id or the key of an environment alike", async () => {
  for (const create of Object.values(creations)) {
    await create({ environment_id: "staging" });
    await create({});
  }
  const lists = [
    ...["/api/pools", "/api/experiments", "/api/workflow-runs", "/api/workflow-triggers", "/api/workflow-tasks"],
    ...["/api/promotions/candidates", "/api/rollout-evidence/packs", "/api/workflow-queues"],
  ];
  for (const path of lists) {
    const listed = async (environment: string) =>
      (await tenant.ok("GET", `${path}?environment_id=${environment}&limit=100`)).data;
    const byKey = await listed("staging");
    assert.ok(byKey.length > 0, path);
    assert.equal(byKey.length, (await listed(staging)).length, path);
    assert.ok(
      byKey.every((each: ResponseData) => each.environment_id === staging),
      path,
    );
  }
});

test("an environment itself is read, changed and deleted by its key", async () => {
  const key = `e${freshName()}`;
  const { id } = (await tenant.ok("POST", "/api/v2/environments", { key })).data;
  const path = `/api/v2/environments/${key}`;
  assert.equal((await tenant.ok("GET", path)).data.id, id);
  const renamed = (await tenant.ok("PATCH", path, { name: "Lab" })).data;
  assert.deepEqual([renamed.id, renamed.name], [id, "Lab"]);
  await tenant.ok("DELETE", path);
  await tenant.refused("NOT_FOUND", "GET", `/api/v2/environments/${id}`);
});

test("a record of an environment is found in a path with the environment's key", async () => {
  const pack = await creations["evidence pack"]!({ environment_id: "staging" });
  const read = await tenant.ok("GET", `/api/rollout-evidence/packs/staging/${pack.id}`);
  assert.equal(read.data.environment_id, staging);
  await tenant.refused("NOT_FOUND", "GET", `/api/rollout-evidence/packs/production/${pack.id}`);
});

test("workers poll and runs are simulated and signalled in the environment with a key", async () => {
  const definition = await publish();
  const run_key = freshName();
  const start = { definition, run_key, environment_id: "staging" };
  const { id } = (await tenant.ok("POST", "/api/workflow-runs", start)).data.run;
  const worker = { queue: definition, worker_id: "w", build_id: "b", capabilities: [{ type: "t" }], slots: 1 };
  const poll = async (environment_id: string) =>
    (await tenant.ok("POST", "/api/workflow-tasks:poll", { ...worker, environment_id })).data.tasks;
  assert.deepEqual(await poll("production"), []);
  const [task] = await poll("staging");
  assert.equal(task.run_id, id);
  const signal = { definition, run_key, event: "e", environment_id: "staging" };
  assert.equal((await tenant.ok("POST", "/api/workflow-runs:signal", signal)).data.run_id, id);
  const simulated = await tenant.ok("POST", "/api/workflow-runs:simulate", { definition, environment_id: "staging" });
  assert.equal(simulated.data.status, "succeeded");
});

test("a key names only an environment of the caller's tenant that the caller may use", async () => {
  const own = `e${freshName()}`;
  const other = await newTenant(service);
  await other.ok("POST", "/api/v2/environments", { key: own });
  for (const environment_id of [own, "nothing", "Production", (await environmentIds(other))[1]]) {
    await tenant.refused("NOT_FOUND", "POST", "/api/pools", { name: freshName(), environment_id });
    await tenant.refused("NOT_FOUND", "POST", "/api/experiments", { key: freshName(), variants, environment_id });
    await tenant.refused("NOT_FOUND", "POST", "/api/workflow-runs", { definition: "x", environment_id });
  }
  const limited = await tenant.caller({ roles: ["admin"], environment_mode: "non_production_only" });
  const refused = await limited.call("POST", "/api/pools", { name: freshName(), environment_id: "production" });
  assert.equal(refused.body.errorCode, "PERMISSION_DENIED");
});

test("a key names the environment that has it now, immediately after a change", async () => {
  const key = `e${freshName()}`;
  const definition = await publish();
  const start = async () => tenant.rest.call("POST", "/api/workflow-runs", { definition, environment_id: key });
  for (let round = 0; round < 2; round++) {
    assert.equal((await start()).status, 404);
    const { data } = await tenant.ok("POST", "/api/v2/environments", { key });
    const started = await start();
    assert.equal(started.body.data.run.environment_id, data.id, started.text);
    await tenant.ok("DELETE", `/api/v2/environments/${data.id}`);
  }
});

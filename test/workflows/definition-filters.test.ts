import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService } from "../harness/service.ts";
import { newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

let own: TenantFixture;
let foreign: TenantFixture;
before(async () => {
  const service = await startService();
  [own, foreign] = [await newTenant(service), await newTenant(service)];
});

const failing = { id: "stop", fail: { code: "stopped", message: "no" } };

/** Publishes a definition; returns its id. */
async function publish(tenant: TenantFixture, key: string): Promise<string> {
  const document = { dsl: "1", key, timeout: "1h", steps: [failing] };
  const { id } = (await tenant.ok("POST", "/api/workflow-definitions", { document })).data;
  await tenant.ok("POST", `/api/workflow-definitions/${id}/publish`, {});
  return id;
}

const start = async (definition: string): Promise<string> =>
  (await own.ok("POST", "/api/workflow-runs", { definition })).data.run.id;

const get = async (path: string): Promise<ResponseData> => (await own.ok("GET", path)).data;

test("lists of runs and dead letters take the key of a definition like its id", async () => {
  const id = await publish(own, "filter.one");
  await publish(own, "filter.two");
  const run = await start("filter.one");
  await start("filter.two");
  for (const definition of [id, "filter.one"]) {
    const query = `definition_id=${definition}`;
    const runs = await get(`/api/workflow-runs?${query}`);
    const letters = await get(`/api/workflow-dlq?${query}`);
    assert.deepEqual([runs.map((each: ResponseData) => each.id), letters.length], [[run], 1]);
    assert.equal(letters[0].run_id, run);
    assert.equal((await get(`/api/workflow-dlq:stats?${query}`)).open_count, 1);
  }
  const replayed = await own.ok("POST", "/api/workflow-dlq:replay-all", { definition_id: "filter.one" });
  assert.equal(replayed.data.replayed_count, 1);
});

test("the list of triggers finds those of a definition, whether they name its key or its id", async () => {
  const id = await publish(own, "filter.triggers");
  const create = (name: string, definition: string) =>
    own.ok("POST", "/api/workflow-triggers", { name, definition, event: { types: ["order.paid"] } });
  await create("by key", "filter.triggers");
  await create("by id", id);
  await create("other", "filter.unpublished");
  const namesOf = async (definition: string) =>
    (await get(`/api/workflow-triggers?definition=${definition}`)).map(({ name }: ResponseData) => name);
  assert.deepEqual(await namesOf(id), ["by key", "by id"]);
  assert.deepEqual(await namesOf("filter.triggers"), ["by key", "by id"]);
  assert.deepEqual(await namesOf("filter.unpublished"), ["other"]);
});

test("the key of another tenant's definition matches nothing", async () => {
  await publish(foreign, "filter.foreign");
  await foreign.ok("POST", "/api/workflow-runs", { definition: "filter.foreign" });
  assert.deepEqual(await get("/api/workflow-runs?definition_id=filter.foreign"), []);
  assert.deepEqual(await get("/api/workflow-dlq?definition_id=filter.foreign"), []);
  assert.deepEqual(await get("/api/workflow-approvals?definition=filter.foreign"), []);
});

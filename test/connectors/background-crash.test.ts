import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { MockProvider } from "../../src/modules/connectors/manifests/testing/mock-provider.ts";
import { supervise } from "../chaos/supervised-node.ts";
import { afterFile } from "../harness/after-file.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import { createRandom } from "../routing/lease-checks.ts";
import { type ResponseData, type TenantFixture, tenantAt } from "../routing/tenant-fixture.ts";
import { newAcmeTenant, startAcme } from "./acme.ts";

const settings = {
  "auth.bootstrap_api_key": "sk_test_backgroundcrash_0123456789abcdef",
  "connector.encryption_key": Buffer.from("0123456789abcdefghijklmnopqrstuv").toString("base64"),
};
const definition = "crash.note";
// Each kill can end an attempt before its request is sent, so there are more attempts than kills.
const quick = { retry: { initial_ms: 10, max_ms: 10, jitter: 0, max_attempts: 25 } };

/** Work of a new tenant on a node that is killed. */
interface Fixture {
  readonly mock: MockProvider;
  readonly pool: string;
  /** The tenant at the node that is alive. */
  tenant(): Promise<TenantFixture>;
  /** Ends the leases of a killed node, as time does. */
  endLeases(): Promise<void>;
}

/** Starts a database with a node that crashes so many times. */
async function startCluster(crashes: number) {
  const database = await freshDatabase();
  const node = await supervise({ ...settings, "database.url": database.url }, crashes);
  afterFile(async () => {
    await node.stop();
    await database.drop();
  });
  return { node, sql: database.sql };
}

async function newFixture({ node, sql }: Awaited<ReturnType<typeof startCluster>>, action: string): Promise<Fixture> {
  const mock = await startAcme();
  const tenant = await newAcmeTenant(await node.current, mock);
  const call = { action: `acme.${action}`, connection: tenant.connectionId };
  // A step that may be retried, to show that an unknown outcome is not.
  const retry = { max_attempts: 5, initial: "10ms" };
  const steps = [{ id: "call", action: call, with: { id: "1", text: "=input.text" }, retry }];
  const document = { dsl: "1", key: definition, timeout: "1h", steps };
  await tenant.ok("POST", "/api/workflow-definitions", { document });
  await tenant.ok("POST", `/api/workflow-definitions/${definition}/publish`, {});
  const pool = await tenant.pool({ config: quick });
  const input = { id: "1", text: "=item.key" };
  await tenant.recipient(pool, {
    ...{ capacity: 100 },
    delivery: { mode: "MODE_PUSH", action: { key: `acme.${action}`, connection_id: tenant.connectionId, input } },
  });
  return {
    ...{ mock, pool },
    tenant: async () => tenantAt(await node.current, tenant),
    async endLeases() {
      await sql`
        update connector_executions set lease_until = now() - interval '1 second'
        where status = 'running' and tenant_id = ${tenant.id}`;
      await sql`
        update queue_items set lease_until = now() - interval '1 second'
        where state = 'leased' and tenant_id = ${tenant.id}`;
    },
  };
}

/** Starts the action from a workflow; returns a look at its run. */
async function byWorkflow({ tenant }: Fixture, at: TenantFixture, text: string): Promise<() => Promise<ResponseData>> {
  const { run } = (await at.ok("POST", "/api/workflow-runs", { definition, input: { text } })).data;
  return async () => (await (await tenant()).ok("GET", `/api/workflow-runs/${run.id}`)).data;
}

const textsOf = ({ requests }: MockProvider): readonly string[] =>
  requests.map(({ body }) => (JSON.parse(body.toString()) as { text: string }).text);

const arrived = (mock: MockProvider, count: number) =>
  until(
    () => mock.requests.length,
    (seen) => seen >= count,
  );

const isEnded = ({ status }: ResponseData) => status === "succeeded" || status === "failed";

/** Starts the action from a workflow and from a delivery, until the provider holds both requests. */
async function beginBoth(fixture: Fixture, action: string) {
  const { mock, pool } = fixture;
  mock.fail(action, { kind: "slow" }, 2);
  const tenant = await fixture.tenant();
  const look = await byWorkflow(fixture, tenant, "run");
  const { queue_item_id: id } = await tenant.route(pool, { key: "item" });
  await arrived(mock, 2);
  return { look, id };
}

// One node is killed while a provider holds the requests of each test.
const cluster = await startCluster(1);
const [unkeyed, keyed] = await Promise.all([newFixture(cluster, "note.add"), newFixture(cluster, "charge.create")]);
const [unkeyedWork, keyedWork] = await Promise.all([beginBoth(unkeyed, "note.add"), beginBoth(keyed, "charge.create")]);
await cluster.node.crash();

test("writes of a workflow step and of a delivery that a killed node was sending are not sent again, and both say so", async () => {
  const { mock, pool, endLeases } = unkeyed;
  const { look, id } = unkeyedWork;
  await endLeases();
  const tenant = await unkeyed.tenant();
  const run = await until(look, isEnded);
  assert.deepEqual([run.status, run.error.code], ["failed", "outcome_unknown"]);
  await tenant.itemIn(pool, id, "dead_lettered");
  assert.equal((await tenant.deadLetters(pool))[0].reason_code, "outcome_unknown");
  assert.deepEqual(textsOf(mock).toSorted(), ["item", "run"]);
  const { data } = await tenant.ok("GET", "/api/v2/connector/executions");
  assert.deepEqual(data.map((each: ResponseData) => [each.origin, each.origin_id, each.status, each.code]).toSorted(), [
    ["routing", id, "outcome_unknown", "node_lost"],
    ["workflow", run.id, "outcome_unknown", "node_lost"],
  ]);
  const named = data.find(({ origin }: ResponseData) => origin === "workflow");
  assert.equal(run.error.details.execution_id, named.id);
});

test("a write with a key of a workflow step and of a delivery is repeated with the same key after a kill", async () => {
  const { mock, pool, endLeases } = keyed;
  const { look, id } = keyedWork;
  await endLeases();
  assert.equal((await until(look, isEnded)).status, "succeeded");
  await (await keyed.tenant()).itemIn(pool, id, "completed");
  const keys = new Map<string, Set<string | undefined>>();
  for (const [at, text] of textsOf(mock).entries()) {
    keys.set(text, (keys.get(text) ?? new Set()).add(mock.requests[at]!.headers["idempotency-key"]));
  }
  assert.deepEqual([...keys].map(([text, used]) => [text, used.size]).toSorted(), [
    ["item", 1],
    ["run", 1],
  ]);
  assert.equal(mock.requests.length, 4);
});

test("whenever nodes are killed, each write is sent at most once, and exactly once if it is reported as done", async (t) => {
  const kills = sized(2, 20);
  const own = await startCluster(kills);
  const fixture = await newFixture(own, "note.add");
  const { mock, pool } = fixture;
  const random = createRandom(7);
  const perRound = 12;
  const runs = new Map<string, () => Promise<ResponseData>>();
  const items = new Map<string, string>();
  for (let round = 0; round < kills; round++) {
    for (let each = 0; each < perRound; each++) mock.fail("note.add", { kind: "slow", ms: Math.floor(random() * 60) });
    const doomed = await fixture.tenant();
    const startRun = async (_: unknown, each: number) => {
      runs.set(`run ${round} ${each}`, await byWorkflow(fixture, doomed, `run ${round} ${each}`));
    };
    const startItem = async (_: unknown, each: number) => {
      const { queue_item_id: id } = await doomed.route(pool, { key: `item ${round} ${each}` });
      items.set(`item ${round} ${each}`, id);
    };
    const length = perRound / 2;
    const started = Promise.allSettled([...Array.from({ length }, startRun), ...Array.from({ length }, startItem)]);
    const hasArrived = (kind: string) => textsOf(mock).some((text) => text.startsWith(`${kind} ${round} `));
    await until(() => hasArrived("run") && hasArrived("item"));
    await delay(Math.floor(random() * 40));
    await own.node.crash();
    // What the node did not accept any more was never started.
    await started;
    await fixture.endLeases();
  }
  const sent = () => textsOf(mock);
  const tenant = await fixture.tenant();
  assert.ok(runs.size > 0 && items.size > 0);
  let unknown = 0;
  for (const [text, look] of runs) {
    const { status, error } = await until(look, isEnded);
    const times = sent().filter((each) => each === text).length;
    if (status === "succeeded") assert.equal(times, 1, text);
    else {
      assert.equal(error.code, "outcome_unknown", text);
      unknown++;
    }
  }
  for (const [text, id] of items) {
    const item = await until(
      async () => (await tenant.ok("GET", `/api/queues/${pool}/items/${id}`)).data,
      ({ state }) => state === "completed" || state === "dead_lettered",
    );
    if (item.state === "completed") assert.equal(sent().filter((each) => each === text).length, 1, text);
  }
  for (const { reason_code: reason } of await tenant.deadLetters(pool)) {
    assert.equal(reason, "outcome_unknown");
    unknown++;
  }
  assert.equal(new Set(sent()).size, sent().length, "nothing was sent twice");
  t.diagnostic(`${runs.size} runs, ${items.size} items, ${unknown} with an unknown outcome`);
});

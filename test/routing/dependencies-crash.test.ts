import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { seed, sized } from "../harness/run-size.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { createRandom } from "./lease-checks.ts";
import { newTenant, type ResponseData, type TenantFixture, tenantAt } from "./tenant-fixture.ts";

const settings = { "auth.bootstrap_api_key": "sk_test_after_crash_0123456789abcdef" };
const crashCount = sized(2, 12);
const graphCount = sized(40, 200);
/** A lease that ends with its node is followed by the next one soon. */
const retry = { initial_ms: 5, max_ms: 5, max_attempts: 100 };

let database: TestDatabase;
let survivor: TestService;
let own: TenantFixture;
before(async () => {
  database = await freshDatabase();
  survivor = await startService(settings, database.url);
  own = await newTenant(survivor);
});
after(async () => {
  await survivor.stop();
  await database.drop();
});

/** An item and those that wait for it, directly and through others. */
interface Graph {
  readonly first: string;
  /** Whether the first item becomes a dead letter. */
  readonly fails: boolean;
  /** Waits for the first item, and is cancelled if that one fails. */
  readonly strict: string;
  /** Waits for the first item, whatever becomes of it. */
  readonly lenient: string;
  /** Waits for the other two, whatever becomes of them. */
  readonly last: string;
}

async function routeGraphs(pools: Record<"first" | "waiting", string>): Promise<Graph[]> {
  const routeAll = async (pool_id: string, items: readonly object[]): Promise<string[]> =>
    (await own.routeAll(items.map((item) => ({ pool_id, type: "task", ...item })))).map(
      ({ decision }) => decision.queue_item_id,
    );
  const payloads = Array.from({ length: graphCount }, (_, nth) => ({ fails: nth % 4 === 3 }));
  const firsts = await routeAll(
    pools.first,
    payloads.map((payload) => ({ payload })),
  );
  const strict = await routeAll(
    pools.waiting,
    firsts.map((first) => ({ after: [first] })),
  );
  const lenient = await routeAll(
    pools.waiting,
    firsts.map((first) => ({ after: [first], after_failure: "run" })),
  );
  const last = await routeAll(
    pools.waiting,
    firsts.map((_, nth) => ({ after: [strict[nth], lenient[nth]], after_failure: "run" })),
  );
  return firsts.map((first, nth) => ({
    first,
    fails: payloads[nth]!.fails,
    strict: strict[nth]!,
    lenient: lenient[nth]!,
    last: last[nth]!,
  }));
}

const finish = (at: TenantFixture, item: ResponseData): Promise<ResponseData> =>
  item.payload.fails === true ? at.fail(item, { retryable: false }) : at.complete(item);

async function statesOf(ids: readonly string[]): Promise<string[]> {
  const rows = await database.sql<{ state: string }[]>`
    select state from all_items where tenant_id = ${own.id} and id = any(${ids as string[]}::text[])`;
  return rows.map(({ state }) => state);
}

/** Works on the items of a pool until as many have ended. */
async function workUntil(pool: string, count: number, onLeased: (id: string) => Promise<void>): Promise<void> {
  const work = async () => {
    for (const item of await own.lease(pool, { max_items: 20, wait_s: 1 })) {
      await onLeased(item.queue_item_id);
      await finish(own, item);
    }
    return countEnded(pool);
  };
  await until(work, (ended) => ended === count);
}

async function countEnded(pool: string): Promise<number> {
  return Object.values(await endedIn(pool)).reduce((sum, each) => sum + each, 0);
}

async function endedIn(pool: string): Promise<Record<string, number>> {
  const rows = await database.sql<{ state: string; count: number }[]>`
    select state, count(*)::int as count from all_items
    where tenant_id = ${own.id} and pool_id = ${pool} and state in ('completed', 'cancelled', 'dead_lettered')
    group by state`;
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

test("when a node is killed as dependencies end on it, another one continues with each waiting item exactly once", async () => {
  const random = createRandom(seed);
  for (let crash = 0; crash < crashCount; crash++) {
    // Every other victim does no background work, so that all that ends on it is left to the survivor.
    const shell = (command: string) => `exec ${command} --role ${crash % 2 === 0 ? "api" : "all"}`;
    const victim = await startNodeProcess({ ...settings, "database.url": database.url }, { shell });
    const there = tenantAt(victim, own);
    const pools = { first: await own.pool({ config: { retry } }), waiting: await own.pool() };
    const graphs = await routeGraphs(pools);

    // On the first victim everything ends, so that no end on the survivor makes it look for waiting items. The others are
    // killed at work; the leases of reports that never arrive end soon.
    const lease_s = crash === 0 ? 60 : 4;
    const items = await there.lease(pools.first, { max_items: graphCount, lease_s });
    assert.equal(items.length, graphCount);
    const reports = items.map((item) => finish(there, item).catch(() => undefined));
    const awaited = crash === 0 ? reports : [reports[Math.floor(random() * graphCount)]];
    await Promise.all(awaited);
    await victim.kill();
    const answered = (await Promise.all(reports)).filter((answer) => answer !== undefined).length;
    assert.ok(answered >= awaited.length, "some dependencies ended on the victim");
    assert.ok((await countEnded(pools.first)) >= answered, "what was acknowledged is stored");

    const dependencies = new Map(
      graphs.flatMap(({ first, strict, lenient, last }) => [
        [strict, [first]],
        [lenient, [first]],
        [last, [strict, lenient]],
      ]),
    );
    const leased: string[] = [];
    await Promise.all([
      workUntil(pools.first, graphCount, async () => {}),
      workUntil(pools.waiting, graphCount * 3, async (id) => {
        leased.push(id);
        for (const state of await statesOf(dependencies.get(id)!)) {
          assert.ok(
            ["completed", "cancelled", "dead_lettered"].includes(state),
            `leased while another item is ${state}`,
          );
        }
      }),
    ]);

    const failing = graphs.filter(({ fails }) => fails);
    const cancelled = failing.map(({ strict }) => strict);
    const run = [...dependencies.keys()].filter((id) => !cancelled.includes(id));
    assert.deepEqual(leased.toSorted(), run.toSorted(), "every other item was leased once");
    assert.deepEqual(await endedIn(pools.waiting), { completed: run.length, cancelled: cancelled.length });
    const { data: events } = await own.ok("GET", "/api/events?types=queue.item.cancelled&limit=1000");
    const subjects = events.map(({ subject }: ResponseData) => subject).filter((id: string) => cancelled.includes(id));
    assert.deepEqual(subjects.toSorted(), cancelled.toSorted(), "every cancellation has one event");
    const left = await until(
      async () =>
        (await database.sql<{ count: number }[]>`select count(*)::int as count from queue_dependencies`)[0]!.count,
      (count) => count === 0,
    );
    assert.deepEqual([left, (await own.status(pools.waiting)).depth], [0, 0]);
  }
});

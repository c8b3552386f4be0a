import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { type SupervisedNode, supervise } from "../chaos/supervised-node.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { sized } from "../harness/run-size.ts";
import { until } from "../harness/until.ts";
import { checkHolds, countCompleted, createPost, createRandom, type Hold, type Post } from "./lease-checks.ts";
import { type ResponseData, tenantAt } from "./tenant-fixture.ts";

const itemsPerCrash = sized(500, 1000);
const crashesMin = sized(3, 25);
const workersPerNode = 8;
const config = { retry: { initial_ms: 5, max_ms: 5, max_attempts: 100 } };

interface Drain {
  readonly nodes: readonly SupervisedNode[];
  readonly sql: TestSql;
  /** The capacity of the pool's only recipient; undefined for a pool without recipients. */
  readonly capacity?: number;
  readonly crash: (nth: number) => Promise<unknown>;
  /** The crashes at most, while none of them has lost a lease that no worker had received. */
  readonly crashesMax: number;
}

/**
 * Drains a pool through crashes; returns how many leases expired that no worker had received. Fails if an item is lost,
 * held by two workers or completed twice, or if workers hold more items than the capacity.
 */
async function drainThrough({ nodes, sql, capacity, crash, crashesMax }: Drain): Promise<number> {
  const chance = createRandom(11);
  const ownAt = async (node: SupervisedNode) => {
    const current = await node.current;
    return tenantAt(current, { id: "", key: current.adminKey });
  };
  const own = await ownAt(nodes[0]!);
  const pool = await own.pool({ config });
  if (capacity !== undefined) await own.recipient(pool, { capacity });

  let finished = false;
  const holds: Hold[] = [];
  /** The received leases, and the last attempt of each item that a worker received. */
  const received = new Set<string>();
  const lastAttempts = new Map<string, number>();
  const acknowledged = new Map<string, number>();
  const worker = async (node: SupervisedNode) => {
    const post = createPost();
    while (!finished) {
      const lease = { max_items: chance() < 0.3 ? 1 : 5, wait_s: 1, lease_s: 1 };
      const answer = await post(await node.current, `/api/queues/${pool}/lease`, lease).catch(() => undefined);
      // While its node or the database is down a worker retries.
      if (answer?.status !== 200) await delay(20);
      const items: ResponseData[] = answer?.status === 200 ? answer.body.data.items : [];
      if (items.length > 0) await complete(node, post, items);
    }
  };
  async function complete(node: SupervisedNode, post: Post, items: readonly ResponseData[]): Promise<void> {
    // The wall clock may be set during the test, so holds are compared by the monotonic one.
    const fromMs = performance.now();
    const aheadMs = Date.now() - fromMs;
    for (const { queue_item_id, lease_token, attempt } of items) {
      received.add(queue_item_id + lease_token);
      lastAttempts.set(queue_item_id, Math.max(attempt, lastAttempts.get(queue_item_id) ?? 0));
    }
    const refs = items.map(({ queue_item_id, lease_token }) => ({ queue_item_id, lease_token }));
    if (capacity !== undefined) await delay(chance() * 10);
    // From here on the service may have freed the capacity.
    const calledMs = performance.now();
    const told = await post(await node.current, `/api/queues/${pool}/items:complete`, { items: refs }).catch(
      () => undefined,
    );
    if (told?.status !== 200) return;
    for (const [at, { error_code }] of told.body.data.results.entries()) {
      const { queue_item_id: itemId, lease_expires_at } = items[at];
      if (error_code !== "") {
        assert.equal(error_code, "LEASE_LOST");
        continue;
      }
      acknowledged.set(itemId, (acknowledged.get(itemId) ?? 0) + 1);
      const untilMs = Math.min(calledMs, Date.parse(lease_expires_at) - aheadMs);
      if (untilMs > fromMs) holds.push({ itemId, group: "", fromMs, untilMs });
    }
  }

  interface HeldLease {
    readonly id: string;
    readonly token: string;
    readonly attempt: number;
  }
  /** Leases at the time of a crash that no worker had received. */
  const unreceived: HeldLease[] = [];
  const readUnreceived = async () => {
    const leased = await sql<HeldLease[]>`
      select id, lease_token as token, attempt from queue_items where state = 'leased'`;
    return leased.filter(({ id, token }) => !received.has(id + token));
  };
  // A lease that is given back does not use up the attempt.
  const countLost = () =>
    unreceived.filter(({ id, token, attempt }) => !received.has(id + token) && (lastAttempts.get(id) ?? 0) > attempt)
      .length;
  let itemCount = 0;
  const crashing = (async () => {
    for (let nth = 0; nth < crashesMin || (nth < crashesMax && countLost() === 0); nth++) {
      const crashesAt = acknowledged.size + itemsPerCrash * (0.1 + chance() * 0.5);
      const items = Array.from({ length: itemsPerCrash }, () => ({ pool_id: pool, type: "job" }));
      await (await ownAt(nodes[0]!)).routeAll(items);
      itemCount += itemsPerCrash;
      await until(() => acknowledged.size > crashesAt, Boolean, 120_000);
      const crashed = crash(nth);
      const held = await until(() => readUnreceived().catch(() => undefined));
      unreceived.push(...held!);
      await crashed;
      await until(
        async () => (await ownAt(nodes[0]!)).status(pool).catch(() => undefined),
        (status) => status?.depth === 0 && status.in_flight === 0,
        120_000,
      );
    }
  })().finally(() => {
    // The workers must end even when the test fails.
    finished = true;
  });
  await Promise.all([crashing, ...nodes.flatMap((node) => Array.from({ length: workersPerNode }, () => worker(node)))]);

  checkHolds(holds, capacity ?? Number.POSITIVE_INFINITY);
  for (const [id, times] of acknowledged) assert.equal(times, 1, `${id} was completed ${times} times`);
  // Nothing waits or is leased, and each item was counted once when it was completed.
  const last = await ownAt(nodes[0]!);
  const { depth, in_flight } = await last.status(pool);
  assert.deepEqual([await countCompleted(sql, pool), depth, in_flight], [itemCount, 0, 0]);
  assert.deepEqual(await last.deadLetters(pool), []);
  return countLost();
}

const key = "sk_test_crash_0123456789abcdef";

test("nodes that are killed while they lease ahead lose no item and complete none twice", async (t) => {
  const database = await freshDatabase();
  const settings = { "database.url": database.url, "auth.bootstrap_api_key": key };
  const nodes = await Promise.all([supervise(settings), supervise(settings)]);
  t.after(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await database.drop();
  });
  const crash = (nth: number) => nodes[nth % 2]!.crash();
  const lost = await drainThrough({ nodes, sql: database.sql, crash, crashesMax: 30 });
  t.diagnostic(`the killed nodes held ${lost} leases that no worker had received`);
  assert.ok(lost > 0, "no killed node held a lease that no worker had received");
});

test("a PostgreSQL that is killed while nodes lease ahead loses no item, and none is completed twice", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "switchyard-ahead-"));
  // A killed process loses nothing that it has written, synchronized or not.
  const server = await startEmbedded({ dataDir, settings: { fsync: "off" } });
  const settings = { "database.url": server.url, "auth.bootstrap_api_key": key };
  // The first node creates the tables.
  const first = await supervise(settings, 0);
  const nodes = [first, await supervise(settings, 0)];
  const sql = connect(server.url, 2);
  t.after(async () => {
    await sql.end();
    await Promise.all(nodes.map((node) => node.stop()));
    await server.stop();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
  });
  const crash = async () => {
    // PostgreSQL closes all connections and recovers when one of its processes is killed.
    const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    process.kill(backend!.pid, "SIGKILL");
  };
  // The workers may hold 80 items.
  await drainThrough({ nodes, sql, capacity: 60, crash, crashesMax: crashesMin });
});

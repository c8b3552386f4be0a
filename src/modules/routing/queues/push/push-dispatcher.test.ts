import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { createSignals } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { type LeaseRequest, queueTopic } from "../leasing/lease-service.ts";
import type { LeaseResult } from "../leasing/limited-lease.ts";
import { createPushDispatcher, pushTopic } from "./push-dispatcher.ts";

const db = await testDatabase();

/** A dispatcher over a database with fake leases and HTTP requests; records the recipients that were tried. */
function dispatcherWith(
  lease: (request: LeaseRequest) => LeaseResult | Promise<LeaseResult>,
  post: () => Promise<void> = async () => {},
  clocks: { readonly now: () => number; readonly monotonicMs?: () => number } = { now: () => 0, monotonicMs: () => 0 },
) {
  const tried: string[] = [];
  let scans = 0;
  const signals = createSignals(db);
  const pushDispatcher = createPushDispatcher({
    // Only scans use db.sql directly.
    db: new Proxy(db, {
      get(target, name) {
        if (name === "sql") scans++;
        return Reflect.get(target, name);
      },
    }),
    // The clocks stand still unless a test has others, so no back-off ends by itself.
    clock: { now: clocks.now },
    ...(clocks.monotonicMs !== undefined && { monotonicMs: clocks.monotonicMs }),
    log: { warn: ({ err }: { err: Error }) => assert.fail(err) } as never,
    signals,
    pools: {
      snapshot: async (tenantId: TenantId, id: string) => {
        const recipients = await db.sql`select distinct recipient_id as id from queue_items where pool_id = ${id}`;
        const config = { admission: {}, queue: { ageingS: 60 }, retry: {}, dlq: { maxRetries: 0 }, itemEvents: false };
        return {
          pool: { tenantId, id, environmentId: "", config },
          recipients: recipients.map((each) => ({
            id: each.id,
            status: "active",
            capacity: 0,
            delivery: { url: "https://example.com", secretRef: "" },
          })),
        };
      },
    } as never,
    leaseService: {
      async lease(request: LeaseRequest) {
        tried.push(request.recipientId);
        return lease(request);
      },
    } as never,
    completion: { finishItems: async () => {} } as never,
    egress: {
      async request() {
        await post();
        return { status: 200, headers: {} };
      },
    } as never,
    secret: async () => undefined,
    pushAction: async () => undefined,
  });
  return { tried, signals, pushDispatcher, scans: () => scans };
}

/** Creates a tenant with a pool in which one item waits for each recipient. */
async function newTargets(recipientIds: readonly string[]): Promise<{ tenantId: TenantId; poolId: string }> {
  const [tenantId, poolId, environmentId] = [freshTenant(), ulid(Date.now()), ulid(Date.now())];
  await db.sql`
    insert into environments (tenant_id, id, key, name, mode, status, created_at, updated_at)
    values (${tenantId}, ${environmentId}, 'e', 'e', 'live', 'active', now(), now())`;
  await db.sql`
    insert into pools (tenant_id, id, environment_id, name, strategy, status, config, created_at, updated_at)
    values (${tenantId}, ${poolId}, ${environmentId}, 'p', 'round_robin', 'active', '{}', now(), now())`;
  const ids = recipientIds.map(() => ulid(Date.now()));
  await db.sql`
    insert into queue_items (tenant_id, id, pool_id, recipient_id, delivery, state, priority, rank, expires_at, type, key,
      attributes, requirements, payload, decided_priority, outcome, decided_for, snapshot_digest, seed, evidence)
    select ${tenantId}, id, ${poolId}, recipient_id, 'push', 'ready', 0, 0, now() + interval '1 hour', 't', '', '{}', '{}', '{}',
      0, 'routed', recipient_id, '', 0, '{}'
    from unnest(${ids}::text[], ${recipientIds as string[]}::text[]) as items(id, recipient_id)`;
  return { tenantId, poolId };
}

const countOf = (tried: readonly string[], recipientId: string) => tried.filter((each) => each === recipientId).length;

test("a target without items is tried again when its pool changes, and not at every scan", async (t) => {
  const many = Array.from({ length: 450 }, (_, nth) => `quiet-${nth}`);
  await newTargets(many);
  const { tenantId, poolId } = await newTargets(["busy"]);
  const { tried, signals, pushDispatcher } = dispatcherWith(() => ({ rows: [], retryInMs: 3_600_000 }));
  t.after(() => pushDispatcher.stop());
  pushDispatcher.start();
  await until(
    () => new Set(tried).size,
    (size) => size === many.length + 1,
  );
  for (let nth = 2; nth <= 5; nth++) {
    signals.wake(queueTopic(tenantId, poolId));
    signals.wake(pushTopic);
    await until(
      () => countOf(tried, "busy"),
      (count) => count >= nth,
    );
  }
  for (const recipientId of many) assert.equal(countOf(tried, recipientId), 1, recipientId);
});

test("a target without items is tried again after its back-off, also when the clock of the node is set back", async (t) => {
  await newTargets(["waiting"]);
  let aheadMs = 0;
  const { tried, pushDispatcher } = dispatcherWith(
    () => ({ rows: [], retryInMs: 50 }),
    async () => {},
    { now: () => Date.now() + aheadMs },
  );
  t.after(() => pushDispatcher.stop());
  pushDispatcher.start();
  const times = (wanted: number) =>
    until(
      () => countOf(tried, "waiting"),
      (count) => count >= wanted,
    );
  await times(1);
  aheadMs = -3_600_000;
  await times(countOf(tried, "waiting") + 2);
});

test("a target without items is tried again when signals of its pool may have been lost", async (t) => {
  await newTargets(["unheard"]);
  const { tried, signals, pushDispatcher } = dispatcherWith(() => ({ rows: [], retryInMs: 3_600_000 }));
  await signals.start();
  t.after(async () => {
    await pushDispatcher.stop();
    await signals.stop();
  });
  pushDispatcher.start();
  const times = (wanted: number) =>
    until(
      () => countOf(tried, "unheard"),
      (count) => count >= wanted,
      10_000,
    );
  await times(1);
  await db.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'listen %' and pid <> pg_backend_pid()`;
  await times(2);
});

test("a tenant with slow targets does not delay other tenants", async (t) => {
  const slow = Promise.withResolvers<LeaseResult>();
  await newTargets(["slow-1", "slow-2", "slow-3"]);
  await newTargets(["quick"]);
  const { tried, pushDispatcher } = dispatcherWith(({ recipientId }) =>
    recipientId.startsWith("slow") ? slow.promise : { rows: [], retryInMs: 3_600_000 },
  );
  t.after(async () => {
    slow.resolve({ rows: [], retryInMs: 3_600_000 });
    await pushDispatcher.stop();
  });
  pushDispatcher.start();
  await until(async () => tried.includes("quick"), Boolean, 10_000);
  assert.equal(tried.filter((each) => each.startsWith("slow")).length, 1);
});

test("targets skipped because too many items were in flight are tried as soon as there is capacity, without a busy loop", async (t) => {
  const recipientIds = Array.from({ length: 8 }, (_, nth) => `crowd-${nth}`);
  const { poolId } = await newTargets(recipientIds);
  const open: (() => void)[] = [];
  let leased = 0;
  const seen = new Set<string>();
  const { tried, pushDispatcher, scans } = dispatcherWith(
    ({ recipientId, max }) => {
      // The first request for each recipient leases its maximum; later ones get nothing.
      const count = recipientId.startsWith("crowd") && !seen.has(recipientId) ? max : 0;
      seen.add(recipientId);
      leased += count;
      const rows = Array.from({ length: count }, () => ({ id: ulid(Date.now()), poolId, leaseToken: "t" }) as never);
      return { rows, retryInMs: 3_600_000 };
    },
    () => new Promise((resolve) => open.push(resolve)),
  );
  t.after(async () => {
    const stopped = pushDispatcher.stop();
    for (const end of open.splice(0)) end();
    await stopped;
  });
  pushDispatcher.start();
  const crowd = () => recipientIds.filter((id) => tried.includes(id)).length;
  await until(
    () => open.length,
    (count) => count === 64,
  );
  assert.equal(crowd(), 4);
  // No scan runs while no delivery ends, however long that takes.
  const scansWhenFull = scans();
  for (let nth = 0; nth < 50; nth++) await db.sql`select 1`;
  assert.ok(scans() - scansWhenFull <= 2, `${scans() - scansWhenFull} scans`);

  open.shift()!();
  await until(
    () => crowd(),
    (count) => count === 5,
  );
  assert.equal(leased, 65);
  const ended = open.splice(0);
  for (const end of ended) end();
  await until(
    () => crowd(),
    (count) => count === recipientIds.length,
  );
  // Deliveries that end together cause few scans.
  for (let nth = 0; nth < 50; nth++) await db.sql`select 1`;
  const count = scans() - scansWhenFull;
  assert.ok(count < 40, `${count} scans`);
});

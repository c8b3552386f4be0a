import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import { shown } from "../../../../../test/routing/stage.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { createSignals } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { queueTopic, type WorkAsked } from "../leasing/lease-service.ts";
import type { Lease } from "../leasing/limited-lease.ts";
import { createPushing, pushTopic } from "./push-dispatcher.ts";

const db = await testDatabase();

/** Pushing over a database, with leases and exchanges that the test answers itself; whose items were asked for. */
function pushingWith(
  lease: (asked: WorkAsked) => Lease | Promise<Lease>,
  exchange: () => Promise<void> = async () => {},
) {
  const asked: string[] = [];
  let looks = 0;
  const signals = createSignals(db);
  const pushing = createPushing({
    // Only looks use it as it is.
    db: new Proxy(db, {
      get(target, name) {
        if (name === "sql") looks++;
        return Reflect.get(target, name);
      },
    }),
    // No target's time comes by itself.
    clock: { now: () => 0 },
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
    leasing: {
      async lease(work: WorkAsked) {
        asked.push(work.recipientId);
        return lease(work);
      },
    } as never,
    finishing: { finish: async () => {} } as never,
    egress: {
      async request() {
        await exchange();
        return { status: 200, headers: {} };
      },
    } as never,
    secret: async () => undefined,
  });
  return { asked, signals, pushing, looks: () => looks };
}

/** A tenant with a pool in which one item waits for each recipient. */
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
    insert into queue_items (tenant_id, id, pool_id, recipient_id, delivery, state, priority, rank, expires_at)
    select ${tenantId}, id, ${poolId}, recipient_id, 'push', 'ready', 0, 0, now() + interval '1 hour'
    from unnest(${ids}::text[], ${recipientIds as string[]}::text[]) as items(id, recipient_id)`;
  return { tenantId, poolId };
}

const countOf = (asked: readonly string[], recipientId: string) => asked.filter((each) => each === recipientId).length;

test("a target that had nothing to take is asked again when something happens in its pool, and not at every look", async (t) => {
  const many = Array.from({ length: 450 }, (_, nth) => `quiet-${nth}`);
  await newTargets(many);
  const { tenantId, poolId } = await newTargets(["busy"]);
  const { asked, signals, pushing } = pushingWith(() => ({ rows: [], againInMs: 3_600_000 }));
  t.after(() => pushing.stop());
  pushing.start();
  await shown(
    async () => new Set(asked).size,
    (size) => size === many.length + 1,
  );
  for (let nth = 2; nth <= 5; nth++) {
    signals.wake(queueTopic(tenantId, poolId));
    signals.wake(pushTopic);
    await shown(
      async () => countOf(asked, "busy"),
      (count) => count >= nth,
    );
  }
  for (const recipientId of many) assert.equal(countOf(asked, recipientId), 1, recipientId);
});

test("a target that had nothing to take is asked again when signals of its pool may have been lost", async (t) => {
  await newTargets(["unheard"]);
  const { asked, signals, pushing } = pushingWith(() => ({ rows: [], againInMs: 3_600_000 }));
  await signals.start();
  t.after(async () => {
    await pushing.stop();
    await signals.stop();
  });
  pushing.start();
  const times = (wanted: number) =>
    shown(
      async () => countOf(asked, "unheard"),
      (count) => count >= wanted,
      10_000,
    );
  await times(1);
  await db.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'listen %' and pid <> pg_backend_pid()`;
  await times(2);
});

test("a tenant whose targets take long keeps no other tenant's waiting", async (t) => {
  const slow = Promise.withResolvers<Lease>();
  await newTargets(["slow-1", "slow-2", "slow-3"]);
  await newTargets(["quick"]);
  const { asked, pushing } = pushingWith(({ recipientId }) =>
    recipientId.startsWith("slow") ? slow.promise : { rows: [], againInMs: 3_600_000 },
  );
  t.after(async () => {
    slow.resolve({ rows: [], againInMs: 3_600_000 });
    await pushing.stop();
  });
  pushing.start();
  await shown(async () => asked.includes("quick"), Boolean, 10_000);
  assert.equal(asked.filter((each) => each.startsWith("slow")).length, 1);
});

test("push goes on with whoever it could not ask because too much was in flight, as soon as there is room, and does not spin", async (t) => {
  const recipientIds = Array.from({ length: 8 }, (_, nth) => `crowd-${nth}`);
  const { poolId } = await newTargets(recipientIds);
  const open: (() => void)[] = [];
  let taken = 0;
  const seen = new Set<string>();
  const { asked, pushing, looks } = pushingWith(
    ({ recipientId, max }) => {
      // Each has so many items as it is first asked for; all are taken then.
      const count = recipientId.startsWith("crowd") && !seen.has(recipientId) ? max : 0;
      seen.add(recipientId);
      taken += count;
      const rows = Array.from({ length: count }, () => ({ id: ulid(Date.now()), poolId, leaseToken: "t" }) as never);
      return { rows, againInMs: 3_600_000 };
    },
    () => new Promise((resolve) => open.push(resolve)),
  );
  t.after(async () => {
    const stopped = pushing.stop();
    for (const end of open.splice(0)) end();
    await stopped;
  });
  pushing.start();
  const crowd = () => recipientIds.filter((id) => asked.includes(id)).length;
  await shown(
    async () => open.length,
    (count) => count === 64,
  );
  assert.equal(crowd(), 4);
  // While nothing ends there is nothing to look for, however much time there is.
  const looksWhenFull = looks();
  for (let nth = 0; nth < 50; nth++) await db.sql`select 1`;
  assert.ok(looks() - looksWhenFull <= 2, `${looks() - looksWhenFull} looks`);

  open.shift()!();
  await shown(
    async () => crowd(),
    (count) => count === 5,
  );
  assert.equal(taken, 65);
  const ended = open.splice(0);
  for (const end of ended) end();
  await shown(
    async () => crowd(),
    (count) => count === recipientIds.length,
  );
  // What ends together leads to few looks.
  for (let nth = 0; nth < 50; nth++) await db.sql`select 1`;
  const count = looks() - looksWhenFull;
  assert.ok(count < 40, `${count} looks`);
});

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { canonicalJson } from "../../platform/crypto/index.ts";
import type { PoolSnapshot } from "./domain/snapshot.ts";
import { poolBench } from "./testing/pool-bench.ts";

const { db, pools, newTenant, createPool, createRecipient, createRule } = await poolBench();

async function filledPool() {
  const tenantId = await newTenant();
  const { id } = await createPool(
    { tenantId },
    {
      config: {
        admission: { throttle: { key: "item.key", limit: 2, periodS: 1 } },
        fallback: { steps: [{ afterS: 3 }] },
      },
    },
  );
  const attributes = { zone: "ü\u2028", nested: { b: [1, 2.5, 1e21, -0, null], a: true } };
  const { id: recipientId } = await createRecipient({ tenantId }, id, { attributes, skills: { french: 3 }, cost: 0.1 });
  await createRecipient({ tenantId }, id);
  await createRule({ tenantId }, id, { priority: 5, action: { type: "route", recipientId } });
  await createRule({ tenantId }, id, { priority: 1, condition: "item.key == 'a'" });
  const snapshot = (await pools.snapshot(tenantId, id))!;
  return { tenantId, id, recipientId, snapshot };
}

test("a snapshot that was kept as JSON in the database comes back the same, with the same digest", async () => {
  const { tenantId, snapshot } = await filledPool();
  const digest = Buffer.from(snapshot.digest, "hex");
  await db.sql`
    insert into routing_snapshots (tenant_id, digest, body, created_at)
    values (${tenantId}, ${digest}, ${db.sql.json(pools.snapshotBody(snapshot) as never)}, now())`;
  const [row] = await db.sql`select body from routing_snapshots where tenant_id = ${tenantId} and digest = ${digest}`;
  const restored = pools.snapshotFrom(row!.body);
  assert.deepEqual(restored, snapshot);
  assert.ok(restored.pool.createdAt instanceof Date && restored.recipients[0]!.availableSince instanceof Date);
});

/** The digest as anyone can work it out. */
function digestByHand({ pool, environmentKey, environmentMode, recipients, rules }: PoolSnapshot): string {
  const { id, environmentId, name, strategy, status, config } = pool;
  const content = {
    pool: { id, environmentId, name, strategy, status, config, environmentKey, environmentMode },
    recipients: recipients.map((each) =>
      sha256Of({
        id: each.id,
        name: each.name,
        status: each.status,
        weight: each.weight,
        capacity: each.capacity,
        priority: each.priority,
        attributes: each.attributes,
        skills: each.skills,
        cost: each.cost,
        delivery: each.delivery,
        availableSince: each.availableSince.toISOString(),
      }),
    ),
    rules: rules.map((each) => ({
      id: each.id,
      name: each.name,
      priority: each.priority,
      condition: each.condition,
      enabled: each.enabled,
      stopOnMatch: each.stopOnMatch,
      onError: each.onError,
      action: each.action,
    })),
  };
  return sha256Of(content);
}

const sha256Of = (value: unknown) => createHash("sha256").update(canonicalJson(value)).digest("hex");

test("the digest is the SHA-256 of the canonical JSON of what decisions depend on, a recipient by its own", async () => {
  const { snapshot } = await filledPool();
  assert.equal(snapshot.digest, digestByHand(snapshot));
});

test("the digest tells any two contents apart, and nothing that no decision depends on", async () => {
  const { snapshot } = await filledPool();
  const body = pools.snapshotBody(snapshot);
  const digestOf = (change: Partial<typeof body>) => pools.snapshotFrom({ ...body, ...change }).digest;
  const [first, second] = body.recipients;
  const other = [
    digestOf({ pool: { ...body.pool, strategy: "priority" } }),
    digestOf({ pool: { ...body.pool, status: "draining" } }),
    digestOf({ pool: { ...body.pool, config: { ...body.pool.config, itemEvents: true } } }),
    digestOf({ environmentMode: "sandbox" }),
    digestOf({ recipients: [first!] }),
    digestOf({ recipients: [{ ...first!, weight: 1 }, second!] }),
    digestOf({ recipients: [{ ...first!, availableSince: new Date(0).toISOString() }, second!] }),
    digestOf({ rules: body.rules.toReversed() }),
    digestOf({ rules: [{ ...body.rules[0]!, condition: "false" }] }),
  ];
  assert.equal(new Set([snapshot.digest, ...other]).size, other.length + 1);
  const at = new Date(0).toISOString();
  const stamps = { createdAt: at, updatedAt: at, recordVersion: 99 };
  const same = digestOf({
    pool: { ...body.pool, ...stamps, description: "other words" },
    recipients: body.recipients.map((each) => ({ ...each, ...stamps })),
    rules: body.rules.map((each) => ({ ...each, ...stamps })),
  });
  assert.equal(same, snapshot.digest);
});

test("a large pool has the same digest whether it is worked out in turns or at once", async () => {
  const tenantId = await newTenant();
  const { id } = await createPool({ tenantId });
  await db.sql`
    insert into recipients (tenant_id, id, pool_id, name, status, weight, capacity, priority, delivery, available_since,
      created_at, updated_at)
    select ${tenantId}, lpad(n::text, 26, '0'), ${id}, n::text, 'active', n, 1, 1, '{}', now(), now(), now()
    from generate_series(1, 1501) n`;
  const snapshot = (await pools.snapshot(tenantId, id))!;
  assert.equal(snapshot.recipients.length, 1501);
  assert.equal(snapshot.digest, digestByHand(snapshot));
  assert.equal(pools.snapshotFrom(pools.snapshotBody(snapshot)).digest, snapshot.digest);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { type Completion, completePlainItems } from "./completion-store.ts";

const db = await testDatabase();

/** Adds a leased item; returns its completion. */
async function addLeased(tenantId: TenantId, poolId: string): Promise<Completion> {
  const id = ulid(Date.now());
  await db.sql`
    insert into queue_items (tenant_id, id, pool_id, state, lease_token, leased_at, priority, rank, expires_at, type, key, attributes,
      requirements, payload, decided_priority, outcome, decided_for, snapshot_digest, seed, evidence)
    values (${tenantId}, ${id}, ${poolId}, 'leased', ${`token ${id}`}, now(), 0, 0, now() + interval '1 hour', 't', '', '{}',
      '{}', '{}', 0, 'queued', '', '', 0, '{}')`;
  return { tenantId, poolId, id, token: `token ${id}` };
}

/** Completes leases in one statement; returns the ids of completed items. */
async function complete(leases: readonly Completion[]): Promise<string[]> {
  const rows = await completePlainItems(db.sql, leases, Date.now(), 0);
  return rows.map(({ id }) => id).sort();
}

test("a statement completes the items of one pool, of several pools and of several tenants", async () => {
  const [tenantId, other] = [freshTenant(), freshTenant()];
  const [poolId, another] = [ulid(Date.now()), ulid(Date.now())];
  for (const pools of [
    [
      [tenantId, poolId],
      [tenantId, poolId],
    ],
    [
      [tenantId, poolId],
      [tenantId, another],
    ],
    [
      [tenantId, poolId],
      [other, another],
    ],
  ] as const) {
    const leases = await Promise.all(pools.map(([tenant, pool]) => addLeased(tenant, pool)));
    assert.deepEqual(await complete(leases), leases.map(({ id }) => id).sort());
  }
});

test("an item is completed only for its tenant, in its pool and with its token", async () => {
  const [tenantId, poolId] = [freshTenant(), ulid(Date.now())];
  const [lease, neighbour] = [await addLeased(tenantId, poolId), await addLeased(tenantId, poolId)];
  for (const wrong of [{ tenantId: freshTenant() }, { poolId: ulid(Date.now()) }, { token: neighbour.token }]) {
    assert.deepEqual(await complete([{ ...lease, ...wrong }]), [], "alone");
  }
  assert.deepEqual(await complete([neighbour, { ...lease, poolId: ulid(Date.now()) }]), [neighbour.id], "in a batch");
  assert.deepEqual(await complete([lease]), [lease.id]);
});

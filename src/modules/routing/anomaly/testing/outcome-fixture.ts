import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";

/** An outcome to insert. */
export interface OutcomeInput {
  readonly recipientId: string;
  readonly atMs: number;
  readonly status?: string;
  readonly latencyMs?: number | null;
  readonly cost?: number | null;
}

/** Creates helpers that insert pools, recipients and outcomes directly into the database. */
export function createOutcomeFixture(db: Database) {
  return {
    /** Creates a pool with the given anomaly config and active recipients, in its own environment. */
    async newPool(tenantId: TenantId, anomaly: object, recipientCount: number, environmentKey?: string) {
      const nowMs = Date.now();
      const [poolId, environmentId] = [ulid(nowMs), ulid(nowMs)];
      const recipientIds = Array.from({ length: recipientCount }, () => ulid(nowMs));
      await db.sql`
        insert into environments (tenant_id, id, key, name, mode, status, created_at, updated_at)
        values (${tenantId}, ${environmentId}, ${environmentKey ?? environmentId}, 'e', 'live', 'active', now(), now())`;
      await db.sql`
        insert into pools (tenant_id, id, environment_id, name, strategy, status, config, created_at, updated_at)
        values (${tenantId}, ${poolId}, ${environmentId}, ${poolId}, 'round_robin', 'active',
          ${db.sql.json({ anomaly } as never)}, now(), now())`;
      await db.sql`
        insert into recipients (tenant_id, id, pool_id, name, status, weight, capacity, priority, delivery,
          available_since, created_at, updated_at)
        select ${tenantId}, id, ${poolId}, id, 'active', 100, 0, 100, '{"mode": "pull", "url": "", "secretRef": ""}',
          now(), now(), now()
        from unnest(${recipientIds}::text[]) as recipient(id)`;
      return { poolId, recipientIds };
    },

    /** Inserts outcomes in the given order. */
    async recordOutcomes(tenantId: TenantId, poolId: string, outcomes: readonly OutcomeInput[]): Promise<void> {
      const rows = outcomes.map(({ recipientId, atMs, status = "success", latencyMs = null, cost = null }) => ({
        decision_id: ulid(Date.now()),
        recipient_id: recipientId,
        status,
        latency_ms: latencyMs,
        cost,
        at: new Date(atMs),
      }));
      await db.sql`
        insert into outcomes (tenant_id, decision_id, pool_id, recipient_id, status, latency_ms, cost, observed_at,
          recorded_at)
        select ${tenantId}, decision_id, ${poolId}, recipient_id, status, latency_ms, cost, at, at
        from jsonb_to_recordset(${db.sql.json(rows as never)}) as input(decision_id text, recipient_id text, status text,
          latency_ms float8, cost float8, at timestamptz)`;
    },
  };
}

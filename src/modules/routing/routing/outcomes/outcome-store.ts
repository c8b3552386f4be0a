import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { OutcomeSink } from "../../queues/index.ts";
import type { LivePools } from "./live-pools.ts";

/** The stored outcome of an item; each decision has at most one. */
export interface Outcome {
  readonly tenantId: TenantId;
  readonly decisionId: string;
  readonly poolId: string;
  readonly recipientId: string;
  readonly status: "success" | "failure" | "timeout" | "declined" | "cancelled";
  readonly latencyMs: number | null;
  readonly score: number | null;
  readonly cost: number | null;
  readonly observedAt: Date;
  readonly recordedAt: Date;
}

/** Inserts outcomes in one statement. An existing outcome stays unchanged. Returns the decision ids of the new ones. */
export async function insertOutcomes(tx: Sql, outcomes: readonly Outcome[]): Promise<ReadonlySet<string>> {
  if (outcomes.length === 0) return new Set();
  const texts = (value: (outcome: Outcome) => string) => outcomes.map(value);
  const numbers = (value: (outcome: Outcome) => number | null) => outcomes.map(value);
  const added = await tx<{ decisionId: string }[]>`
    insert into outcomes (tenant_id, decision_id, pool_id, recipient_id, status, latency_ms, score, cost, observed_at,
      recorded_at)
    select tenant_id, decision_id, pool_id, recipient_id, status, latency_ms, score, cost,
      to_timestamp(observed_at_ms / 1000), to_timestamp(recorded_at_ms / 1000)
    from unnest(
      ${texts(({ tenantId }) => tenantId)}::text[], ${texts(({ decisionId }) => decisionId)}::text[],
      ${texts(({ poolId }) => poolId)}::text[], ${texts(({ recipientId }) => recipientId)}::text[],
      ${texts(({ status }) => status)}::text[], ${numbers(({ latencyMs }) => latencyMs)}::float8[],
      ${numbers(({ score }) => score)}::float8[], ${numbers(({ cost }) => cost)}::float8[],
      ${numbers(({ observedAt }) => observedAt.getTime())}::float8[],
      ${numbers(({ recordedAt }) => recordedAt.getTime())}::float8[]
    ) as rows(tenant_id, decision_id, pool_id, recipient_id, status, latency_ms, score, cost, observed_at_ms,
      recorded_at_ms)
    order by tenant_id, decision_id
    on conflict do nothing returning decision_id`;
  return new Set(added.map(({ decisionId }) => decisionId));
}

/** The outcome of a decision; undefined when none was reported. */
export async function findOutcome(sql: Sql, tenantId: TenantId, decisionId: string): Promise<Outcome | undefined> {
  const [row] = await sql<Outcome[]>`
    select tenant_id, decision_id, pool_id, recipient_id, status, latency_ms, score, cost, observed_at, recorded_at
    from outcomes where tenant_id = ${tenantId} and decision_id = ${decisionId}`;
  return row;
}

/** Completes an item that is only tracked as in flight until its outcome is reported; false when there is none. */
export async function endTracked(tx: Sql, tenantId: TenantId, decisionId: string, nowMs: number): Promise<boolean> {
  const ended = await tx`
    update queue_items set state = 'completed', ended_at = ${new Date(nowMs)}, lease_until = null
    where tenant_id = ${tenantId} and id = ${decisionId} and delivery = 'none' and state = 'leased'`;
  return ended.count > 0;
}

/** Deletes one batch of outcomes below an id. */
export async function deleteExpiredOutcomes(
  sql: Sql,
  tenantId: TenantId,
  below: string,
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from outcomes where ctid = any(array(
      select ctid from outcomes where tenant_id = ${tenantId} and decision_id < ${below} limit ${limit}))`;
  return deleted.count;
}

/** Creates the sink that receives the outcomes of completed items from the queue. */
export function createOutcomeSink(live: LivePools): OutcomeSink {
  return {
    async save(tx, outcomes, nowMs) {
      const at = new Date(nowMs);
      await insertOutcomes(
        tx,
        outcomes.map((each) => ({
          tenantId: each.tenantId,
          decisionId: each.decisionId,
          poolId: each.poolId,
          recipientId: each.recipientId,
          status: each.status,
          latencyMs: each.latencyMs ?? null,
          score: each.score ?? null,
          cost: each.cost ?? null,
          observedAt: at,
          recordedAt: at,
        })),
      );
    },
    learn(outcomes, nowMs) {
      live.recordOutcomes(outcomes, nowMs);
      for (const { tenantId, poolId, recipientId } of outcomes) live.recordRelease(tenantId, poolId, recipientId);
    },
  };
}

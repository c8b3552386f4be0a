import type { TenantId } from "../../../../platform/access/index.ts";
import { deleteBatch, type Sql } from "../../../../platform/db/index.ts";
import { lowestUlid } from "../../../../platform/ids/ulid.ts";
import type { TenantCutoff } from "../../../../platform/jobs/index.ts";
import { archiveTracked, type OutcomeSink } from "../../queues/index.ts";
import type { ScoreOutcomes } from "./experiment-scorer.ts";
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

/**
 * Inserts outcomes in one statement. An existing outcome stays unchanged. Returns the decision ids of the new ones. The
 * outcome of an item that was completed without a report is in the history; see `claimOutcome`.
 */
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
export function findOutcome(sql: Sql, tenantId: TenantId, decisionId: string) {
  return sql<Outcome[]>`
    select tenant_id, decision_id, pool_id, recipient_id, status, latency_ms, score, cost, observed_at, recorded_at
    from all_outcomes where tenant_id = ${tenantId} and decision_id = ${decisionId}`.first();
}

/**
 * Makes sure that no completion records an outcome for the item, until the transaction ends and afterwards; false when one
 * has already done so.
 */
export async function claimOutcome(tx: Sql, tenantId: TenantId, decisionId: string): Promise<boolean> {
  const marked = await tx`
    update queue_items set reported = true
    where tenant_id = ${tenantId} and id = ${decisionId}`;
  if (marked.count > 0) return true;
  const [row] = await tx<{ succeeded: boolean }[]>`
    select exists (
      select from routing_history where tenant_id = ${tenantId} and id = ${decisionId} and succeeded) as succeeded`;
  return !row!.succeeded;
}

/** Completes an item that is only tracked as in flight until its outcome is reported; false when there is none. */
export async function endTracked(tx: Sql, tenantId: TenantId, decisionId: string, nowMs: number): Promise<boolean> {
  const [row] = await tx<{ count: number }[]>`
    with ended as (
      delete from queue_items
      where tenant_id = ${tenantId} and id = ${decisionId} and delivery = 'none' and state = 'leased' returning *
    ), ${archiveTracked(tx, new Date(nowMs))}
    select count(*) from ended`;
  return row!.count > 0;
}

/** The tenants that have outcomes below a decision id. */
export async function tenantsWithOutcomes(sql: Sql, before: Date): Promise<TenantCutoff[]> {
  const rows = await sql<{ id: TenantId }[]>`
    select t.id from tenants t
    where exists (select from outcomes o where o.tenant_id = t.id and o.decision_id < ${lowestUlid(before.getTime())})`;
  return rows.map(({ id }) => ({ tenantId: id, before }));
}

/** Deletes one batch of a tenant's outcomes that were recorded before a time, for decisions made before it. */
export function deleteExpiredOutcomes(sql: Sql, { tenantId, before }: TenantCutoff, limit: number): Promise<number> {
  const decisionId = lowestUlid(before.getTime());
  const where = sql`tenant_id = ${tenantId} and decision_id < ${decisionId} and recorded_at < ${before}`;
  return deleteBatch(sql, { table: "outcomes", where }, limit);
}

/** Creates the sink that receives the outcomes of completed items from the queue. */
export function createOutcomeSink(
  live: LivePools,
  scoreOutcomes: ScoreOutcomes,
  countEnd: (tenantId: string, status: Outcome["status"]) => void,
): OutcomeSink {
  return {
    async save(tx, outcomes, nowMs) {
      const at = new Date(nowMs);
      const added = await insertOutcomes(
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
      // The first outcome of a decision counts, as it does for its report.
      const first = outcomes.filter(({ decisionId }) => added.has(decisionId));
      await scoreOutcomes(
        tx,
        first.map((each) => ({ ...each, observedAtMs: nowMs })),
        nowMs,
      );
    },
    learn(outcomes, nowMs) {
      live.recordOutcomes(outcomes, nowMs);
      for (const { tenantId, status, final } of outcomes) if (final) countEnd(tenantId, status);
      for (const { tenantId, poolId, recipientId } of outcomes) live.recordRelease(tenantId, poolId, recipientId);
    },
  };
}

import type { TenantId } from "../../../platform/access/index.ts";
import { recordRows, type Sql } from "../../../platform/db/index.ts";
import {
  type ArmSummary,
  type MetricMoments,
  mergeMoments,
  momentFields,
  type PhaseSummary,
} from "../analysis/index.ts";
import type { Experiment } from "../experiments/index.ts";
import { changedMoments, type MomentChange, type MomentKey, momentName } from "./domain/moment-changes.ts";

/** Converts stored numbers to moments. */
function toMoments(numbers: readonly number[]): MetricMoments {
  return Object.fromEntries(momentFields.map((field, at) => [field, numbers[at] ?? 0])) as unknown as MetricMoments;
}

function fromMoments(moments: MetricMoments): number[] {
  return momentFields.map((field) => moments[field]);
}

interface MomentRow extends MomentKey {
  readonly moments: number[];
}

/** Applies changes to the stored moments, in the transaction that marks their units as counted. */
export async function applyMomentChanges(tx: Sql, changes: readonly MomentChange[]): Promise<void> {
  if (changes.length === 0) return;
  const keys = changes.map(({ added: _, removed: __, ...key }) => key);
  const input = recordRows(tx, "experiment_moments", keys);
  await tx`
    insert into experiment_moments (tenant_id, experiment_id, phase, variant, metric, shard, moments)
    select tenant_id, experiment_id, phase, variant, metric, shard, '{}' from ${input}
    order by tenant_id, experiment_id, phase, variant, metric, shard
    on conflict do nothing`;
  const rows = await tx<MomentRow[]>`
    select m.tenant_id, m.experiment_id, m.phase, m.variant, m.metric, m.shard, m.moments
    from experiment_moments m join ${input} input using (tenant_id, experiment_id, phase, variant, metric, shard)
    order by m.tenant_id, m.experiment_id, m.phase, m.variant, m.metric, m.shard
    for update of m`;
  const stored = new Map(rows.map((row) => [momentName(row), toMoments(row.moments)]));
  const changed = changes.map((change, at) => ({
    ...keys[at],
    moments: fromMoments(changedMoments(stored.get(momentName(change))!, change)),
  }));
  await tx`
    update experiment_moments m set moments = input.moments
    from ${recordRows(tx, "experiment_moments", changed)} input
    where (m.tenant_id, m.experiment_id, m.phase, m.variant, m.metric, m.shard)
      = (input.tenant_id, input.experiment_id, input.phase, input.variant, input.metric, input.shard)`;
}

/** The number of counted units by place. */
export interface MatureCount extends Omit<MomentKey, "metric"> {
  readonly count: number;
}

/** Adds to the numbers of counted units. */
export async function addMatureCounts(tx: Sql, counts: readonly MatureCount[]): Promise<void> {
  if (counts.length === 0) return;
  const rows = counts.map(({ count: mature, ...key }) => ({ ...key, mature }));
  await tx`
    insert into experiment_unit_counts (tenant_id, experiment_id, phase, variant, shard, mature)
    select tenant_id, experiment_id, phase, variant, shard, mature
    from ${recordRows(tx, "experiment_unit_counts", rows)}
    order by tenant_id, experiment_id, phase, variant, shard
    on conflict (tenant_id, experiment_id, phase, variant, shard)
      do update set mature = experiment_unit_counts.mature + excluded.mature`;
}

/** Reads what the analysis of an experiment needs: at most 16 rows per phase, variant and metric. */
export async function readPhases(
  sql: Sql,
  { tenantId, id, design, phases }: Pick<Experiment, "tenantId" | "id" | "design" | "phases">,
): Promise<PhaseSummary[]> {
  const counts = await readCounts(sql, tenantId, id);
  const moments = await readMoments(sql, tenantId, id);
  return phases.map(({ number, weights }) => {
    const arms = design.variants.map(({ key }, variant): ArmSummary => {
      const count = counts.get(`${number}/${variant}`);
      const metrics = moments.get(`${number}/${variant}`) ?? {};
      return { variant: key, units: count?.units ?? 0, mature: count?.mature ?? 0, metrics };
    });
    return { weights: Object.fromEntries(design.variants.map(({ key }, at) => [key, weights[at]!])), arms };
  });
}

async function readCounts(sql: Sql, tenantId: TenantId, id: string) {
  const rows = await sql<{ phase: number; variant: number; units: number; mature: number }[]>`
    select phase, variant, sum(units)::float8 as units, sum(mature)::float8 as mature
    from experiment_unit_counts where tenant_id = ${tenantId} and experiment_id = ${id} group by 1, 2`;
  return new Map(rows.map(({ phase, variant, units, mature }) => [`${phase}/${variant}`, { units, mature }]));
}

async function readMoments(sql: Sql, tenantId: TenantId, id: string) {
  const rows = await sql<Omit<MomentRow, "tenantId" | "experimentId">[]>`
    select phase, variant, metric, shard, moments
    from experiment_moments where tenant_id = ${tenantId} and experiment_id = ${id}`;
  const arms = new Map<string, Record<string, MetricMoments>>();
  for (const { phase, variant, metric, moments } of rows) {
    const name = `${phase}/${variant}`;
    const metrics = arms.get(name) ?? {};
    arms.set(name, metrics);
    const known = metrics[metric];
    metrics[metric] = known === undefined ? toMoments(moments) : mergeMoments(known, toMoments(moments));
  }
  return arms;
}

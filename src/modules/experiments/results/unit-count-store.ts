import type { TenantId } from "../../../platform/access/index.ts";
import type { NextDue, Sql } from "../../../platform/db/index.ts";
import type { UnitValue } from "../analysis/index.ts";
import type { Experiment } from "../experiments/index.ts";
import type { CountedScore } from "./domain/unit-values.ts";

export interface DueUnit {
  readonly tenantId: TenantId;
  readonly experimentId: string;
  /** In hexadecimal. */
  readonly unitHash: string;
  readonly variant: number;
  readonly phase: number;
  readonly covariates: Readonly<Record<string, number>> | null;
  /** The values that it was counted with. */
  readonly counted: Readonly<Record<string, UnitValue>> | null;
}

export type DueExperiment = Pick<Experiment, "tenantId" | "id" | "design" | "status">;

/** Takes units that are to be counted. They are locked until the transaction ends; other nodes skip them. */
export async function lockDueUnits(tx: Sql, nowMs: number, limit: number): Promise<DueUnit[]> {
  return tx<DueUnit[]>`
    select tenant_id, experiment_id, encode(unit_hash, 'hex') as unit_hash, variant, phase, covariates, counted
    from experiment_exposures where due_at <= ${new Date(nowMs)}
    order by due_at limit ${limit} for update skip locked`;
}

/** When the next unit is counted, or the next point of a history is written. */
export const nextDue: NextDue = (sql) => sql`
  select least((select min(due_at) from experiment_exposures),
    (select min(point_due_at) from experiments where status in ('running', 'paused')))`;

export async function readDueExperiments(tx: Sql, units: readonly DueUnit[]): Promise<Map<string, DueExperiment>> {
  const tenants = new Map(units.map(({ experimentId, tenantId }) => [experimentId, tenantId]));
  const rows = await tx<DueExperiment[]>`
    select tenant_id, id, design, status from experiments
    where (tenant_id, id) in (select * from unnest(${[...tenants.values()]}::text[], ${[...tenants.keys()]}::text[]))`;
  return new Map(rows.map((row) => [row.id, row]));
}

/** The scores that count, by experiment and unit. */
export async function readPendingScores(tx: Sql, units: readonly DueUnit[]): Promise<Map<string, CountedScore[]>> {
  const rows = await tx<
    { experimentId: string; unitHash: string; metric: string; value: number; denominator: number; observedAt: Date }[]
  >`
    select unit.experiment_id, unit.unit_hash, s.metric, s.value, s.denominator, s.observed_at
    from unnest(${units.map(({ tenantId }) => tenantId)}::text[],
        ${units.map(({ experimentId }) => experimentId)}::text[], ${units.map(({ unitHash }) => unitHash)}::text[])
        as unit(tenant_id, experiment_id, unit_hash)
      -- One index lookup per unit, whatever the planner thinks of the table.
      cross join lateral (
        select * from experiment_scores s
        where s.tenant_id = unit.tenant_id and s.experiment_id = unit.experiment_id
          and s.unit_hash = decode(unit.unit_hash, 'hex') and s.state = 'pending'
        order by s.observed_at, s.score_id offset 0
      ) s`;
  const scores = new Map<string, CountedScore[]>();
  for (const { experimentId, unitHash, metric, value, denominator, observedAt } of rows) {
    const score = { metric, value, denominator, observedAtMs: observedAt.getTime() };
    const name = experimentId + unitHash;
    const known = scores.get(name);
    if (known === undefined) scores.set(name, [score]);
    else known.push(score);
  }
  return scores;
}

/** A unit to mark as counted. */
export interface CountedUnit extends Pick<DueUnit, "tenantId" | "experimentId" | "unitHash"> {
  /** The values, if they may be replaced; undefined otherwise. */
  readonly counted: Readonly<Record<string, UnitValue>> | undefined;
}

/** Marks locked units as counted. */
export async function markCounted(tx: Sql, units: readonly CountedUnit[]): Promise<void> {
  await tx`
    update experiment_exposures e set due_at = null, counted = coalesce(unit.counted::json, e.counted)
    from unnest(${units.map(({ tenantId }) => tenantId)}::text[],
        ${units.map(({ experimentId }) => experimentId)}::text[], ${units.map(({ unitHash }) => unitHash)}::text[],
        ${units.map(({ counted }) => (counted === undefined ? null : JSON.stringify(counted)))}::text[])
        as unit(tenant_id, experiment_id, unit_hash, counted)
    where (e.tenant_id, e.experiment_id, e.unit_hash)
      = (unit.tenant_id, unit.experiment_id, decode(unit.unit_hash, 'hex'))`;
}

/** Schedules a history point for experiments whose results changed: the longer they run, the less often. */
export async function requestPoints(tx: Sql, experiments: readonly DueExperiment[], nowMs: number): Promise<void> {
  const now = new Date(nowMs);
  await tx`
    update experiments set point_due_at = ${now}::timestamptz
      + least(greatest((${now}::timestamptz - started_at) / 100, interval '1 second'), interval '1 hour')
    where point_due_at is null and (tenant_id, id) in (
      select * from unnest(${experiments.map(({ tenantId }) => tenantId)}::text[],
        ${experiments.map(({ id }) => id)}::text[]))`;
}

import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { EarlierMinima } from "../analysis/index.ts";
import type { Experiment } from "../experiments/index.ts";
import type { Point } from "./domain/history.ts";

/** An experiment whose results changed. */
export type ChangedExperiment = Pick<
  Experiment,
  "tenantId" | "id" | "key" | "environmentId" | "design" | "phases" | "minima" | "lastVerdict"
>;

/** Takes one experiment whose next point is due. Other nodes skip it. */
export function lockDuePoint(tx: Sql, nowMs: number): Promise<ChangedExperiment | undefined> {
  return tx<ChangedExperiment[]>`
    select tenant_id, id, key, environment_id, design, phases, minima, last_verdict from experiments
    where point_due_at <= ${new Date(nowMs)} and status in ('running', 'paused')
    order by point_due_at limit 1 for update skip locked`.first();
}

/** A point, and what the next analysis has to know. */
export interface NewPoint {
  readonly at: Date;
  readonly point: Point;
  readonly minima: EarlierMinima;
  readonly verdict: string;
}

/** Stores a point of a locked experiment. */
export async function insertPoint(
  tx: Sql,
  { tenantId, id }: Pick<Experiment, "tenantId" | "id">,
  { at, point, minima, verdict }: NewPoint,
): Promise<void> {
  await tx`
    insert into experiment_history (tenant_id, experiment_id, at, point)
    values (${tenantId}, ${id}, ${at}, ${tx.json(point as never)}) on conflict do nothing`;
  await tx`
    update experiments set point_due_at = null, minima = ${tx.json(minima as never)}, last_verdict = ${verdict}
    where tenant_id = ${tenantId} and id = ${id}`;
}

/** The points of an experiment, oldest first. */
export async function readPoints(sql: Sql, tenantId: TenantId, id: string): Promise<{ at: Date; point: Point }[]> {
  return sql<{ at: Date; point: Point }[]>`
    select at, point from experiment_history where tenant_id = ${tenantId} and experiment_id = ${id} order by at`;
}

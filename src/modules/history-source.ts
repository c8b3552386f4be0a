import type { Context } from "../chain/call.ts";
import type { TenantId } from "../platform/access/index.ts";
import type { Fragment, Sql } from "../platform/db/index.ts";

/** The kinds of records that have a history. */
export type HistoryKind = "pool" | "workflow" | "channel";

/** Counts what happened to a record. The counts are stored every few seconds. */
export interface HistoryRecorder {
  count(tenantId: TenantId, kind: HistoryKind, id: string, what: "started" | "completed" | "failed"): void;
}

/** Records of one kind that charts show over time. */
export interface HistorySource {
  readonly kind: HistoryKind;
  /** The id of a record that the caller names. Throws if the caller may not see it. */
  resolve(context: Context, idOrKey: string): Promise<string>;
  /** Selects the ids of all records that the caller may see: pools only of an environment, unless it is empty. */
  visible(context: Context, environmentId: string): Fragment;
  /** Adds to the history what follows from stored rows. One node calls it for each minute, when the minute has ended. */
  sample?(tx: Sql, minute: Date): Promise<unknown>;
}

/** The minutes that a row of the history covers. Everything is stored in each step. */
export const steps = { minute: 1, tenMinutes: 10, hour: 60 };

/** The start of the step of some minutes that contains a time. */
export function startOfStep(minutes: number, at: Date): Date {
  const ms = minutes * 60_000;
  return new Date(Math.floor(at.getTime() / ms) * ms);
}

/** The steps that contain a minute, with their starts, as rows of a `values`. */
export function stepsAround(sql: Sql, minute: Date): Fragment {
  const { minute: short, tenMinutes, hour } = steps;
  return sql`(${short}::smallint, ${minute}::timestamptz), (${tenMinutes}, ${startOfStep(tenMinutes, minute)}),
    (${hour}, ${startOfStep(hour, minute)})`;
}

/**
 * Statement that adds the counts of a minute to the history. `counts` selects `source`, `tenant_id`, `source_id` and the counts.
 * Nodes that add to the same rows lock them in the same order.
 */
export function addToHistory(sql: Sql, minute: Date, counts: Fragment): Fragment {
  return sql`
    insert into history_points as kept (tenant_id, source, source_id, step, at, waiting, in_progress, oldest_age_s, started,
      completed, failed, dead_lettered)
    select tenant_id, source, source_id, step, at, waiting, in_progress, oldest_age_s, started, completed, failed, dead_lettered
    from (${counts}) counts
    cross join (values ${stepsAround(sql, minute)}) as steps(step, at)
    order by tenant_id, source, source_id, step
    on conflict (tenant_id, source, source_id, step, at) do update set
      waiting = greatest(kept.waiting, excluded.waiting), in_progress = greatest(kept.in_progress, excluded.in_progress),
      oldest_age_s = greatest(kept.oldest_age_s, excluded.oldest_age_s), started = kept.started + excluded.started,
      completed = kept.completed + excluded.completed, failed = kept.failed + excluded.failed,
      dead_lettered = kept.dead_lettered + excluded.dead_lettered`;
}

import type { TenantId } from "../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../platform/db/index.ts";
import { lowestUlid } from "../../../platform/ids/ulid.ts";
import { addToHistory, type HistoryKind, startOfStep, steps, stepsAround } from "../../history-source.ts";
import type { HistoryRange } from "./history-range.ts";

/** What a node has counted of a record. */
export interface CountedRecord {
  readonly tenantId: TenantId;
  readonly kind: HistoryKind;
  readonly id: string;
  started: number;
  completed: number;
  failed: number;
}

/** The counts of one or of many records in a part of a time range. */
export interface HistoryPoint {
  readonly at: Date;
  /** The seconds that have been counted. */
  readonly coveredS: number;
  readonly waiting: number;
  readonly inProgress: number;
  readonly oldestAgeS: number;
  readonly started: number;
  readonly completed: number;
  readonly failed: number;
  readonly deadLettered: number;
}

/** What has been counted of a minute of which no sample has been taken yet. */
export interface MinutePart {
  readonly minute: Date;
  readonly seconds: number;
}

/** Something that happened at a time of a chart. */
export interface HistoryMark {
  readonly kind: string;
  readonly at: Date;
  readonly name: string;
  readonly subjectId: string;
  /** Null if it belongs to no environment. */
  readonly inProduction: boolean | null;
}

/** Selects the marks of charts. */
interface MarkFilter {
  readonly ofPools: boolean;
  /** The pool whose pauses are marked; empty for all. */
  readonly poolId: string;
  /** The environment of marked events; empty for all. */
  readonly environmentId: string;
}

/** The number of versions whose first start is kept, and of marks that are read. */
const versionsMax = 100;
const marksMax = 200;

/** Adds what a node has counted to the history. */
export async function storeCounts(sql: Sql, minute: Date, counted: readonly CountedRecord[]): Promise<void> {
  await addToHistory(
    sql,
    minute,
    sql`select "kind" as source, "tenantId" as tenant_id, "id" as source_id, 0 as waiting, 0 as in_progress, 0 as oldest_age_s,
        "started" as started, "completed" as completed, "failed" as failed, 0 as dead_lettered
      from json_to_recordset(${JSON.stringify(counted)}::text::json) as counted(
        "kind" text, "tenantId" text, "id" text, "started" int, "completed" int, "failed" int)`,
  );
}

/** Claims the samples of a minute for this node; returns whether no other node has taken them. */
export async function claimSample(tx: Sql, minute: Date): Promise<boolean> {
  const claimed = await tx`
    with claimed as (
      insert into history_samples (step, at, minutes) values (${steps.minute}, ${minute}, 1)
      on conflict do nothing returning at
    )
    insert into history_samples (step, at, minutes)
    select step, around.at, 1 from claimed cross join (values ${stepsAround(tx, minute)}) as around(step, at)
    where step <> ${steps.minute}
    on conflict (step, at) do update set minutes = history_samples.minutes + 1`;
  return claimed.count > 0;
}

/** Notes the version of a node that starts, if it is not the one that started last. */
export async function storeVersionStart(sql: Sql, version: string, at: Date): Promise<void> {
  const start = JSON.stringify([{ version, at: at.toISOString() }]);
  await sql`
    insert into instance (name, value) values ('version_starts', ${start}::text::jsonb)
    on conflict (name) do update
    set value = jsonb_path_query_array(instance.value, ${`$[last - ${versionsMax - 2} to last]`}::text::jsonpath) || excluded.value
    where instance.value -> -1 ->> 'version' <> ${version}`;
}

/**
 * Reads the points of one record, or the sums of many: `ids` selects them. A part of the range without samples has no point, except
 * the current part of records that are counted without samples.
 */
export async function readPoints(
  sql: Sql,
  tenantId: TenantId,
  kind: HistoryKind,
  ids: Fragment,
  { since, step, pointMinutes }: HistoryRange,
  current: MinutePart | undefined,
): Promise<HistoryPoint[]> {
  const part =
    current === undefined
      ? sql``
      : sql`union all
        select ${startOfStep(step, current.minute)}::timestamptz, ${current.seconds}::int
        where ${current.seconds} > 0 and not exists (
          select from history_samples where step = ${steps.minute} and at = ${current.minute})`;
  return sql<HistoryPoint[]>`
    with covered as (
      select at, sum(seconds) as seconds from (
        select at, minutes * 60 as seconds from history_samples where step = ${step} and at >= ${since}
        ${part}
      ) parts group by at
    ), sums as (
      select p.at, sum(waiting) as waiting, sum(in_progress) as in_progress, max(oldest_age_s) as oldest_age_s,
        sum(started) as started, sum(completed) as completed, sum(failed) as failed, sum(dead_lettered) as dead_lettered
      from (${ids}) as ids(id)
      join history_points p on p.tenant_id = ${tenantId} and source = ${kind} and source_id = ids.id and p.step = ${step}
        and p.at >= ${since}
      group by p.at
    )
    select date_bin(make_interval(mins => ${pointMinutes}), covered.at, 'epoch') as at, sum(seconds)::int as covered_s,
      coalesce(max(waiting), 0)::bigint as waiting, coalesce(max(in_progress), 0)::bigint as in_progress,
      coalesce(max(oldest_age_s), 0)::bigint as oldest_age_s, coalesce(sum(started), 0)::bigint as started,
      coalesce(sum(completed), 0)::bigint as completed, coalesce(sum(failed), 0)::bigint as failed,
      coalesce(sum(dead_lettered), 0)::bigint as dead_lettered
    from covered left join sums on sums.at = covered.at
    group by 1 order by 1`;
}

/** Reads the newest marks of a range: new versions and promotions, and the pauses of some pools. */
export async function readMarks(
  sql: Sql,
  tenantId: TenantId,
  since: Date,
  { ofPools, poolId, environmentId }: MarkFilter,
): Promise<HistoryMark[]> {
  // The types are written out, because the index of marked events is chosen by them.
  const ofPromotion = sql`e.type like 'promotion.%'`;
  const ofSubject = ofPools ? sql`(${ofPromotion} or e.subject = ${poolId})` : ofPromotion;
  const shown = ofPools && poolId === "" ? sql`` : sql`and ${ofSubject}`;
  const inEnvironment = environmentId === "" ? sql`` : sql`and e.environment_id = ${environmentId}`;
  return sql<HistoryMark[]>`
    select * from (
      select e.type as kind, e.time as at, coalesce(p.name, e.data ->> 'name', '') as name, e.subject as subject_id,
        e.in_production
      from events e left join pools p on p.tenant_id = e.tenant_id and p.id = e.subject
      where e.tenant_id = ${tenantId} and e.id >= ${lowestUlid(since.getTime())}
        and e.type in ('queue.paused', 'queue.resumed', 'promotion.promoted', 'promotion.rolled_back') ${shown} ${inEnvironment}
      order by e.id desc limit ${marksMax}
    ) marked
    union all
    select 'version.started', (start ->> 'at')::timestamptz, start ->> 'version', '', null::boolean
    from instance cross join jsonb_array_elements(value) start
    where instance.name = 'version_starts' and (start ->> 'at')::timestamptz >= ${since}
    order by at`;
}

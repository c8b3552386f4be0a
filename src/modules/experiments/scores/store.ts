import { isUniqueViolation, lines, type Sql } from "../../../platform/db/index.ts";
import { isRepeat, type NewScore, type Score, type ScoreState, skewMs } from "./domain/score.ts";

/** The outcome of a score: stored now or before, refused because its id is taken, or without an exposure. */
export type ScoreOutcome = { readonly score: Score; readonly isNew: boolean } | "id_taken" | "not_exposed";

/**
 * Records scores with one statement of its own, as `insertScores` does. Nearly all scores are new, and an insert that does not
 * expect conflicts takes less time. If one is not new, the statement is repeated and expects them.
 */
export async function insertNewScores(sql: Sql, scores: readonly NewScore[]): Promise<readonly ScoreOutcome[]> {
  try {
    return await insertScores(sql, scores, "new");
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return insertScores(sql, scores);
  }
}

/**
 * Records scores in one statement, with one outcome each. A score counts if it was observed in the window of its unit and
 * arrives before the window ends. The units of experiments without a window are counted again.
 */
export async function insertScores(
  sql: Sql,
  scores: readonly NewScore[],
  expected: "new" | "any" = "any",
): Promise<readonly ScoreOutcome[]> {
  // The first of several copies is recorded. They are inserted in a global order to avoid deadlocks between nodes.
  const distinct = new Map<string, NewScore>();
  const names = scores.map(nameOf);
  for (let at = 0; at < names.length; at++) if (!distinct.has(names[at]!)) distinct.set(names[at]!, scores[at]!);
  const sorted = [...distinct.keys()].sort();
  const inserted = await insertSorted(
    sql,
    sorted.map((name) => distinct.get(name)!),
    expected,
  );
  const added = new Map<string, Score>();
  for (const [at, name] of sorted.entries()) {
    const score = inserted[at];
    if (score !== undefined) added.set(name, score);
  }
  const others = [...distinct].filter(([name]) => !added.has(name)).map(([, score]) => score);
  const earlier = others.length === 0 ? undefined : await readScores(sql, others);
  return scores.map((score, at): ScoreOutcome => {
    const name = names[at]!;
    const isFirst = distinct.get(name) === score;
    const fresh = added.get(name);
    if (isFirst && fresh !== undefined) return { score: fresh, isNew: true };
    const { unitHash } = distinct.get(name)!;
    const recorded = fresh === undefined ? earlier?.get(name) : { ...fresh, unitHash };
    if (recorded === undefined) return "not_exposed";
    return isRepeat(score, recorded) ? { score: recorded, isNew: false } : "id_taken";
  });
}

interface InsertedRow {
  readonly added: number;
  /** Of each score with an exposure: place, variant, phase and state, separated by spaces. */
  readonly exposed: string | null;
  /** The names of the new scores; null if all scores with an exposure are new. */
  readonly names: readonly string[] | null;
}

/**
 * Inserts scores in the given order; returns the new ones at their places. The statement returns one row with what only it
 * knows: a row for each score cost as much as the inserts (8 of 20 µs of CPU time per score).
 */
async function insertSorted(
  sql: Sql,
  scores: readonly NewScore[],
  expected: "new" | "any",
): Promise<(Score | undefined)[]> {
  const calls = new Map<string, { readonly nth: number; readonly score: NewScore }>();
  const callOf = (score: NewScore) => {
    const name = `${score.experimentId}${score.recordedAtMs}`;
    const known = calls.get(name);
    if (known === undefined) calls.set(name, { nth: calls.size, score });
    return known?.nth ?? calls.size - 1;
  };
  const callNths = lines(scores, callOf);
  const first = [...calls.values()].map(({ score }) => score);
  const isRecounted = first.some(({ windowMs }) => windowMs === 0);
  const [row] = await sql<InsertedRow[]>`
    with call as (
      select call.*, exists (
        select from experiments e where e.tenant_id = call.tenant_id and e.id = call.experiment_id
          and e.status in ('completed', 'stopped')) as is_ended
      from unnest(${first.map(({ tenantId }) => tenantId)}::text[],
        ${first.map(({ experimentId }) => experimentId)}::text[],
        ${first.map(({ recordedAtMs }) => recordedAtMs)}::float8[],
        ${first.map(({ windowMs }) => windowMs)}::float8[])
        with ordinality as call(tenant_id, experiment_id, recorded_at_ms, window_ms, nth)
    ), input as (
      select * from rows from (
        string_to_table(${callNths}, E'\\n'),
        unnest(${scores.map(({ scoreId }) => scoreId)}::text[]),
        string_to_table(${lines(scores, ({ unitHash }) => unitHash)}, E'\\n'),
        string_to_table(${lines(scores, ({ metric }) => metric)}, E'\\n'),
        string_to_table(${lines(scores, ({ value }) => value)}, E'\\n'),
        string_to_table(${lines(scores, ({ denominator }) => denominator)}, E'\\n'),
        string_to_table(${lines(scores, ({ observedAtMs }) => observedAtMs)}, E'\\n', ''),
        string_to_table(${lines(scores, ({ exposure }) => exposure?.variant)}, E'\\n', ''),
        string_to_table(${lines(scores, ({ exposure }) => exposure?.phase)}, E'\\n', ''),
        string_to_table(${lines(scores, ({ exposure }) => exposure?.firstExposedAtMs)}, E'\\n', '')
      ) with ordinality as input(call, score_id, unit_hash, metric, value, denominator, observed_at_ms, variant, phase,
        exposed_at_ms, nth)
    ), exposed as materialized (
      select input.nth, call.tenant_id, call.experiment_id, score_id, decode(unit_hash, 'hex') as unit_hash, e.variant,
        e.phase, metric, value::float8, denominator::float8, observed.at_ms as observed_at_ms, recorded_at_ms,
        case
          when is_ended then 'ended'
          when observed.at_ms < e.at_ms - ${skewMs}::float8 then 'early'
          when window_ms > 0 and greatest(observed.at_ms, recorded_at_ms) > e.at_ms + window_ms then 'late'
          else 'pending' end as state
      from input join call on call.nth = input.call::bigint + 1
        cross join lateral (select coalesce(input.observed_at_ms::float8, call.recorded_at_ms) as at_ms) observed
        -- One index lookup per score whose exposure is not known, whatever the planner thinks of the table.
        cross join lateral (
          select input.variant::smallint as variant, input.phase::smallint as phase, input.exposed_at_ms::float8 as at_ms
          where input.variant is not null
          union all
          select variant, phase, date_part('epoch', first_exposed_at) * 1000 from experiment_exposures e
          where input.variant is null and e.tenant_id = call.tenant_id and e.experiment_id = call.experiment_id
            and e.unit_hash = decode(input.unit_hash, 'hex')
          offset 0
        ) e
      order by input.nth
    ), inserted as (
      insert into experiment_scores (tenant_id, experiment_id, score_id, unit_hash, variant, phase, metric, value,
        denominator, state, observed_at, recorded_at)
      select tenant_id, experiment_id, score_id, unit_hash, variant, phase, metric, value, denominator, state,
        to_timestamp(observed_at_ms / 1000), to_timestamp(recorded_at_ms / 1000)
      from exposed order by nth ${expected === "new" ? sql`` : sql`on conflict do nothing`}
      returning tenant_id, experiment_id, score_id, unit_hash, state
    )${isRecounted ? recount(sql, first) : sql``}, counted as (select count(*)::int as added from inserted)
    select added,
      (select string_agg(concat_ws(' ', nth, variant, phase, state), E'\\n') from exposed) as exposed,
      case when added < (select count(*) from exposed)
        then coalesce((select array_agg(experiment_id || score_id) from inserted), '{}') end as names
    from counted`;
  return toInserted(scores, row!);
}

function toInserted(scores: readonly NewScore[], { exposed, names }: InsertedRow): (Score | undefined)[] {
  const added = names === null ? undefined : new Set(names);
  const inserted = new Array<Score | undefined>(scores.length);
  for (const line of exposed === null ? [] : exposed.split("\n")) {
    const [nth, variant, phase, state] = line.split(" ");
    const at = Number(nth) - 1;
    const score = scores[at]!;
    if (added !== undefined && !added.has(nameOf(score))) continue;
    const { scoreId, experimentId, metric, value, denominator, recordedAtMs, observedAtMs = recordedAtMs } = score;
    inserted[at] = {
      scoreId,
      experimentId,
      metric,
      variant: Number(variant),
      phase: Number(phase),
      value,
      denominator,
      state: state as ScoreState,
      observedAtMs,
      recordedAtMs,
    };
  }
  return inserted;
}

/** Has the units of new scores counted again. Rows are locked in a global order to avoid deadlocks between nodes. */
function recount(sql: Sql, calls: readonly NewScore[]) {
  const unwindowed = [...new Set(calls.filter(({ windowMs }) => windowMs === 0).map((each) => each.experimentId))];
  return sql`, locked as (
      select e.tenant_id, e.experiment_id, e.unit_hash from experiment_exposures e
      where (e.tenant_id, e.experiment_id, e.unit_hash) in (
        select tenant_id, experiment_id, unit_hash from inserted
        where state = 'pending' and experiment_id = any(${unwindowed}::text[]))
      order by e.tenant_id, e.experiment_id, e.unit_hash for update
    ), recounted as (
      update experiment_exposures e set due_at = to_timestamp(${Math.min(...calls.map((each) => each.recordedAtMs))}::float8 / 1000)
      from locked where (e.tenant_id, e.experiment_id, e.unit_hash)
        = (locked.tenant_id, locked.experiment_id, locked.unit_hash)
    )`;
}

type RecordedScore = Score & { readonly unitHash: string };

/** Reads recorded scores by name. */
async function readScores(sql: Sql, scores: readonly NewScore[]): Promise<Map<string, RecordedScore>> {
  const rows = await sql<
    (Omit<RecordedScore, "observedAtMs" | "recordedAtMs"> & { observedAt: Date; recordedAt: Date })[]
  >`
    select s.experiment_id, s.score_id, s.metric, s.variant, s.phase, s.value, s.denominator, s.state, s.observed_at,
      s.recorded_at, encode(s.unit_hash, 'hex') as unit_hash
    from experiment_scores s
    where (s.tenant_id, s.experiment_id, s.score_id) in (
      select * from unnest(${scores.map(({ tenantId }) => tenantId)}::text[],
        ${scores.map(({ experimentId }) => experimentId)}::text[], ${scores.map(({ scoreId }) => scoreId)}::text[]))`;
  return new Map(
    rows.map(({ observedAt, recordedAt, ...row }) => [
      nameOf(row),
      { ...row, observedAtMs: observedAt.getTime(), recordedAtMs: recordedAt.getTime() },
    ]),
  );
}

/** A unique name of a score. Ids of experiments have one length. */
function nameOf({ experimentId, scoreId }: Pick<NewScore, "experimentId" | "scoreId">): string {
  return experimentId + scoreId;
}

import { lines, type Sql } from "../../../platform/db/index.ts";
import { type NewScore, type Score, skewMs } from "./domain/score.ts";

/** What became of a score: stored now or before, refused because its id is taken, or without an exposure. */
export type ScoreOutcome = (Score & { readonly isNew: boolean }) | "id_taken" | "not_exposed";

interface ScoreRow extends Omit<Score, "observedAtMs" | "recordedAtMs"> {
  readonly tenantId: string;
  readonly body: string;
  readonly observedAt: Date;
  readonly recordedAt: Date;
}

/**
 * Records scores in one statement, with one outcome each. A score counts if it was observed in the window of its unit and
 * arrives before the window ends. The units of experiments without a window are counted again.
 */
export async function insertScores(sql: Sql, scores: readonly NewScore[]): Promise<readonly ScoreOutcome[]> {
  // Insert in a global order to avoid deadlocks between nodes.
  const sorted = scores.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const isRecounted = scores.some(({ windowMs }) => windowMs === 0);
  const inserted = await sql<ScoreRow[]>`
    with input as (
      select * from rows from (
        string_to_table(${lines(sorted, ({ tenantId }) => tenantId)}, E'\\n'),
        string_to_table(${lines(sorted, ({ experimentId }) => experimentId)}, E'\\n'),
        unnest(${sorted.map(({ scoreId }) => scoreId)}::text[]),
        string_to_table(${lines(sorted, ({ unitHash }) => unitHash)}, E'\\n'),
        string_to_table(${lines(sorted, ({ metric }) => metric)}, E'\\n'),
        string_to_table(${lines(sorted, ({ value }) => value)}, E'\\n'),
        string_to_table(${lines(sorted, ({ denominator }) => denominator)}, E'\\n'),
        string_to_table(${lines(sorted, ({ observedAtMs }) => observedAtMs)}, E'\\n'),
        string_to_table(${lines(sorted, ({ recordedAtMs }) => recordedAtMs)}, E'\\n'),
        string_to_table(${lines(sorted, ({ body }) => body)}, E'\\n'),
        string_to_table(${lines(sorted, ({ windowMs }) => windowMs)}, E'\\n')
      ) as input(tenant_id, experiment_id, score_id, unit_hash, metric, value, denominator, observed_at_ms,
        recorded_at_ms, body, window_ms)
    ), ended as (
      select tenant_id, id from experiments
      where (tenant_id, id) in (select distinct tenant_id, experiment_id from input)
        and status in ('completed', 'stopped')
    ), exposed as (
      select input.*, e.variant, e.phase, e.first_exposed_at,
        extract(epoch from e.first_exposed_at) * 1000 as exposed_at_ms,
        (input.tenant_id, input.experiment_id) in (select tenant_id, id from ended) as is_ended
      from input
        -- One index lookup per score, whatever the planner thinks of the table.
        cross join lateral (
          select variant, phase, first_exposed_at from experiment_exposures e
          where e.tenant_id = input.tenant_id and e.experiment_id = input.experiment_id
            and e.unit_hash = decode(input.unit_hash, 'hex')
          offset 0
        ) e
    ), inserted as (
      insert into experiment_scores (tenant_id, experiment_id, score_id, unit_hash, variant, phase, metric, value,
        denominator, state, observed_at, recorded_at, body)
      select tenant_id, experiment_id, score_id, decode(unit_hash, 'hex'), variant, phase, metric, value::float8,
        denominator::float8,
        case
          when is_ended then 'ended'
          when observed_at_ms::float8 < exposed_at_ms - ${skewMs}::float8 then 'early'
          when window_ms::float8 > 0 and (observed_at_ms::float8 > exposed_at_ms + window_ms::float8
            or recorded_at_ms::float8 > exposed_at_ms + window_ms::float8) then 'late'
          else 'pending' end,
        to_timestamp(observed_at_ms::float8 / 1000), to_timestamp(recorded_at_ms::float8 / 1000), decode(body, 'hex')
      from exposed on conflict do nothing
      returning tenant_id, experiment_id, score_id, unit_hash, variant, phase, metric, value, denominator, state,
        observed_at, recorded_at, body
    )${isRecounted ? recount(sql, sorted) : sql``}
    select tenant_id, experiment_id, score_id, metric, variant, phase, value, denominator, state, observed_at, recorded_at,
      encode(body, 'hex') as body
    from inserted`;
  const found = new Map(inserted.map((row) => [nameOf(row), row]));
  const fresh = new Set(found.keys());
  const missing = scores.filter((score) => !found.has(nameOf(score)));
  if (missing.length > 0) for (const row of await readScores(sql, missing)) found.set(nameOf(row), row);
  return scores.map((score) => {
    const row = found.get(nameOf(score));
    if (row === undefined) return "not_exposed";
    // Of several copies in one batch, the first is new.
    return row.body === score.body ? { ...toScore(row), isNew: fresh.delete(nameOf(score)) } : "id_taken";
  });
}

/** Has the units of new scores counted again. Rows are locked in a global order to avoid deadlocks between nodes. */
function recount(sql: Sql, scores: readonly NewScore[]) {
  const unwindowed = [...new Set(scores.filter(({ windowMs }) => windowMs === 0).map((each) => each.experimentId))];
  return sql`, locked as (
      select e.tenant_id, e.experiment_id, e.unit_hash from experiment_exposures e
      where (e.tenant_id, e.experiment_id, e.unit_hash) in (
        select tenant_id, experiment_id, unit_hash from inserted
        where state = 'pending' and experiment_id = any(${unwindowed}::text[]))
      order by e.tenant_id, e.experiment_id, e.unit_hash for update
    ), recounted as (
      update experiment_exposures e set due_at = to_timestamp(${Math.min(...scores.map((each) => each.recordedAtMs))}::float8 / 1000)
      from locked where (e.tenant_id, e.experiment_id, e.unit_hash)
        = (locked.tenant_id, locked.experiment_id, locked.unit_hash)
    )`;
}

async function readScores(sql: Sql, scores: readonly NewScore[]): Promise<ScoreRow[]> {
  return sql<ScoreRow[]>`
    select s.tenant_id, s.experiment_id, s.score_id, s.metric, s.variant, s.phase, s.value, s.denominator, s.state,
      s.observed_at, s.recorded_at, encode(s.body, 'hex') as body
    from experiment_scores s
    where (s.tenant_id, s.experiment_id, s.score_id) in (
      select * from unnest(${scores.map(({ tenantId }) => tenantId)}::text[],
        ${scores.map(({ experimentId }) => experimentId)}::text[], ${scores.map(({ scoreId }) => scoreId)}::text[]))`;
}

function nameOf({
  tenantId,
  experimentId,
  scoreId,
}: {
  readonly tenantId: string;
  readonly experimentId: string;
  readonly scoreId: string;
}): string {
  return `${tenantId}/${experimentId}/${scoreId}`;
}

function toScore({ observedAt, recordedAt, body: _, tenantId: __, ...row }: ScoreRow): Score {
  return { ...row, observedAtMs: observedAt.getTime(), recordedAtMs: recordedAt.getTime() };
}

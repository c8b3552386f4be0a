import type { Sql } from "../../../platform/db/index.ts";
import type { NodeObservation } from "./domain/observation.ts";

/** A node's observation of a source or a dependency. */
export interface NewObservation {
  readonly kind: NodeObservation["kind"];
  readonly name: string;
  readonly state: string;
}

/** The observations of all nodes, with the time of the database. */
export interface StoredObservations {
  readonly now: Date;
  readonly observations: readonly NodeObservation[];
}

/** The most rows that are read: six for each of several hundred nodes. */
const rowsMax = 5000;

/** Reads the latest observations of all nodes. Their ages are differences of one clock: that of the database. */
export async function readObservations(sql: Sql): Promise<StoredObservations> {
  const [row] = await sql<{ now: Date; observations: NodeObservation[] }[]>`
    select now() as now, (
      select coalesce(json_agg(json_build_object('kind', kind, 'name', name, 'state', state,
          'ageMs', (extract(epoch from now() - observed_at) * 1000)::float8,
          'skewMs', (extract(epoch from node_clock - observed_at) * 1000)::float8)), '[]'::json)
      from (select * from health_observations order by observed_at desc limit ${rowsMax}) latest
    ) as observations`;
  return row!;
}

/** Stores a node's current observations. */
export async function recordObservations(
  sql: Sql,
  nodeId: string,
  nodeClock: Date,
  observations: readonly NewObservation[],
): Promise<void> {
  await sql`
    insert into health_observations (kind, name, node_id, state, observed_at, node_clock)
    select kind, name, ${nodeId}, state, clock_timestamp(), ${nodeClock}
    from unnest(${observations.map(({ kind }) => kind)}::text[], ${observations.map(({ name }) => name)}::text[],
      ${observations.map(({ state }) => state)}::text[]) as o(kind, name, state)
    on conflict (kind, name, node_id) do update
    set state = excluded.state, observed_at = excluded.observed_at, node_clock = excluded.node_clock`;
}

/** Deletes the observations of nodes that have stored nothing for a time. */
export async function deleteOldObservations(sql: Sql, keptMs: number): Promise<void> {
  await sql`
    delete from health_observations where observed_at < now() - ${keptMs}::float8 * interval '1 millisecond'`;
}

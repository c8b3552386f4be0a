import type { TenantId } from "../../../platform/access/index.ts";
import { lines, type Sql } from "../../../platform/db/index.ts";

export interface ExposureKey {
  readonly tenantId: TenantId;
  readonly experimentId: string;
  /** In hexadecimal. */
  readonly unitHash: string;
}

/** The first exposure of a unit. */
export interface Exposure extends ExposureKey {
  /** The index of the variant. */
  readonly variant: number;
  readonly phase: number;
  readonly bucket: number;
  readonly firstExposedAtMs: number;
}

export interface NewExposure extends Exposure {
  /** When the unit is counted; undefined if never. */
  readonly dueAtMs: number | undefined;
  /** By metric. */
  readonly covariates: Readonly<Record<string, number>> | undefined;
}

/** The shards of counts and moments. */
const shardCount = 16;

/** A unique name of an exposure. */
export function exposureName({ experimentId, unitHash }: ExposureKey): string {
  return experimentId + unitHash;
}

/**
 * Stores first exposures and counts their units, in one statement. Returns the stored exposures by name, and the names of the
 * new ones. The exposure of a unit that was exposed before stays unchanged.
 */
export async function insertExposures(
  sql: Sql,
  exposures: readonly NewExposure[],
): Promise<{ readonly stored: ReadonlyMap<string, Exposure>; readonly added: ReadonlySet<string> }> {
  // Insert in a global order to avoid deadlocks between nodes.
  const sorted = exposures.toSorted((a, b) => (exposureName(a) < exposureName(b) ? -1 : 1));
  const shard = Math.floor(Math.random() * shardCount);
  const rows = await sql<ExposureRow[]>`
    with input as (
      select * from rows from (
        string_to_table(${lines(sorted, ({ tenantId }) => tenantId)}, E'\\n'),
        string_to_table(${lines(sorted, ({ experimentId }) => experimentId)}, E'\\n'),
        string_to_table(${lines(sorted, ({ unitHash }) => unitHash)}, E'\\n'),
        string_to_table(${lines(sorted, ({ variant }) => variant)}, E'\\n'),
        string_to_table(${lines(sorted, ({ phase }) => phase)}, E'\\n'),
        string_to_table(${lines(sorted, ({ bucket }) => bucket)}, E'\\n'),
        string_to_table(${lines(sorted, ({ firstExposedAtMs }) => firstExposedAtMs)}, E'\\n'),
        string_to_table(${lines(sorted, ({ dueAtMs }) => dueAtMs)}, E'\\n', ''),
        string_to_table(${lines(sorted, ({ covariates }) => covariates && JSON.stringify(covariates))}, E'\\n', '')
      ) as input(tenant_id, experiment_id, unit_hash, variant, phase, bucket, first_exposed_at_ms, due_at_ms, covariates)
    ), inserted as (
      insert into experiment_exposures (tenant_id, experiment_id, unit_hash, variant, phase, bucket, first_exposed_at,
        due_at, covariates)
      select tenant_id, experiment_id, decode(unit_hash, 'hex'), variant::smallint, phase::smallint, bucket::int,
        to_timestamp(first_exposed_at_ms::float8 / 1000), to_timestamp(due_at_ms::float8 / 1000), covariates::json
      from input on conflict do nothing
      returning tenant_id, experiment_id, unit_hash, variant, phase, bucket, first_exposed_at
    ), counted as (
      insert into experiment_unit_counts (tenant_id, experiment_id, phase, variant, shard, units)
      select tenant_id, experiment_id, phase, variant, ${shard}, count(*) from inserted group by 1, 2, 3, 4
      order by 1, 2, 3, 4
      on conflict (tenant_id, experiment_id, phase, variant, shard)
        do update set units = experiment_unit_counts.units + excluded.units
    )
    select tenant_id, experiment_id, encode(unit_hash, 'hex') as unit_hash, variant, phase, bucket, first_exposed_at
    from inserted`;
  const stored = new Map(rows.map((row) => [exposureName(row), toExposure(row)]));
  const added = new Set(stored.keys());
  const missing = exposures.filter((each) => !stored.has(exposureName(each)));
  if (missing.length > 0) for (const [name, each] of await readExposures(sql, missing)) stored.set(name, each);
  return { stored, added };
}

/** Reads exposures by name; units that were never exposed are missing. */
export async function readExposures(sql: Sql, keys: readonly ExposureKey[]): Promise<Map<string, Exposure>> {
  const rows = await sql<ExposureRow[]>`
    select found.tenant_id, found.experiment_id, encode(found.unit_hash, 'hex') as unit_hash, variant, phase, bucket,
      first_exposed_at
    from unnest(${keys.map(({ tenantId }) => tenantId)}::text[], ${keys.map(({ experimentId }) => experimentId)}::text[],
        ${keys.map(({ unitHash }) => unitHash)}::text[]) as wanted(tenant_id, experiment_id, unit_hash)
      -- One index lookup per unit, whatever the planner thinks of the table.
      cross join lateral (
        select * from experiment_exposures e
        where e.tenant_id = wanted.tenant_id and e.experiment_id = wanted.experiment_id
          and e.unit_hash = decode(wanted.unit_hash, 'hex')
        offset 0
      ) found`;
  return new Map(rows.map((row) => [exposureName(row), toExposure(row)]));
}

interface ExposureRow extends Omit<Exposure, "firstExposedAtMs"> {
  readonly firstExposedAt: Date;
}

function toExposure({ firstExposedAt, ...row }: ExposureRow): Exposure {
  return { ...row, firstExposedAtMs: firstExposedAt.getTime() };
}

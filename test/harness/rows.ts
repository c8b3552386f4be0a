import type { Sql } from "../../src/platform/db/index.ts";

/** The number of rows that each table has gained since tracking began, and the change of the sum of their digests. */
export type Rows = Readonly<Record<string, string>>;

// Background work and the nodes' recipient bookkeeping change these tables at any time.
const livesByItself = [
  "jobs",
  "instance",
  "recipient_states",
  "webhook_cursors",
  "webhook_deliveries",
  "webhook_failures",
  "webhook_replays",
  "shard_nodes",
  "shards",
  "workflow_workers",
  "workflow_trigger_cursors",
  "connector_trigger_deliveries",
  "entitlement_evidence",
  "billing_collections",
  "billing_service_usage",
  "health_observations",
  "history_points",
  "history_samples",
  "queue_sampled_counts",
];

// The last use of keys and sessions, and an item's routing attempts, also change at any time.
const columnsThatChange = [
  "last_used_at",
  "last_seen_at",
  "assign_tries",
  "assign_reason",
  "assign_snapshot",
  "assign_after",
];

// A call adds to one shard of a count or to several: it depends on which writers are busy.
const shardedCounts = ["queue_depths", "queue_daily_counts", "experiment_unit_counts"];

/**
 * Reads how far every table is from its first reading; `except` names tables that may change.
 *
 * Triggers log a digest of every written row, so a read costs the same regardless of the tables' size.
 */
export async function readRows(sql: Sql, except: readonly string[] = []): Promise<Rows> {
  await watch(sql);
  // Summed rows are deleted from the log. Otherwise each read would sum more than the previous one.
  await sql`
    with gone as (delete from test_written_rows returning name, sign, digest)
    insert into test_row_totals as held (name, rows, digest)
      select name, sum(sign), sum(sign * digest) from gone group by name
    on conflict (name) do update set rows = held.rows + excluded.rows, digest = held.digest + excluded.digest`;
  const rows = await sql<{ name: string; held: string }[]>`
    select name, rows || ' rows ' || digest as held from test_row_totals
    where name <> all(${except as string[]}) and (rows <> 0 or digest <> 0)`;
  return Object.fromEntries(rows.map(({ name, held }) => [name, held]));
}

/** A position in the log of written rows. */
export type Mark = string;

/** The current end of the log of written rows. */
export async function markRows(sql: Sql): Promise<Mark> {
  await watch(sql);
  const [row] = await sql<{ mark: Mark }[]>`select coalesce(max(id), 0)::text as mark from test_written_rows`;
  return row!.mark;
}

/**
 * The number of rows of each table that are new or changed since a mark, without a `readRows` in between; unchanged
 * tables are omitted. The shards of a count are one row.
 */
export async function changedRows(sql: Sql, mark: Mark): Promise<Readonly<Record<string, number>>> {
  const rows = await sql<{ name: string; count: number }[]>`
    select name, case when name = any(${shardedCounts}) then 1 else sum(count)::int end as count
    from (
      select name, sum(sign) as count from test_written_rows where id > ${mark} group by name, digest having sum(sign) > 0
    ) changed group by name order by name`;
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

const watched = new WeakMap<Sql, Promise<void>>();

/** Adds logging triggers to every table. */
function watch(sql: Sql): Promise<void> {
  const known = watched.get(sql);
  if (known !== undefined) return known;
  const done = installTriggers(sql);
  watched.set(sql, done);
  return done;
}

async function installTriggers(sql: Sql): Promise<void> {
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname <> all(${livesByItself}) order by relname`;
  await sql.unsafe(`
    create unlogged table if not exists test_written_rows (
      id bigserial, name text not null, sign int not null, digest numeric not null);
    create unlogged table if not exists test_row_totals (
      name text primary key, rows bigint not null, digest numeric not null);
    create or replace function log_written_row() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' then
        insert into test_written_rows (name, sign, digest)
        values (tg_argv[0], -1, hashtextextended((to_jsonb(old) - '{${columnsThatChange.join(",")}}'::text[])::text, 0));
      end if;
      if tg_op <> 'DELETE' then
        insert into test_written_rows (name, sign, digest)
        values (tg_argv[0], 1, hashtextextended((to_jsonb(new) - '{${columnsThatChange.join(",")}}'::text[])::text, 0));
      end if;
      return null;
    end $$;
    ${tables
      .map(
        ({ name }) => `create or replace trigger log_written_row after insert or update or delete on "${name}"
          for each row execute function log_written_row('${name}');`,
      )
      .join("\n")}`);
}

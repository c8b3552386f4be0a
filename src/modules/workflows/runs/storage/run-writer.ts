import { hasKey, lines, type Sql } from "../../../../platform/db/index.ts";
import { claimBatch } from "../../../../platform/idempotency/index.ts";
import type { Shards } from "../../../../platform/shards/index.ts";
import type { NewRunWrite, RunWrite } from "./run-write.ts";
import { insertRecords, storeConsequences } from "./run-write-parts.ts";

/** A run that was not written, and why. */
export type StartRefusal = "duplicate" | "run_key_taken";

/**
 * Inserts runs after their first advance in one statement. Runs that have already ended go straight to the archive.
 * Returns why a run was not inserted, by its position.
 */
export async function insertRuns(sql: Sql, writes: readonly NewRunWrite[]): Promise<ReadonlyMap<number, StartRefusal>> {
  const keyed = writes.flatMap(({ records }, batchIndex) => records.map((record) => ({ batchIndex, record })));
  const hasRunKeys = writes.some(({ runKey }) => runKey !== "");
  const ended = writes.some(({ end }) => end !== undefined);
  const live = writes.some(({ end }) => end === undefined);
  const text = (value: (write: NewRunWrite) => string | number | undefined) => lines(writes, value);
  const rows = await sql<{ nth: number; refused: boolean }[]>`
    with input as (
      select nth::int - 1 as nth, tenant_id, id, environment_id, definition_id, version::int as version, run_key, status,
        state, revision::int as revision, shard::smallint as shard, to_timestamp(wake_at_ms::float8 / 1000) as wake_at,
        origin, coalesce(parent_run_id, '') as parent_run_id, to_timestamp(created_at_ms::float8 / 1000) as created_at,
        unread::int as unread, end_status, output, error, history
      from rows from (
        string_to_table(${text(({ tenantId }) => tenantId)}, E'\\n', ''),
        string_to_table(${text(({ id }) => id)}, E'\\n', ''),
        string_to_table(${text(({ environmentId }) => environmentId)}, E'\\n', ''),
        string_to_table(${text(({ definitionId }) => definitionId)}, E'\\n', ''),
        string_to_table(${text(({ version }) => version)}, E'\\n', ''),
        unnest(${writes.map(({ runKey }) => runKey)}::text[]),
        string_to_table(${text(({ status }) => status)}, E'\\n', ''),
        string_to_table(${text(({ stateJson }) => stateJson)}, E'\\n', ''),
        string_to_table(${text(({ revision }) => revision + 1)}, E'\\n', ''),
        string_to_table(${text(({ shard }) => shard)}, E'\\n', ''),
        string_to_table(${text(({ wakeAtMs }) => wakeAtMs)}, E'\\n', ''),
        string_to_table(${text(({ originJson }) => originJson)}, E'\\n', ''),
        string_to_table(${text(({ parentRunId }) => parentRunId)}, E'\\n', ''),
        string_to_table(${text(({ createdAtMs }) => createdAtMs)}, E'\\n', ''),
        string_to_table(${text(({ unread }) => unread)}, E'\\n', ''),
        string_to_table(${text(({ end }) => end?.status)}, E'\\n', ''),
        string_to_table(${text(({ end }) => end?.outputJson)}, E'\\n', ''),
        string_to_table(${text(({ end }) => end?.errorJson)}, E'\\n', ''),
        string_to_table(${text(({ historyJson }) => historyJson)}, E'\\n', '')
      ) with ordinality as input(tenant_id, id, environment_id, definition_id, version, run_key, status, state, revision,
        shard, wake_at_ms, origin, parent_run_id, created_at_ms, unread, end_status, output, error, history, nth)
    )
    ${keyed.length === 0 ? sql`` : sql`, ${claimBatch(sql, keyed)}`}
    , accepted as (
      select * from input i
      where true
      ${keyed.length === 0 ? sql`` : sql`and nth not in (select batch_index from refused)`}
      ${
        hasRunKeys
          ? sql`and (run_key = '' or not exists (
              select from workflow_runs r where r.tenant_id = i.tenant_id and r.environment_id = i.environment_id
                and r.definition_id = i.definition_id and r.run_key = i.run_key))`
          : sql``
      }
    )
    ${
      live
        ? sql`, live as (
            insert into workflow_runs (tenant_id, id, environment_id, definition_id, version, run_key, status, state,
              revision, shard, wake_at, origin, parent_run_id, unread, created_at)
            select tenant_id, id, environment_id, definition_id, version, run_key, status, state::json, revision, shard,
              wake_at, origin::json, parent_run_id, unread, created_at
            from accepted where end_status is null
            -- Batches of other nodes may contain the same run keys. Insert them in one order to avoid deadlocks.
            ${hasRunKeys ? sql`order by tenant_id, environment_id, definition_id, run_key` : sql``}
            on conflict do nothing
            returning tenant_id, id
          )`
        : sql``
    }
    ${
      ended
        ? sql`, archived as (
            insert into workflow_run_archive (tenant_id, id, environment_id, definition_id, version, run_key, status,
              state, output, error, revision, origin, parent_run_id, created_at, ended_at)
            select tenant_id, id, environment_id, definition_id, version, run_key, end_status, state::json, output::json,
              error::json, revision, origin::json, parent_run_id, created_at, now()
            from accepted where end_status is not null
          )`
        : sql``
    }
    , applied as (
      select nth, tenant_id, id, revision, history from accepted where end_status is not null
      ${
        live
          ? sql`union all
            select a.nth, a.tenant_id, a.id, a.revision, a.history from accepted a join live using (tenant_id, id)`
          : sql``
      }
    )
    ${storeConsequences(sql, writes)}
    select nth, ${keyed.length === 0 ? sql`false` : sql`nth in (select batch_index from refused)`} as refused from lost`;
  return new Map(rows.map(({ nth, refused }) => [nth, refused ? "duplicate" : "run_key_taken"]));
}

/**
 * Writes advances of runs in one statement; returns the positions of those that were written. A run that has changed since
 * it was read, or whose shard has another owner now, is not written.
 */
export async function updateRuns(
  sql: Sql,
  writes: readonly RunWrite[],
  currentShards: Shards["currentSql"],
): Promise<ReadonlySet<number>> {
  const ended = writes.some(({ end }) => end !== undefined);
  const live = writes.some(({ end }) => end === undefined);
  const owned = new Map(
    writes.flatMap(({ epoch }) => (epoch === undefined ? [] : [[epoch.shard, epoch.epoch] as const])),
  );
  const text = (value: (write: RunWrite) => string | number | undefined) => lines(writes, value);
  // The owner of the shard is checked in the statement itself, so that a node that was suspended writes nothing.
  const isOwned = owned.size > 0 ? sql`and (i.epoch is null or r.shard in (select shard from current))` : sql``;
  const isUnchanged = sql`r.revision = i.revision ${isOwned}`;
  const isOrdered = writes.length > 1;
  // The array has all runs locked before the first one is changed.
  const isCurrent = sql`${hasKey(sql, "r", "i")} and ${isUnchanged}
    ${isOrdered ? sql`and i.nth = any(array(select nth from locked))` : sql``}`;
  const rows = await sql<{ nth: number }[]>`
    with ${owned.size > 0 ? sql`current as (${currentShards(sql, owned)}),` : sql``} input as (
      select nth::int - 1 as nth, tenant_id, id, revision::int as revision, status, state,
        to_timestamp(wake_at_ms::float8 / 1000) as wake_at, unread::int as unread, end_status, output, error, epoch,
        history
      from rows from (
        string_to_table(${text(({ tenantId }) => tenantId)}, E'\\n', ''),
        string_to_table(${text(({ id }) => id)}, E'\\n', ''),
        string_to_table(${text(({ revision }) => revision)}, E'\\n', ''),
        string_to_table(${text(({ status }) => status)}, E'\\n', ''),
        string_to_table(${text(({ stateJson }) => stateJson)}, E'\\n', ''),
        string_to_table(${text(({ wakeAtMs }) => wakeAtMs)}, E'\\n', ''),
        string_to_table(${text(({ unread }) => unread)}, E'\\n', ''),
        string_to_table(${text(({ end }) => end?.status)}, E'\\n', ''),
        string_to_table(${text(({ end }) => end?.outputJson)}, E'\\n', ''),
        string_to_table(${text(({ end }) => end?.errorJson)}, E'\\n', ''),
        string_to_table(${text(({ epoch }) => epoch?.epoch)}, E'\\n', ''),
        string_to_table(${text(({ historyJson }) => historyJson)}, E'\\n', '')
      ) with ordinality as input(tenant_id, id, revision, status, state, wake_at_ms, unread, end_status, output, error,
        epoch, history, nth)
    )
    ${
      isOrdered
        ? sql`, locked as materialized (
            -- Batches of other nodes may contain the same runs. All lock them in this order to avoid deadlocks.
            select i.nth from (select * from input order by tenant_id, id) i cross join lateral (
              select r.revision, r.shard from workflow_runs r
              where r.tenant_id = i.tenant_id and r.id = i.id limit 1 for update) r
            where ${isUnchanged}
          )`
        : sql``
    }
    ${
      live
        ? sql`, updated as (
            update workflow_runs r
            set status = i.status, state = i.state::json, revision = r.revision + 1,
              wake_at = i.wake_at,
              unread = i.unread
            from input i where i.end_status is null and ${isCurrent}
            returning i.nth, r.tenant_id, r.id, r.revision, i.history
          )`
        : sql``
    }
    ${
      ended
        ? sql`, deleted as (
            delete from workflow_runs r using input i where i.end_status is not null and ${isCurrent}
            returning i.nth, i.end_status, i.state as end_state, i.output, i.error, i.history, r.*
          ), archived as (
            insert into workflow_run_archive (tenant_id, id, environment_id, definition_id, version, run_key, status,
              state, output, error, revision, origin, parent_run_id, created_at, ended_at)
            select tenant_id, id, environment_id, definition_id, version, run_key, end_status, end_state::json,
              output::json, error::json, revision + 1, origin, parent_run_id, created_at, now()
            from deleted
          ), emptied as (
            delete from workflow_mailbox m using deleted d where m.tenant_id = d.tenant_id and m.run_id = d.id
          )`
        : sql``
    }
    , applied as (
      ${live ? sql`select nth, tenant_id, id, revision, history from updated` : sql``}
      ${live && ended ? sql`union all` : sql``}
      ${ended ? sql`select nth, tenant_id, id, revision + 1 as revision, history from deleted` : sql``}
    )
    ${storeConsequences(sql, writes)}
    ${insertRecords(sql, writes)}
    select nth from applied`;
  return new Set(rows.map(({ nth }) => nth));
}

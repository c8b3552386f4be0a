import { type Fragment, lines, type Sql } from "../../../../platform/db/index.ts";
import { claimBatch } from "../../../../platform/idempotency/index.ts";
import type { Shards } from "../../../../platform/shards/index.ts";
import { cancelChildKind } from "./child-start-store.ts";
import type { NewRunWrite, RunWrite, TaskWrite } from "./run-write.ts";

/** A run that was not written, and why. */
export type StartRefusal = "duplicate" | "run_key_taken";

/**
 * Inserts runs after their first advance in one statement. Runs that have already ended go straight to the archive.
 * Returns why a run was not inserted, by its position.
 */
export async function insertRuns(sql: Sql, writes: readonly NewRunWrite[]): Promise<ReadonlyMap<number, StartRefusal>> {
  const keyed = writes.flatMap(({ record }, batchIndex) => (record === undefined ? [] : [{ batchIndex, record }]));
  const hasRunKeys = writes.some(({ runKey }) => runKey !== "");
  const ended = writes.some(({ end }) => end !== undefined);
  const live = writes.some(({ end }) => end === undefined);
  const text = (value: (write: NewRunWrite) => string | number | undefined) => lines(writes, value);
  const rows = await sql<{ nth: number; refused: boolean }[]>`
    with input as (
      select nth::int - 1 as nth, tenant_id, id, environment_id, definition_id, version::int as version, run_key, status,
        state, revision::int as revision, shard::smallint as shard, to_timestamp(wake_at_ms::float8 / 1000) as wake_at,
        origin, coalesce(parent_run_id, '') as parent_run_id, to_timestamp(created_at_ms::float8 / 1000) as created_at,
        end_status, output, error, history
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
        string_to_table(${text(({ end }) => end?.status)}, E'\\n', ''),
        string_to_table(${text(({ end }) => end?.outputJson)}, E'\\n', ''),
        string_to_table(${text(({ end }) => end?.errorJson)}, E'\\n', ''),
        string_to_table(${text(({ historyJson }) => historyJson)}, E'\\n', '')
      ) with ordinality as input(tenant_id, id, environment_id, definition_id, version, run_key, status, state, revision,
        shard, wake_at_ms, origin, parent_run_id, created_at_ms, end_status, output, error, history, nth)
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
              wake_at, origin::json, parent_run_id, 0, created_at
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
    ${consequences(sql, writes)}
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
  const isUnchanged = sql`${hasId(sql, "r", "i")} and r.revision = i.revision ${isOwned}`;
  const isOrdered = writes.length > 1;
  // The array has all runs locked before the first one is changed.
  const isCurrent = isOrdered ? sql`${isUnchanged} and i.nth = any(array(select nth from locked))` : isUnchanged;
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
            -- Batches of other nodes may contain the same runs. All lock them in this order to avoid deadlocks. Ordered by the
            -- input, because the planner would otherwise read the whole table in the order of its primary key.
            select i.nth from workflow_runs r join input i on ${isUnchanged}
            order by i.tenant_id, i.id for update of r
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
    ${consequences(sql, writes)}
    ${insertRecords(sql, writes)}
    select nth from applied`;
  return new Set(rows.map(({ nth }) => nth));
}

/**
 * Stores the idempotency records of calls that changed a run. A key that was used before has been detected when the run was
 * read: of two calls with the same key, the second finds that the run has changed.
 */
function insertRecords(sql: Sql, writes: readonly RunWrite[]): Fragment {
  const records = partsOf(writes, ({ record }) => (record === undefined ? [] : [record]));
  if (records.length === 0) return sql``;
  return sql`, recorded as (
      insert into idempotency_records (tenant_id, principal, operation, key, fingerprint, state, response, created_at)
      select a.tenant_id, r.principal, r.operation, r.key, decode(r.fingerprint, 'hex'), 'completed', r.response,
        to_timestamp(r.created_at_ms / 1000)
      from applied a join unnest(${records.map(({ nth }) => nth)}::int[],
        ${records.map(({ part }) => part.principal)}::text[], ${records.map(({ part }) => part.operation)}::text[],
        ${records.map(({ part }) => part.key)}::text[],
        ${records.map(({ part }) => part.fingerprint.toString("hex"))}::text[],
        ${records.map(({ part }) => part.response)}::text[],
        ${records.map(({ part }) => part.createdAt.getTime())}::float8[])
        as r(nth, principal, operation, key, fingerprint, response, created_at_ms) on r.nth = a.nth
      on conflict do nothing
    )`;
}

/**
 * Everything that is stored with runs, as common table expressions that read `input` and `applied`. Frequent parts leave out
 * the runs of `lost`, which is empty as a rule, instead of joining `applied`: connections with generic plans have no hash
 * joins, so the cost of a join would grow with the square of the batch. Subqueries with `offset 0` are planned separately,
 * because the planner would otherwise join `applied` with all rows of a tenant first.
 */
function consequences(sql: Sql, writes: readonly RunWrite[]): Fragment {
  return sql`
    , lost as (select nth from input where nth not in (select nth from applied))
    , history as (
      insert into workflow_history (tenant_id, run_id, revision, at, entries)
      select tenant_id, id, revision, now(), history::json from applied
    )
    ${insertTasks(sql, writes)}
    ${updateTasks(sql, writes)}
    ${deleteTasks(sql, writes)}
    ${holdTasks(sql, writes)}
    ${insertMail(sql, writes)}
    ${consumeMail(sql, writes)}
    ${insertCancellations(sql, writes)}
    ${insertDeadLetters(sql, writes)}
    ${insertEvents(sql, writes)}`;
}

/**
 * Whether a row has the id of an input row. With statistics of an empty table, the planner would scan the whole table and
 * merge it with the input. It cannot merge arrays, so it searches the table for each input row. Tasks are compared by
 * their run as well, so that their index by run is as good as the primary key.
 */
function hasId(sql: Sql, row: "r" | "t", input: "i" | "n" | "e" | "c"): Fragment {
  return sql`${sql(row)}.tenant_id = any(array[${sql(input)}.tenant_id]) and ${sql(row)}.id = any(array[${sql(input)}.id])`;
}

/** Pairs each part of the writes with the position of its write. */
function partsOf<Part>(writes: readonly RunWrite[], parts: (write: RunWrite) => readonly Part[]) {
  return writes.flatMap((write, nth) => parts(write).map((part) => ({ nth, write, part })));
}

function insertTasks(sql: Sql, writes: readonly RunWrite[]): Fragment {
  const tasks = partsOf(writes, ({ newTasks }) => newTasks);
  if (tasks.length === 0) return sql``;
  const text = (value: (task: TaskWrite) => string | number | undefined) => lines(tasks, ({ part }) => value(part));
  return sql`, tasks as (
      insert into workflow_tasks (tenant_id, id, environment_id, run_id, step_key, queue, type, version_range, state,
        attempt, input, ready_at, attempt_ms, heartbeat_ms, lease_token, worker_id, build_id, leased_at, lease_until,
        attempt_until, created_at)
      select t.tenant_id, t.id, t.environment_id, t.run_id, t.step_key, t.queue, t.type, coalesce(t.version_range, ''), t.state,
        1, t.input::json, now(), t.attempt_ms::bigint, t.heartbeat_ms::bigint, coalesce(t.lease_token, ''),
        coalesce(t.worker_id, ''), coalesce(t.build_id, ''), case when t.lease_token is not null then now() end,
        case when t.lease_token is not null then now() + make_interval(secs => least(t.attempt_ms::float8,
          coalesce(nullif(t.heartbeat_ms::float8, 0), t.attempt_ms::float8)) / 1000) end,
        case when t.lease_token is not null then now() + make_interval(secs => t.attempt_ms::float8 / 1000) end, now()
      from rows from (
        string_to_table(${lines(tasks, ({ nth }) => nth)}, E'\\n', ''),
        string_to_table(${lines(tasks, ({ write }) => write.tenantId)}, E'\\n', ''),
        string_to_table(${lines(tasks, ({ write }) => write.environmentId)}, E'\\n', ''),
        string_to_table(${lines(tasks, ({ write }) => write.id)}, E'\\n', ''),
        string_to_table(${text(({ id }) => id)}, E'\\n', ''),
        string_to_table(${text(({ stepKey }) => stepKey)}, E'\\n', ''),
        string_to_table(${text(({ queue }) => queue)}, E'\\n', ''),
        string_to_table(${text(({ type }) => type)}, E'\\n', ''),
        string_to_table(${text(({ versionRange }) => versionRange)}, E'\\n', ''),
        string_to_table(${text(({ inputJson }) => inputJson)}, E'\\n', ''),
        string_to_table(${text(({ attemptMs }) => attemptMs)}, E'\\n', ''),
        string_to_table(${text(({ heartbeatMs }) => heartbeatMs)}, E'\\n', ''),
        string_to_table(${text(({ held, lease }) => (lease !== undefined ? "leased" : held ? "held" : "ready"))}, E'\\n', ''),
        string_to_table(${text(({ lease }) => lease?.token)}, E'\\n', ''),
        unnest(${tasks.map(({ part }) => part.lease?.workerId ?? null)}::text[],
          ${tasks.map(({ part }) => part.lease?.buildId ?? null)}::text[])
      ) as t(nth, tenant_id, environment_id, run_id, id, step_key, queue, type, version_range, input, attempt_ms,
        heartbeat_ms, state, lease_token, worker_id, build_id)
      where t.nth::int not in (select nth from lost)
    )`;
}

function updateTasks(sql: Sql, writes: readonly RunWrite[]): Fragment {
  const tasks = partsOf(writes, ({ retriedTasks }) => retriedTasks);
  if (tasks.length === 0) return sql``;
  return sql`, retried as (
      update workflow_tasks t
      set state = 'ready', attempt = n.attempt, ready_at = now() + make_interval(secs => n.delay_ms / 1000),
        lease_token = '', worker_id = '', build_id = '', leased_at = null, lease_until = null, attempt_until = null
      from (
        select * from unnest(${tasks.map(({ nth }) => nth)}::int[], ${tasks.map(({ write }) => write.tenantId)}::text[],
          ${tasks.map(({ write }) => write.id)}::text[], ${tasks.map(({ part }) => part.id)}::text[],
          ${tasks.map(({ part }) => part.attempt)}::int[], ${tasks.map(({ part }) => part.delayMs)}::float8[])
          as n(nth, tenant_id, run_id, id, attempt, delay_ms)
        where n.nth not in (select nth from lost) offset 0
      ) n
      where ${hasId(sql, "t", "n")} and t.run_id = any(array[n.run_id])
    )`;
}

function deleteTasks(sql: Sql, writes: readonly RunWrite[]): Fragment {
  const tasks = partsOf(writes, ({ endedTasks }) => endedTasks);
  if (tasks.length === 0) return sql``;
  return sql`, ended_tasks as (
      delete from workflow_tasks t using (
        select * from rows from (
          string_to_table(${lines(tasks, ({ nth }) => nth)}, E'\\n', ''),
          string_to_table(${lines(tasks, ({ write }) => write.tenantId)}, E'\\n', ''),
          string_to_table(${lines(tasks, ({ write }) => write.id)}, E'\\n', ''),
          string_to_table(${lines(tasks, ({ part }) => part)}, E'\\n', '')
        ) as e(nth, tenant_id, run_id, id)
        where e.nth::int not in (select nth from lost) offset 0
      ) e
      where ${hasId(sql, "t", "e")} and t.run_id = any(array[e.run_id])
    )`;
}

function holdTasks(sql: Sql, writes: readonly RunWrite[]): Fragment {
  const holds = partsOf(writes, ({ hold }) => (hold === undefined ? [] : [hold]));
  if (holds.length === 0) return sql``;
  // A statement changes a row once: the update must not keep the row of an ended task from being deleted.
  const ended = writes.flatMap(({ hold, endedTasks }) => (hold === undefined ? [] : endedTasks));
  return sql`, held_tasks as (
      update workflow_tasks t set state = case when h.hold then 'held' else 'ready' end
      from applied a join unnest(${holds.map(({ nth }) => nth)}::int[], ${holds.map(({ part }) => part)}::boolean[])
        as h(nth, hold) on h.nth = a.nth
      where t.tenant_id = a.tenant_id and t.run_id = a.id
        and t.state = any(case when h.hold then array['ready', 'incompatible'] else array['held'] end)
        and t.id <> all(${ended}::text[])
    )`;
}

function insertMail(sql: Sql, writes: readonly RunWrite[]): Fragment {
  const mail = partsOf(writes, ({ newMail }) => newMail);
  if (mail.length === 0) return sql``;
  const consumed = new Map(
    partsOf(writes, ({ consumedMail }) => consumedMail).map(({ nth, part }) => [`${nth} ${part.eventId}`, part.key]),
  );
  return sql`, mail as (
      insert into workflow_mailbox (tenant_id, run_id, event_id, revision, event, scope, payload, received_at, consumed_by)
      select a.tenant_id, a.id, m.event_id, m.revision, m.event, m.scope, m.payload::json, now(), m.consumed_by
      from applied a join unnest(${mail.map(({ nth }) => nth)}::int[], ${mail.map(({ part }) => part.eventId)}::text[],
        ${mail.map(({ write }) => write.revision + 1)}::int[], ${mail.map(({ part }) => part.event)}::text[],
        ${mail.map(({ part }) => part.scope)}::text[], ${mail.map(({ part }) => part.payloadJson)}::text[],
        ${mail.map(({ nth, part }) => consumed.get(`${nth} ${part.eventId}`) ?? "")}::text[])
        as m(nth, event_id, revision, event, scope, payload, consumed_by) on m.nth = a.nth
      where a.nth not in (${endedNths(sql, writes)})
    )`;
}

function consumeMail(sql: Sql, writes: readonly RunWrite[]): Fragment {
  const fresh = new Set(partsOf(writes, ({ newMail }) => newMail).map(({ nth, part }) => `${nth} ${part.eventId}`));
  const mail = partsOf(writes, ({ consumedMail }) => consumedMail).filter(
    ({ nth, part }) => !fresh.has(`${nth} ${part.eventId}`),
  );
  if (mail.length === 0) return sql``;
  return sql`, consumed as (
      update workflow_mailbox m set consumed_by = c.key
      from (
        select * from unnest(${mail.map(({ nth }) => nth)}::int[], ${mail.map(({ write }) => write.tenantId)}::text[],
          ${mail.map(({ write }) => write.id)}::text[], ${mail.map(({ part }) => part.eventId)}::text[],
          ${mail.map(({ part }) => part.key)}::text[]) as c(nth, tenant_id, run_id, event_id, key)
        where c.nth not in (select nth from lost) and c.nth not in (${endedNths(sql, writes)}) offset 0
      ) c
      where m.tenant_id = c.tenant_id and m.run_id = c.run_id and m.event_id = c.event_id
    )`;
}

/** The positions of ended runs, whose mailbox is deleted. */
function endedNths(sql: Sql, writes: readonly RunWrite[]): Fragment {
  const ended = writes.flatMap(({ end }, nth) => (end === undefined ? [] : [nth]));
  return sql`select unnest(${ended}::int[])`;
}

/** The time that the node has to cancel child runs itself, before a job does. */
const cancellationDelayS = 5;
const cancellationAttempts = 100;

/** Has child runs cancelled even if this node dies after the commit. */
function insertCancellations(sql: Sql, writes: readonly RunWrite[]): Fragment {
  const runs = partsOf(writes, ({ cancelledRuns }) => cancelledRuns);
  if (runs.length === 0) return sql``;
  return sql`, cancellations as (
      insert into jobs (tenant_id, id, kind, payload, dedupe_key, run_at, max_attempts, created_at)
      select a.tenant_id, c.id, ${cancelChildKind}, jsonb_build_object('run_id', c.id, 'parent_run_id', a.id), c.id,
        now() + make_interval(secs => ${cancellationDelayS}), ${cancellationAttempts}, now()
      from applied a join unnest(${runs.map(({ nth }) => nth)}::int[], ${runs.map(({ part }) => part)}::text[]) as c(nth, id)
        on c.nth = a.nth
      on conflict do nothing
    )`;
}

/** The maximum number of replays of a dead letter. */
const maxReplays = 3;

/** Inserts the letters of runs, and opens those of replays again. */
function insertDeadLetters(sql: Sql, writes: readonly RunWrite[]): Fragment {
  const letters = partsOf(writes, ({ end }) => (end?.deadLetter === undefined ? [] : [end.deadLetter]));
  if (letters.length === 0) return sql``;
  return sql`, dead_letters as (
      insert into workflow_dead_letters as letter (tenant_id, run_id, environment_id, definition_id, error_code, step,
        failed_at, replay_count, max_replays, state, replay_run_id, environment_key, definition_key, version, error_message,
        first_failed_at)
      select distinct on (a.tenant_id, l.letter) a.tenant_id, l.letter, l.environment_id, l.definition_id, l.code, l.step,
        now(), 0, ${maxReplays}::int, 'open', case when l.letter = a.id then '' else a.id end, l.environment_key,
        l.definition_key, l.version, l.message, now()
      from applied a join unnest(${letters.map(({ nth }) => nth)}::int[], ${letters.map(({ part }) => part.letter)}::text[],
        ${letters.map(({ part }) => part.code)}::text[], ${letters.map(({ part }) => part.message)}::text[],
        ${letters.map(({ part }) => part.step)}::text[], ${letters.map(({ write }) => write.environmentId)}::text[],
        ${letters.map(({ part }) => part.definitionId)}::text[], ${letters.map(({ part }) => part.environmentKey)}::text[],
        ${letters.map(({ part }) => part.definitionKey)}::text[], ${letters.map(({ part }) => part.version)}::int[])
        as l(nth, letter, code, message, step, environment_id, definition_id, environment_key, definition_key, version)
        on l.nth = a.nth
      order by a.tenant_id, l.letter, a.id desc
      on conflict (tenant_id, run_id) do update
      set state = case when letter.state = 'quarantined' then 'quarantined' else 'open' end,
        error_code = excluded.error_code, error_message = excluded.error_message, step = excluded.step,
        version = excluded.version, failed_at = excluded.failed_at
      -- Only the latest replay decides whether the letter is open.
      where letter.replay_run_id = excluded.replay_run_id
    )`;
}

function insertEvents(sql: Sql, writes: readonly RunWrite[]): Fragment {
  const events = partsOf(writes, (write) => write.events);
  if (events.length === 0) return sql``;
  return sql`, events as (
      insert into events (tenant_id, id, type, source, subject, time, data, environment_id, in_production)
      select e.tenant_id, e.id, e.type, '/workflow', e.subject, now(), e.data::jsonb, e.environment_id,
        e.in_production::boolean
      from rows from (
        string_to_table(${lines(events, ({ nth }) => nth)}, E'\\n', ''),
        string_to_table(${lines(events, ({ write }) => write.tenantId)}, E'\\n', ''),
        string_to_table(${lines(events, ({ part }) => part.id)}, E'\\n', ''),
        string_to_table(${lines(events, ({ part }) => part.type)}, E'\\n', ''),
        string_to_table(${lines(events, ({ part }) => part.subject)}, E'\\n', ''),
        string_to_table(${lines(events, ({ part }) => JSON.stringify(part.data))}, E'\\n', ''),
        string_to_table(${lines(events, ({ write }) => write.environmentId)}, E'\\n', ''),
        string_to_table(${lines(events, ({ write }) => write.inProduction)}, E'\\n', '')
      ) as e(nth, tenant_id, id, type, subject, data, environment_id, in_production)
      where e.nth::int not in (select nth from lost)
    )`;
}

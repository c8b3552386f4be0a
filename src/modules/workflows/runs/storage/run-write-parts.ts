import { type Fragment, hasKey, lines, type Sql } from "../../../../platform/db/index.ts";
import { taskKey } from "../../tasks/index.ts";
import { deleteApprovals, insertApprovals, updateApprovals } from "./approval-write-parts.ts";
import { cancelChildKind } from "./child-start-store.ts";
import { partsOf, type RunWrite, type TaskWrite } from "./run-write.ts";

/**
 * Stores the idempotency records of calls that changed a run. A key that was used before has been detected when the run was
 * read, and an advance applies only the first of several calls with the same key.
 */
export function insertRecords(sql: Sql, writes: readonly RunWrite[]): Fragment {
  const records = partsOf(writes, ({ records }) => records);
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
 * the runs of `lost`, which is empty as a rule, instead of joining `applied`: a generic plan expects so many rows that it may
 * join them with all rows of a table. Subqueries with `offset 0` or a limit are planned separately,
 * because the planner would otherwise join `applied` with all rows of a tenant first.
 */
export function storeConsequences(sql: Sql, writes: readonly RunWrite[]): Fragment {
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
    ${insertApprovals(sql, writes)}
    ${updateApprovals(sql, writes)}
    ${deleteApprovals(sql, writes)}
    ${insertCancellations(sql, writes)}
    ${insertDeadLetters(sql, writes)}
    ${insertEvents(sql, writes)}`;
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
      where ${hasKey(sql, "t", "n", taskKey)}
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
        where e.nth::int not in (select nth from lost) limit ${tasks.length}
      ) e
      where ${hasKey(sql, "t", "e", taskKey)}
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
  // The times of events are a microsecond apart, so that those of one advance keep their order.
  return sql`, mail as (
      insert into workflow_mailbox (tenant_id, run_id, event_id, revision, event, scope, payload, received_at, consumed_by)
      select a.tenant_id, a.id, m.event_id, m.revision, m.event, m.scope, m.payload::json,
        now() + m.position * interval '1 microsecond', m.consumed_by
      from applied a join unnest(${mail.map(({ nth }) => nth)}::int[], ${mail.map(({ part }) => part.eventId)}::text[],
        ${mail.map(({ write }) => write.revision + 1)}::int[], ${mail.map(({ part }) => part.event)}::text[],
        ${mail.map(({ part }) => part.scope)}::text[], ${mail.map(({ part }) => part.payloadJson)}::text[],
        ${mail.map(({ nth, part }) => consumed.get(`${nth} ${part.eventId}`) ?? "")}::text[]) with ordinality
        as m(nth, event_id, revision, event, scope, payload, consumed_by, position) on m.nth = a.nth
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

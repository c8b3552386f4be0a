-- What starts workflow runs without a call: schedules and event filters.
create table workflow_triggers (
  tenant_id            ulid not null,
  id                   ulid not null,
  environment_id       ulid not null,
  -- The key of the environment. It never changes.
  environment_key      text not null,
  name                 text collate "C" not null,
  -- The key or the id of the definition.
  definition           text not null,
  -- 0: the version that is active when a run starts.
  version              integer not null,
  kind                 text not null check (kind in ('schedule', 'event')),
  -- The schedule, or the condition on events.
  spec                 json not null,
  -- Exact types and families such as 'queue.item.*'; empty for a schedule.
  event_types          text[] not null,
  -- Templates.
  input                json not null,
  run_key              text not null,
  enabled              boolean not null,
  disabled_reason      text not null check (disabled_reason in ('', 'manual', 'failing')),
  -- The shard whose owner starts the runs; the same for all triggers of a tenant.
  shard                smallint not null,
  -- Raised by every change after which the position below is another one.
  generation           integer not null default 1,
  -- The first time of the schedule that was not handled; null if there is none.
  next_at              timestamptz,
  -- When the trigger needs attention: its next time with its jitter, or earlier while a time is queued.
  due_at               timestamptz,
  -- A time of the schedule that waits for the end of the open runs.
  queued_at            timestamptz,
  -- Runs of a schedule that have not ended, as far as known.
  open_run_ids         text[] not null default '{}',
  -- Events that were committed before are not for this trigger, nor are those of the transaction itself.
  since_snapshot       text not null default pg_current_snapshot()::text,
  since_xid            xid8 not null default pg_current_xact_id(),
  last_fired_at        timestamptz,
  last_run_id          text not null default '',
  last_skipped_at      timestamptz,
  last_error           text not null default '',
  consecutive_failures integer not null default 0,
  created_at           timestamptz not null,
  updated_at           timestamptz not null,
  record_version       integer not null default 1,
  primary key (tenant_id, id)
) with (fillfactor = 70);
create unique index workflow_triggers_name on workflow_triggers (tenant_id, environment_id, name);
create index workflow_triggers_due on workflow_triggers (due_at) where enabled and due_at is not null;

-- How far the event log of a tenant was read for its triggers.
create table workflow_trigger_cursors (
  tenant_id ulid primary key,
  shard     smallint not null,
  xid       xid8 not null,
  id        text not null
) with (fillfactor = 50);

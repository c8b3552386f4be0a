-- Runs that have not ended. Everything about a run changes together with its revision.
create table workflow_runs (
  tenant_id ulid not null,
  id ulid not null,
  environment_id ulid not null,
  definition_id ulid not null,
  version integer not null,
  -- Empty for a run without a key.
  run_key text not null,
  status text not null check (status in ('pending', 'running', 'waiting', 'paused')),
  -- The snapshot of the engine: input, outputs and what is in progress.
  state json not null,
  revision integer not null,
  -- The shard whose owner advances the run in the background.
  shard smallint not null,
  -- When the run needs attention without an event: a timer, a time-out, or a check of work that it waits for.
  wake_at timestamptz,
  -- How the run was started: who, by what, from which run.
  origin json not null,
  parent_run_id text not null,
  -- The number of events in the mailbox that no step has consumed.
  unread integer not null,
  created_at timestamptz not null
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);
create unique index workflow_runs_key on workflow_runs (tenant_id, environment_id, definition_id, run_key)
  where run_key <> '';
create index workflow_runs_wake on workflow_runs (wake_at) where wake_at is not null;
create index workflow_runs_definition on workflow_runs (tenant_id, definition_id, id);
-- The last index: of several indexes that seem equally good, as all do for an empty table, the planner takes the newest.
alter table workflow_runs add primary key (tenant_id, id);

-- Ended runs, in a partition per day, dropped after their retention.
create table workflow_run_archive (
  tenant_id ulid not null,
  id ulid not null,
  environment_id ulid not null,
  definition_id ulid not null,
  version integer not null,
  run_key text not null,
  status text not null check (status in ('succeeded', 'failed', 'cancelled', 'timed_out')),
  state json not null,
  output json,
  error json,
  revision integer not null,
  origin json not null,
  parent_run_id text not null,
  created_at timestamptz not null,
  ended_at timestamptz not null
) partition by range (ended_at);
create table workflow_run_archive_default partition of workflow_run_archive default;
create index on workflow_run_archive (tenant_id, id);
create index on workflow_run_archive (tenant_id, definition_id, id);

-- What happened in a run: one row per advance, in a partition per day.
create table workflow_history (
  tenant_id ulid not null,
  run_id ulid not null,
  revision integer not null,
  at timestamptz not null,
  entries json not null
) partition by range (at);
create table workflow_history_default partition of workflow_history default;
create index on workflow_history (tenant_id, run_id, revision);

-- Events that were sent to runs. An event stays until its run ends, so that a repeated one is recognised.
create table workflow_mailbox (
  tenant_id ulid not null,
  run_id ulid not null,
  event_id text not null,
  -- The order of arrival in the run: the revision that stored it.
  revision integer not null,
  event text not null,
  scope text not null,
  payload json not null,
  received_at timestamptz not null,
  -- The step that consumed it; empty until then.
  consumed_by text not null,
  primary key (tenant_id, run_id, event_id)
);

-- Work for external workers: one row per step in progress.
create table workflow_tasks (
  tenant_id ulid not null,
  id ulid not null,
  environment_id ulid not null,
  run_id ulid not null,
  -- The step, with the positions in the maps around it.
  step_key text not null,
  queue text not null,
  type text not null,
  version_range text not null,
  state text not null check (state in ('ready', 'leased', 'incompatible', 'held')),
  attempt integer not null,
  input json not null,
  -- A retried task cannot be leased before.
  ready_at timestamptz not null,
  attempt_ms bigint not null,
  -- 0 if the worker need not report.
  heartbeat_ms bigint not null,
  lease_token text not null,
  worker_id text not null,
  -- The build of the worker that holds the lease; empty without one.
  build_id text not null default '',
  leased_at timestamptz,
  lease_until timestamptz,
  -- Until when the current attempt may run at most.
  attempt_until timestamptz,
  -- What the worker last reported; kept for the next attempt.
  details json,
  -- Builds of workers that cannot run it, sorted.
  refused_by text[] not null default '{}',
  created_at timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
-- By kind, so that a worker finds the oldest tasks that it can run without reading the others.
create index workflow_tasks_ready
  on workflow_tasks (tenant_id, environment_id, queue, type, version_range, refused_by, ready_at, id)
  where state in ('ready', 'incompatible');
create index workflow_tasks_leased on workflow_tasks (lease_until) where state = 'leased';
create index workflow_tasks_run on workflow_tasks (tenant_id, run_id);
-- The last index, like that of workflow_runs.
alter table workflow_tasks add primary key (tenant_id, id);

-- Runs that failed or timed out, until somebody replays or discards them.
create table workflow_dead_letters (
  tenant_id ulid not null,
  run_id ulid not null,
  environment_id ulid not null,
  definition_id ulid not null,
  error_code text not null,
  step text not null,
  failed_at timestamptz not null,
  replay_count integer not null,
  max_replays integer not null,
  state text not null check (state in ('open', 'replayed', 'quarantined', 'discarded')),
  -- The latest replay; empty before the first.
  replay_run_id text not null,
  primary key (tenant_id, run_id)
);
create index workflow_dead_letters_open on workflow_dead_letters (tenant_id, state, run_id);

-- All runs, ended ones included.
create view all_workflow_runs as
  select tenant_id, id, environment_id, definition_id, version, run_key, status, state, null::json as output,
    null::json as error, revision, origin, parent_run_id, created_at, null::timestamptz as ended_at, wake_at
  from workflow_runs
  union all
  select tenant_id, id, environment_id, definition_id, version, run_key, status, state, output, error, revision, origin,
    parent_run_id, created_at, ended_at, null::timestamptz
  from workflow_run_archive;

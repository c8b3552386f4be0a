-- Workflow definitions with their drafts.
create table workflow_definitions (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  key            text collate "C" not null,
  -- The name in the draft, so that lists need not read the draft.
  name           text not null,
  status         text not null check (status in ('draft', 'published', 'archived')),
  -- As written, with the order of its members.
  draft          json not null,
  -- The YAML or JSON text that the draft was imported from, with its comments; empty if the draft came as a document.
  draft_text     text not null default '',
  draft_digest   text not null,
  -- Who changed the draft since the last version of it.
  draft_authors  text[] not null default '{}',
  -- The version that new runs use, or the last one of an archived definition; 0 before the first.
  active_version integer not null,
  active_digest  text not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index workflow_definitions_key on workflow_definitions (tenant_id, key) where status <> 'archived';
create index workflow_definitions_archived_key on workflow_definitions (tenant_id, key, id) where status = 'archived';

-- Published versions. Rows are never updated.
create table workflow_definition_versions (
  tenant_id     text collate "C" not null,
  definition_id text collate "C" not null,
  version       integer not null,
  document      json not null,
  -- The SHA-256 of the document as canonical JSON.
  digest        text not null,
  -- The definitions that it runs as subworkflows; version 0 is the active one.
  call_keys     text[] not null,
  call_versions integer[] not null,
  message       text not null,
  published_by  text not null,
  -- Who changed the draft since the version before, and who published it.
  authors       text[] not null default '{}',
  published_at  timestamptz not null,
  primary key (tenant_id, definition_id, version)
);

-- Versions of workflow definitions that a rollback withdrew. Runs that started on them finish; nothing else reads them, and
-- their numbers are not used again.
create table workflow_withdrawn_versions (
  tenant_id     text collate "C" not null,
  definition_id text collate "C" not null,
  version       integer not null,
  key           text collate "C" not null,
  document      json not null,
  digest        text not null,
  withdrawn_at  timestamptz not null,
  primary key (tenant_id, definition_id, version)
);

-- Runs that have not ended. Everything about a run changes together with its revision.
create table workflow_runs (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  environment_id text collate "C" not null,
  definition_id  text collate "C" not null,
  version        integer not null,
  -- Empty for a run without a key.
  run_key        text not null,
  status         text not null check (status in ('pending', 'running', 'waiting', 'paused')),
  -- The snapshot of the engine: input, outputs and what is in progress.
  state          json not null,
  revision       integer not null,
  -- The shard whose owner advances the run in the background.
  shard          smallint not null,
  -- When the run needs attention without an event: a timer, a time-out, or a check of work that it waits for.
  wake_at        timestamptz,
  -- How the run was started: who, by what, from which run.
  origin         json not null,
  parent_run_id  text not null,
  -- The number of events in the mailbox that no step has consumed.
  unread         integer not null,
  created_at     timestamptz not null
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);
create unique index workflow_runs_key on workflow_runs (tenant_id, environment_id, definition_id, run_key)
  where run_key <> '';
create index workflow_runs_wake on workflow_runs (wake_at) where wake_at is not null;
create index workflow_runs_definition on workflow_runs (tenant_id, definition_id, id);
-- The last index: of several indexes that seem equally good, as all do for an empty table, the planner takes the newest.
alter table workflow_runs add primary key (tenant_id, id);

-- Ended runs, in a partition per day, dropped after their retention.
create table workflow_run_archive (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  environment_id text collate "C" not null,
  definition_id  text collate "C" not null,
  version        integer not null,
  run_key        text not null,
  status         text not null check (status in ('succeeded', 'failed', 'cancelled', 'timed_out')),
  state          json not null,
  output         json,
  error          json,
  revision       integer not null,
  origin         json not null,
  parent_run_id  text not null,
  created_at     timestamptz not null,
  ended_at       timestamptz not null
) partition by range (ended_at);
create table workflow_run_archive_default partition of workflow_run_archive default;
create index workflow_run_archive_by_id on workflow_run_archive (tenant_id, id);
create index workflow_run_archive_by_definition on workflow_run_archive (tenant_id, definition_id, id);
-- For the number of runs that ended in a time, by status.
create index workflow_run_archive_ended on workflow_run_archive (tenant_id, environment_id, ended_at) include (status);

-- All runs, ended ones included.
create view all_workflow_runs as
  select tenant_id, id, environment_id, definition_id, version, run_key, status, state, null::json as output,
    null::json as error, revision, origin, parent_run_id, created_at, null::timestamptz as ended_at, wake_at
  from workflow_runs
  union all
  select tenant_id, id, environment_id, definition_id, version, run_key, status, state, output, error, revision, origin,
    parent_run_id, created_at, ended_at, null::timestamptz
  from workflow_run_archive;

-- What happened in a run: one row per advance, in a partition per day.
create table workflow_history (
  tenant_id text collate "C" not null,
  run_id    text collate "C" not null,
  revision  integer not null,
  at        timestamptz not null,
  entries   json not null
) partition by range (at);
create table workflow_history_default partition of workflow_history default;
create index workflow_history_by_run on workflow_history (tenant_id, run_id, revision);

-- Events that were sent to runs. An event stays until its run ends, so that a repeated one is recognised.
create table workflow_mailbox (
  tenant_id   text collate "C" not null,
  run_id      text collate "C" not null,
  event_id    text not null,
  -- The order of arrival in the run: the revision that stored it.
  revision    integer not null,
  event       text not null,
  scope       text not null,
  payload     json not null,
  received_at timestamptz not null,
  -- The step that consumed it; empty until then.
  consumed_by text not null,
  primary key (tenant_id, run_id, event_id)
) with (autovacuum_vacuum_scale_factor = 0.05);

-- Work for external workers: one row per step in progress.
create table workflow_tasks (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  environment_id text collate "C" not null,
  run_id         text collate "C" not null,
  -- The step, with the positions in the maps around it.
  step_key       text not null,
  queue          text not null,
  type           text not null,
  version_range  text not null,
  state          text not null check (state in ('ready', 'leased', 'incompatible', 'held')),
  attempt        integer not null,
  input          json not null,
  -- A retried task cannot be leased before.
  ready_at       timestamptz not null,
  attempt_ms     bigint not null,
  -- 0 if the worker need not report.
  heartbeat_ms   bigint not null,
  lease_token    text not null,
  worker_id      text not null,
  -- The build of the worker that holds the lease; empty without one.
  build_id       text not null default '',
  leased_at      timestamptz,
  lease_until    timestamptz,
  -- Until when the current attempt may run at most.
  attempt_until  timestamptz,
  -- What the worker last reported; kept for the next attempt.
  details        json,
  -- Builds of workers that cannot run it, sorted.
  refused_by     text[] not null default '{}',
  created_at     timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
-- By kind, so that a worker finds the oldest tasks that it can run without reading the others.
create index workflow_tasks_ready
  on workflow_tasks (tenant_id, environment_id, queue, type, version_range, refused_by, ready_at, id)
  where state in ('ready', 'incompatible');
create index workflow_tasks_leased on workflow_tasks (lease_until) where state = 'leased';
create index workflow_tasks_run on workflow_tasks (tenant_id, run_id);
-- The last index, like that of workflow_runs.
alter table workflow_tasks add primary key (tenant_id, id);

-- External workers that poll for tasks. A row is written every few seconds at most; it is a hint and not a lease.
create table workflow_workers (
  tenant_id      text collate "C" not null,
  environment_id text collate "C" not null,
  queue          text not null,
  worker_id      text not null,
  build_id       text not null,
  protocol       integer not null,
  -- A list of {type, versions}. An empty list of versions is any version.
  capabilities   json not null,
  first_seen_at  timestamptz not null,
  seen_at        timestamptz not null,
  -- Until then a worker counts as present, even if it does not poll again.
  present_until  timestamptz not null,
  primary key (tenant_id, environment_id, queue, worker_id)
) with (fillfactor = 50);

-- Approvals that runs wait for: one row per approval step in progress. Only the advance of its run writes it.
create table workflow_approvals (
  tenant_id        text collate "C" not null,
  id               text collate "C" not null,
  run_id           text collate "C" not null,
  -- The step, with the positions in the maps around it.
  step_key         text not null,
  environment_id   text collate "C" not null,
  environment_key  text not null,
  definition_id    text collate "C" not null,
  definition_key   text not null,
  run_key          text not null,
  title            text not null,
  -- Null if they are too large to be listed.
  details          json,
  -- Who may decide: role:<role> or user:<subject>.
  approvers        text[] not null,
  quorum           integer not null,
  comment_required boolean not null,
  -- What was decided so far, as a list of {by, approved, comment, at}.
  decisions        json not null,
  -- The subjects of those decisions.
  decided_by       text[] not null,
  opened_at        timestamptz not null,
  due_at           timestamptz not null,
  primary key (tenant_id, run_id, step_key)
) with (autovacuum_vacuum_scale_factor = 0.05);
-- For lists, the oldest first.
create unique index workflow_approvals_id on workflow_approvals (tenant_id, id);

-- Runs that failed or timed out, until somebody replays or discards them.
create table workflow_dead_letters (
  tenant_id       text collate "C" not null,
  run_id          text collate "C" not null,
  environment_id  text collate "C" not null,
  definition_id   text collate "C" not null,
  -- Copies of what the last run says, because the run is deleted earlier than a letter that failed again.
  environment_key text not null,
  definition_key  text not null,
  version         integer not null,
  error_code      text not null,
  error_message   text not null,
  step            text not null,
  first_failed_at timestamptz not null,
  failed_at       timestamptz not null,
  replay_count    integer not null,
  max_replays     integer not null,
  state           text not null check (state in ('open', 'replayed', 'quarantined', 'discarded')),
  -- The latest replay; empty before the first.
  replay_run_id   text not null,
  -- Why it was quarantined or discarded, and who changed it last.
  reason          text not null default '',
  changed_by      text not null default '',
  primary key (tenant_id, run_id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index workflow_dead_letters_open on workflow_dead_letters (tenant_id, state, run_id);
-- For the retention.
create index workflow_dead_letters_failed on workflow_dead_letters (failed_at);
-- For the count of open letters of all tenants.
create index workflow_dead_letters_unreplayed on workflow_dead_letters (failed_at) where state = 'open';

-- What starts workflow runs without a call: schedules and event filters.
create table workflow_triggers (
  tenant_id            text collate "C" not null,
  id                   text collate "C" not null,
  environment_id       text collate "C" not null,
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
  since_snapshot       text not null default stamp_snapshot(),
  since_stamp          bigint not null default current_stamp(),
  last_fired_at        timestamptz,
  last_run_id          text not null default '',
  last_skipped_at      timestamptz,
  last_error           text not null default '',
  consecutive_failures integer not null default 0,
  created_at           timestamptz not null,
  updated_at           timestamptz not null,
  record_version       integer not null default 1,
  primary key (tenant_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create unique index workflow_triggers_name on workflow_triggers (tenant_id, environment_id, name);
create index workflow_triggers_due on workflow_triggers (due_at) where enabled and due_at is not null;

-- How far the event log of a tenant was read for its triggers.
create table workflow_trigger_cursors (
  tenant_id text collate "C" primary key,
  shard     smallint not null,
  stamp     bigint not null,
  id        text not null
) with (fillfactor = 50);

-- Data streams of workflow runs: what is fixed when a stream is created.
create table workflow_streams (
  tenant_id       text collate "C" not null,
  run_id          text collate "C" not null,
  id              text collate "C" not null,
  name            text not null,
  environment_id  text collate "C" not null,
  environment_key text not null,
  pins            json not null,
  -- The digest of the pins.
  digest          text not null,
  -- The key of hashes that replace redacted values. It never leaves the service.
  redaction_key   bytea not null,
  created_by      text not null,
  created_at      timestamptz not null,
  primary key (tenant_id, run_id, id)
);
create unique index workflow_streams_name on workflow_streams (tenant_id, run_id, name);

-- What changes with every append: one small row per stream. Appends lock it until their commit, so that sequences become
-- visible in their order. No index contains a column that appends change, except for the first append to an empty stream.
create table workflow_stream_heads (
  tenant_id       text collate "C" not null,
  run_id          text collate "C" not null,
  stream_id       text collate "C" not null,
  -- The sequence of the earliest record that retention has not removed; last_sequence + 1 without records.
  first_sequence  bigint not null,
  last_sequence   bigint not null,
  -- The bytes of all records before first_sequence, and up to last_sequence.
  first_cum_bytes bigint not null,
  last_cum_bytes  bigint not null,
  -- When retention removes the earliest record; null without records.
  prune_at        timestamptz,
  -- A legal hold {by, reason, since}; null without one.
  hold            json,
  closed_at       timestamptz,
  primary key (tenant_id, run_id, stream_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
create index workflow_stream_heads_prune on workflow_stream_heads (prune_at) where prune_at is not null;
-- For the removal of streams without records, after their run.
create index workflow_stream_heads_empty on workflow_stream_heads ((tenant_id || run_id || stream_id)) where prune_at is null;

create table workflow_stream_records (
  tenant_id     text collate "C" not null,
  run_id        text collate "C" not null,
  stream_id     text collate "C" not null,
  sequence      bigint not null,
  direction     text not null check (direction in ('output', 'input')),
  content_class text not null,
  -- Empty without a schema.
  schema_ref    text not null,
  -- Redacted; null for a reference to an object.
  payload       json,
  -- {object_key, sha256, size_bytes}; null for an inline payload.
  object        json,
  bytes         bigint not null,
  -- The bytes of all records of the stream up to this one.
  cum_bytes     bigint not null,
  appended_at   timestamptz not null,
  primary key (tenant_id, run_id, stream_id, sequence),
  constraint workflow_stream_records_check check ((payload is null) <> (object is null))
);

-- How far consumers have acknowledged.
create table workflow_stream_consumers (
  tenant_id   text collate "C" not null,
  run_id      text collate "C" not null,
  stream_id   text collate "C" not null,
  consumer_id text not null,
  sequence    bigint not null,
  -- The bytes of all records up to that sequence.
  cum_bytes   bigint not null,
  updated_at  timestamptz not null,
  -- When a consumer is checked for whether it still acknowledges; null if the pins of its stream do not limit that.
  check_at    timestamptz,
  primary key (tenant_id, run_id, stream_id, consumer_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index workflow_stream_consumers_check on workflow_stream_consumers (check_at) where check_at is not null;

-- Input records that their runs have not received yet: stored with the record, deleted after its event is in the mailbox.
create table workflow_stream_deliveries (
  tenant_id text collate "C" not null,
  run_id    text collate "C" not null,
  stream_id text collate "C" not null,
  sequence  bigint not null,
  -- When the delivery is tried again, if the node that stored it does not succeed before.
  due_at    timestamptz not null,
  primary key (tenant_id, run_id, stream_id, sequence)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index workflow_stream_deliveries_due on workflow_stream_deliveries (due_at);

-- Deliveries of large objects to workflow data streams. The bytes are in the object store. A row exists before the first
-- byte is stored and until after the last one is removed, so that no bytes are ever without a row.
create table workflow_object_intents (
  tenant_id                text collate "C" not null,
  id                       text collate "C" not null,
  run_id                   text collate "C" not null,
  stream_id                text collate "C" not null,
  status                   text not null check (status in ('prepared', 'uploaded', 'committed', 'aborted', 'expired')),
  -- The Idempotency-Key of the request; empty without one.
  idempotency_key          text not null,
  -- What the bytes must be, in hexadecimal.
  sha256                   text not null,
  size_bytes               bigint not null,
  content_type             text not null,
  content_class            text not null,
  schema_ref               text not null,
  direction                text not null check (direction in ('output', 'input')),
  -- The id of the request that was allowed to prepare it.
  authorization_receipt_id text not null,
  object_key               text not null,
  -- The regions whose stores may have bytes: noted before the first byte is stored.
  regions                  text[] not null default '{}',
  -- The sequence of the record; null before the commit.
  sequence                 bigint,
  created_by               text not null,
  created_at               timestamptz not null,
  expires_at               timestamptz not null,
  uploaded_at              timestamptz,
  -- When it was committed, aborted or expired.
  ended_at                 timestamptz,
  -- When it expires, or when its bytes are to be removed; null while a record refers to them, and after their removal.
  remove_after             timestamptz,
  removed_at               timestamptz,
  primary key (tenant_id, id)
) with (autovacuum_vacuum_scale_factor = 0.05);
-- For the limit of deliveries in progress.
create index workflow_object_intents_open on workflow_object_intents (tenant_id, stream_id)
  where status in ('prepared', 'uploaded');
-- For expiry and removal.
create index workflow_object_intents_removal on workflow_object_intents (remove_after) where remove_after is not null;
-- For the deletion of rows.
create index workflow_object_intents_removed on workflow_object_intents (removed_at) where removed_at is not null;

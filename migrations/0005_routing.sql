create table pools (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  environment_id text collate "C" not null,
  name           text not null,
  description    text not null default '',
  strategy       text not null,
  status         text not null check (status in ('active', 'disabled', 'draining', 'archived')),
  config         jsonb not null default '{}',
  -- Raised by every change of the pool, its recipients or its rules, so that nodes reload only what changed.
  revision       bigint not null default 1,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index pools_name on pools (tenant_id, environment_id, name) where status <> 'archived';

create table recipients (
  tenant_id       text collate "C" not null,
  id              text collate "C" not null,
  pool_id         text collate "C" not null,
  name            text not null,
  status          text not null check (status in ('active', 'paused', 'draining', 'offline', 'removed')),
  weight          integer not null check (weight >= 0),
  capacity        integer not null check (capacity >= 0),
  priority        integer not null,
  attributes      jsonb not null default '{}',
  skills          jsonb not null default '{}',
  cost            double precision not null default 0,
  delivery        jsonb not null,
  available_since timestamptz not null,
  -- The pool's revision at which a recipient last changed. A node that knows a pool at some revision reads only the
  -- recipients that changed after it.
  pool_revision   bigint not null default 0,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  record_version  integer not null default 1,
  primary key (tenant_id, id)
);
create index recipients_by_pool on recipients (tenant_id, pool_id, id) where status <> 'removed';
create unique index recipients_name on recipients (tenant_id, pool_id, name) where status <> 'removed';
create index recipients_by_pool_revision on recipients (tenant_id, pool_id, pool_revision);

-- Why recipients are paused, and until when. A row exists only while its recipient is paused.
create table recipient_pauses (
  tenant_id    text collate "C" not null,
  recipient_id text collate "C" not null,
  pool_id      text collate "C" not null,
  cause        text not null check (cause in ('request', 'anomaly')),
  reason       text not null default '',
  actor        text not null,
  anomaly_id   text collate "C" not null default '',
  paused_at    timestamptz not null,
  -- When the recipient is resumed automatically; null for never.
  resume_at    timestamptz,
  primary key (tenant_id, recipient_id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index recipient_pauses_due on recipient_pauses (tenant_id, pool_id, resume_at) where resume_at is not null;

-- The state of recipients that outcomes and assignments change. Apart from recipients, so that work does not rewrite them.
create table recipient_states (
  tenant_id            text collate "C" not null,
  pool_id              text collate "C" not null,
  recipient_id         text collate "C" not null,
  consecutive_failures integer not null default 0,
  ejected_until        timestamptz,
  ejections            integer not null default 0,
  deprioritized_until  timestamptz,
  latency_ms           double precision,
  cost                 double precision,
  last_assigned_at     timestamptz,
  updated_at           timestamptz not null,
  primary key (tenant_id, pool_id, recipient_id)
);

create table rules (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  pool_id        text collate "C" not null,
  name           text not null,
  priority       integer not null,
  condition      text not null default '',
  enabled        boolean not null default true,
  stop_on_match  boolean not null default true,
  on_error       text not null check (on_error in ('skip', 'reject')),
  action         jsonb not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create index rules_by_pool on rules (tenant_id, pool_id, id);

-- What a pool routes by: its strategy, its config and its rules, without recipients. Rows are never updated.
create table pool_versions (
  tenant_id  text collate "C" not null,
  pool_id    text collate "C" not null,
  version    integer not null,
  -- The content as canonical JSON, and the SHA-256 of these bytes.
  content    text not null,
  digest     text not null,
  -- Whether it was captured from a change of the pool, or staged for a later activation.
  origin     text not null check (origin in ('change', 'staged')),
  message    text not null default '',
  created_by text not null,
  created_at timestamptz not null,
  primary key (tenant_id, pool_id, version)
);
create index pool_versions_by_digest on pool_versions (tenant_id, pool_id, digest);

-- The version whose content a pool has.
create table pool_active_versions (
  tenant_id text collate "C" not null,
  pool_id   text collate "C" not null,
  version   integer not null,
  digest    text not null,
  primary key (tenant_id, pool_id)
);

-- The snapshots that decisions were made from, stored once per digest.
create table routing_snapshots (
  tenant_id  text collate "C" not null,
  digest     bytea not null,
  body       jsonb not null,
  created_at timestamptz not null,
  primary key (tenant_id, digest)
);

-- Recipients of stored snapshots, in groups that many snapshots share. A snapshot's body names its parts by digest.
create table routing_snapshot_parts (
  tenant_id  text collate "C" not null,
  digest     bytea not null,
  recipients json not null,
  created_at timestamptz not null,
  primary key (tenant_id, digest)
);
create index routing_snapshot_parts_by_age on routing_snapshot_parts (created_at);

-- Unfinished items and dead letters, each with its decision. When an item ends, its row moves to routing_history.
-- A varchar column holds JSON that the service wrote: PostgreSQL would parse json columns again for each new item.
create table queue_items (
  tenant_id         text collate "C" not null,
  id                text collate "C" not null,
  pool_id           text collate "C" not null,
  recipient_id      text collate "C" not null default '',
  -- pending, held, ready, leased or dead_lettered. Without a check, which every statement would parse and evaluate for each row.
  state             text not null,
  -- An item whose rules were not applied when it came in is 'undecided': nobody can lease it before that.
  delivery          text not null default 'pull',
  priority          integer not null,
  -- The time of acceptance in milliseconds, less the value of the priority. Lower goes first, so that age outweighs priority.
  rank              bigint not null,
  -- pending, held: when to look at it again. ready: since when it is ready.
  due_at            timestamptz,
  hold_reason       text not null default '',
  expires_at        timestamptz not null,
  own_ttl           boolean not null default false,
  attempt           integer not null default 0,
  lease_token       text not null default '',
  lease_until       timestamptz,
  leased_at         timestamptz,
  -- Failed searches for a recipient: how many, why, in which snapshot of the pool, and when the next one is. Null before the
  -- first since the item became ready.
  assign_tries      integer,
  assign_reason     text,
  assign_snapshot   text,
  assign_after      timestamptz,
  -- An offered item is held with hold_reason 'offer': recipient_id is who may accept it, due_at when the offer expires.
  -- The number of the last offer; it fences acceptance. Null for none.
  offer_number      integer,
  -- When the last offer was made.
  offered_at        timestamptz,
  -- The recipients that declined the item, or let its offer expire, since everyone was last considered.
  refused_by        text[] collate "C",
  refused_at        timestamptz,
  failures          jsonb not null default '[]',
  -- The last reported progress of an unfinished item. Null for an item without one.
  progress          json,
  singleton_group   text not null default '',
  debounce_group    text not null default '',
  throttle_group    text not null default '',
  concurrency_group text not null default '',
  -- Whether it has a place in its concurrency group now.
  has_slot          boolean not null default false,
  -- Whether other items wait for this one. Null for almost all items.
  blocks            boolean,
  -- How an item that waits for others proceeds. Null for an item that waits for none.
  resume            json,
  -- Its own retries. Null for an item that follows its pool, as almost all do.
  retry             json,
  -- Whether it was a dead letter before.
  revived           boolean not null default false,
  -- When it became a dead letter.
  ended_at          timestamptz,
  -- The request and the decision: behind the columns that statements search by, which are cheaper to read in front.
  type              text not null,
  key               text not null,
  attributes        varchar not null,
  requirements      varchar not null,
  payload           varchar not null,
  -- The requested priority. Rules may have changed the item's own.
  decided_priority  integer not null,
  outcome           text not null,
  -- The recipient that the decision chose. The item may have another one by now.
  decided_for       text collate "C" not null,
  snapshot_digest   bytea not null,
  seed              bigint not null,
  evidence          varchar not null,
  -- Whether somebody reported an outcome before the item was completed.
  reported          boolean not null default false,
  -- A lease moves the row, and the pages of the index have room for its new entry beside the first one.
  primary key (tenant_id, id) with (fillfactor = 50)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
-- Items that can be leased, in their order.
create index queue_items_ready on queue_items (tenant_id, pool_id, recipient_id, rank, id) where state = 'ready';
-- Waiting items, oldest first: for the oldest age, for draining and for expiry.
create index queue_items_waiting on queue_items (tenant_id, pool_id, id) where state in ('pending', 'held', 'ready');
create index queue_items_due on queue_items (due_at) where state in ('pending', 'held') and due_at is not null;
create index queue_items_expiring on queue_items (expires_at) where own_ttl and state in ('pending', 'held', 'ready');
create index queue_items_in_flight on queue_items (tenant_id, pool_id, recipient_id) where state = 'leased';
-- Items that the service pushes to their recipients.
create index queue_items_to_push on queue_items (tenant_id, pool_id, recipient_id, rank, id)
  where state = 'ready' and delivery = 'push';
-- Finds the first items of each pair of groups in a pool, so that a group with many items hides no other.
create index queue_items_limited on queue_items
  (tenant_id, pool_id, recipient_id, throttle_group, concurrency_group, rank, id)
  where state = 'ready' and (throttle_group <> '' or concurrency_group <> '');
-- Find the items that wait in one group.
create index queue_items_for_place on queue_items (tenant_id, concurrency_group, pool_id, rank, id)
  where state = 'ready' and concurrency_group <> '';
create index queue_items_for_token on queue_items (tenant_id, throttle_group, rank, id)
  where state = 'ready' and throttle_group <> '';
-- Finds undecided items, however many others wait.
create index queue_items_undecided on queue_items (tenant_id, pool_id, rank, id)
  where state = 'ready' and delivery = 'undecided';
create index queue_items_offered on queue_items (tenant_id, pool_id, recipient_id, id)
  where state = 'held' and hold_reason = 'offer';
-- Only for statements that compare the end of leases. For others, the planner would read all leases if it expects few.
create index queue_items_leased on queue_items (lease_until) where state = 'leased' and lease_until is not null;

-- Ended items with their decisions, and decisions without an item. Partitioned by day, so that expired rows are dropped with
-- their partition.
create table routing_history (
  tenant_id         text collate "C" not null,
  id                text collate "C" not null,
  pool_id           text collate "C" not null,
  -- When the item ended, or when a decision without an item was made.
  ended_at          timestamptz not null,
  type              text not null,
  key               text not null,
  attributes        varchar not null,
  requirements      varchar not null,
  payload           varchar not null,
  decided_priority  integer not null,
  outcome           text not null,
  decided_for       text collate "C" not null,
  snapshot_digest   bytea not null,
  seed              bigint not null,
  evidence          varchar not null,
  -- The result that its worker reported with the completion. Null for an item without one.
  result            json,
  -- The item; all null for a decision without one.
  state             text,
  delivery          text,
  recipient_id      text collate "C",
  priority          integer,
  expires_at        timestamptz,
  attempt           integer,
  leased_at         timestamptz,
  retry             json,
  failures          jsonb,
  -- The token that completed the item: a repeated completion gets the same answer as the first.
  done_token        text,
  -- The item that took the place of a superseded one.
  superseded_by_id       text collate "C",
  singleton_group   text,
  debounce_group    text,
  throttle_group    text,
  concurrency_group text,
  -- True if its recipient completed the item and nobody reported an outcome. Other outcomes are in the table outcomes.
  succeeded         boolean,
  latency_ms        double precision
) partition by range (ended_at);
create index routing_history_by_id on routing_history (tenant_id, id);
create index routing_history_outcomes on routing_history (pool_id, ended_at) where succeeded;
create table routing_history_default partition of routing_history default;
-- The first days. The service creates the later ones some minutes after its start; until then, rows would be stored in the
-- default partition and would have to move.
do $$
declare
  today timestamptz := date_trunc('day', now(), 'UTC');
begin
  for day in 0..1 loop
    execute format('create table %I partition of routing_history for values from (%L) to (%L)',
      'routing_history_' || to_char((today + day * interval '24 hours') at time zone 'UTC', 'YYYYMMDD'),
      today + day * interval '24 hours', today + (day + 1) * interval '24 hours');
  end loop;
end $$;

create table outcomes (
  tenant_id    text collate "C" not null,
  decision_id  text collate "C" not null,
  pool_id      text collate "C" not null,
  recipient_id text collate "C" not null default '',
  status       text not null check (status in ('success', 'failure', 'timeout', 'declined', 'cancelled')),
  latency_ms   double precision,
  score        double precision,
  cost         double precision,
  observed_at  timestamptz not null,
  recorded_at  timestamptz not null,
  primary key (tenant_id, decision_id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index outcomes_by_pool on outcomes (tenant_id, pool_id, recorded_at);

-- All items, ended ones included.
create view all_items as
  select false as archived, tenant_id, id, pool_id, recipient_id, state, delivery, hold_reason, priority, rank, due_at,
    expires_at, attempt, leased_at, lease_until, ended_at, '' collate "C" as superseded_by_id, failures, '' as done_token,
    singleton_group, debounce_group, throttle_group, concurrency_group, assign_tries, assign_reason, assign_after, type, key,
    attributes, requirements, payload, decided_priority
  from queue_items
  union all
  select true, tenant_id, id, pool_id, recipient_id, state, delivery, '', priority, 0::bigint, null::timestamptz,
    expires_at, attempt, leased_at, null::timestamptz, ended_at, coalesce(superseded_by_id, ''), failures, done_token, singleton_group,
    debounce_group, throttle_group, concurrency_group, null::integer, null::text, null::timestamptz, type, key, attributes,
    requirements, payload, decided_priority
  from routing_history where state is not null;

-- All decisions: of items, of ended items, and those without an item. held_by is the item's last recipient.
create view decisions as
  select tenant_id, id, pool_id, type, key, attributes, requirements, payload, decided_priority as priority, outcome,
    decided_for as recipient_id, snapshot_digest, seed, evidence, delivery <> 'none' as queued,
    coalesce(nullif(recipient_id, ''), decided_for) as held_by
  from queue_items
  union all
  select tenant_id, id, pool_id, type, key, attributes, requirements, payload, decided_priority, outcome, decided_for,
    snapshot_digest, seed, evidence, coalesce(delivery <> 'none', false), coalesce(nullif(recipient_id, ''), decided_for)
  from routing_history;

-- All outcomes: reported ones, and those of completed items.
create view all_outcomes as
  select tenant_id, decision_id, pool_id, recipient_id, status, latency_ms, score, cost, observed_at, recorded_at
  from outcomes
  union all
  select tenant_id, id, pool_id, recipient_id, 'success', latency_ms, null::double precision, null::double precision, ended_at,
    ended_at
  from routing_history where succeeded;

-- The unfinished items that an item waits for. When such an item ends, its rows get the outcome in the same transaction.
-- Then the sweep deletes them, and releases or cancels the items that wait.
create table queue_dependencies (
  tenant_id text collate "C" not null,
  -- The item that waits.
  item_id   text collate "C" not null,
  -- The item that must end first.
  on_id     text collate "C" not null,
  outcome   text check (outcome in ('completed', 'failed')),
  primary key (tenant_id, item_id, on_id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index queue_dependencies_on on queue_dependencies (tenant_id, on_id);
create index queue_dependencies_settled on queue_dependencies (tenant_id, item_id) where outcome is not null;

-- Offers that ended. An open offer is in the row of its item.
create table queue_offers (
  tenant_id    text collate "C" not null,
  item_id      text collate "C" not null,
  number       integer not null,
  pool_id      text collate "C" not null,
  recipient_id text collate "C" not null,
  -- accepted, declined, expired or withdrawn.
  outcome      text not null,
  offered_at   timestamptz not null,
  ended_at     timestamptz not null,
  -- The attempt that an accepted offer began.
  attempt      integer,
  reason_code  text not null default '',
  reason       text not null default '',
  -- Who accepted, declined or withdrew it; empty for the service itself.
  ended_by     text not null default '',
  primary key (tenant_id, item_id, number)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index queue_offers_by_age on queue_offers using brin (ended_at);

create table queue_states (
  tenant_id text collate "C" not null,
  pool_id   text collate "C" not null,
  paused    boolean not null,
  paused_at timestamptz,
  -- When a paused queue is resumed by itself; null for never.
  resume_at timestamptz,
  paused_by text not null default '',
  reason    text not null default '',
  primary key (tenant_id, pool_id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index queue_states_due on queue_states (resume_at) where resume_at is not null;

-- Counts are spread over shards, so that concurrent writers rarely wait for each other.
create table queue_depths (
  tenant_id text collate "C" not null,
  pool_id   text collate "C" not null,
  shard     smallint not null,
  depth     bigint not null,
  -- The counts of a deleted pool are closed, so that a node that does not know of the deletion yet cannot queue items in it.
  closed    boolean not null default false,
  primary key (tenant_id, pool_id, shard),
  constraint queue_depths_closed check (not closed or depth <= 0)
) with (fillfactor = 50);

create table queue_daily_counts (
  tenant_id text collate "C" not null,
  pool_id   text collate "C" not null,
  day       date not null,
  shard     smallint not null,
  accepted  bigint not null default 0,
  leased    bigint not null default 0,
  wait_ms   bigint not null default 0,
  completed bigint not null default 0,
  failed    bigint not null default 0,
  dead_lettered bigint not null default 0,
  primary key (tenant_id, pool_id, day, shard)
) with (fillfactor = 50);

-- The part of a pool's daily counts that its history has already.
create table queue_sampled_counts (
  tenant_id     text collate "C" not null,
  pool_id       text collate "C" not null,
  day           date not null,
  accepted      bigint not null,
  completed     bigint not null,
  failed        bigint not null,
  dead_lettered bigint not null,
  primary key (tenant_id, pool_id)
) with (fillfactor = 50);

-- Changes of all items that match a filter, made in the background.
create table bulk_operations (
  tenant_id       text collate "C" not null,
  id              text collate "C" not null,
  pool_id         text collate "C" not null,
  -- The key of the pool's environment. It never changes.
  environment_key text not null,
  action          text not null check (action in ('cancel', 'requeue', 'retry')),
  filter          json not null,
  reason          text not null,
  -- 0: all.
  max_items       bigint not null,
  state           text not null check (state in ('queued', 'running', 'completed', 'cancelled', 'failed')),
  -- The last item that was handled. Items are handled in the order of their ids.
  position        text collate "C" not null default '',
  -- The dead letters that are being retried; null between two batches.
  batch           text[],
  matched_count   bigint not null,
  changed_count   bigint not null default 0,
  skipped_count   bigint not null default 0,
  error           text not null default '',
  created_by      text not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  ended_at        timestamptz,
  primary key (tenant_id, id)
) with (fillfactor = 70);
create index bulk_operations_unfinished on bulk_operations (tenant_id) where state in ('queued', 'running');

-- One row for each key of a constraint. The key itself is never stored: group_id is a keyed digest of it.
create table admission_groups (
  tenant_id      text collate "C" not null,
  kind           text not null check (kind in ('singleton', 'debounce', 'throttle', 'concurrency')),
  group_id       text collate "C" not null,
  environment_id text collate "C" not null,
  pool_id        text collate "C" not null,
  -- singleton: the item that has the place, and until when. debounce: the item that waits, and since when.
  item_id        text collate "C" not null default '',
  since          timestamptz,
  until          timestamptz,
  -- throttle: the theoretical arrival time of the next item, in milliseconds.
  tat_ms         double precision not null default 0,
  -- concurrency: the places, and how many are taken.
  slots          integer not null default 0,
  in_use         integer not null default 0,
  cleared_at     timestamptz,
  cleared_by     text not null default '',
  cleared_reason text not null default '',
  updated_at     timestamptz not null,
  primary key (tenant_id, kind, group_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
-- Coarse, so that using a group moves no index entry.
create index admission_groups_by_age on admission_groups using brin (updated_at);
-- By pool alone, so that new groups are added at the end of their pool's entries. A pool's groups are sorted when they are
-- listed, or found in the order of the primary key.
-- Without the tenant: plans that were made while there were few groups would use an index that begins with it to look up
-- single groups, and would read all groups of the tenant later.
create index admission_groups_of_pool on admission_groups (pool_id);

-- Items that failed permanently, and how often they were retried since. The items stay in queue_items.
create table dead_letters (
  tenant_id       text collate "C" not null,
  pool_id         text collate "C" not null,
  queue_item_id   text collate "C" not null,
  state           text not null check (state in ('failed', 'retrying', 'quarantined')),
  reason_code     text not null,
  phase           text not null,
  attempts        jsonb not null,
  retry_count     integer not null default 0,
  max_retries     integer not null,
  payload_digest  bytea not null,
  first_failed_at timestamptz not null,
  last_failed_at  timestamptz not null,
  primary key (tenant_id, pool_id, queue_item_id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index dead_letters_failed on dead_letters (tenant_id, pool_id, last_failed_at) include (retry_count, max_retries)
  where state = 'failed';
-- For the list of all pools.
create index dead_letters_of_tenant on dead_letters (tenant_id, state, queue_item_id);
create index dead_letters_set_aside on dead_letters (tenant_id, pool_id, queue_item_id) where state = 'quarantined';
create index dead_letters_by_age on dead_letters (last_failed_at);

create table anomalies (
  tenant_id    text collate "C" not null,
  id           text collate "C" not null,
  pool_id      text collate "C" not null,
  recipient_id text collate "C" not null default '',
  method       text not null,
  metric       text not null,
  value        double precision not null,
  baseline     double precision not null,
  threshold    double precision not null,
  actions      text[] not null,
  detected_at  timestamptz not null,
  primary key (tenant_id, id)
);
create index anomalies_by_age on anomalies (detected_at);
create index anomalies_by_pool on anomalies (tenant_id, pool_id, id);

-- Schedules that route items.
create table routing_schedules (
  tenant_id            text collate "C" not null,
  id                   text collate "C" not null,
  environment_id       text collate "C" not null,
  -- The key of the environment. It never changes.
  environment_key      text not null,
  pool_id              text collate "C" not null,
  name                 text collate "C" not null,
  timing               json not null,
  -- The item, with templates.
  item                 json not null,
  paused               boolean not null,
  paused_reason        text not null check (paused_reason in ('', 'manual', 'failing')),
  paused_by            text not null,
  -- The shard whose owner handles the schedule; the same for all schedules of a tenant.
  shard                smallint not null,
  -- Raised by every change after which the next time is another one.
  generation           integer not null default 1,
  -- The first time that was not handled; null if there is none.
  next_at              timestamptz,
  -- The next time with its jitter.
  fires_at             timestamptz,
  -- When the schedule needs attention: when it fires, or earlier for a run that has no final state.
  due_at               timestamptz,
  last_fired_at        timestamptz,
  last_item_id         text not null default '',
  last_error           text not null default '',
  consecutive_failures integer not null default 0,
  created_at           timestamptz not null,
  updated_at           timestamptz not null,
  record_version       integer not null default 1,
  primary key (tenant_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create unique index routing_schedules_name on routing_schedules (tenant_id, environment_id, name);
create index routing_schedules_due on routing_schedules (due_at) where due_at is not null;

-- The runs of schedules. The id follows from the schedule and its time, so no time has two runs.
create table routing_schedule_runs (
  tenant_id     text collate "C" not null,
  schedule_id   text collate "C" not null,
  id            text collate "C" not null,
  time          timestamptz not null,
  cause         text not null check (cause in ('schedule', 'manual')),
  state         text not null check (state in ('starting', 'waiting', 'routed', 'skipped', 'missed', 'failed')),
  -- The request to route, while it has no result. Every attempt sends the same request.
  request       json,
  -- When to attempt it again; null for a run with a final state.
  due_at        timestamptz,
  item_id       text not null default '',
  decision_id   text not null default '',
  outcome       text not null default '',
  error_code    text not null default '',
  error_message text not null default '',
  -- Whether the item may be unfinished, as far as known. Always false where runs may overlap.
  open          boolean not null default false,
  created_at    timestamptz not null,
  ended_at      timestamptz,
  primary key (tenant_id, schedule_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index routing_schedule_runs_unsettled on routing_schedule_runs (tenant_id, schedule_id, id)
  where open or due_at is not null;

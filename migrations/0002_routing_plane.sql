create table pools (
  tenant_id      ulid not null,
  id             ulid not null,
  environment_id ulid not null,
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
  tenant_id       ulid not null,
  id              ulid not null,
  pool_id         ulid not null,
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
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  record_version  integer not null default 1,
  primary key (tenant_id, id)
);
create index recipients_by_pool on recipients (tenant_id, pool_id, id) where status <> 'removed';
create unique index recipients_name on recipients (tenant_id, pool_id, name) where status <> 'removed';

create table rules (
  tenant_id      ulid not null,
  id             ulid not null,
  pool_id        ulid not null,
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

-- What outcomes and assignments taught about a recipient. Apart from the record, so that work does not rewrite it.
create table recipient_states (
  tenant_id            ulid not null,
  pool_id              ulid not null,
  recipient_id         ulid not null,
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

-- What decisions were made from, kept once for each digest.
create table routing_snapshots (
  tenant_id  ulid not null,
  digest     bytea not null,
  body       jsonb not null,
  created_at timestamptz not null,
  primary key (tenant_id, digest)
);

-- What was asked and what was decided; never changed. A queue item has the id of its decision.
create table decisions (
  tenant_id       ulid not null,
  id              ulid not null,
  pool_id         ulid not null,
  type            text not null,
  key             text not null default '',
  attributes      jsonb not null,
  requirements    jsonb not null,
  payload         jsonb not null,
  priority        integer not null,
  outcome         text not null,
  recipient_id    text collate "C" not null default '',
  snapshot_digest bytea not null,
  seed            bigint not null,
  -- What the strategy saw of the live state, the steps that led to the choice, and what became of the item at once.
  evidence        jsonb not null,
  primary key (tenant_id, id)
);

create table queue_items (
  tenant_id         ulid not null,
  id                ulid not null,
  pool_id           ulid not null,
  recipient_id      text collate "C" not null default '',
  state             text not null,
  delivery          text not null default 'pull',
  priority          integer not null,
  -- Milliseconds at which it came in, less what its priority is worth: lower goes first, so that age outgrows priority.
  rank              bigint not null,
  -- pending, held: when to look at it again.
  due_at            timestamptz,
  hold_reason       text not null default '',
  expires_at        timestamptz not null,
  own_ttl           boolean not null default false,
  attempt           integer not null default 0,
  lease_token       text not null default '',
  lease_until       timestamptz,
  leased_at         timestamptz,
  failures          jsonb not null default '[]',
  singleton_group   text not null default '',
  debounce_group    text not null default '',
  throttle_group    text not null default '',
  concurrency_group text not null default '',
  -- Whether it has a place in its concurrency group now.
  has_slot          boolean not null default false,
  survivor_id       text collate "C" not null default '',
  -- Whether it was a dead letter before.
  revived           boolean not null default false,
  ended_at          timestamptz,
  primary key (tenant_id, id),
  check (state in ('pending', 'held', 'ready', 'leased', 'completed', 'dead_lettered', 'cancelled', 'expired',
    'drained', 'superseded'))
) with (fillfactor = 80);
-- What can be leased, in the order in which it goes.
create index queue_items_ready on queue_items (tenant_id, pool_id, recipient_id, rank, id) where state = 'ready';
-- What waits, oldest first: for the oldest age, for draining and for expiry.
create index queue_items_waiting on queue_items (tenant_id, pool_id, id) where state in ('pending', 'held', 'ready');
create index queue_items_due on queue_items (due_at) where state in ('pending', 'held') and due_at is not null;
create index queue_items_expiring on queue_items (expires_at) where own_ttl and state in ('pending', 'held', 'ready');
create index queue_items_leased on queue_items (lease_until) where state = 'leased';
create index queue_items_in_flight on queue_items (tenant_id, pool_id, recipient_id) where state = 'leased';
create index queue_items_for_slot on queue_items (tenant_id, concurrency_group, rank, id)
  where state = 'held' and hold_reason = 'concurrency';
create index queue_items_throttled on queue_items (tenant_id, throttle_group, due_at, id)
  where state = 'held' and hold_reason = 'throttle';
-- What the service itself sends to its recipients.
create index queue_items_to_push on queue_items (tenant_id, pool_id, recipient_id, rank, id)
  where state = 'ready' and delivery = 'push';
create index queue_items_ended on queue_items using brin (ended_at);

create table queue_states (
  tenant_id ulid not null,
  pool_id   ulid not null,
  paused    boolean not null,
  paused_at timestamptz,
  paused_by text not null default '',
  reason    text not null default '',
  primary key (tenant_id, pool_id)
);

-- Counts are spread over shards so that those who write at the same time rarely wait for each other.
create table queue_depths (
  tenant_id ulid not null,
  pool_id   ulid not null,
  shard     smallint not null,
  depth     bigint not null,
  primary key (tenant_id, pool_id, shard)
);

create table queue_days (
  tenant_id ulid not null,
  pool_id   ulid not null,
  day       date not null,
  shard     smallint not null,
  accepted  bigint not null default 0,
  leased    bigint not null default 0,
  wait_ms   bigint not null default 0,
  completed bigint not null default 0,
  failed    bigint not null default 0,
  primary key (tenant_id, pool_id, day, shard)
);

-- One row for each key of a constraint. The key itself is never kept: group_id is a keyed digest of it.
create table admission_groups (
  tenant_id      ulid not null,
  kind           text not null check (kind in ('singleton', 'debounce', 'throttle', 'concurrency')),
  group_id       text collate "C" not null,
  environment_id ulid not null,
  pool_id        ulid not null,
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
) with (fillfactor = 70);
create index admission_groups_by_pool on admission_groups (tenant_id, pool_id, kind, group_id);
-- Coarse, so that using a group moves no index entry.
create index admission_groups_by_age on admission_groups using brin (updated_at);

create table outcomes (
  tenant_id    ulid not null,
  decision_id  ulid not null,
  pool_id      ulid not null,
  recipient_id text collate "C" not null default '',
  status       text not null check (status in ('success', 'failure', 'timeout', 'declined', 'cancelled')),
  latency_ms   double precision,
  score        double precision,
  cost         double precision,
  observed_at  timestamptz not null,
  recorded_at  timestamptz not null,
  primary key (tenant_id, decision_id)
);
create index outcomes_by_pool on outcomes (tenant_id, pool_id, recorded_at);

-- A queue item that failed for good, and how often it was tried again since. Its work stays in queue_items.
create table dead_letters (
  tenant_id       ulid not null,
  pool_id         ulid not null,
  queue_item_id   ulid not null,
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
);
create index dead_letters_failed on dead_letters (tenant_id, pool_id, last_failed_at) include (retry_count, max_retries)
  where state = 'failed';
create index dead_letters_set_aside on dead_letters (tenant_id, pool_id, queue_item_id) where state = 'quarantined';
create index dead_letters_by_age on dead_letters (last_failed_at);

create table anomalies (
  tenant_id    ulid not null,
  id           ulid not null,
  pool_id      ulid not null,
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

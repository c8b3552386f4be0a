create table webhook_endpoints (
  tenant_id        text collate "C" not null,
  id               text collate "C" not null,
  url              text not null,
  description      text not null default '',
  -- Exact types and families such as 'order.*'; everything when empty.
  event_types      text[] not null default '{}',
  -- An endpoint gets the events that whoever created it may read.
  environment_mode text not null default 'any'
    check (environment_mode in ('any', 'production_only', 'non_production_only')),
  -- Whether events are sent one after the other, in the order of the log.
  ordered          boolean not null default false,
  -- The delays between attempts, in seconds; the default schedule when empty.
  retry_delays_s   integer[] not null default '{}',
  -- A JSON template of the body; null for the event itself.
  transform        jsonb,
  status           text not null check (status in ('active', 'disabled')),
  disabled_reason  text not null default '' check (disabled_reason in ('', 'manual', 'gone', 'failing')),
  -- Events that were committed before the endpoint came into use are not sent to it, nor are those of that transaction.
  since_snapshot   text not null default stamp_snapshot(),
  since_stamp      bigint not null default current_stamp(),
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  record_version   integer not null default 1,
  primary key (tenant_id, id)
);

-- One row for each secret that signs: the newest one, and those before it until their time is up.
create table webhook_secrets (
  tenant_id   text collate "C" not null,
  id          text collate "C" not null,
  endpoint_id text collate "C" not null,
  ciphertext  text not null,
  key_id      text not null,
  expires_at  timestamptz,
  created_at  timestamptz not null,
  primary key (tenant_id, id)
);
create index webhook_secrets_by_endpoint on webhook_secrets (tenant_id, endpoint_id, id);
create index webhook_secrets_by_key on webhook_secrets (key_id);

-- Headers that are sent with every message, sealed. The id is the endpoint's.
create table webhook_headers (
  tenant_id  text collate "C" not null,
  id         text collate "C" not null,
  names      text[] not null,
  ciphertext text not null,
  key_id     text not null,
  primary key (tenant_id, id)
);
create index webhook_headers_by_key on webhook_headers (key_id);

-- Since when every attempt has failed. Apart from the endpoint, so that attempts do not rewrite it; there is no row after a
-- success.
create table webhook_failures (
  tenant_id     text collate "C" not null,
  endpoint_id   text collate "C" not null,
  failing_since timestamptz not null,
  primary key (tenant_id, endpoint_id)
);

-- How far deliveries were created from a tenant's log.
create table webhook_cursors (
  tenant_id text collate "C" primary key,
  stamp     bigint not null,
  id        text collate "C" not null
);

-- The order of the deliveries of ordered endpoints.
create sequence webhook_delivery_order;

-- An event on its way to an endpoint. The pair is the identity, so that no delivery is created twice.
create table webhook_deliveries (
  tenant_id       text collate "C" not null,
  endpoint_id     text collate "C" not null,
  event_id        text collate "C" not null,
  event_type      text not null,
  -- From webhook_delivery_order; null for endpoints without order.
  sequence        bigint,
  status          text not null default 'pending' check (status in ('pending', 'succeeded', 'failed', 'cancelled')),
  -- When it is tried next; during an attempt, when the attempt counts as abandoned.
  next_attempt_at timestamptz,
  lease_token     text,
  -- Attempts since it was created or replayed; attempt_log has the latest attempts of all.
  run_attempts    integer not null default 0,
  attempt_count   integer not null default 0,
  attempt_log     jsonb not null default '[]',
  created_at      timestamptz not null,
  ended_at        timestamptz,
  primary key (tenant_id, endpoint_id, event_id)
) with (autovacuum_vacuum_scale_factor = 0.01);
create index webhook_deliveries_due on webhook_deliveries (tenant_id, endpoint_id, next_attempt_at)
  where status = 'pending';
-- Only retention uses it, from the oldest row on.
create index webhook_deliveries_ended on webhook_deliveries using brin (ended_at);
create index webhook_deliveries_ordered on webhook_deliveries (tenant_id, endpoint_id, sequence)
  where status = 'pending' and sequence is not null;

-- Deliveries of a time range that are repeated in batches.
create table webhook_replays (
  tenant_id    text collate "C" not null,
  id           text collate "C" not null,
  endpoint_id  text collate "C" not null,
  since        timestamptz not null,
  until        timestamptz not null,
  selection    text not null check (selection in ('failed', 'missing', 'all')),
  status       text not null check (status in ('running', 'completed', 'cancelled')),
  -- The last event that was looked at.
  position     text collate "C" not null default '',
  replayed     bigint not null default 0,
  created_at   timestamptz not null,
  completed_at timestamptz,
  primary key (tenant_id, id)
);
create unique index webhook_replays_running on webhook_replays (tenant_id, endpoint_id) where status = 'running';

-- Heartbeats of the sources of health reports, and the state of dependencies, as each node sees them. They belong to the
-- instance and not to a tenant. Rows of nodes that are gone are deleted by the others.
create table health_observations (
  kind        text not null check (kind in ('source', 'dependency')),
  name        text not null,
  node_id     text not null,
  -- The health rules classify it. A node of a later version may store other states.
  state       text not null,
  observed_at timestamptz not null,
  -- The time by the clock of the node.
  node_clock  timestamptz not null,
  primary key (kind, name, node_id)
) with (fillfactor = 50);

-- Coarse counts of pools, workflows and notification channels over time, for charts. A row has the counts of one step of time; a
-- step in which all counts are zero has none.
create table history_points (
  tenant_id     text collate "C" not null,
  source        text not null check (source in ('pool', 'workflow', 'channel')),
  source_id     text collate "C" not null,
  -- The length of the step in minutes, and its start.
  step          smallint not null,
  at            timestamptz not null,
  -- The highest values in the step. Only pools have them.
  waiting       integer not null,
  in_progress   integer not null,
  oldest_age_s  integer not null,
  -- What happened in the step: items accepted, runs started or messages sent, and what came of them.
  started       integer not null,
  completed     integer not null,
  failed        integer not null,
  dead_lettered integer not null,
  primary key (tenant_id, source, source_id, step, at)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
create index history_points_by_age on history_points (step, at);

-- The minutes of each step in which the service took samples. The counts of a step without a row are not known. The rows belong to
-- the instance and not to a tenant.
create table history_samples (
  step    smallint not null,
  at      timestamptz not null,
  minutes smallint not null,
  primary key (step, at)
) with (autovacuum_vacuum_scale_factor = 0.05);

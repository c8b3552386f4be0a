create table webhook_endpoints (
  tenant_id       ulid not null,
  id              ulid not null,
  url             text not null,
  description     text not null default '',
  -- Exact types and families such as 'order.*'; everything when empty.
  event_types     text[] not null default '{}',
  status          text not null check (status in ('active', 'disabled')),
  disabled_reason text not null default '' check (disabled_reason in ('', 'manual', 'gone', 'failing')),
  -- What was committed when the endpoint came into use is no news to it, nor is what came with that transaction itself.
  since_snapshot  text not null default pg_current_snapshot()::text,
  since_xid       xid8 not null default pg_current_xact_id(),
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  record_version  integer not null default 1,
  primary key (tenant_id, id)
);

-- One row for each secret that signs: the newest one, and those before it until their time is up.
create table webhook_secrets (
  tenant_id   ulid not null,
  id          ulid not null,
  endpoint_id ulid not null,
  ciphertext  text not null,
  key_id      text not null,
  expires_at  timestamptz,
  created_at  timestamptz not null,
  primary key (tenant_id, id)
);
create index webhook_secrets_by_endpoint on webhook_secrets (tenant_id, endpoint_id, id);
create index webhook_secrets_by_key on webhook_secrets (key_id);

-- Since when every attempt has failed. Apart from the record, so that attempts do not rewrite it; no row is a good sign.
create table webhook_failures (
  tenant_id     ulid not null,
  endpoint_id   ulid not null,
  failing_since timestamptz not null,
  primary key (tenant_id, endpoint_id)
);

-- How far a tenant's log was turned into deliveries.
create table webhook_cursors (
  tenant_id ulid primary key,
  xid       xid8 not null,
  id        text collate "C" not null
);

-- An event on its way to an endpoint; the pair is its identity, so that it is never made twice.
create table webhook_deliveries (
  tenant_id       ulid not null,
  endpoint_id     ulid not null,
  event_id        ulid not null,
  event_type      text not null,
  status          text not null default 'pending' check (status in ('pending', 'succeeded', 'failed', 'cancelled')),
  -- When it is to be tried, or, while it is being tried, when it counts as abandoned.
  next_attempt_at timestamptz,
  lease_token     text,
  -- Attempts since it was made or replayed; attempt_log holds the latest of all.
  run_attempts    integer not null default 0,
  attempt_count   integer not null default 0,
  attempt_log     jsonb not null default '[]',
  created_at      timestamptz not null,
  ended_at        timestamptz,
  primary key (tenant_id, endpoint_id, event_id)
);
create index webhook_deliveries_due on webhook_deliveries (tenant_id, endpoint_id, next_attempt_at)
  where status = 'pending';
-- Only ever read from its old end.
create index webhook_deliveries_ended on webhook_deliveries using brin (ended_at);

-- Deliveries of a time range, made again bite by bite.
create table webhook_replays (
  tenant_id    ulid not null,
  id           ulid not null,
  endpoint_id  ulid not null,
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

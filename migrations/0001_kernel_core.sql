-- Ids are ULIDs, compared byte by byte so that their order is the order of creation.
create domain ulid as text collate "C" check (length(value) = 26);

-- What the nodes of one installation share, such as the secret that signs cursors.
create table instance (
  name  text primary key,
  value jsonb not null
);

create table tenants (
  id             ulid primary key,
  name           text not null,
  slug           text not null unique,
  status         text not null check (status in ('active', 'suspended', 'deleted')),
  plan           text not null default '',
  settings       jsonb not null default '{}',
  quotas         jsonb not null default '{}',
  platform       boolean not null default false,
  deleted_at     timestamptz,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1
);
create unique index tenants_one_platform on tenants (platform) where platform;

-- One row a tenant, raised in the transaction of every change that snapshots depend on.
-- Nodes follow it by transaction id, so that a change which commits late is not passed over.
create table tenant_versions (
  tenant_id   ulid primary key,
  version     bigint not null default 1,
  changed_xid xid8 not null default pg_current_xact_id()
);
create index tenant_versions_by_xid on tenant_versions (changed_xid);

create table quota_usage (
  tenant_id ulid not null,
  operation text not null,
  day       date not null,
  used      bigint not null,
  primary key (tenant_id, operation, day)
);

create table environments (
  tenant_id      ulid not null,
  id             ulid not null,
  key            text not null,
  name           text not null,
  mode           text not null check (mode in ('live', 'sandbox')),
  status         text not null check (status in ('active', 'disabled', 'deleted')),
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index environments_key on environments (tenant_id, key) where status <> 'deleted';

create table members (
  tenant_id      ulid not null,
  id             ulid not null,
  subject        text not null default '',
  email          text not null,
  display_name   text not null default '',
  roles          text[] not null default '{}',
  status         text not null check (status in ('invited', 'active', 'suspended', 'removed')),
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index members_email on members (tenant_id, lower(email)) where status <> 'removed';
create unique index members_subject on members (tenant_id, subject) where subject <> '' and status <> 'removed';

create index members_removed on members (tenant_id, subject) where subject <> '' and status = 'removed';

create table api_keys (
  tenant_id        ulid not null,
  id               ulid not null,
  name             text not null,
  prefix           text not null unique,
  secret_hash      text not null,
  roles            text[] not null default '{}',
  scopes           text[] not null default '{}',
  environment_mode text not null check (environment_mode in ('any', 'production_only', 'non_production_only')),
  expires_at       timestamptz,
  last_used_at     timestamptz,
  created_by       text not null,
  revoked_at       timestamptz,
  revoked_by       text not null default '',
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  record_version   integer not null default 1,
  primary key (tenant_id, id)
);

create table secrets (
  tenant_id      ulid not null,
  id             ulid not null,
  name           text not null,
  version        integer not null default 1,
  ciphertext     text not null,
  key_id         text not null,
  metadata       jsonb not null default '{}',
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id),
  unique (tenant_id, name)
);
create index secrets_by_key on secrets (key_id);

create table config_values (
  tenant_id      ulid not null,
  key            text not null,
  value          jsonb not null,
  updated_by     text not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, key)
);

-- The log. (xid, id) is an order in which nothing ever appears behind a reader:
-- readers stop before the oldest transaction that is still running.
create table events (
  tenant_id ulid not null,
  id        ulid not null,
  xid       xid8 not null default pg_current_xact_id(),
  type      text not null,
  source    text not null,
  subject   text not null default '',
  time      timestamptz not null,
  data      jsonb not null default '{}',
  primary key (tenant_id, id)
);
create index events_in_order on events (tenant_id, xid, id);
create index events_by_subject on events (tenant_id, subject, id) where subject <> '';

-- A mutating request turns pending to completed in the transaction of its effect.
create table idempotency_records (
  tenant_id   ulid not null,
  principal   text not null,
  operation   text not null,
  key         text not null,
  fingerprint bytea not null,
  state       text not null check (state in ('pending', 'completed')),
  response    text,
  created_at  timestamptz not null,
  primary key (tenant_id, principal, operation, key)
);
-- Only ever read from its old end, so that a coarse index is enough and costs next to nothing to keep.
create index idempotency_records_by_age on idempotency_records using brin (created_at);

-- Background work and everything that leaves: written in the transaction that caused it, run at least once.
create table jobs (
  tenant_id    ulid not null,
  id           ulid not null,
  kind         text not null,
  payload      jsonb not null default '{}',
  dedupe_key   text,
  state        text not null default 'ready' check (state in ('ready', 'leased', 'failed')),
  run_at       timestamptz not null,
  attempts     integer not null default 0,
  max_attempts integer not null,
  lease_token  text,
  lease_until  timestamptz,
  last_error   text not null default '',
  created_at   timestamptz not null,
  primary key (tenant_id, id)
);
create index jobs_due on jobs (kind, run_at, id) where state = 'ready';
create index jobs_leased on jobs (lease_until) where state = 'leased';
create unique index jobs_dedupe on jobs (tenant_id, kind, dedupe_key) where dedupe_key is not null and state <> 'failed';

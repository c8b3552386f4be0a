-- A tenant is the unit of isolation: every record belongs to one.
create table tenants (
  id             text collate "C" primary key,
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

-- The tenants of keys that callers present before their tenant is known: prefixes of API keys, ids of sign-in connections and of
-- connect sessions. All other unique keys of tenants' tables begin with tenant_id.
create table tenant_directory (
  key       text collate "C" primary key,
  tenant_id text collate "C" not null
);
create index tenant_directory_by_tenant on tenant_directory (tenant_id);

-- One row per tenant, raised in the transaction of every change that snapshots depend on. Nodes follow it by stamp,
-- so that they never miss a change that commits late.
create table tenant_versions (
  tenant_id     text collate "C" primary key,
  version       bigint not null default 1,
  changed_stamp bigint not null default current_stamp()
);
create index tenant_versions_by_stamp on tenant_versions (changed_stamp);

create table quota_usage (
  tenant_id text collate "C" not null,
  operation text not null,
  day       date not null,
  used      bigint not null,
  primary key (tenant_id, operation, day)
) with (fillfactor = 50);

create table environments (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  key            text not null,
  name           text not null,
  mode           text not null check (mode in ('live', 'sandbox')),
  status         text not null check (status in ('active', 'disabled', 'deleted')),
  -- What the approval of a promotion needs.
  promotion_policy jsonb not null default '{"approvals": 1, "excludeAuthors": false}',
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index environments_key on environments (tenant_id, key) where status <> 'deleted';

create table members (
  tenant_id        text collate "C" not null,
  id               text collate "C" not null,
  subject          text not null default '',
  email            text not null,
  display_name     text not null default '',
  roles            text[] not null default '{}',
  -- Roles that a member has through groups of the identity provider, besides the member's own.
  group_roles      text[] not null default '{}',
  -- Roles through the groups that identity providers named at the last sign-in.
  session_roles    text[] not null default '{}',
  -- The same limits as those of API keys.
  environment_mode text not null default 'any'
    check (environment_mode in ('any', 'production_only', 'non_production_only')),
  expires_at       timestamptz,
  status           text not null check (status in ('invited', 'active', 'suspended', 'removed')),
  -- Tokens that were issued until then are refused.
  signed_out_at    timestamptz,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  record_version   integer not null default 1,
  primary key (tenant_id, id)
);
create unique index members_email on members (tenant_id, lower(email)) where status <> 'removed';
create unique index members_subject on members (tenant_id, subject) where subject <> '' and status <> 'removed';
create index members_removed on members (tenant_id, subject) where subject <> '' and status = 'removed';

create table api_keys (
  tenant_id        text collate "C" not null,
  id               text collate "C" not null,
  name             text not null,
  prefix           text not null,
  secret_hash      text not null,
  roles            text[] not null default '{}',
  scopes           text[] not null default '{}',
  -- Roles that only the owner's token had when the first key of the chain was created.
  token_roles      text[] not null default '{}',
  environment_mode text not null check (environment_mode in ('any', 'production_only', 'non_production_only')),
  expires_at       timestamptz,
  -- Its own rate limit, besides that of the tenant; 0 for none.
  max_rps          integer not null default 0,
  last_used_at     timestamptz,
  created_by       text not null,
  -- The first creator in the key's chain of keys; empty if that is nobody of the tenant.
  owner            text not null default '',
  revoked_at       timestamptz,
  revoked_by       text not null default '',
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  record_version   integer not null default 1,
  primary key (tenant_id, id)
);
create unique index api_keys_by_prefix on api_keys (tenant_id, prefix);
create index api_keys_by_owner on api_keys (tenant_id, owner) where owner <> '';

create table secrets (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
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
  tenant_id      text collate "C" not null,
  key            text not null,
  value          jsonb not null,
  updated_by     text not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, key)
);

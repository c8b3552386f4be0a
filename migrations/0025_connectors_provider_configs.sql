-- A tenant's own settings for a provider, such as its OAuth app.
create table connector_provider_configs (
  tenant_id      ulid not null,
  id             ulid not null,
  environment_id  ulid not null,
  environment_key text not null,
  provider_key   text collate "C" not null,
  name           text not null,
  status         text not null check (status in ('draft', 'active', 'disabled', 'archived')),
  client_id      text not null default '',
  scopes         text[] not null default '{}',
  settings       jsonb not null default '{}',
  -- The names of the sealed secrets. Their values are in the ciphertext, which is empty if there are none.
  secret_names   text[] not null default '{}',
  ciphertext     text not null default '',
  key_id         text not null default '',
  activated_at   timestamptz,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create index connector_provider_configs_by_provider on connector_provider_configs (tenant_id, provider_key, id);
create index connector_provider_configs_by_key on connector_provider_configs (key_id) where ciphertext <> '';

alter table connector_connections
  -- The authentication mode of the provider's manifest; empty for providers of notifications.
  add column auth_mode text not null default '',
  add column manifest_version text not null default '',
  add column manifest_digest text not null default '',
  add column account_id text not null default '',
  add column account_label text not null default '',
  -- Values from the provider's answers that templates use. They are not secret.
  add column captured jsonb not null default '{}',
  -- Raised with every change of the credentials. A writer states the version that it replaces.
  add column credential_version integer not null default 1,
  add column status_reason text not null default '',
  add column provider_revocation text not null default ''
    check (provider_revocation in ('', 'pending', 'succeeded', 'failed', 'not_offered')),
  add column last_refresh_error text not null default '',
  add column last_tested_at timestamptz,
  -- The class of the last test's result; empty before the first.
  add column last_test_class text not null default '',
  -- When the refresh token must be used, so that it does not end for lack of use; null if it does not.
  add column idle_refresh_at timestamptz;

-- Lists are read in the order of ids. Filters without an index of their own are evaluated row by row.
create index connector_connections_by_provider on connector_connections (tenant_id, provider_key, id);
create index connector_connections_by_status on connector_connections (tenant_id, status, id);
create index connector_connections_by_end_user on connector_connections (tenant_id, (end_user ->> 'id'), id);
create index connector_connections_by_config on connector_connections (tenant_id, provider_config_id, id)
  where provider_config_id <> '';
create index connector_connections_idle on connector_connections (idle_refresh_at) where idle_refresh_at is not null;
create index connector_connections_revoking on connector_connections (revoked_at) where provider_revocation = 'pending';

-- The number of connections of a tenant that are not revoked. It is exact: every statement that changes it is in the
-- transaction of the change.
create table connector_connection_counts (
  tenant_id  ulid primary key,
  live_count integer not null
);
insert into connector_connection_counts (tenant_id, live_count)
select tenant_id, count(*) from connector_connections where status <> 'revoked' group by tenant_id;

-- The right to refresh or revoke a connection at its provider. Only one node has it at a time, without a transaction during
-- the request.
create table connector_refresh_leases (
  tenant_id         ulid not null,
  connection_id     ulid not null,
  -- Raised by every claim. A holder writes only while its fence is the current one.
  fence             bigint not null,
  leased_until      timestamptz not null,
  -- The version of the credentials that were sent in a request with an unknown outcome; null if there is none.
  attempted_version integer,
  failures          integer not null default 0,
  -- No refresh before this time, unless a caller requests it.
  retry_at          timestamptz,
  primary key (tenant_id, connection_id)
);
create index connector_refresh_leases_interrupted on connector_refresh_leases (leased_until)
  where attempted_version is not null;

-- Manifests of tenants: providers as documents. Rows are never updated.
create table connector_manifests (
  tenant_id  text collate "C" not null,
  id         text collate "C" not null,
  key        text collate "C" not null,
  version    text not null,
  name       text not null,
  -- As written, with the order of its members.
  document   json not null,
  -- The SHA-256 of the document as canonical JSON.
  digest     text not null,
  source     text not null check (source in ('tenant', 'pack')),
  -- The installed pack that it belongs to; empty for the tenant's own.
  pack_id    text not null,
  created_at timestamptz not null,
  primary key (tenant_id, id)
);
create unique index connector_manifests_version on connector_manifests (tenant_id, key, version);
create index connector_manifests_pack on connector_manifests (tenant_id, pack_id) where pack_id <> '';

-- A tenant's own settings for a provider, such as its OAuth app.
create table connector_provider_configs (
  tenant_id        text collate "C" not null,
  id               text collate "C" not null,
  environment_id   text collate "C" not null,
  environment_key  text not null,
  provider_key     text collate "C" not null,
  -- The version of the provider's manifest whose actions connections of this config execute; empty for the newest.
  manifest_version text not null default '',
  name             text not null,
  status           text not null check (status in ('draft', 'active', 'disabled', 'archived')),
  client_id        text not null default '',
  scopes           text[] not null default '{}',
  settings         jsonb not null default '{}',
  -- The names of the sealed secrets. Their values are in the ciphertext, which is empty if there are none.
  secret_names     text[] not null default '{}',
  ciphertext       text not null default '',
  key_id           text not null default '',
  activated_at     timestamptz,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  record_version   integer not null default 1,
  primary key (tenant_id, id)
);
create index connector_provider_configs_by_provider on connector_provider_configs (tenant_id, provider_key, id);
create index connector_provider_configs_by_key on connector_provider_configs (key_id) where ciphertext <> '';

-- What a provider config sends to its provider: client id, scopes and settings, without secrets. Rows are never
-- updated.
create table connector_provider_config_versions (
  tenant_id  text collate "C" not null,
  config_id  text collate "C" not null,
  version    integer not null,
  content    text not null,
  digest     text not null,
  origin     text not null check (origin in ('change', 'staged')),
  message    text not null default '',
  created_by text not null,
  created_at timestamptz not null,
  primary key (tenant_id, config_id, version)
);

create table connector_provider_config_active_versions (
  tenant_id text collate "C" not null,
  config_id text collate "C" not null,
  version   integer not null,
  digest    text not null,
  primary key (tenant_id, config_id)
);

-- Access of the service to an account at a provider. Credentials are sealed and never returned.
create table connector_connections (
  tenant_id           text collate "C" not null,
  id                  text collate "C" not null,
  -- The environment of its provider config, or else production.
  environment_id      text collate "C" not null,
  environment_key     text not null,
  name                text not null,
  provider_key        text not null,
  provider_config_id  text not null default '',
  -- The authentication mode of the provider's manifest; empty for providers of notifications.
  auth_mode           text not null default '',
  manifest_version    text not null default '',
  manifest_digest     text not null default '',
  end_user            jsonb not null default '{}',
  account_id          text not null default '',
  account_label       text not null default '',
  -- The accounts that a grant reaches while none of them is chosen: id, label and captured values, without secrets.
  account_choices     jsonb not null default '[]',
  status              text not null check (status in ('active', 'needs_account', 'needs_reauth', 'revoked')),
  status_reason       text not null default '',
  scopes              text[] not null default '{}',
  -- Values that are not secret, such as a host name.
  settings            jsonb not null default '{}',
  -- Values from the provider's answers that templates use. They are not secret.
  captured            jsonb not null default '{}',
  ciphertext          text not null,
  key_id              text not null,
  -- Raised with every change of the credentials. A writer states the version that it replaces.
  credential_version  integer not null default 1,
  expires_at          timestamptz,
  -- When the refresh token must be used, so that it does not end for lack of use; null if it does not.
  idle_refresh_at     timestamptz,
  -- When the grant ends; null if it does not end by itself, or if the provider does not say when.
  grant_expires_at    timestamptz,
  -- When the tenant is told to have it granted again; null if there is nothing to tell, or if it was told already.
  reauth_notice_at    timestamptz,
  last_refreshed_at   timestamptz,
  last_refresh_error  text not null default '',
  -- The last attempts to connect an account and to renew its tokens, newest first, without secrets.
  attempts            jsonb not null default '[]',
  last_tested_at      timestamptz,
  -- The class of the last test's result; empty before the first.
  last_test_class     text not null default '',
  revoked_at          timestamptz,
  provider_revocation text not null default ''
    check (provider_revocation in ('', 'pending', 'succeeded', 'failed', 'not_offered')),
  created_at          timestamptz not null,
  updated_at          timestamptz not null,
  record_version      integer not null default 1,
  primary key (tenant_id, id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index connector_connections_by_key on connector_connections (key_id);
-- Lists are read in the order of ids. Filters without an index of their own are evaluated row by row.
create index connector_connections_by_provider on connector_connections (tenant_id, provider_key, id);
create index connector_connections_by_status on connector_connections (tenant_id, status, id);
create index connector_connections_by_end_user on connector_connections (tenant_id, (end_user ->> 'id'), id);
create index connector_connections_by_config on connector_connections (tenant_id, provider_config_id, id)
  where provider_config_id <> '';
create index connector_connections_idle on connector_connections (idle_refresh_at) where idle_refresh_at is not null;
create index connector_connections_revoking on connector_connections (revoked_at) where provider_revocation = 'pending';
create index connector_connections_notice on connector_connections (reauth_notice_at) where reauth_notice_at is not null;

-- The number of connections of a tenant that are not revoked. It is exact: every statement that changes it is in the
-- transaction of the change.
create table connector_connection_counts (
  tenant_id  text collate "C" primary key,
  live_count integer not null
);

-- The right to refresh or revoke a connection at its provider. Only one node has it at a time, without a transaction during
-- the request.
create table connector_refresh_leases (
  tenant_id         text collate "C" not null,
  connection_id     text collate "C" not null,
  -- Raised by every claim. A holder writes only while its fence is the current one.
  fence             bigint not null,
  leased_until      timestamptz not null,
  -- The version of the credentials that were sent in a request with an unknown outcome; null if there is none.
  attempted_version integer,
  failures          integer not null default 0,
  -- No refresh before this time, unless a caller requests it.
  retry_at          timestamptz,
  primary key (tenant_id, connection_id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index connector_refresh_leases_interrupted on connector_refresh_leases (leased_until)
  where attempted_version is not null;

-- A session in which an end user connects an account on the hosted page.
create table connector_connect_sessions (
  tenant_id             text collate "C" not null,
  id                    text collate "C" not null,
  environment_id        text collate "C" not null,
  environment_key       text not null,
  status                text not null
    check (status in ('pending', 'authorizing', 'completed', 'failed', 'expired', 'revoked')),
  allowed_provider_keys text[] not null,
  -- The config that the caller chose; empty for the provider's default.
  provider_config_id    text not null default '',
  end_user              jsonb not null,
  -- The connection to reconnect; empty for a new one.
  connection_id         text not null default '',
  connection_name       text not null default '',
  scopes                text[] not null default '{}',
  allowed_origins       text[] not null default '{}',
  success_redirect_uri  text not null default '',
  error_redirect_uri    text not null default '',
  require_completion    boolean not null default false,
  -- SHA-256 of the token, which opens the session once.
  token_hash            bytea not null,
  -- SHA-256 of the cookie of the browser that opened it.
  cookie_hash           bytea,
  -- Submissions of the end user. They are limited, so that nobody tries out credentials.
  attempts              integer not null default 0,
  -- The current authorization; its values are cleared when the session ends.
  provider_key          text not null default '',
  auth_mode             text not null default '',
  used_config_id        text not null default '',
  manifest_digest       text not null default '',
  state_hash            bytea,
  state_expires_at      timestamptz,
  -- Sealed: the code verifier and fields of the end user, and what awaits completion.
  ciphertext            text not null default '',
  -- SHA-256 of the code with which a backend completes the session.
  completion_hash       bytea,
  awaiting_completion   boolean not null default false,
  result_connection_id  text not null default '',
  error_code            text not null default '',
  error_detail          text not null default '',
  expires_at            timestamptz not null,
  ended_at              timestamptz,
  created_at            timestamptz not null,
  updated_at            timestamptz not null,
  record_version        integer not null default 1,
  primary key (tenant_id, id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create unique index connector_connect_sessions_by_state on connector_connect_sessions (tenant_id, state_hash)
  where state_hash is not null;
create index connector_connect_sessions_by_end_user on connector_connect_sessions (tenant_id, (end_user ->> 'id'), id);
create index connector_connect_sessions_open on connector_connect_sessions (expires_at)
  where status in ('pending', 'authorizing');
create index connector_connect_sessions_ended on connector_connect_sessions (ended_at) where ended_at is not null;

-- Executions of connector actions, in a partition per day, dropped after their retention. The time of an id is its
-- started_at, so that a read by id needs one partition.
create table connector_executions (
  tenant_id        text collate "C" not null,
  id               text collate "C" not null,
  action_key       text not null,
  provider_key     text not null,
  manifest_version text not null,
  -- Empty for providers without authentication.
  connection_id    text not null,
  status           text not null check (status in ('running', 'succeeded', 'failed', 'outcome_unknown')),
  -- What the last answer means; empty while it is running.
  class            text not null default '',
  code             text not null default '',
  message          text not null default '',
  attempts         json not null default '[]',
  -- Redacted; null without an output.
  output           json,
  output_omitted   boolean not null default false,
  pages_truncated  boolean not null default false,
  -- Method, host and path as the manifest writes it; no values.
  request          json not null,
  -- The key that the provider deduplicates by; empty if it does not deduplicate.
  idempotency_key  text not null,
  origin           text not null check (origin in ('api', 'workflow', 'routing')),
  origin_id        text not null,
  -- What becomes of it if its node dies: reads change nothing; repeatable writes may be sent again.
  safety           text not null check (safety in ('read', 'repeatable', 'once')),
  -- The caller's idempotency record, which is deleted when the call may be repeated; empty without one.
  claim_principal  text not null,
  claim_key        text not null,
  retry_at         timestamptz,
  started_at       timestamptz not null,
  ended_at         timestamptz,
  -- Until when the node that executes it must have stored the outcome.
  lease_until      timestamptz
) partition by range (started_at);
create table connector_executions_default partition of connector_executions default;
create index connector_executions_running on connector_executions (lease_until) where status = 'running';
create index connector_executions_by_connection on connector_executions (tenant_id, connection_id, id);
create index connector_executions_by_id on connector_executions (tenant_id, id);

-- Until when providers want no more requests of a connection, or of a provider without connections.
create table connector_rate_limits (
  tenant_id     text collate "C" not null,
  -- The id of a connection, or `provider:` and a key.
  scope         text not null,
  blocked_until timestamptz not null,
  primary key (tenant_id, scope)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index connector_rate_limits_ended on connector_rate_limits (blocked_until);

-- Subscriptions to what happens in connected accounts, the events that they received, and their delivery to targets.
create table connector_trigger_subscriptions (
  tenant_id       text collate "C" not null,
  id              text collate "C" not null,
  environment_id  text collate "C" not null,
  -- The key of the environment. It never changes.
  environment_key text not null,
  name            text not null,
  trigger_key     text not null,
  provider_key    text not null,
  connection_id   text collate "C" not null,
  kind            text not null check (kind in ('webhook', 'poll')),
  input           json not null,
  condition       text not null,
  -- {"kind": "workflow" | "route" | "record", …}
  target          json not null,
  paused          boolean not null default false,
  -- The provider ended the registration and no other could be made.
  expired         boolean not null default false,
  -- What fails: the registration or the polls, and the delivery of events.
  intake_error    text not null default '',
  delivery_error  text not null default '',
  status          text not null generated always as (case
    when paused then 'paused'
    when expired then 'expired'
    when intake_error <> '' or delivery_error <> '' then 'failing'
    else 'active' end) stored,
  ready_at        timestamptz,
  last_event_at   timestamptz,
  -- The secret of the caller and the secret part of the callback URL, sealed; empty if there is neither.
  ciphertext      text not null default '',
  key_id          text not null default '',
  -- The shard whose owner polls; the same for all subscriptions of a connection.
  shard           smallint not null,
  -- When the next poll is due; null for webhooks and while paused. A claimed poll is due when the claim expires.
  poll_due_at     timestamptz,
  poll_claim      text not null default '',
  poll_failures   integer not null default 0,
  -- The start of the last complete scan: the next one looks back from here.
  scanned_at      timestamptz,
  -- An unfinished scan: {"startedAtMs", "pages", "items", "next"}; null between scans.
  scan            json,
  -- How long a seen key is kept after the last scan that found it.
  ledger_s        integer not null default 0,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  record_version  integer not null default 1,
  primary key (tenant_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index connector_trigger_subscriptions_connection on connector_trigger_subscriptions (tenant_id, connection_id, id);
create index connector_trigger_subscriptions_due on connector_trigger_subscriptions (shard, poll_due_at)
  where poll_due_at is not null;
create index connector_trigger_subscriptions_key on connector_trigger_subscriptions (key_id) where ciphertext <> '';

-- Webhooks at providers. A row outlives its subscription until the provider has removed the webhook.
create table connector_trigger_registrations (
  tenant_id       text collate "C" not null,
  id              text collate "C" not null,
  subscription_id text collate "C" not null,
  trigger_key     text not null,
  connection_id   text collate "C" not null,
  input           json not null,
  state           text not null check (state in ('pending', 'active', 'removing')),
  external_id     text not null default '',
  -- The secret that deliveries are signed with, and the secret part of the callback URL, sealed.
  ciphertext      text not null,
  key_id          text not null,
  expires_at      timestamptz,
  shard           smallint not null,
  -- When it is registered, renewed or removed next; null if never. A claimed row is due when the claim expires.
  due_at          timestamptz,
  claim           text not null default '',
  failures        integer not null default 0,
  last_error      text not null default '',
  created_at      timestamptz not null,
  primary key (tenant_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index connector_trigger_registrations_subscription on connector_trigger_registrations (tenant_id, subscription_id);
create index connector_trigger_registrations_due on connector_trigger_registrations (shard, due_at) where due_at is not null;
create index connector_trigger_registrations_key on connector_trigger_registrations (key_id);

-- The keys of received events and polled items. Whatever is in here is never received again.
create table connector_trigger_dedup_keys (
  tenant_id       text collate "C" not null,
  subscription_id text collate "C" not null,
  -- A digest of the provider's key.
  key             bytea not null,
  event_id        text collate "C" not null,
  seen_at         timestamptz not null,
  primary key (tenant_id, subscription_id, key)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
create index connector_trigger_seen_at on connector_trigger_dedup_keys (seen_at);

-- Received events, in a partition per day, dropped after their retention.
create table connector_trigger_events (
  tenant_id       text collate "C" not null,
  id              text collate "C" not null,
  subscription_id text collate "C" not null,
  environment_key text not null,
  type            text not null,
  dedup_key       text not null,
  payload         json not null,
  status          text not null check (status in ('pending', 'delivered', 'ignored', 'recorded', 'dead')),
  attempts        integer not null default 0,
  last_error      text not null default '',
  result          json,
  replays         integer not null default 0,
  received_at     timestamptz not null,
  ended_at        timestamptz
) partition by range (received_at);
create table connector_trigger_events_default partition of connector_trigger_events default;
create index connector_trigger_events_by_id on connector_trigger_events (tenant_id, id);
create index connector_trigger_events_by_subscription on connector_trigger_events (tenant_id, subscription_id, id);

-- Events that have to be delivered to the target of their subscription.
create table connector_trigger_deliveries (
  tenant_id        text collate "C" not null,
  event_id         text collate "C" not null,
  subscription_id  text collate "C" not null,
  received_at      timestamptz not null,
  -- The number of replays before: a part of the idempotency key.
  replay           integer not null default 0,
  due_at           timestamptz not null,
  claim            text not null default '',
  attempts         integer not null default 0,
  first_claimed_at timestamptz,
  primary key (tenant_id, event_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index connector_trigger_deliveries_due on connector_trigger_deliveries (tenant_id, due_at);

-- Public keys of publishers that a tenant trusts. Publishers belong to a tenant: two tenants may use the same name.
create table marketplace_publisher_keys (
  tenant_id     text collate "C" not null,
  -- Derived from the key.
  id            text collate "C" not null,
  publisher     text collate "C" not null,
  -- The 32 bytes of the Ed25519 key, as base64.
  public_key    text not null,
  status        text not null check (status in ('active', 'revoked')),
  revoke_reason text not null default '',
  created_at    timestamptz not null,
  revoked_at    timestamptz,
  primary key (tenant_id, id)
);

-- Packs that a tenant published, described by their newest version that is not yanked. Built-in packs are files.
create table marketplace_packs (
  tenant_id      text collate "C" not null,
  publisher      text collate "C" not null,
  name           text collate "C" not null,
  kind           text not null check (kind in ('connector', 'workflow', 'notification', 'rules')),
  latest_version text not null,
  title          text not null,
  description    text not null,
  tags           text[] not null,
  deprecated_by  text not null default '',
  -- All versions are yanked: the pack is not listed.
  yanked         boolean not null default false,
  -- What lists show of the version: the pack without its contents.
  summary        json not null,
  search         tsvector not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (tenant_id, publisher, name)
);
create index marketplace_packs_search on marketplace_packs using gin (search);

-- Versions of packs. The document never changes.
create table marketplace_pack_versions (
  tenant_id    text collate "C" not null,
  publisher    text collate "C" not null,
  name         text collate "C" not null,
  version      text collate "C" not null,
  -- The signed part, as it was published.
  document     json not null,
  digest       text not null,
  signature    text not null,
  key_id       text not null,
  yanked       boolean not null default false,
  yank_reason  text not null default '',
  published_by text not null,
  published_at timestamptz not null,
  primary key (tenant_id, publisher, name, version)
);

create table marketplace_installations (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  publisher      text collate "C" not null,
  name           text collate "C" not null,
  kind           text not null,
  version        text not null,
  digest         text not null,
  -- The signed document that is installed: the base of the next upgrade, even if the version disappears.
  document       json not null,
  slots          jsonb not null,
  -- The change that led to this state.
  change_id      text collate "C" not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, id)
);
create unique index marketplace_installations_pack on marketplace_installations (tenant_id, publisher, name);

-- The records of an installation, in the order of the pack.
create table marketplace_installation_records (
  tenant_id       text collate "C" not null,
  installation_id text collate "C" not null,
  key             text collate "C" not null,
  position        integer not null,
  kind            text not null,
  record_id       text collate "C" not null,
  -- What the pack wrote, in normal form. The difference to the record is what the tenant changed.
  base            json not null,
  primary key (tenant_id, installation_id, key)
);
create index marketplace_installation_records_id on marketplace_installation_records (tenant_id, kind, record_id);

-- The log of installations. Rows are never updated.
create table marketplace_installation_changes (
  tenant_id       text collate "C" not null,
  id              text collate "C" not null,
  installation_id text collate "C" not null,
  operation       text not null check (operation in ('install', 'upgrade', 'rollback', 'uninstall')),
  from_version    text not null,
  to_version      text not null,
  actor           text not null,
  -- The rows before and after an upgrade, from which a rollback restores them.
  images          json,
  created_at      timestamptz not null,
  primary key (tenant_id, id)
);
create index marketplace_installation_changes_of on marketplace_installation_changes (tenant_id, installation_id, id);

-- Executions of connector actions, in a partition per day, dropped after their retention. The time of an id is its
-- started_at, so that a read by id needs one partition.
create table connector_executions (
  tenant_id ulid not null,
  id ulid not null,
  action_key text not null,
  provider_key text not null,
  manifest_version text not null,
  -- Empty for providers without authentication.
  connection_id text not null,
  status text not null check (status in ('running', 'succeeded', 'failed', 'outcome_unknown')),
  -- What the last answer means; empty while it is running.
  class text not null default '',
  code text not null default '',
  message text not null default '',
  attempts json not null default '[]',
  -- Redacted; null without an output.
  output json,
  output_omitted boolean not null default false,
  pages_truncated boolean not null default false,
  -- Method, host and path as the manifest writes it; no values.
  request json not null,
  -- The key that the provider deduplicates by; empty if it does not deduplicate.
  idempotency_key text not null,
  origin text not null check (origin in ('api', 'workflow', 'routing')),
  origin_id text not null,
  -- What becomes of it if its node dies: reads change nothing; repeatable writes may be sent again.
  safety text not null check (safety in ('read', 'repeatable', 'once')),
  -- The caller's idempotency record, which is deleted when the call may be repeated; empty without one.
  claim_principal text not null,
  claim_key text not null,
  retry_at timestamptz,
  started_at timestamptz not null,
  ended_at timestamptz,
  -- Until when the node that executes it must have stored the outcome.
  lease_until timestamptz
) partition by range (started_at);
create table connector_executions_default partition of connector_executions default;
create index on connector_executions (lease_until) where status = 'running';
create index on connector_executions (tenant_id, connection_id, id);
create index on connector_executions (tenant_id, id);

-- Until when providers want no more requests of a connection, or of a provider without connections.
create table connector_rate_limits (
  tenant_id ulid not null,
  -- The id of a connection, or `provider:` and a key.
  scope text not null,
  blocked_until timestamptz not null,
  primary key (tenant_id, scope)
);
create index connector_rate_limits_ended on connector_rate_limits (blocked_until);

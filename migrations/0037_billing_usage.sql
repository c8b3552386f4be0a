-- Usage counts once for a tenant, a meter and a transaction id.
create table billing_usage (
  tenant_id      ulid not null,
  meter_key      text collate "C" not null,
  transaction_id text collate "C" not null,
  at             timestamptz not null,
  quantity       bigint not null,
  -- The text of the value, for meters that count different values.
  value          text not null,
  -- The properties that the meter groups by.
  dimensions     jsonb not null,
  recorded_at    timestamptz not null,
  primary key (tenant_id, meter_key, transaction_id)
);
create index billing_usage_by_time on billing_usage (tenant_id, meter_key, at);

-- What the service counted itself: one row per window. A repeated count replaces the row.
create table billing_service_usage (
  tenant_id    ulid not null,
  meter_key    text collate "C" not null,
  window_start timestamptz not null,
  quantity     bigint not null,
  primary key (tenant_id, meter_key, window_start)
);

-- How far the service has counted its own meters. Windows before counted_until are counted, and those before
-- settled_until are counted for the second and last time.
create table billing_collections (
  meter_key     text primary key,
  counted_until timestamptz not null,
  settled_until timestamptz not null
);

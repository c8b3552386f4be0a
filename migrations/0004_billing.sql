-- What tenants may use. The newest snapshot of a tenant counts. Rows are never updated.
create table entitlement_snapshots (
  tenant_id   text collate "C" not null,
  id          text collate "C" not null,
  version     integer not null,
  source_kind text not null check (source_kind in ('plan', 'operator', 'external')),
  source_ref  text not null,
  issued_at   timestamptz not null,
  -- From then on it is stale.
  fresh_until timestamptz not null,
  allow       text[] not null,
  deny        text[] not null,
  -- Daily quotas by operation, as texts.
  limits      jsonb not null,
  primary key (tenant_id, id),
  unique (tenant_id, version),
  constraint entitlement_snapshots_without_conflict check (not (allow && deny))
);

-- Calls that were admitted without an entitlement, or denied: one row per minute for equal calls. The id follows from
-- the other columns, so that all nodes count in the same row.
create table entitlement_evidence (
  tenant_id        text collate "C" not null,
  id               text collate "C" not null,
  minute           timestamptz not null,
  item             text not null,
  operation        text not null,
  mode             text not null,
  verdict          text not null,
  reason           text not null,
  snapshot_version integer not null,
  count            bigint not null,
  primary key (tenant_id, id)
);

-- Plans and meters belong to the platform tenant.
create table billing_plans (
  tenant_id      text collate "C" not null,
  key            text collate "C" not null,
  name           text not null,
  description    text not null,
  status         text not null check (status in ('active', 'archived')),
  self_service   boolean not null,
  latest_version integer not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, key)
);

-- Amounts and quantities in terms are texts. Rows are never updated.
create table billing_plan_versions (
  tenant_id  text collate "C" not null,
  plan_key   text collate "C" not null,
  version    integer not null,
  terms      jsonb not null,
  digest     text not null,
  created_at timestamptz not null,
  primary key (tenant_id, plan_key, version)
);

create table billing_meters (
  tenant_id      text collate "C" not null,
  key            text collate "C" not null,
  name           text not null,
  aggregation    text not null check (aggregation in ('sum', 'count', 'max', 'last', 'unique_count')),
  value_path     text not null,
  group_by       text[] not null,
  status         text not null check (status in ('active', 'archived')),
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1,
  primary key (tenant_id, key)
);

-- One subscription per tenant.
create table billing_subscriptions (
  tenant_id      text collate "C" primary key,
  id             text collate "C" not null,
  plan_key       text not null,
  plan_version   integer not null,
  status         text not null check (status in ('active', 'canceled')),
  -- Periods are counted from here, so that a period which starts on the 31st does not move.
  anchor_at      timestamptz not null,
  period_number  integer not null,
  period_start   timestamptz not null,
  period_end     timestamptz not null,
  overrides      jsonb not null,
  -- The change at the end of the period; null without one.
  scheduled      jsonb,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  record_version integer not null default 1
);

-- Which version of which plan a tenant had, and when.
create table billing_segments (
  tenant_id    text collate "C" not null,
  id           text collate "C" not null,
  plan_key     text not null,
  plan_version integer not null,
  starts_at    timestamptz not null,
  -- Null for the current one.
  ends_at      timestamptz,
  primary key (tenant_id, id)
);
-- Windows of usage are divided at changes of plans, which are found by their time.
create index billing_segments_started on billing_segments (starts_at);
create index billing_segments_ended on billing_segments (ends_at);

create table billing_periods (
  tenant_id text collate "C" not null,
  starts_at timestamptz not null,
  ends_at   timestamptz not null,
  currency  text not null,
  state     text not null check (state in ('open', 'closed', 'invoiced')),
  primary key (tenant_id, starts_at)
);
create index billing_periods_due on billing_periods (ends_at) where state <> 'invoiced';

create table billing_invoices (
  tenant_id    text collate "C" not null,
  id           text collate "C" not null,
  status       text not null check (status in ('preview', 'issued', 'void')),
  -- 0 for a preview.
  number       bigint not null,
  period_start timestamptz not null,
  period_end   timestamptz not null,
  currency     text not null,
  -- Amounts and quantities are texts.
  lines        jsonb not null,
  total        numeric not null,
  as_of        timestamptz not null,
  watermark    timestamptz not null,
  voided_at    timestamptz,
  void_reason  text not null default '',
  created_at   timestamptz not null,
  primary key (tenant_id, id)
);
create unique index billing_invoices_number on billing_invoices (tenant_id, number) where number > 0;
create unique index billing_invoices_period on billing_invoices (tenant_id, period_start) where status <> 'preview';
create index billing_invoices_previews on billing_invoices (created_at) where status = 'preview';

-- Usage counts once for a tenant, a meter and a transaction id.
create table billing_usage (
  tenant_id      text collate "C" not null,
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
) with (autovacuum_vacuum_scale_factor = 0.05);
create index billing_usage_by_time on billing_usage (tenant_id, meter_key, at);

-- What the service counted itself: one row per window. A repeated count replaces the row.
create table billing_service_usage (
  tenant_id    text collate "C" not null,
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

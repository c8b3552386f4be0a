-- Plans and meters belong to the platform tenant.
create table billing_plans (
  tenant_id      ulid not null,
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

-- Amounts and quantities in terms are texts.
create table billing_plan_versions (
  tenant_id  ulid not null,
  plan_key   text collate "C" not null,
  version    integer not null,
  terms      jsonb not null,
  digest     text not null,
  created_at timestamptz not null,
  primary key (tenant_id, plan_key, version)
);
create function refuse_update() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % never change', tg_table_name;
end $$;
create trigger billing_plan_versions_immutable before update on billing_plan_versions for each row
  execute function refuse_update();

create table billing_meters (
  tenant_id      ulid not null,
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
  tenant_id      ulid primary key,
  id             ulid not null,
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
  tenant_id    ulid not null,
  id           ulid not null,
  plan_key     text not null,
  plan_version integer not null,
  starts_at    timestamptz not null,
  -- Null for the current one.
  ends_at      timestamptz,
  primary key (tenant_id, id)
);

create table billing_periods (
  tenant_id ulid not null,
  starts_at timestamptz not null,
  ends_at   timestamptz not null,
  currency  text not null,
  state     text not null check (state in ('open', 'closed', 'invoiced')),
  primary key (tenant_id, starts_at)
);
create index billing_periods_due on billing_periods (ends_at) where state <> 'invoiced';

create table billing_invoices (
  tenant_id    ulid not null,
  id           ulid not null,
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

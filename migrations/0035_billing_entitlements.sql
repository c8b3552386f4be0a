-- What tenants may use. The newest snapshot of a tenant counts; snapshots never change.
create table entitlement_snapshots (
  tenant_id   ulid not null,
  id          ulid not null,
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
  tenant_id        ulid not null,
  id               ulid not null,
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

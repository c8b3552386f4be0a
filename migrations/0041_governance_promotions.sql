-- What a pool routes by: its strategy, its config and its rules, without recipients. Rows are inserted and never changed.
create table pool_versions (
  tenant_id  ulid not null,
  pool_id    ulid not null,
  version    integer not null,
  -- The content as canonical JSON, and the SHA-256 of these bytes.
  content    text not null,
  digest     text not null,
  -- Whether it was captured from a change of the pool, or staged for a later activation.
  origin     text not null check (origin in ('change', 'staged')),
  message    text not null default '',
  created_by text not null,
  created_at timestamptz not null,
  primary key (tenant_id, pool_id, version)
);
create index pool_versions_by_digest on pool_versions (tenant_id, pool_id, digest);

-- The version whose content a pool has.
create table pool_active_versions (
  tenant_id ulid not null,
  pool_id   ulid not null,
  version   integer not null,
  digest    text not null,
  primary key (tenant_id, pool_id)
);

-- What a provider config sends to its provider: client id, scopes and settings, without secrets.
create table connector_provider_config_versions (
  tenant_id  ulid not null,
  config_id  ulid not null,
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
  tenant_id ulid not null,
  config_id ulid not null,
  version   integer not null,
  digest    text not null,
  primary key (tenant_id, config_id)
);

create function refuse_artifact_change() returns trigger language plpgsql as $$
begin
  raise exception 'a version of an artifact never changes';
end $$;
create trigger pool_versions_immutable before update on pool_versions
  for each row execute function refuse_artifact_change();
create trigger connector_provider_config_versions_immutable before update on connector_provider_config_versions
  for each row execute function refuse_artifact_change();

-- Running canaries: at most one per target.
create table canaries (
  tenant_id      ulid not null,
  target_kind    text not null check (target_kind in ('pool', 'workflow', 'provider_config')),
  target_id      ulid not null,
  candidate_id   ulid not null,
  -- Which part of the target the version replaces.
  artifact_kind  text not null check (artifact_kind in ('routing', 'strategy', 'workflow', 'connector')),
  version        integer not null,
  environment_id ulid not null,
  salt           text not null,
  -- The share of the keys, in millionths.
  share_ppm      integer not null check (share_ppm between 1 and 1000000),
  primary key (tenant_id, target_kind, target_id)
);

create table promotion_candidates (
  tenant_id        ulid not null,
  id               ulid not null,
  environment_id   ulid not null,
  environment_key  text not null,
  name             text not null,
  description      text not null default '',
  state            text not null check (state in ('created', 'preflight_passed', 'preflight_blocked', 'guardrails_passed',
    'guardrails_failed', 'canary_running', 'canary_stopped', 'approved', 'promoted', 'rolled_back', 'aborted')),
  -- The evidence pack; empty for none.
  pack_id          text not null default '',
  guardrails       jsonb not null,
  -- The salt that decides the sides of keys. It stays the same, so that a key never changes its side.
  salt             text not null,
  -- The results of the stages; null before them.
  preflight        jsonb,
  guardrail_report jsonb,
  canary           jsonb,
  approval         jsonb,
  promotion        jsonb,
  created_by       text not null,
  -- Who must not approve: the creator, and who created the creator's key.
  creators         text[] not null,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  record_version   integer not null default 1,
  primary key (tenant_id, id)
);

create table promotion_artifacts (
  tenant_id    ulid not null,
  candidate_id ulid not null,
  position     integer not null,
  kind         text not null check (kind in ('routing', 'strategy', 'workflow', 'connector')),
  target_kind  text not null check (target_kind in ('pool', 'workflow', 'provider_config')),
  target_id    ulid not null,
  target_name  text not null,
  version      integer not null,
  sha256       text not null,
  -- What the target had when it was checked last. A promotion replaces exactly this.
  base_version integer not null,
  base_sha256  text not null,
  -- Whether the candidate may still change the target.
  open         boolean not null,
  primary key (tenant_id, candidate_id, position)
);
-- One open candidate per target.
create unique index promotion_artifacts_open on promotion_artifacts (tenant_id, target_kind, target_id) where open;

-- What happened to a candidate, in order.
create table promotion_history (
  tenant_id    ulid not null,
  candidate_id ulid not null,
  id           ulid not null,
  call         text not null,
  from_state   text not null,
  to_state     text not null,
  actor        text not null,
  summary      text not null,
  at           timestamptz not null,
  primary key (tenant_id, candidate_id, id)
);

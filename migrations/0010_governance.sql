create table promotion_candidates (
  tenant_id        text collate "C" not null,
  id               text collate "C" not null,
  environment_id   text collate "C" not null,
  environment_key  text not null,
  name             text not null,
  description      text not null default '',
  state            text not null check (state in ('created', 'preflight_passed', 'preflight_blocked', 'guardrails_passed',
    'guardrails_failed', 'canary_running', 'canary_stopped', 'canary_failed', 'approved', 'promoted', 'rolled_back',
    'aborted')),
  -- The evidence pack; empty for none.
  pack_id          text not null default '',
  guardrails       jsonb not null,
  -- Why a candidate needs no traffic; empty if it does.
  waiver_reason    text not null default '',
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
  -- The people behind the authors of the versions. A policy can exclude them too.
  authors          text[] not null,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  record_version   integer not null default 1,
  primary key (tenant_id, id)
);

create table promotion_artifacts (
  tenant_id    text collate "C" not null,
  candidate_id text collate "C" not null,
  position     integer not null,
  kind         text not null check (kind in ('routing', 'strategy', 'workflow', 'connector')),
  target_kind  text not null check (target_kind in ('pool', 'workflow', 'provider_config')),
  target_id    text collate "C" not null,
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
  tenant_id    text collate "C" not null,
  candidate_id text collate "C" not null,
  id           text collate "C" not null,
  call         text not null,
  from_state   text not null,
  to_state     text not null,
  actor        text not null,
  summary      text not null,
  at           timestamptz not null,
  primary key (tenant_id, candidate_id, id)
);

-- Rollout evidence: packs with artifacts and signed receipts, runs that collect receipts, and the keys that sign.
create table evidence_packs (
  tenant_id            text collate "C" not null,
  id                   text collate "C" not null,
  environment_id       text collate "C" not null,
  -- The key and the mode of the environment. They never change.
  environment_key      text not null,
  environment_mode     text not null check (environment_mode in ('live', 'sandbox')),
  name                 text not null,
  description          text not null,
  status               text not null check (status in ('open', 'attached', 'archived')),
  -- Receipt types that are demanded in addition to the requirements: ["canary", …].
  required_types       json not null,
  -- The producers whose receipts count; empty for all.
  accepted_producers   json not null default '[]',
  max_age_s            integer not null,
  requirements_version integer not null,
  -- Rises with every artifact, receipt and change of demands.
  revision             integer not null,
  digest               text not null,
  -- The promotion that the pack is attached to, and the pack as it was then.
  candidate_id         text collate "C",
  pinned_revision      integer,
  pinned_digest        text,
  attached_at          timestamptz,
  archived_at          timestamptz,
  -- The gate after the last change. Only events follow from it; every decision evaluates the gate again.
  gate_state           text not null check (gate_state in ('open', 'closed')),
  -- Until when the gate stays open, and why it closes then.
  gate_valid_until     timestamptz,
  gate_end_reason      text not null,
  created_at           timestamptz not null,
  updated_at           timestamptz not null,
  record_version       integer not null default 1,
  primary key (tenant_id, id)
) with (fillfactor = 70);
create index evidence_packs_environment on evidence_packs (tenant_id, environment_id, id);
create unique index evidence_packs_candidate on evidence_packs (tenant_id, candidate_id) where candidate_id is not null;
create index evidence_packs_gate_end on evidence_packs (gate_valid_until) where gate_state = 'open';

create table evidence_artifacts (
  tenant_id   text collate "C" not null,
  pack_id     text collate "C" not null,
  kind        text not null check (kind in ('routing', 'workflow', 'connector', 'strategy', 'report')),
  name        text not null,
  version     text not null,
  sha256      text not null,
  size_bytes  bigint not null,
  storage_ref text not null,
  primary key (tenant_id, pack_id, kind, name)
);

-- Signed results of checks. Rows are never updated.
create table evidence_receipts (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  pack_id        text collate "C" not null,
  -- The revision of the pack that the receipt made: the order of receipts.
  revision       integer not null,
  type           text not null check (type in ('scenario', 'connector', 'strategy', 'runtime', 'graph', 'proof', 'canary')),
  result         text not null check (result in ('passed', 'failed', 'blocked')),
  environment_id text collate "C" not null,
  candidate_id   text not null,
  run_id         text not null,
  -- Who made a check: `service` for what the service observed itself, else the subject of the caller.
  producer       text not null default '',
  -- [{"kind", "name", "version", "sha256", "baseSha256"}, …]
  subjects       json not null,
  -- [{"id", "status"}, …]
  cases          json not null,
  tool           json not null,
  details        json,
  issued_at      timestamptz not null,
  expires_at     timestamptz not null,
  -- The signed statement as canonical JSON; its SHA-256; the key and the signature.
  statement      text not null,
  digest         text not null,
  key_id         text not null,
  signature      text not null,
  primary key (tenant_id, id)
);
create unique index evidence_receipts_revision on evidence_receipts (tenant_id, pack_id, revision);
create index evidence_receipts_pack on evidence_receipts (tenant_id, pack_id, id);

create table evidence_runs (
  tenant_id       text collate "C" not null,
  id              text collate "C" not null,
  pack_id         text collate "C" not null,
  environment_id  text collate "C" not null,
  environment_key text not null,
  candidate_id    text not null,
  type            text not null check (type in ('scenario', 'connector', 'strategy', 'runtime', 'graph', 'proof', 'canary')),
  mode            text not null check (mode in ('sandbox', 'dry_run', 'live')),
  subjects        json not null,
  status          text not null check (status in
    ('pending', 'running', 'succeeded', 'failed', 'cancelled', 'lease_expired', 'deadline_exceeded')),
  -- How often the run was claimed, and the SHA-256 of the newest token; empty if no token is valid.
  fence           integer not null,
  token_digest    text not null,
  lease_s         integer not null,
  lease_until     timestamptz,
  deadline_at     timestamptz not null,
  -- When the status changes without a call; null after the end.
  due_at          timestamptz,
  ended_at        timestamptz,
  reason          text not null,
  receipt_id      text not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  record_version  integer not null default 1,
  primary key (tenant_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index evidence_runs_pack on evidence_runs (tenant_id, pack_id, id);
create index evidence_runs_due on evidence_runs (due_at) where due_at is not null;

-- The keys of the instance that sign receipts. They belong to the platform tenant. Retired keys only verify.
create table evidence_signing_keys (
  tenant_id  text collate "C" not null,
  -- Derived from the public key.
  id         text collate "C" not null,
  public_key text not null,
  -- The private key, sealed with this master key.
  key_id     text not null,
  ciphertext text not null,
  created_at timestamptz not null,
  retired_at timestamptz,
  primary key (tenant_id, id)
);
create unique index evidence_signing_keys_active on evidence_signing_keys (tenant_id) where retired_at is null;
create index evidence_signing_keys_sealed on evidence_signing_keys (key_id, tenant_id, id);

-- Runs of conformance suites. A run belongs to a tenant and an environment, and works in scratch tenants of its own: one for
-- its records, and one that tries to reach them.
create table conformance_runs (
  tenant_id          text collate "C" not null,
  id                 text collate "C" not null,
  environment_id     text collate "C" not null,
  environment_key    text not null,
  suite_id           text not null,
  mode               text not null,
  state              text not null,
  cases_done         integer not null default 0,
  cases_total        integer not null,
  report_id          text not null default '',
  verdict            text not null default '',
  requested_by       text not null,
  -- Which execution may write: a node that lost its lease has an older number.
  attempt            integer not null default 0,
  -- The scratch tenants of the current execution, until they are removed.
  scratch_tenant_ids text[] not null default '{}',
  deadline_at        timestamptz not null,
  started_at         timestamptz,
  ended_at           timestamptz,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  record_version     integer not null default 1,
  primary key (tenant_id, id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index conformance_runs_open on conformance_runs (tenant_id, state) where ended_at is null;
create index conformance_runs_by_end on conformance_runs (ended_at);
create index conformance_runs_scratch on conformance_runs (ended_at) where scratch_tenant_ids <> '{}';

-- Reports, addressed by the hash of their content. Every run that finds the same counts in the same row.
create table conformance_reports (
  tenant_id         text collate "C" not null,
  environment_id    text collate "C" not null,
  id                text not null,
  environment_key   text not null,
  suite_id          text not null,
  mode              text not null,
  verdict           text not null,
  content           jsonb not null,
  produced_count    integer not null default 1,
  -- The run that produced it last. Ids of runs ascend with time, so lists are in the order of this column.
  last_run_id       text collate "C" not null,
  first_produced_at timestamptz not null,
  last_produced_at  timestamptz not null,
  primary key (tenant_id, environment_id, id)
);
create index conformance_reports_by_run on conformance_reports (tenant_id, last_run_id);
create index conformance_reports_by_time on conformance_reports (last_produced_at);

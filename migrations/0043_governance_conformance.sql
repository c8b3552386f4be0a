-- Runs of conformance suites. A run belongs to a tenant and an environment, and works in a scratch tenant of its own.
create table conformance_runs (
  tenant_id         ulid not null,
  id                ulid not null,
  environment_id    ulid not null,
  environment_key   text not null,
  suite_id          text not null,
  mode              text not null,
  state             text not null,
  cases_done        int not null default 0,
  cases_total       int not null,
  report_id         text not null default '',
  verdict           text not null default '',
  requested_by      text not null,
  -- Which execution may write: a node that lost its lease has an older number.
  attempt           int not null default 0,
  -- The scratch tenant of the current execution, until it is removed.
  scratch_tenant_id ulid,
  deadline_at       timestamptz not null,
  started_at        timestamptz,
  ended_at          timestamptz,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  record_version    integer not null default 1,
  primary key (tenant_id, id)
);
create index conformance_runs_open on conformance_runs (tenant_id, state) where ended_at is null;
create index conformance_runs_scratch on conformance_runs (ended_at) where scratch_tenant_id is not null;
create index conformance_runs_by_end on conformance_runs (ended_at);

-- Reports, addressed by the hash of their content. Every run that finds the same counts in the same row.
create table conformance_reports (
  tenant_id         ulid not null,
  environment_id    ulid not null,
  id                text not null,
  environment_key   text not null,
  suite_id          text not null,
  mode              text not null,
  verdict           text not null,
  content           jsonb not null,
  produced_count    integer not null default 1,
  -- The run that produced it last. Ids of runs ascend with time, so lists are in the order of this column.
  last_run_id       ulid not null,
  first_produced_at timestamptz not null,
  last_produced_at  timestamptz not null,
  primary key (tenant_id, environment_id, id)
);
create index conformance_reports_by_run on conformance_reports (tenant_id, last_run_id);
create index conformance_reports_by_time on conformance_reports (last_produced_at);

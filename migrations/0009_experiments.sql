-- Experiments, the exposures of their units, the scores, and the moments that results are computed from.
create table experiments (
  tenant_id       text collate "C" not null,
  id              text collate "C" not null,
  environment_id  text collate "C" not null,
  -- The key of the environment. It never changes.
  environment_key text not null,
  key             text not null,
  name            text not null,
  description     text not null,
  status          text not null check (status in ('draft', 'running', 'paused', 'completed', 'stopped')),
  -- What the author designs: unit, variants, control, allocation, targeting, metrics, window, layer, plan.
  design          json not null,
  -- {"allocation", "variant", "unit"}: separate salts, so that the decisions are independent.
  salts           json not null,
  -- The layer and the slots of it that are reserved while the experiment is running or paused: [[from, to], …].
  layer_key       text not null,
  layer_ranges    json,
  -- [{"number", "weights", "allocationPct", "startedAt"}, …]
  phases          json not null default '[]',
  started_at      timestamptz,
  ended_at        timestamptz,
  -- When the exposures and scores of an ended experiment were removed.
  forgotten_at    timestamptz,
  decision        json,
  -- The analysis at the end.
  frozen          json,
  -- The smallest p-values of earlier analyses.
  minima          json not null default '{}',
  last_verdict    text not null default '',
  -- When the next point of the history is due; null while nothing changes.
  point_due_at    timestamptz,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  record_version  integer not null default 1,
  primary key (tenant_id, id)
) with (fillfactor = 70);
create unique index experiments_key on experiments (tenant_id, environment_id, key);
create index experiments_layer on experiments (tenant_id, environment_id, layer_key)
  where layer_key <> '' and status in ('running', 'paused');
create index experiments_point_due on experiments (point_due_at) where point_due_at is not null;
create index experiments_to_forget on experiments (ended_at) where ended_at is not null and forgotten_at is null;

-- The first exposure of each unit.
create table experiment_exposures (
  tenant_id        text collate "C" not null,
  experiment_id    text collate "C" not null,
  unit_hash        bytea not null,
  -- The index of the variant. Variants are fixed by the start.
  variant          smallint not null,
  phase            smallint not null,
  bucket           integer not null,
  first_exposed_at timestamptz not null,
  -- When the unit is to be counted; null if it is counted or never will be.
  due_at           timestamptz,
  -- By metric, measured before the exposure.
  covariates       json,
  -- The counted values of a unit whose scores count as they arrive.
  counted          json,
  primary key (tenant_id, experiment_id, unit_hash)
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.01);
create index experiment_exposures_due on experiment_exposures (due_at) where due_at is not null;

-- The number of exposed and of counted units. Shards keep writers apart.
create table experiment_unit_counts (
  tenant_id     text collate "C" not null,
  experiment_id text collate "C" not null,
  phase         smallint not null,
  variant       smallint not null,
  shard         smallint not null,
  units         bigint not null default 0,
  mature        bigint not null default 0,
  primary key (tenant_id, experiment_id, phase, variant, shard)
) with (fillfactor = 50);

-- The moments of the counted units. The shard of a unit follows from its hash, so that its value can be replaced.
create table experiment_moments (
  tenant_id     text collate "C" not null,
  experiment_id text collate "C" not null,
  phase         smallint not null,
  variant       smallint not null,
  metric        text not null,
  shard         smallint not null,
  moments       double precision[] not null,
  primary key (tenant_id, experiment_id, phase, variant, metric, shard)
) with (fillfactor = 50);

create table experiment_scores (
  tenant_id     text collate "C" not null,
  experiment_id text collate "C" not null,
  score_id      text not null,
  unit_hash     bytea not null,
  -- Those of the unit's exposure.
  variant       smallint not null,
  phase         smallint not null,
  metric        text not null,
  value         double precision not null,
  denominator   double precision not null,
  -- pending: counts with its unit. The others never count.
  state         text not null check (state in ('pending', 'early', 'late', 'ended')),
  observed_at   timestamptz not null,
  recorded_at   timestamptz not null,
  primary key (tenant_id, experiment_id, score_id)
);
create index experiment_scores_unit on experiment_scores (tenant_id, experiment_id, unit_hash);

-- The results over time.
create table experiment_history (
  tenant_id     text collate "C" not null,
  experiment_id text collate "C" not null,
  at            timestamptz not null,
  point         json not null,
  primary key (tenant_id, experiment_id, at)
);

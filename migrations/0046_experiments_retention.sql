-- When the exposures and scores of an ended experiment were removed.
alter table experiments add column forgotten_at timestamptz;
create index experiments_to_forget on experiments (ended_at) where ended_at is not null and forgotten_at is null;

-- A repeated score is recognized by its columns. Nodes of the previous version still write the digest during an upgrade.
alter table experiment_scores alter column body drop not null;

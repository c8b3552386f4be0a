-- Data streams of workflow runs: what is fixed when a stream is created.
create table workflow_streams (
  tenant_id ulid not null,
  run_id ulid not null,
  id ulid not null,
  name text not null,
  environment_id ulid not null,
  environment_key text not null,
  pins json not null,
  -- The digest of the pins.
  digest text not null,
  -- The key of hashes that replace redacted values. It never leaves the service.
  redaction_key bytea not null,
  created_by text not null,
  created_at timestamptz not null,
  primary key (tenant_id, run_id, id)
);
create unique index workflow_streams_name on workflow_streams (tenant_id, run_id, name);

-- What changes with every append: one small row per stream. Appends lock it until their commit, so that sequences become
-- visible in their order. No index contains a column that appends change, except for the first append to an empty stream.
create table workflow_stream_heads (
  tenant_id ulid not null,
  run_id ulid not null,
  stream_id ulid not null,
  -- The sequence of the earliest record that retention has not removed; last_sequence + 1 without records.
  first_sequence bigint not null,
  last_sequence bigint not null,
  -- The bytes of all records before first_sequence, and up to last_sequence.
  first_cum_bytes bigint not null,
  last_cum_bytes bigint not null,
  -- When retention removes the earliest record; null without records.
  prune_at timestamptz,
  -- A legal hold {by, reason, since}; null without one.
  hold json,
  closed_at timestamptz,
  primary key (tenant_id, run_id, stream_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
create index workflow_stream_heads_prune on workflow_stream_heads (prune_at) where prune_at is not null;
-- For the removal of streams without records, after their run.
create index workflow_stream_heads_empty on workflow_stream_heads ((tenant_id || run_id || stream_id)) where prune_at is null;

create table workflow_stream_records (
  tenant_id ulid not null,
  run_id ulid not null,
  stream_id ulid not null,
  sequence bigint not null,
  direction text not null check (direction in ('output', 'input')),
  content_class text not null,
  -- Empty without a schema.
  schema_ref text not null,
  -- Redacted; null for a reference to an object.
  payload json,
  -- {object_key, sha256, size_bytes}; null for an inline payload.
  object json,
  bytes bigint not null,
  -- The bytes of all records of the stream up to this one.
  cum_bytes bigint not null,
  appended_at timestamptz not null,
  primary key (tenant_id, run_id, stream_id, sequence),
  check ((payload is null) <> (object is null))
);

-- How far consumers have acknowledged.
create table workflow_stream_consumers (
  tenant_id ulid not null,
  run_id ulid not null,
  stream_id ulid not null,
  consumer_id text not null,
  sequence bigint not null,
  -- The bytes of all records up to that sequence.
  cum_bytes bigint not null,
  updated_at timestamptz not null,
  primary key (tenant_id, run_id, stream_id, consumer_id)
) with (fillfactor = 70);

-- Input records that their runs have not received yet: stored with the record, deleted after its event is in the mailbox.
create table workflow_stream_deliveries (
  tenant_id ulid not null,
  run_id ulid not null,
  stream_id ulid not null,
  sequence bigint not null,
  -- When the delivery is tried again, if the node that stored it does not succeed before.
  due_at timestamptz not null,
  primary key (tenant_id, run_id, stream_id, sequence)
);
create index workflow_stream_deliveries_due on workflow_stream_deliveries (due_at);

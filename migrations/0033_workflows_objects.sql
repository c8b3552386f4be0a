-- Deliveries of large objects to workflow data streams. The bytes are in the object store. A row exists before the first
-- byte is stored and until after the last one is removed, so that no bytes are ever without a row.
create table workflow_object_intents (
  tenant_id ulid not null,
  id ulid not null,
  run_id ulid not null,
  stream_id ulid not null,
  status text not null check (status in ('prepared', 'uploaded', 'committed', 'aborted', 'expired')),
  -- The Idempotency-Key of the request; empty without one.
  idempotency_key text not null,
  -- What the bytes must be, in hexadecimal.
  sha256 text not null,
  size_bytes bigint not null,
  content_type text not null,
  content_class text not null,
  schema_ref text not null,
  direction text not null check (direction in ('output', 'input')),
  -- The id of the request that was allowed to prepare it.
  authorization_receipt_id text not null,
  object_key text not null,
  -- The regions whose stores may have bytes: noted before the first byte is stored.
  regions text[] not null default '{}',
  -- The sequence of the record; null before the commit.
  sequence bigint,
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  uploaded_at timestamptz,
  -- When it was committed, aborted or expired.
  ended_at timestamptz,
  -- When it expires, or when its bytes are to be removed; null while a record refers to them, and after their removal.
  remove_after timestamptz,
  removed_at timestamptz,
  primary key (tenant_id, id)
);
-- For the limit of deliveries in progress.
create index workflow_object_intents_open on workflow_object_intents (tenant_id, stream_id)
  where status in ('prepared', 'uploaded');
-- For expiry and removal.
create index workflow_object_intents_removal on workflow_object_intents (remove_after) where remove_after is not null;
-- For the deletion of rows.
create index workflow_object_intents_removed on workflow_object_intents (removed_at) where removed_at is not null;

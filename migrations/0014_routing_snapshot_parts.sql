-- The pool's revision at which a recipient last changed. A node that knows a pool at some revision reads only the
-- recipients that changed after it.
alter table recipients add column pool_revision bigint not null default 0;
create index recipients_by_pool_revision on recipients (tenant_id, pool_id, pool_revision);

-- Recipients of stored snapshots, in groups that many snapshots share. A snapshot's body names its parts by digest.
create table routing_snapshot_parts (
  tenant_id  ulid not null,
  digest     bytea not null,
  recipients json not null,
  created_at timestamptz not null,
  primary key (tenant_id, digest)
);
create index routing_snapshot_parts_by_age on routing_snapshot_parts (created_at);

-- Ids are ULIDs. They are stored as text with the collation C, which compares byte by byte, so that their order is the order of
-- creation.
--
-- Tables that work like queues are vacuumed when a twentieth of their rows is dead, and not a fifth as by default: every search
-- for the next row steps over the dead ones before it. Tables that also keep finished rows are vacuumed when a hundredth is dead,
-- because only few of their rows are unfinished. Counters and other rows that are rewritten in place leave room in their pages
-- (fillfactor), so that an update stays in its page and touches no index.

-- What the nodes of one installation share, such as the secret that signs cursors.
create table instance (
  name  text primary key,
  value jsonb not null
);

-- A stamp orders transactions, also across a failover and a move to another server, after which PostgreSQL's transaction ids go
-- back. It is a transaction id below an era: era * 2^44 + id. The era is the timeline of the server, which rises with every promotion,
-- plus an offset, which rises when the rows were restored on another server (src/platform/db/stamps.ts). So a stamp is above those
-- of all earlier eras, and rows of earlier eras are older than all running transactions.
--
-- The functions of a snapshot that return bigint are used, because a stamp is computed.

-- The era as the lowest stamp in it. PostgreSQL computes the file name of the log slowly, so nodes store the result in stamp_base().
create function read_stamp_base() returns bigint language plpgsql stable as $$
declare
  stored jsonb := (select value from instance where name = 'stamps');
begin
  if stored ->> 'server' <> (select system_identifier::text from pg_control_system()) then
    raise exception 'The rows were restored on another server, whose transaction ids are not theirs.'
      using errcode = 'cannot_connect_now', hint = 'Start a node on it, or run: service database repair';
  end if;
  return coalesce((stored ->> 'eraOffset')::bigint, 0)
    + ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint << 44;
end $$;

-- The same, as a constant while the server runs. A node replaces the function after a start of the server.
create function stamp_base() returns bigint language sql stable
  return case when pg_postmaster_start_time() = '-infinity' then 0 else read_stamp_base() end;

-- The stamp of the transaction.
create function current_stamp() returns bigint language sql stable return stamp_base() + txid_current();

-- The lowest stamp that may still be running. Everything below is committed or rolled back.
create function stamp_horizon() returns bigint language sql stable
  return stamp_base() + txid_snapshot_xmin(txid_current_snapshot());

-- The current snapshot as stamps, for txid_visible_in_snapshot(). With a stamp, later ones are not in it.
create function stamp_snapshot(last bigint default null) returns text language sql stable
  return (
    select concat(least(base + txid_snapshot_xmin(now), last + 1), ':', least(base + txid_snapshot_xmax(now), last + 1), ':', (
      select string_agg((base + xip)::text, ',' order by xip) from txid_snapshot_xip(now) xip
      where base + xip <= coalesce(last, base + xip)))
    from (select stamp_base() as base, txid_current_snapshot() as now) snapshot);

-- The event log. Readers follow the order (stamp, id) and stop before the oldest transaction that is still running, so that no event
-- ever appears behind a reader.
create table events (
  tenant_id      text collate "C" not null,
  id             text collate "C" not null,
  stamp          bigint not null default current_stamp(),
  type           text not null,
  source         text not null,
  subject        text not null default '',
  -- The caller that caused it; empty for the service itself and for custom events.
  actor          text not null default '',
  -- The environment of the record that an event is about; null where the record belongs to none.
  environment_id text collate "C",
  -- Decides who may read the event, without reading environments. The key of an environment never changes.
  in_production  boolean,
  time           timestamptz not null,
  data           jsonb not null default '{}'
);
create index events_in_order on events (tenant_id, stamp, id);
create index events_by_subject on events (tenant_id, subject, id) where subject <> '';
-- The few events that charts mark.
create index events_marked on events (tenant_id, id)
  where type in ('queue.paused', 'queue.resumed', 'promotion.promoted', 'promotion.rolled_back');
-- The last index: for an empty table several seem equally good, and the planner takes the newest.
alter table events add primary key (tenant_id, id);

-- Requests with an idempotency key. The state becomes completed in the transaction of the request's effect.
create table idempotency_records (
  tenant_id   text collate "C" not null,
  principal   text not null,
  operation   text not null,
  key         text not null,
  fingerprint bytea not null,
  state       text not null check (state in ('pending', 'completed')),
  response    text,
  created_at  timestamptz not null,
  primary key (tenant_id, principal, operation, key)
) with (autovacuum_vacuum_scale_factor = 0.05);
-- Only retention uses it, from the oldest row on, so a coarse index is enough.
create index idempotency_records_by_age on idempotency_records using brin (created_at);

-- Background work, including calls to other services: stored in the transaction that caused it, run at least once.
create table jobs (
  tenant_id    text collate "C" not null,
  id           text collate "C" not null,
  kind         text not null,
  payload      jsonb not null default '{}',
  dedupe_key   text,
  state        text not null default 'ready' check (state in ('ready', 'leased', 'failed')),
  run_at       timestamptz not null,
  attempts     integer not null default 0,
  max_attempts integer not null,
  lease_token  text,
  lease_until  timestamptz,
  last_error   text not null default '',
  created_at   timestamptz not null,
  primary key (tenant_id, id)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index jobs_due on jobs (kind, run_at, id) where state = 'ready';
create index jobs_leased on jobs (lease_until) where state = 'leased';
create unique index jobs_dedupe on jobs (tenant_id, kind, dedupe_key) where dedupe_key is not null and state <> 'failed';

-- Nodes that share background work. Work of each kind has a fixed number of shards. A node in here is alive; its one lease covers
-- all its shards. A node that has lost its lease joins again under a new id.
create table shard_nodes (
  kind       text not null,
  node_id    text not null,
  expires_at timestamptz not null,
  primary key (kind, node_id)
) with (fillfactor = 50);

-- A shard is free unless its node is in shard_nodes. Every claim raises the epoch.
create table shards (
  kind    text not null,
  shard   integer not null,
  node_id text not null,
  epoch   bigint not null,
  primary key (kind, shard)
) with (fillfactor = 50);

-- Running canaries: at most one per target.
create table canaries (
  tenant_id      text collate "C" not null,
  target_kind    text not null check (target_kind in ('pool', 'workflow', 'provider_config')),
  target_id      text collate "C" not null,
  candidate_id   text collate "C" not null,
  -- Which part of the target the version replaces.
  artifact_kind  text not null check (artifact_kind in ('routing', 'strategy', 'workflow', 'connector')),
  version        integer not null,
  environment_id text collate "C" not null,
  salt           text not null,
  -- The share of the keys, in millionths.
  share_ppm      integer not null check (share_ppm between 1 and 1000000),
  primary key (tenant_id, target_kind, target_id)
);

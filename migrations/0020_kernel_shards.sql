-- Background work that nodes divide among themselves. Work of each kind has a fixed number of shards.
-- A node in here is alive. Its one lease covers all its shards. A row that is gone never returns: a node that has lost
-- its lease joins again under a new id.
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

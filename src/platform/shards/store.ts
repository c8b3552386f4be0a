import { type Database, type Fragment, fromNow, lockFor, type Sql } from "../db/index.ts";

/** A shard with the epoch of its claim. */
export type ShardEpoch = readonly [shard: number, epoch: number];

/** State that a node reads when it renews its lease. */
export interface Renewal {
  /** Whether the node still had its lease. A lease that has expired cannot be renewed. */
  readonly renewed: boolean;
  /** The nodes with a lease. */
  readonly nodeIds: readonly string[];
  readonly owned: readonly ShardEpoch[];
  /** The number of shards without a live owner. */
  readonly freeCount: number;
}

/** Adds a node, with its first lease. Creates the kind's shards at the first start of all. */
export async function joinNodes(sql: Sql, kind: string, nodeId: string, count: number, leaseMs: number): Promise<void> {
  await sql`
    with created as (
      insert into shards (kind, shard, node_id, epoch)
      select ${kind}, shard, '', 0 from generate_series(0, ${count}::int - 1) shard
      on conflict do nothing
    )
    insert into shard_nodes (kind, node_id, expires_at) values (${kind}, ${nodeId}, ${fromNow(sql, leaseMs)})`;
}

/** A node's lease for the shards of one kind. */
export interface Lease {
  readonly kind: string;
  readonly nodeId: string;
  readonly count: number;
  readonly leaseMs: number;
}

/**
 * Renews leases of a node and reads its shards. They are correct although the same statement renews the leases: only their
 * own node can give them back while its row exists, and if the row is gone, nothing is renewed.
 */
export async function renewLeases(sql: Sql, leases: readonly Lease[]): Promise<Renewal[]> {
  const kinds = leases.map(({ kind }) => kind);
  const rows = await sql<
    { renewed: boolean; nodeIds: string[]; ownedShards: number[]; ownedEpochs: number[]; freeCount: number }[]
  >`
    with lease as (
      select * from unnest(${kinds}::text[], ${leases.map(({ nodeId }) => nodeId)}::text[],
        ${leases.map(({ count }) => count)}::int[], ${leases.map(({ leaseMs }) => leaseMs)}::float8[])
        with ordinality as lease(kind, node_id, count, ms, nth)
    ),
    renewed as (
      update shard_nodes node set expires_at = now() + lease.ms * interval '1 millisecond'
      from lease where node.kind = lease.kind and node.node_id = lease.node_id and node.expires_at > now()
      returning node.kind
    ),
    live as (
      select kind, node_id from shard_nodes where kind = any(${kinds}::text[]) and expires_at > now()
    )
    select exists (select from renewed where renewed.kind = lease.kind) as renewed, all_shards.*,
      (select coalesce(array_agg(node_id), '{}') from live where live.kind = lease.kind) as node_ids
    from lease cross join lateral (
      select coalesce(array_agg(shard order by shard) filter (where shards.node_id = lease.node_id), '{}') as owned_shards,
        coalesce(array_agg(epoch order by shard) filter (where shards.node_id = lease.node_id), '{}') as owned_epochs,
        (count(*) filter (where not exists (
          select from live where live.kind = lease.kind and live.node_id = shards.node_id)))::int as free_count
      from shards where shards.kind = lease.kind and shard < lease.count) all_shards
    order by lease.nth`;
  return rows.map(({ renewed, nodeIds, ownedShards, ownedEpochs, freeCount }) => {
    const owned = ownedShards.map((shard, at) => [shard, ownedEpochs[at]!] as const);
    return { renewed, nodeIds, owned, freeCount };
  });
}

/**
 * Claims up to `limit` free shards for a node. Nodes claim one after another. Expired nodes are deleted first. The row
 * lock decides between their deletion and a renewal at the same time, so a node that has renewed its lease loses nothing.
 */
export async function claimShards(db: Database, kind: string, nodeId: string, count: number, limit: number) {
  return db.transaction(async (tx) => {
    await lockFor(tx, "shards", kind);
    await tx`delete from shard_nodes where kind = ${kind} and expires_at <= clock_timestamp()`;
    // Shards that a statement of their former owner has locked are left for the next time.
    const rows = await tx<{ shard: number; epoch: number }[]>`
      update shards set node_id = ${nodeId}, epoch = epoch + 1
      where kind = ${kind} and exists (select from shard_nodes where kind = ${kind} and node_id = ${nodeId})
        and shard in (
          select shard from shards free
          where kind = ${kind} and shard < ${count}
            and not exists (select from shard_nodes node where node.kind = ${kind} and node.node_id = free.node_id)
          order by shard limit ${limit} for update skip locked)
      returning shard, epoch`;
    return rows.map(({ shard, epoch }) => [shard, epoch] as const);
  });
}

/** Gives shards back. Does nothing to those that the node does not own. */
export async function releaseShards(sql: Sql, kind: string, nodeId: string, shards: readonly number[]): Promise<void> {
  await sql`
    with locked as (
      select shard from shards where kind = ${kind} and shard = any(${shards}::int[]) and node_id = ${nodeId}
      order by shard for update
    )
    update shards set node_id = '' where kind = ${kind} and shard in (select shard from locked)`;
}

/** Ends a node's lease, which frees all its shards. */
export async function leaveNodes(sql: Sql, kind: string, nodeId: string): Promise<void> {
  await sql`delete from shard_nodes where kind = ${kind} and node_id = ${nodeId}`;
}

/** Selects those of the shards whose epoch is current and whose owner's lease is valid, and locks them against claims. */
export function currentShards(sql: Sql, kind: string, claims: Iterable<ShardEpoch>): Fragment {
  const entries = [...claims];
  const [numbers, epochs] = [entries.map(([shard]) => shard), entries.map(([, epoch]) => epoch)];
  return sql`
    select shards.shard
    from unnest(${numbers}::int[], ${epochs}::bigint[]) as claim(shard, epoch)
      join shards on shards.kind = ${kind} and shards.shard = claim.shard and shards.epoch = claim.epoch
      join shard_nodes node on node.kind = ${kind} and node.node_id = shards.node_id and node.expires_at > clock_timestamp()
    order by shards.shard
    for share of shards`;
}

/**
 * Shards: background work that the nodes divide among themselves.
 *
 * kind: the work that is divided, with a fixed number of shards. Every piece of it belongs to one shard.
 * lease: a node's temporary right to its shards. One lease per node and kind covers all of them.
 * epoch: the number of times that a shard was claimed. A shard never has two owners with the same epoch.
 */
export { createShards, type Shards } from "./shards.ts";
export { shardOf } from "./shares.ts";

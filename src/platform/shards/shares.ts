/** The number of shards that a node should own: the shards divided evenly, with the remainder at the first nodes by id. */
export function fairShare(count: number, nodeIds: readonly string[], nodeId: string): number {
  const position = nodeIds.filter((other) => other < nodeId).length;
  return Math.floor(count / nodeIds.length) + (position < count % nodeIds.length ? 1 : 0);
}

/** The shard that a piece of work belongs to: a hash of its id (FNV-1a). */
export function shardOf(id: string, count: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % count;
}

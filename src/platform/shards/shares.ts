/** The number of shards that a node should own: the shards divided evenly, with the remainder at the first nodes by id. */
export function fairShare(count: number, nodeIds: readonly string[], nodeId: string): number {
  const position = nodeIds.filter((other) => other < nodeId).length;
  return Math.floor(count / nodeIds.length) + (position < count % nodeIds.length ? 1 : 0);
}

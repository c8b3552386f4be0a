/** A redirect between two pools. */
interface Edge {
  readonly fromId: string;
  readonly toId: string;
}

/** Returns the pools on a path from one pool to another, both included; undefined if there is no path. */
export function findRedirectPath(edges: readonly Edge[], fromId: string, toId: string): readonly string[] | undefined {
  const targets = Map.groupBy(edges, (edge) => edge.fromId);
  const paths: string[][] = [[fromId]];
  const seen = new Set([fromId]);
  for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
    const last = path.at(-1)!;
    if (last === toId) return path;
    for (const { toId: next } of targets.get(last) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      paths.push([...path, next]);
    }
  }
  return undefined;
}

/** That one pool can send items on to another. */
interface Edge {
  readonly fromId: string;
  readonly toId: string;
}

/** The pools on a way from one pool to another, both included; undefined when no redirects lead there. */
export function redirectPath(edges: readonly Edge[], fromId: string, toId: string): readonly string[] | undefined {
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

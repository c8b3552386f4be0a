interface Node {
  readonly id: string;
}

interface Edge {
  readonly from: string;
  readonly to: string;
}

/** Where a node stands, in columns and rows. Columns can be fractions, so that rows are centred. */
export interface Place {
  readonly column: number;
  readonly row: number;
}

/**
 * Lays out a graph in rows: a node stands below all nodes that lead to it. Within a row, nodes are ordered by the mean position of
 * their predecessors, which avoids most crossings.
 */
export function layOut(nodes: readonly Node[], edges: readonly Edge[]) {
  const depth = depthsOf(nodes, edges);
  const rows: string[][] = [];
  for (const { id } of nodes) {
    const row = depth.get(id)!;
    rows[row] ??= [];
    rows[row].push(id);
  }
  const filled = rows.filter((row) => row !== undefined);
  const columns = Math.max(1, ...filled.map((row) => row.length));
  const places = new Map<string, Place>();
  for (const [row, ids] of filled.entries()) {
    const wish = (id: string) => meanColumn(edges, id, places) ?? ids.indexOf(id) + (columns - ids.length) / 2;
    const ordered = ids
      .map((id, index) => ({ id, index, wish: wish(id) }))
      .sort((a, b) => a.wish - b.wish || a.index - b.index);
    const start = (columns - ids.length) / 2;
    for (const [index, { id }] of ordered.entries()) places.set(id, { column: start + index, row });
  }
  return { places, columns, rows: Math.max(1, filled.length) };
}

/** The longest path to each node. Edges that lead back are ignored. */
function depthsOf(nodes: readonly Node[], edges: readonly Edge[]): Map<string, number> {
  const depth = new Map<string, number>();
  const next = Map.groupBy(edges, ({ from }) => from);
  const known = new Set(nodes.map(({ id }) => id));
  const path = new Set<string>();
  const visit = (id: string, at: number): void => {
    if (!known.has(id) || path.has(id) || (depth.get(id) ?? -1) >= at) return;
    depth.set(id, at);
    path.add(id);
    for (const { to } of next.get(id) ?? []) visit(to, at + 1);
    path.delete(id);
  };
  const targets = new Set(edges.map(({ to }) => to));
  for (const { id } of nodes) if (!targets.has(id)) visit(id, 0);
  for (const { id } of nodes) if (!depth.has(id)) visit(id, 0);
  return depth;
}

function meanColumn(edges: readonly Edge[], id: string, places: ReadonlyMap<string, Place>): number | undefined {
  const before = edges.flatMap(({ from, to }) => (to === id && places.has(from) ? [places.get(from)!.column] : []));
  return before.length === 0 ? undefined : before.reduce((sum, column) => sum + column, 0) / before.length;
}

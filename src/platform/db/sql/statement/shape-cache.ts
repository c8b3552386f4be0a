/**
 * One node in the trie of a call site. An edge is what can differ between two calls: the type of a value, a name, or another
 * SQL fragment, together with its position.
 */
export interface ShapeNode<Shape> {
  shape: Shape | undefined;
  readonly edges: Edge<Shape>[];
}

interface Edge<Shape> {
  readonly position: number;
  readonly token: unknown;
  readonly node: ShapeNode<Shape>;
}

/** Edges are searched linearly, so their number is bounded; texts that are built at each call would add many. */
const edgesMax = 200;
/** The approximate memory of a node with its edge. */
const nodeBytes = 200;

/**
 * The shapes of all call sites, one trie each, so that the text of a statement is built once and not at each call. When the
 * tries take too much memory, all are cleared: shapes in use are back after one call, and lookups need no bookkeeping for
 * eviction.
 */
export class ShapeCache<Shape extends { readonly text: string }> {
  private readonly bytesMax: number;
  private roots = new WeakMap<readonly string[], ShapeNode<Shape>>();
  private size = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** The memory allocated since the last clear, including nodes that were dropped since. */
  get bytes(): number {
    return this.size;
  }

  rootOf(strings: readonly string[]): ShapeNode<Shape> {
    return this.roots.get(strings) ?? this.addRoot(strings);
  }

  /** The node that an edge leads to. */
  next(from: ShapeNode<Shape>, position: number, token: unknown): ShapeNode<Shape> {
    for (const edge of from.edges) if (edge.position === position && edge.token === token) return edge.node;
    return this.addEdge(from, position, token);
  }

  /** Stores the shape of a node. */
  keep(node: ShapeNode<Shape>, shape: Shape): void {
    node.shape = shape;
    this.grow(shape.text.length);
  }

  private addRoot(strings: readonly string[]): ShapeNode<Shape> {
    this.grow(nodeBytes);
    const node: ShapeNode<Shape> = { shape: undefined, edges: [] };
    this.roots.set(strings, node);
    return node;
  }

  private addEdge(from: ShapeNode<Shape>, position: number, token: unknown): ShapeNode<Shape> {
    this.grow(nodeBytes);
    if (from.edges.length >= edgesMax) from.edges.length = 0;
    const node: ShapeNode<Shape> = { shape: undefined, edges: [] };
    from.edges.push({ position, token, node });
    return node;
  }

  private grow(bytes: number): void {
    if (this.size + bytes > this.bytesMax) {
      this.roots = new WeakMap();
      this.size = 0;
    }
    this.size += bytes;
  }
}

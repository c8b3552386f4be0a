/**
 * One place in the trie of a call site. An edge is what can differ between two calls: the type that a value tells, a
 * name, or another piece of SQL, together with its position.
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

/** Edges are searched one by one, so a node has few; texts that are made up at each call would be many. */
const edgesMax = 200;
/** What a node with its edge takes, roughly. */
const nodeBytes = 200;

/**
 * The shapes of all call sites, a trie for each, so that the text of a statement is put together once and not at each
 * call. When all tries together take too much memory, they are begun anew: whatever is in use is back after one call,
 * and finding a shape costs nothing more.
 */
export class ShapeCache<Shape extends { readonly text: string }> {
  private readonly bytesMax: number;
  private roots = new WeakMap<readonly string[], ShapeNode<Shape>>();
  private size = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** How much memory was taken since the tries were begun; what was dropped meanwhile still counts. */
  get bytes(): number {
    return this.size;
  }

  rootOf(strings: readonly string[]): ShapeNode<Shape> {
    return this.roots.get(strings) ?? this.addRoot(strings);
  }

  /** The node behind an edge. */
  next(from: ShapeNode<Shape>, position: number, token: unknown): ShapeNode<Shape> {
    for (const edge of from.edges) if (edge.position === position && edge.token === token) return edge.node;
    return this.addEdge(from, position, token);
  }

  /** Keeps the shape of a node. */
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

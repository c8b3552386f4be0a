import { BoundedCache } from "../../../cache/bounded-cache.ts";
import { ShapeCache, type ShapeNode } from "./shape-cache.ts";
import { inferType, typeIds } from "./value-types.ts";

/** Rows of a result, with the number of rows that the statement returned or changed. */
export class ResultRows<T> extends Array<T> {
  count = 0;
  /** PostgreSQL's command tag, for example `INSERT 0 3`. */
  command = "";
  /** Whether further rows were left out, because the result would take too many bytes. */
  isCut = false;

  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }
}

/** The result of a statement of type `T`. */
export type Rows<T> = T & { readonly count: number };

/** One of the rows `T`. */
type RowOf<T> = T extends readonly (infer Row)[] ? Row : never;

/** The first rows of a result. `isCut` says whether there are more. */
export type FirstRows<T> = T & { readonly isCut: boolean };

/** How much of a result is read. */
export interface RowLimit {
  readonly bytesMax: number;
  /** The largest number of rows that the statement returns. */
  readonly rowsMax: number;
}

/** Runs statements: the pool, a transaction or a single connection. */
export interface Runner {
  /** Runs a prepared statement with its parameters. With a limit, the result ends before the row that would exceed it. */
  run(shape: Shape, parameters: unknown[], limit?: RowLimit): Promise<ResultRows<unknown>>;
  /** Runs a text of any number of statements without parameters; resolves with the last result. */
  runText(text: string): Promise<ResultRows<unknown>>;
}

/** The text of a statement with the inferred types of its parameters. Calls that differ only in values share a shape. */
export class Shape {
  readonly text: string;
  /** The type of each parameter; 0 lets PostgreSQL infer it. */
  readonly types: readonly number[];
  private readonly isRead: boolean;
  /** Its average duration; unknown at first. */
  private answerMs = Number.POSITIVE_INFINITY;

  constructor(text: string, types: readonly number[]) {
    this.text = text;
    this.types = types;
    this.isRead = /^\s*select\b/i.test(text) && !/\b(insert|update|delete|merge|share|pg_\w*lock\w*)\b/i.test(text);
  }

  /** Whether it is known to be fast enough for other statements to wait behind it. */
  get isQuickRead(): boolean {
    return this.isRead && this.answerMs < quickMs;
  }

  noteAnswer(ms: number): void {
    this.answerMs = this.answerMs === Number.POSITIVE_INFINITY ? ms : this.answerMs + (ms - this.answerMs) / 8;
  }
}

const quickMs = 4;

/** A quoted identifier. */
export class Identifier {
  readonly text: string;

  constructor(name: string) {
    this.text = `"${name.replaceAll('"', '""').replaceAll(".", '"."')}"`;
  }
}

/** A value that is sent as jsonb, whatever type PostgreSQL would infer. */
export class JsonParameter {
  readonly value: unknown;

  constructor(value: unknown) {
    if (value === undefined) throw new TypeError("undefined is not a JSON value: use null.");
    this.value = value;
  }
}

/**
 * An SQL statement or fragment. It runs once, when it is awaited. As a fragment it becomes part of another statement and
 * never runs itself.
 */
export class Statement<T> implements Promise<Rows<T>> {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
  protected readonly runner: Runner;
  private result: Promise<Rows<T>> | undefined;

  constructor(runner: Runner, strings: readonly string[], values: readonly unknown[]) {
    this.runner = runner;
    this.strings = strings;
    this.values = values;
    this.result = undefined;
  }

  // biome-ignore lint/suspicious/noThenProperty: a statement is awaited like any promise.
  then<A = Rows<T>, B = never>(
    onFulfilled?: ((rows: Rows<T>) => A | PromiseLike<A>) | null,
    onRejected?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.execute().then(onFulfilled, onRejected);
  }

  catch<B = never>(onRejected?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<Rows<T> | B> {
    return this.execute().catch(onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<Rows<T>> {
    return this.execute().finally(onFinally);
  }

  get [Symbol.toStringTag](): string {
    return "Statement";
  }

  /**
   * Runs a query and reads its first rows: as many as take `bytesMax` bytes together, but at least one. `rowsMax` is the query's own
   * limit.
   */
  firstRows(bytesMax: number, rowsMax = Number.POSITIVE_INFINITY): Promise<FirstRows<T>> {
    return this.start({ bytesMax, rowsMax }) as Promise<FirstRows<T>>;
  }

  /** Runs the statement and returns its first row; undefined if there is none. */
  first(): Promise<RowOf<T> | undefined> {
    return this.execute().then((rows) => (rows as readonly RowOf<T>[])[0]);
  }

  private execute(): Promise<Rows<T>> {
    this.result ??= this.start() as Promise<Rows<T>>;
    return this.result;
  }

  protected start(limit?: RowLimit): Promise<unknown> {
    try {
      const parameters: unknown[] = [];
      return this.runner.run(shapeOf(this.strings, this.values, parameters), parameters, limit);
    } catch (error) {
      return Promise.reject(error);
    }
  }
}

/** Raw SQL text, as a statement or as a fragment of another one. */
export class RawStatement<T> extends Statement<T> {
  private readonly parameters: readonly unknown[] | undefined;

  constructor(runner: Runner, text: string, parameters: readonly unknown[] | undefined) {
    super(runner, [text], []);
    this.parameters = parameters;
  }

  /** The text, as a fragment of another statement. */
  get fragment(): string {
    if (this.parameters !== undefined)
      throw new TypeError("A raw text with values cannot be a fragment of another statement.");
    return this.strings[0]!;
  }

  protected override start(): Promise<unknown> {
    const text = this.strings[0]!;
    if (this.parameters === undefined) return this.runner.runText(text);
    try {
      return this.runner.run(rawShapeOf(text, this.parameters.map(inferType)), [...this.parameters]);
    } catch (error) {
      return Promise.reject(error);
    }
  }
}

/** More than all statements of the service need. */
const shapeBytesMax = 32 * 1024 * 1024;
const shapes = new ShapeCache<Shape>(shapeBytesMax);
let position = 0;

/** Finds the shape of a statement and appends its parameters to the array. */
function shapeOf(strings: readonly string[], values: readonly unknown[], parameters: unknown[]): Shape {
  position = 0;
  const node = follow(shapes.rootOf(strings), values, parameters);
  if (node.shape !== undefined) return node.shape;
  const shape = compile(strings, values);
  shapes.keep(node, shape);
  return shape;
}

const rawShapes = new BoundedCache<string, Shape>(100);

function rawShapeOf(text: string, types: readonly number[]): Shape {
  return rawShapes.getOrCreate(`${types.join()} ${text}`, () => new Shape(text, types));
}

/** Finds the node of a statement with these values. A value without an inferred type needs no edge. */
function follow(from: ShapeNode<Shape>, values: readonly unknown[], parameters: unknown[]): ShapeNode<Shape> {
  let node = from;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    position++;
    if (typeof value === "object" && value !== null) {
      if (value instanceof Statement) {
        node = shapes.next(node, position, value instanceof RawStatement ? value.fragment : value.strings);
        node = follow(node, value.values, parameters);
        continue;
      }
      if (value instanceof Identifier) {
        node = shapes.next(node, position, value.text);
        continue;
      }
      if (value instanceof JsonParameter) {
        node = shapes.next(node, position, typeIds.jsonb);
        parameters.push(value.value);
        continue;
      }
    }
    const type = inferType(value);
    if (type !== 0) node = shapes.next(node, position, type);
    parameters.push(value);
  }
  return node;
}

/** The protocol counts parameters in 16 bits, and the client reads them as a signed number. */
const parametersMax = 32_767;

function compile(strings: readonly string[], values: readonly unknown[]): Shape {
  const types: number[] = [];
  const text = textOf(strings, values, types);
  if (types.length > parametersMax) {
    throw new RangeError(`A statement has at most ${parametersMax} parameters, not ${types.length}.`);
  }
  return new Shape(text, types);
}

function textOf(strings: readonly string[], values: readonly unknown[], types: number[]): string {
  let text = strings[0]!;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value instanceof Statement) text += textOf(value.strings, value.values, types);
    else if (value instanceof Identifier) text += value.text;
    else {
      types.push(value instanceof JsonParameter ? typeIds.jsonb : inferType(value));
      text += `$${types.length}`;
    }
    text += strings[i + 1]!;
  }
  return text;
}

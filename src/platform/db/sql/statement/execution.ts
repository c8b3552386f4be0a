import type { Duplex } from "node:stream";
import { DatabaseError, Query } from "pg";
import { type ConnectionError, connectionLost } from "../connection-error.ts";
import { ResultRows, type RowLimit, type Shape } from "./statement.ts";
import type { ValueParser, ValueTypes } from "./value-types.ts";

/** The connection interface that `pg` passes to a query. */
export interface Wire {
  readonly stream: Duplex;
  parse(message: { name: string; text: string; types: readonly number[] }): void;
  bind(message: { statement: string; values: readonly (string | Buffer | null)[] }): void;
  describe(message: { type: "S" | "P"; name: string }): void;
  execute(message: { readonly rows: number } | null): void;
  close(message: { type: "S"; name: string }): void;
  query(text: string): void;
  flush(): void;
  sync(): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
  on(event: "parameterDescription", listener: (message: { dataTypeIDs: readonly number[] }) => void): void;
}

/** The columns of a result. */
export interface Columns {
  readonly names: readonly string[];
  readonly parsers: readonly (ValueParser | undefined)[];
}

/** A statement that one connection has prepared. */
export interface PreparedStatement {
  readonly name: string;
  readonly types: readonly number[];
  columns: Columns;
  /** The sequence number of its last use. */
  usedAt: number;
}

/** The callbacks of an execution to its connection. */
export interface ExecutionOwner {
  readonly types: ValueTypes;
  readonly columnName: (name: string) => string;
  /** Why the connection is unusable. */
  readonly lost: ConnectionError | undefined;
  /** Buffers writes until the end of this event loop iteration, so that they are sent together. */
  cork(wire: Wire): void;
  /** Called once; returns a promise when the statement is retried instead of failing. */
  settled(execution: Execution, error: Error | undefined): Promise<ResultRows<unknown>> | undefined;
}

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

interface DataRow {
  /** The size of the message in bytes. */
  readonly length: number;
  readonly fields: readonly (string | null)[];
}

/** The query interface that `pg` calls. A pipelined connection accepts only queries of its own class. */
interface QueryCalls {
  handleError(error: Error, wire: Wire): void;
}
const BaseQuery = Query as unknown as new (text: string) => QueryCalls;

export const noColumns: Columns = { names: [], parsers: [] };

/** The protocol messages of one statement, and its result. */
export abstract class Execution extends BaseQuery {
  readonly promise: Promise<ResultRows<unknown>>;
  protected readonly owner: ExecutionOwner;
  protected columns: Columns = noColumns;
  protected result = new ResultRows<unknown>();
  private readonly resolve: (rows: ResultRows<unknown>) => void;
  private readonly reject: (error: Error) => void;
  private failure: Error | undefined = undefined;
  private isSettled = false;

  constructor(owner: ExecutionOwner) {
    super("");
    this.owner = owner;
    const { promise, resolve, reject } = Promise.withResolvers<ResultRows<unknown>>();
    this.promise = promise;
    this.resolve = resolve;
    this.reject = reject;
  }

  submit(wire: Wire): null {
    this.owner.cork(wire);
    this.send(wire);
    return null;
  }

  protected abstract send(wire: Wire): void;

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    const { types, columnName } = this.owner;
    this.columns = {
      names: fields.map(({ name }) => columnName(name)),
      parsers: fields.map(({ dataTypeID }) => types.parserOf(dataTypeID)),
    };
    this.result = new ResultRows();
  }

  handleDataRow({ fields }: DataRow): void {
    const { names, parsers } = this.columns;
    const row: Record<string, unknown> = {};
    try {
      if (names.length !== fields.length) throw new Error("A row does not have the columns of its statement.");
      for (let i = 0; i < fields.length; i++) {
        const text = fields[i]!;
        const parse = parsers[i];
        row[names[i]!] = text === null || parse === undefined ? text : parse(text);
      }
    } catch (error) {
      this.failure ??= error as Error;
    }
    this.result.push(row);
  }

  /** The tag ends with a number of rows, for example `INSERT 0 3`. */
  handleCommandComplete({ text }: { readonly text: string }, _wire?: Wire): void {
    const count = Number(text.slice(text.lastIndexOf(" ") + 1));
    this.result.count = Number.isNaN(count) ? 0 : count;
    this.result.command = text;
  }

  handleEmptyQuery(): void {}

  handleReadyForQuery(): void {
    // A lost connection may still have buffered answers. Such an answer may report a commit that was not replicated.
    this.settle(this.failure ?? this.owner.lost);
  }

  override handleError(error: Error, _wire: Wire): void {
    this.settle(error instanceof DatabaseError ? error : (this.owner.lost ?? connectionLost(error)));
  }

  private settle(error: Error | undefined): void {
    // pg reports a lost connection more than once.
    if (this.isSettled) return;
    this.isSettled = true;
    const again = this.owner.settled(this, error);
    if (error === undefined) this.resolve(this.result);
    else if (again === undefined) this.reject(error);
    else again.then(this.resolve, this.reject);
  }
}

/** A statement with its parameters and its preparation. */
export interface PreparedRun {
  readonly shape: Shape;
  readonly parameters: readonly unknown[];
  readonly isRetry: boolean;
  readonly statement: PreparedStatement;
  /** The encoded parameters. */
  readonly values: readonly (string | Buffer | null)[];
  /** Undefined if the whole result is read. */
  readonly limit: RowLimit | undefined;
  /** The prepared statements to close for this one; undefined when this one is already prepared. */
  readonly dropped: readonly string[] | undefined;
  /**
   * A statement that runs before this one in the same transaction and returns no row; with a text if it is not prepared. This one
   * does not run if it fails.
   */
  readonly before: { readonly name: string; readonly text?: string } | undefined;
}

/** Runs a prepared statement; prepares it first when the connection does not have it. */
export class PreparedExecution extends Execution {
  readonly run: PreparedRun;
  /** Whether the statement before this one has not completed yet. */
  isBefore: boolean;

  constructor(owner: ExecutionOwner, run: PreparedRun) {
    super(owner);
    this.run = run;
    this.isBefore = run.before !== undefined;
  }

  protected override send(wire: Wire): void {
    const { shape, statement, values, dropped, before } = this.run;
    const { name, types } = statement;
    if (before !== undefined) {
      if (before.text !== undefined) wire.parse({ name: before.name, text: before.text, types: [] });
      wire.bind({ statement: before.name, values: [] });
      wire.execute(null);
    }
    if (dropped !== undefined) {
      for (const old of dropped) wire.close({ type: "S", name: old });
      wire.parse({ name, text: shape.text, types });
      // Describe before Bind: later executions need the columns even when these values fail.
      wire.describe({ type: "S", name });
    }
    wire.bind({ statement: name, values });
    this.execute(wire);
  }

  protected execute(wire: Wire): void {
    wire.execute(null);
    wire.sync();
  }

  override handleRowDescription(message: { readonly fields: readonly Field[] }): void {
    super.handleRowDescription(message);
    this.run.statement.columns = this.columns;
  }

  override handleCommandComplete(message: { readonly text: string }, wire: Wire): void {
    if (this.isBefore) this.isBefore = false;
    else this.completed(message, wire);
  }

  protected completed(message: { readonly text: string }, _wire: Wire): void {
    super.handleCommandComplete(message);
  }

  override handleDataRow(message: DataRow): void {
    this.columns = this.run.statement.columns;
    super.handleDataRow(message);
  }
}

/** How many rows a limited result may send before the client looks at their size: more than a list returns by default. */
const portionRows = 64;

/**
 * Reads the first rows of a prepared statement. It asks for rows in portions and stops when they take too many bytes, so that
 * PostgreSQL neither reads nor sends the rest. A result of at most one portion takes a single round trip.
 */
export class LimitedExecution extends PreparedExecution {
  /** Whether no other statement may be sent meanwhile: it would end this one. */
  readonly isExclusive: boolean;
  private readonly bytesMax: number;
  private bytes = 0;

  constructor(owner: ExecutionOwner, run: PreparedRun, { bytesMax, rowsMax }: RowLimit) {
    super(owner, run);
    this.bytesMax = bytesMax;
    this.isExclusive = rowsMax > portionRows;
  }

  protected override execute(wire: Wire): void {
    if (this.isExclusive) {
      wire.execute({ rows: portionRows });
      wire.flush();
    } else {
      super.execute(wire);
    }
  }

  override handleDataRow(message: DataRow): void {
    this.bytes += message.length;
    if (this.result.length > 0 && this.bytes > this.bytesMax) this.result.isCut = true;
    else super.handleDataRow(message);
  }

  handlePortalSuspended(wire: Wire): void {
    if (this.result.isCut) wire.sync();
    else this.execute(wire);
  }

  protected override completed(message: { readonly text: string }, wire: Wire): void {
    super.completed(message, wire);
    if (this.isExclusive) wire.sync();
  }

  override handleError(error: Error, wire: Wire): void {
    // After an error, PostgreSQL ignores everything up to this message.
    if (this.isExclusive && error instanceof DatabaseError) wire.sync();
    super.handleError(error, wire);
  }
}

/** Runs a text of any number of statements. */
export class TextExecution extends Execution {
  private readonly text: string;

  constructor(owner: ExecutionOwner, text: string) {
    super(owner);
    this.text = text;
  }

  protected override send(wire: Wire): void {
    wire.query(this.text);
  }
}

/** Reads the types of a statement's parameters from PostgreSQL. */
export class Description extends Execution {
  private readonly shape: Shape;

  constructor(owner: ExecutionOwner, shape: Shape) {
    super(owner);
    this.shape = shape;
  }

  protected override send(wire: Wire): void {
    wire.parse({ name: "", text: this.shape.text, types: this.shape.types });
    wire.describe({ type: "S", name: "" });
    wire.sync();
  }
}

import { BoundedCache } from "../../cache/bounded-cache.ts";
import { runAfterCommit } from "./after-commit.ts";
import { Identifier, JsonParameter, RawStatement, type Rows, type Runner, Statement } from "./statement/statement.ts";

// biome-ignore lint/suspicious/noExplicitAny: the author of a statement declares the row type.
export type Row = Record<string, any>;

/** An SQL fragment that becomes part of a statement. */
export type Fragment = Statement<Row[]>;

/** The values that a template accepts between `${` and `}`. */
export type SqlValue =
  | string
  | number
  | bigint
  | boolean
  | Date
  | Uint8Array
  | null
  | readonly SqlValue[]
  | Statement<readonly unknown[]>
  | Identifier
  | JsonParameter;

/** The SQL interface of the pool or of a transaction. */
export interface Sql {
  /** A statement, run when it is awaited: sql<Pool[]>`select id from pools where id = ${id}`. */
  <T extends readonly (object | undefined)[] = Row[]>(
    strings: TemplateStringsArray,
    ...values: readonly SqlValue[]
  ): Statement<T>;
  /** A quoted identifier. */
  (name: string): Identifier;
  /** The columns and values after `insert into t`, for one or more rows with the same columns. */
  (rows: Row | readonly Row[]): Fragment;
  /** A value that is sent as jsonb. */
  json(value: unknown): JsonParameter;
  /**
   * Raw SQL text, which must never come from a caller. Without values it may contain several statements and returns the rows
   * of the last one. With values, `$1` and so on refer to them.
   */
  unsafe<T extends readonly (object | undefined)[] = Row[]>(text: string, values?: readonly SqlValue[]): Statement<T>;
  /**
   * Runs work in a savepoint of a transaction: when it throws, only its changes and locks are rolled back. While the
   * savepoint is open, statements must use its own `sql`. Only a transaction supports savepoints.
   */
  savepoint<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs a statement whose result nobody needs. A transaction does not wait for it: it is sent together with the next statement,
   * and the commit fails if it fails.
   */
  send(statement: Statement<Row[]>): Promise<unknown> | undefined;
  /**
   * Runs an action after the commit, never after a rollback of the transaction or savepoint; without a transaction at once. The
   * transaction resolves when the action's promise settles. A failed action is ignored.
   */
  afterCommit(action: () => unknown): void;
}

/** A runner that may support savepoints and actions after a commit; only a transaction does. */
export interface SqlRunner extends Runner {
  savepoint?<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  readonly afterCommit?: (() => unknown)[];
  /** Prevents the commit. */
  fail?(error: unknown): void;
}

const runnerKey = Symbol("runner");

/** What runs the statements of an `sql`. */
export function runnerOf(sql: Sql): Runner {
  return (sql as unknown as { readonly [runnerKey]: Runner })[runnerKey];
}

export function createSql(runner: SqlRunner): Sql {
  function sql(first: TemplateStringsArray | string | Row | readonly Row[], ...values: SqlValue[]): unknown {
    if (typeof first === "string") return new Identifier(first);
    if (isTemplate(first)) return new Statement(runner, first, values);
    return insertedRows(runner, Array.isArray(first) ? first : [first]);
  }
  return Object.assign(sql, {
    [runnerKey]: runner,
    json: (value: unknown) => new JsonParameter(value),
    unsafe: (text: string, values?: readonly SqlValue[]) => new RawStatement(runner, text, values),
    savepoint: <T>(work: (tx: Sql) => Promise<T>) =>
      runner.savepoint?.(work) ??
      Promise.reject(new Error("A savepoint needs a transaction: use the tx that transaction() passes to its work.")),
    send: (statement: Statement<Row[]>) => {
      if (runner.savepoint === undefined) return statement;
      statement.catch((error) => runner.fail?.(error));
      return undefined;
    },
    afterCommit: (action: () => unknown) => void (runner.afterCommit?.push(action) ?? runAfterCommit([action])),
  }) as unknown as Sql;
}

function isTemplate(value: object): value is TemplateStringsArray {
  return (value as { raw?: unknown }).raw !== undefined && Array.isArray(value);
}

const insertTemplates = new BoundedCache<string, readonly string[]>(200);

function insertedRows(runner: Runner, rows: readonly Row[]): Fragment {
  const columns = Object.keys(rows[0]!);
  if (rows.some((row) => Object.keys(row).length !== columns.length))
    throw new TypeError("All rows must have the same columns.");
  const key = `${rows.length} ${columns.join()}`;
  const strings = insertTemplates.getOrCreate(key, () => insertTemplate(columns, rows.length));
  const values = rows.flatMap((row) => columns.map((column) => row[column]));
  return new Statement(runner, strings, values);
}

/** `("a","b") values (`, `,`, `),(`, `,`, `)` for two rows of two columns. */
function insertTemplate(columns: readonly string[], rowCount: number): readonly string[] {
  const names = columns.map((column) => new Identifier(column).text).join(",");
  const within = columns.slice(1).map(() => ",");
  const strings = [`(${names}) values (`, ...within];
  for (let row = 1; row < rowCount; row++) strings.push("),(", ...within);
  strings.push(")");
  return strings;
}

export type { Rows };

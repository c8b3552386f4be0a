import { Identifier, JsonParameter, RawStatement, type Rows, type Runner, Statement } from "./statement.ts";

// biome-ignore lint/suspicious/noExplicitAny: what a row holds is said by whoever writes the statement.
export type Row = Record<string, any>;

/** A piece of SQL to be put into a statement. */
export type Fragment = Statement<Row[]>;

/** What may stand between `${` and `}`. */
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

/** What runs SQL: the pool, or a transaction. */
export interface Sql {
  /** A statement, run when it is awaited: sql<Pool[]>`select id from pools where id = ${id}`. */
  <T extends readonly (object | undefined)[] = Row[]>(
    strings: TemplateStringsArray,
    ...values: readonly SqlValue[]
  ): Statement<T>;
  /** A name, quoted. */
  (name: string): Identifier;
  /** What follows `insert into t`: the columns and values of one or more rows with the same columns. */
  (rows: Row | readonly Row[]): Fragment;
  /** A value that is sent as jsonb. */
  json(value: unknown): JsonParameter;
  /**
   * A text that is taken as it is; never one that a caller can choose. Without values it may be several statements, of
   * which the last one's rows are the result; with values, `$1` and so on stand for them.
   */
  unsafe<T extends readonly (object | undefined)[] = Row[]>(text: string, values?: readonly SqlValue[]): Statement<T>;
  /**
   * Runs a part of a transaction that can fail alone: when it throws, what it did and locked is undone, and nothing else.
   * While it is open, statements are run on the part and not on the whole. Only a transaction has parts.
   */
  savepoint<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
}

/** A runner that may have savepoints; only a transaction does. */
export interface SqlRunner extends Runner {
  savepoint?<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
}

/** The `sql` of something that runs statements. */
export function createSql(runner: SqlRunner): Sql {
  function sql(first: TemplateStringsArray | string | Row | readonly Row[], ...values: SqlValue[]): unknown {
    if (typeof first === "string") return new Identifier(first);
    if (isTemplate(first)) return new Statement(runner, first, values);
    return insertedRows(runner, Array.isArray(first) ? first : [first]);
  }
  return Object.assign(sql, {
    json: (value: unknown) => new JsonParameter(value),
    unsafe: (text: string, values?: readonly SqlValue[]) => new RawStatement(runner, text, values),
    savepoint: <T>(work: (tx: Sql) => Promise<T>) =>
      runner.savepoint?.(work) ?? Promise.reject(new Error("A savepoint needs a transaction.")),
  }) as unknown as Sql;
}

function isTemplate(value: object): value is TemplateStringsArray {
  return (value as { raw?: unknown }).raw !== undefined && Array.isArray(value);
}

const templatesMax = 200;
const insertTemplates = new Map<string, readonly string[]>();

function insertedRows(runner: Runner, rows: readonly Row[]): Fragment {
  const columns = Object.keys(rows[0]!);
  if (rows.some((row) => Object.keys(row).length !== columns.length))
    throw new TypeError("Rows need the same columns.");
  const key = `${rows.length} ${columns.join()}`;
  let strings = insertTemplates.get(key);
  if (strings === undefined) {
    if (insertTemplates.size >= templatesMax) insertTemplates.clear();
    strings = insertTemplate(columns, rows.length);
    insertTemplates.set(key, strings);
  }
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

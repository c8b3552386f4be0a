import type { TenantId } from "../access/index.ts";
import type { Fragment, Sql } from "../db/index.ts";
import { type Page, readKeyset } from "../paging/index.ts";
import { camelCase } from "../text/index.ts";

/** A table of tenants' records. Columns are separated by spaces; together with `computed` they are the fields of a record. */
interface Declaration {
  /** The column that identifies a record of a tenant; `id` by default. */
  readonly key?: string;
  /** Columns that `update` never sets. */
  readonly fixed: string;
  /** Columns that `update` sets, besides `updated_at` and `record_version`. */
  readonly mutable?: string;
  /** Further mutable columns that only `findFull` and `lockFull` read, such as ciphertexts and shards. */
  readonly internal?: string;
  /** SQL expressions that are read like columns. */
  readonly computed?: (sql: Sql) => Fragment;
  /** The SQL condition of records that exist, if a deleted one keeps its row. */
  readonly exists?: string;
}

/** Fields to set. Undefined ones stay unchanged. A union of records has the fields that all of them have. */
type Change<T, F extends keyof T = keyof T> = { readonly [Field in F]?: T[Field] | undefined };

/** The values of the records to list. Undefined and empty ones match all. */
type Filter<R> = { readonly [F in keyof R]?: string | boolean | undefined } & {
  /** Only production, or only other environments. */
  readonly inProduction?: boolean | undefined;
};

/** The conditions of a list that are no comparisons of columns; see `readKeyset`. */
interface ListOptions {
  readonly where?: Fragment | undefined;
  readonly filter?: Fragment | undefined;
  readonly newestFirst?: boolean;
}

/**
 * Declares the table of records `R`, with internal fields `I`, which are inserted as `N`, and returns its usual statements. Names
 * in statements come only from the declaration, and an update has the same text whatever fields it sets.
 */
export function recordTable<R extends object, I extends object = object, N extends object = R & I>(
  name: string,
  declaration: Declaration,
) {
  const { key = "id", computed } = declaration;
  const existsText = declaration.exists === undefined ? "" : `and (${declaration.exists})`;
  const fixed = columnsOf(declaration.fixed);
  const mutable = columnsOf(declaration.mutable);
  const internal = columnsOf(declaration.internal);
  const read = new Map([...fixed, ...mutable]);
  const changeable = [...mutable, ...internal].filter(([field]) => field !== "updatedAt" && field !== "recordVersion");
  const readText = [...read.values()].join(", ");
  const internalText = internal.map(([, column]) => `, ${column}`).join("");

  return (sql: Sql) => {
    const table = sql.unsafe(name);
    const stored = sql.unsafe(readText);
    const columns = computed === undefined ? stored : sql`${stored}, ${computed(sql)}`;
    const fullColumns = sql`${columns}${sql.unsafe(internalText)}`;
    const exists = sql.unsafe(existsText);
    const isRecord = (tenantId: TenantId, id: string) =>
      sql`tenant_id = ${tenantId} and ${sql.unsafe(key)} = ${id} ${exists}`;
    const andIf = (condition: Fragment | undefined) => (condition === undefined ? sql`` : sql`and (${condition})`);

    function select<T extends object>(selected: Fragment, lock: Fragment) {
      return (tenantId: TenantId, id: string): Promise<T | undefined> =>
        sql<T[]>`select ${selected} from ${table} where ${isRecord(tenantId, id)} ${lock}`.first();
    }

    function toRow(record: object) {
      const values = record as Readonly<Record<string, unknown>>;
      const given = [...read, ...internal].filter(([field]) => values[field] !== undefined);
      return Object.fromEntries(given.map(([field, column]) => [column, values[field]]));
    }

    /** Changes a record with SQL, if it fulfils a condition; else returns undefined. */
    const set = (tenantId: TenantId, id: string, now: Date, assignments: Fragment, condition?: Fragment) =>
      sql<R[]>`
        update ${table} set ${assignments}, updated_at = ${now}, record_version = record_version + 1
        where ${isRecord(tenantId, id)} ${andIf(condition)} returning ${columns}`.first();

    /** Lists the records that match a filter in the order of their keys. */
    function listWhere(tenantId: TenantId, filter: Filter<R>, page: Page, options: ListOptions = {}) {
      const values: [string, string | boolean | undefined][] = Object.entries(filter);
      const equal = values.reduce((all, [field, value]) => {
        if (value === undefined || value === "") return all;
        if (field === "inProduction") return sql`${all} and (environment_key = 'production') = ${value}`;
        return sql`${all} and ${sql(read.get(field)!)} = ${value}`;
      }, sql``);
      const where = sql`tenant_id = ${tenantId} ${exists} ${equal} ${andIf(options.where)}`;
      return readKeyset<R>(sql, { key, ...options, columns, table: name, where }, page);
    }

    return {
      columns,
      fullColumns,
      find: select<R>(columns, sql``),
      /** Finds a record and keeps it from being changed until the transaction ends. */
      hold: select<R>(columns, sql`for share`),
      /** Finds a record and locks it until the transaction ends. */
      lock: select<R>(columns, sql`for update`),
      /** Finds a record with its internal fields. */
      findFull: select<R & I>(fullColumns, sql``),
      /** Finds a record with its internal fields and locks it until the transaction ends. */
      lockFull: select<R & I>(fullColumns, sql`for update`),
      set,

      /** Undefined fields get the default values of their columns. */
      async insert(record: N): Promise<R> {
        const [row] = await sql<R[]>`insert into ${table} ${sql(toRow(record))} returning ${columns}`;
        return row!;
      },

      /** Inserts records with the same fields. */
      insertMany: (records: readonly N[]): Promise<R[]> =>
        sql<R[]>`insert into ${table} ${sql(records.map(toRow))} returning ${columns}`,

      /** Inserts a record; undefined if another one has its key or another unique value. */
      insertUnlessTaken: (record: N): Promise<R | undefined> =>
        sql<R[]>`insert into ${table} ${sql(toRow(record))} on conflict do nothing returning ${columns}`.first(),

      /**
       * Undefined fields stay unchanged; `expectedVersion`, if given, must be the current version. Every mutable field of the
       * change is set, so a caller names the fields and never passes on a request.
       */
      update(tenantId: TenantId, id: string, change: Change<R & I>, expectedVersion: number | undefined, now: Date) {
        const values = change as Readonly<Record<string, never>>;
        const assign = ([field, columnName]: readonly [string, string]) => {
          const column = sql.unsafe(columnName);
          if (values[field] === null) return sql`${column} = null`;
          return sql`${column} = coalesce(${values[field] ?? null}, ${column})`;
        };
        const assignments = changeable.map(assign).reduce((all, each) => sql`${all}, ${each}`);
        const isExpected = sql`record_version = coalesce(${expectedVersion ?? null}::int, record_version)`;
        return set(tenantId, id, now, assignments, isExpected);
      },

      remove: (tenantId: TenantId, id: string): Promise<R | undefined> =>
        sql<R[]>`delete from ${table} where ${isRecord(tenantId, id)} returning ${columns}`.first(),

      async count(tenantId: TenantId, condition?: Fragment): Promise<number> {
        const [row] = await sql<{ count: number }[]>`
          select count(*)::int as count from ${table} where tenant_id = ${tenantId} ${exists} ${andIf(condition)}`;
        return row!.count;
      },

      /** Lists the records of a tenant in the order of their keys. */
      list: (tenantId: TenantId, page: Page) => listWhere(tenantId, {}, page),
      listWhere,
    };
  };
}

/** The fields of columns, each with its column. */
function columnsOf(columns = ""): (readonly [field: string, column: string])[] {
  const names = columns.split(/\s+/).filter((column) => column !== "");
  return names.map((column) => [camelCase(column), column]);
}

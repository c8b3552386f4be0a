import { covers, type EnvironmentMode, type Principal, productionOf, type TenantId } from "../platform/access/index.ts";
import type { Sql } from "../platform/db/index.ts";

/** What people call a record. */
export interface NamedRecord {
  readonly id: string;
  /** Its name. For a record without one: what identifies it to people, such as its type and key. */
  readonly name: string;
  /** The record that it belongs to, such as the pool of a rule; empty for none. */
  readonly parentId: string;
  /** Whether other records may have the same name, so that people also need the time. */
  readonly isAmbiguous: boolean;
}

/** A record, and the key that callers give it. */
export interface KeyedRecord {
  readonly id: string;
  readonly key: string;
}

/** Names the records of one kind. The area that owns them implements it. */
export interface NameSource {
  readonly kind: string;
  /** The scope that reads records of this kind. Callers without it do not learn that a record exists. */
  readonly scope: string;
  /** What precedes the id where such a record acts, such as `key` in `key:…`. */
  readonly principal: string;
  /** Finds the records of a tenant with one of these ids, as far as a caller with this mode may use their environments. */
  find(
    sql: Sql,
    tenantId: TenantId,
    ids: readonly string[],
    environmentMode: EnvironmentMode,
  ): Promise<readonly NamedRecord[]>;
  /** Finds up to two records with this id or this key, in the same way. Undefined if records of this kind have no keys. */
  readonly findKeyed?: (
    sql: Sql,
    tenantId: TenantId,
    idOrKey: string,
    environmentMode: EnvironmentMode,
  ) => Promise<readonly KeyedRecord[]>;
}

/** SQL expressions over a row `t` of the table. */
interface Expressions {
  readonly name?: string;
  readonly parent?: string;
  readonly isAmbiguous?: string;
  /** Whether callers see it that may use only production, or only other environments. Everyone by default. */
  readonly isVisible?: (inProduction: boolean) => string;
  /** Another column by which a record is found. */
  readonly alias?: string;
  /** The column that is unique among the records that exist, at least in an environment, and has an index. */
  readonly key?: { readonly column: string; readonly exists?: string };
  /** The kind by default. */
  readonly principal?: string;
}

/** Shows a row with the key of its environment to callers that may use the environment. */
export const inEnvironment = {
  isVisible: (inProduction: boolean) => `(environment_key = 'production') = ${inProduction}`,
} as const;

/** The name source of a table with ids. The text of its statement comes only from the declaration. */
export function nameSource(kind: string, scope: string, table: string, expressions: Expressions = {}): NameSource {
  const { name = "name", parent = "''", isAmbiguous = "false", isVisible, alias, key, principal = kind } = expressions;
  const selected = `${name} as name, ${parent} as parent_id, ${isAmbiguous} as is_ambiguous from ${table} t`;
  const visibleTo = (environmentMode: EnvironmentMode) => {
    const inProduction = productionOf({ environmentMode });
    return inProduction === undefined ? "true" : (isVisible?.(inProduction) ?? "true");
  };
  return {
    kind,
    scope,
    principal,
    find(sql, tenantId, ids, environmentMode) {
      const visible = visibleTo(environmentMode);
      const by = (column: string) => sql`
        select ${sql.unsafe(`${column} as id, ${selected}`)}
        where tenant_id = ${tenantId} and ${sql.unsafe(column)} = any(${ids as string[]}::text[]) and ${sql.unsafe(visible)}`;
      return sql<NamedRecord[]>`${by("id")} ${alias === undefined ? sql`` : sql`union all ${by(alias)}`}`;
    },
    ...(key !== undefined && {
      findKeyed(sql, tenantId, idOrKey, environmentMode) {
        const { column, exists = "true" } = key;
        const by = (wanted: string) => sql`
          select id, ${sql.unsafe(`${column} as key from ${table} t`)}
          where tenant_id = ${tenantId} and ${sql.unsafe(wanted)} = ${idOrKey}
            and ${sql.unsafe(`${exists} and ${visibleTo(environmentMode)}`)}`;
        return sql<KeyedRecord[]>`${by("id")} union ${by(column)} limit 2`;
      },
    }),
  };
}

/** Creates the function that finds records by their keys, or the keys of records, as far as a caller may read them. */
export function createKeyedRecordFinder(sql: Sql, sources: readonly NameSource[]) {
  return async (
    { tenantId, principal }: { readonly tenantId: TenantId; readonly principal: Principal },
    kind: string,
    idOrKey: string,
  ): Promise<readonly KeyedRecord[]> => {
    const source = sources.find((each) => each.kind === kind && covers(principal.scopes, each.scope));
    if (source?.findKeyed === undefined || principal.subscriberId !== undefined) return [];
    return source.findKeyed(sql, tenantId, idOrKey, principal.environmentMode);
  };
}

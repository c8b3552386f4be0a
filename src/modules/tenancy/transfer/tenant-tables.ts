import type { Sql } from "../../../platform/db/index.ts";
import { quoted, readTables, type StoredTable } from "../../../platform/db/move/stored-tables.ts";

/** The tables of tenants whose rows stay where they are, and why. `test/schema` names a table that is neither here nor exported. */
export const leftOut: Readonly<Record<string, string>> = {
  browser_sessions: "People sign in again.",
  connector_connect_sessions: "The links of connect sessions open once, and belong to the address of the installation.",
  evidence_signing_keys: "They belong to the platform tenant, which is not exported.",
  login_links: "The links open once, and belong to the address of the installation.",
  saml_messages_seen: "They are messages to the address of the installation.",
  sso_attempts: "They are sign-ins that a browser has started at the address of the installation.",
  tenant_versions: "The installation counts the changes of its caches.",
};

/** The rows of a table that are exported, if not all. */
const exportedRows: Readonly<Record<string, string>> = {
  // A pending one belongs to a call in progress, which ends at its own node.
  idempotency_records: "state = 'completed'",
  tenant_directory:
    "not exists (select from connector_connect_sessions session where session.tenant_id = t.tenant_id and session.id = t.key)",
};

/** What is exported instead of a column. */
const exportedValues: Readonly<Record<string, string>> = {
  // Fingerprints are made with a secret of the installation. Without one, a repeated request counts as the same.
  "idempotency_records.fingerprint": "'\\x'",
};

/** The columns that contain a database snapshot, whose numbers are stamps. */
export const snapshotColumns: ReadonlySet<string> = new Set(["since_snapshot", "cutoff"]);

/** A table of tenants, with the rows of one of them as `t`. */
export interface TenantTable extends StoredTable {
  /** The condition for the tenant's rows. */
  readonly where: string;
}

/** The tables that are exported, in the order of the file: the tenant first. */
export async function readTenantTables(sql: Sql, tenantId: string): Promise<TenantTable[]> {
  const tables = (await readTables(sql)).filter(
    ({ name, columns }) => name === "tenants" || (columns.includes("tenant_id") && leftOut[name] === undefined),
  );
  const literal = `'${tenantId.replaceAll("'", "''")}'`;
  return tables
    .map((table) => {
      const only = exportedRows[table.name];
      const owned = `t.${table.name === "tenants" ? "id" : "tenant_id"} = ${literal}`;
      return { ...table, where: only === undefined ? owned : `${owned} and ${only}` };
    })
    .sort((a, b) => Number(b.name === "tenants") - Number(a.name === "tenants"));
}

/** The statement that writes the rows of a table, one JSON array of texts per line. `positionOf` replaces stamps. */
export function copyStatement(
  { name, columns, key, where }: TenantTable,
  positionOf: (table: string, column: string) => string | undefined,
): string {
  const values = columns.map(
    (column) => exportedValues[`${name}.${column}`] ?? positionOf(name, column) ?? `t.${quoted(column)}`,
  );
  const order = key.length === 0 ? "" : `order by ${key.map((column) => `t.${quoted(column)}`).join(", ")}`;
  return `copy (select json_build_array(${values.map((value) => `(${value})::text`).join(", ")})
    from ${quoted(name)} t where ${where} ${order}) to stdout with (${rawLines})`;
}

/** The form of `copy` that leaves each line as it is, because JSON contains no control characters. */
export const rawLines = "format csv, quote e'\\x01', delimiter e'\\x02'";

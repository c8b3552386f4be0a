import type { Sql } from "../../../platform/db/index.ts";
import type { Leased } from "./lane.ts";

/** Tenants looked at by one lease statement. */
const tenantsPerScan = 64;

/** A leased row, or a row without id if nothing was leased, with the end of the scan. */
export type ScannedRow<Item> = (Item | { readonly id: null }) & { readonly scannedTo: string };

type Fragment = ReturnType<Sql>;

/** The recursive expression `turn`: the next tenants that have rows of a table that match, one row of the index each. */
export function turnsOf(sql: Sql, table: Fragment, where: Fragment, afterTenant: string): Fragment {
  return sql`turn as (
    (select tenant_id, 1 as nth from ${table} where ${where} and tenant_id > ${afterTenant} order by tenant_id limit 1)
    union all
    select next.tenant_id, turn.nth + 1 from turn cross join lateral (
      select tenant_id from ${table} where ${where} and tenant_id > turn.tenant_id order by tenant_id limit 1) next
    where turn.nth < ${tenantsPerScan}
  )`;
}

/** Selects the rows of the expression `leased` with the last tenant that was looked at; "" when there is no further one. */
export function selectScanned(sql: Sql): Fragment {
  return sql`
    select leased.*, coalesce(scan.scanned_to, '') as scanned_to
    from (select max(tenant_id) filter (where nth = ${tenantsPerScan}) as scanned_to from turn) scan
    left join leased on true`;
}

/** Separates the leased items from the end of the scan. */
export function toLeased<Item extends { readonly id: string }>(rows: readonly ScannedRow<Item>[]): Leased<Item> {
  const items = rows.filter((row) => row.id !== null) as unknown as Item[];
  return { items, scannedTo: rows[0]?.scannedTo ?? "" };
}

import { type Fragment, isServed, type Sql } from "../db/index.ts";
import type { Leased, LeaseRequest } from "./leased-work-loop.ts";

/** Tenants looked at by one lease statement. */
const tenantsPerScan = 64;

/** The rows that can be leased, and how. */
interface LeasableRows {
  readonly table: Fragment;
  /** Selects the rows that wait, and with them the tenants that get a turn. It needs an index that starts with the tenant. */
  readonly waiting: Fragment;
  /** Selects the rows that are due among those that wait. */
  readonly due: Fragment;
  readonly order: Fragment;
  /** Expressions that lease the rows of `due`, which has their `ctid` as `place`. The last one is `leased`, and has `tenant_id`. */
  readonly leased: Fragment;
}

/**
 * Leases due rows, round-robin over tenants starting after `afterTenant`. Each tenant gets up to `each` of its first rows; busy
 * and suspended tenants are skipped. The scan reads one index row per tenant.
 */
export async function leaseInTurns<Item extends { readonly tenantId: string }>(
  sql: Sql,
  { limit, each, afterTenant, busyTenants }: LeaseRequest,
  { table, waiting, due, order, leased }: LeasableRows,
): Promise<Leased<Item>> {
  const rows = await sql<((Item | { readonly tenantId: null }) & { readonly scannedTo: string })[]>`
    with recursive turn as (
      (select tenant_id, 1 as nth from ${table} where ${waiting} and tenant_id > ${afterTenant} order by tenant_id limit 1)
      union all
      select next.tenant_id, turn.nth + 1 from turn cross join lateral (
        select tenant_id from ${table} where ${waiting} and tenant_id > turn.tenant_id order by tenant_id limit 1) next
      where turn.nth < ${tenantsPerScan}
    ), due as (
      select due.place from turn
      cross join lateral (
        select ctid as place from ${table} where ${waiting} and tenant_id = turn.tenant_id and ${due}
        order by ${order} limit ${each} for update skip locked) due
      where turn.tenant_id <> all(${busyTenants as string[]}::text[]) and ${isServed(sql, sql`turn.tenant_id`)}
      limit ${limit}
    ), ${leased}
    select leased.*, coalesce(scan.scanned_to, '') as scanned_to
    from (select max(tenant_id) filter (where nth = ${tenantsPerScan}) as scanned_to from turn) scan
    left join leased on true`;
  const items = rows.filter(({ tenantId }) => tenantId !== null) as unknown as Item[];
  return { items, scannedTo: rows[0]?.scannedTo ?? "" };
}

import type { TenantId } from "../../../platform/access/index.ts";
import { joinSelected, type Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { Evidence, Snapshot } from "./domain/snapshot.ts";

/** The number of snapshots that are kept for each tenant. */
const snapshotsMax = 100;

/** The number of evidence rows that are kept for each tenant. */
export const evidenceMax = 10_000;

type SnapshotRow = Omit<Snapshot, "limits"> & { readonly limits: Readonly<Record<string, string>> };

export function entitlementStore(sql: Sql) {
  const columns = sql`tenant_id, id, version, source_kind, source_ref, issued_at, fresh_until, allow, deny, limits`;
  const evidenceColumns = sql`tenant_id, id, minute, item, operation, mode, verdict, reason, snapshot_version, count`;
  return {
    /** Adds the next version. The caller has locked the tenant's version. */
    async insert(snapshot: Omit<Snapshot, "version">): Promise<Snapshot> {
      const { tenantId, limits } = snapshot;
      const texts = Object.fromEntries(Object.entries(limits).map(([operation, limit]) => [operation, String(limit)]));
      const [row] = await sql<SnapshotRow[]>`
        insert into entitlement_snapshots (${columns})
        values (${tenantId}, ${snapshot.id},
          (select coalesce(max(version), 0) + 1 from entitlement_snapshots where tenant_id = ${tenantId}),
          ${snapshot.sourceKind}, ${snapshot.sourceRef}, ${snapshot.issuedAt}, ${snapshot.freshUntil},
          ${snapshot.allow as string[]}, ${snapshot.deny as string[]}, ${sql.json(texts)})
        returning ${columns}`;
      await sql`
        delete from entitlement_snapshots where tenant_id = ${tenantId} and version <= ${row!.version - snapshotsMax}`;
      return toSnapshot(row!);
    },

    async findCurrent(tenantId: TenantId): Promise<Snapshot | undefined> {
      const [row] = await sql<SnapshotRow[]>`
        select ${columns} from entitlement_snapshots where tenant_id = ${tenantId} order by version desc limit 1`;
      return row && toSnapshot(row);
    },

    async list(tenantId: TenantId, page: Page): Promise<PageRows<Snapshot>> {
      const where = sql`tenant_id = ${tenantId}`;
      const selection = { columns, table: "entitlement_snapshots", where, newestFirst: true };
      const { rows, ...rest } = await readKeyset<SnapshotRow>(sql, selection, page);
      return { ...rest, rows: rows.map(toSnapshot) };
    },

    /** Adds counts of evidence. Callers sort by tenant and id to avoid deadlocks between nodes. */
    async addEvidence(evidence: readonly Evidence[]): Promise<void> {
      await sql`
        insert into entitlement_evidence as known (${evidenceColumns})
        select * from unnest(
          ${evidence.map((each) => each.tenantId)}::text[], ${evidence.map((each) => each.id)}::text[],
          ${evidence.map((each) => each.minute.toISOString())}::timestamptz[], ${evidence.map((each) => each.item)}::text[],
          ${evidence.map((each) => each.operation)}::text[], ${evidence.map((each) => each.mode)}::text[],
          ${evidence.map((each) => each.verdict)}::text[], ${evidence.map((each) => each.reason)}::text[],
          ${evidence.map((each) => each.snapshotVersion)}::int[], ${evidence.map((each) => each.count)}::bigint[])
        on conflict (tenant_id, id) do update set count = known.count + excluded.count`;
    },

    async listEvidence(tenantId: TenantId, page: Page): Promise<PageRows<Evidence>> {
      const where = sql`tenant_id = ${tenantId}`;
      const selection = { columns: evidenceColumns, table: "entitlement_evidence", where, newestFirst: true };
      return readKeyset<Evidence>(sql, selection, page);
    },

    /** Deletes up to `limit` of the oldest rows of tenants that have too many; returns the count. */
    async deleteExcessEvidence(limit: number): Promise<number> {
      const excess = sql`
        from (
          select tenant_id, id, row_number() over (partition by tenant_id order by id desc) as place from entitlement_evidence
        ) ranked where place > ${evidenceMax} limit ${limit}`;
      return (await sql`delete from entitlement_evidence using ${joinSelected(sql, "entitlement_evidence", excess)}`)
        .count;
    },
  };
}

function toSnapshot({ limits, ...row }: SnapshotRow): Snapshot {
  return {
    ...row,
    limits: Object.fromEntries(Object.entries(limits).map(([operation, limit]) => [operation, BigInt(limit)])),
  };
}

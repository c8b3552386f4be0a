import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { recordTable } from "../../../../platform/records/index.ts";
import type { Receipt, ReceiptHead } from "../domain/receipt.ts";

const receipts = recordTable<Receipt>("evidence_receipts", {
  fixed: `tenant_id id pack_id revision type result producer environment_id candidate_id run_id subjects cases tool details
    issued_at expires_at statement digest key_id signature`,
});

export function receiptStore(sql: Sql) {
  const { columns, insert, listWhere } = receipts(sql);
  const head = sql`id, revision, type, result, producer, environment_id, candidate_id, subjects, issued_at, expires_at,
    digest`;
  return {
    insert,
    listWhere,

    /** The receipts of a pack up to a revision, oldest first. A pack has few. */
    async readHeads(tenantId: TenantId, packId: string, revision: number): Promise<ReceiptHead[]> {
      return sql<ReceiptHead[]>`
        select ${head} from evidence_receipts
        where tenant_id = ${tenantId} and pack_id = ${packId} and revision <= ${revision} order by revision`;
    },

    /** The whole receipts of a pack up to a revision, oldest first. */
    async readAll(tenantId: TenantId, packId: string, revision: number): Promise<Receipt[]> {
      return sql<Receipt[]>`
        select ${columns} from evidence_receipts
        where tenant_id = ${tenantId} and pack_id = ${packId} and revision <= ${revision} order by revision`;
    },

    async count(tenantId: TenantId, packId: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from evidence_receipts where tenant_id = ${tenantId} and pack_id = ${packId}`;
      return row!.count;
    },
  };
}

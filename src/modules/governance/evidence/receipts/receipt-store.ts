import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import type { Receipt, ReceiptHead } from "../domain/receipt.ts";

export function receiptStore(sql: Sql) {
  const head = sql`id, revision, type, result, producer, environment_id, candidate_id, subjects, issued_at, expires_at,
    digest`;
  const columns = sql`tenant_id, pack_id, run_id, cases, tool, details, statement, key_id, signature, ${head}`;
  const json = (value: unknown) => sql.json(value as never);
  return {
    async insert(receipt: Receipt): Promise<void> {
      const { tenantId, id, packId, revision, type, result, environmentId, candidateId, runId } = receipt;
      await sql`
        insert into evidence_receipts (tenant_id, id, pack_id, revision, type, result, producer, environment_id, candidate_id,
          run_id, subjects, cases, tool, details, issued_at, expires_at, statement, digest, key_id, signature)
        values (${tenantId}, ${id}, ${packId}, ${revision}, ${type}, ${result}, ${receipt.producer}, ${environmentId},
          ${candidateId}, ${runId},
          ${json(receipt.subjects)}, ${json(receipt.cases)}, ${json(receipt.tool)},
          ${receipt.details === null ? null : json(receipt.details)}, ${receipt.issuedAt}, ${receipt.expiresAt},
          ${receipt.statement}, ${receipt.digest}, ${receipt.keyId}, ${receipt.signature})`;
    },

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

    async list(tenantId: TenantId, packId: string, type: string, page: Page): Promise<PageRows<Receipt>> {
      const where = sql`tenant_id = ${tenantId} and pack_id = ${packId} ${type === "" ? sql`` : sql`and type = ${type}`}`;
      return readKeyset<Receipt>(sql, { columns, table: "evidence_receipts", where, key: "id" }, page);
    },
  };
}

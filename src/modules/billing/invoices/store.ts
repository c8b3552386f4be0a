import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { Invoice } from "./domain/invoice.ts";
import type { InvoiceLine } from "./domain/invoice-lines.ts";

interface StoredLine extends Omit<InvoiceLine, "quantity" | "included" | "amount"> {
  readonly quantity: string;
  readonly included: string;
  readonly amount: string;
}

type InvoiceRow = Omit<Invoice, "lines" | "total"> & { readonly lines: readonly StoredLine[]; readonly total: string };

export function invoiceStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, status, number, period_start, period_end, currency, lines, total::text as total, as_of, watermark,
    voided_at, void_reason, created_at`;
  return {
    async insert(invoice: Omit<Invoice, "number">): Promise<Invoice> {
      const { tenantId, id, status, periodStart, periodEnd, currency, total, asOf, watermark, createdAt } = invoice;
      const lines = invoice.lines.map((line) => ({
        ...line,
        quantity: String(line.quantity),
        included: String(line.included),
        amount: String(line.amount),
      }));
      // Issuing locks the subscription, so that no other invoice of the tenant takes the same number.
      const number =
        status === "preview"
          ? sql`0`
          : sql`(select coalesce(max(number), 0) + 1 from billing_invoices where tenant_id = ${tenantId} and number > 0)`;
      const [row] = await sql<InvoiceRow[]>`
        insert into billing_invoices (tenant_id, id, status, number, period_start, period_end, currency, lines, total, as_of,
          watermark, created_at)
        values (${tenantId}, ${id}, ${status}, ${number}, ${periodStart}, ${periodEnd}, ${currency},
          ${sql.json(lines as never)}, ${String(total)}::text::numeric, ${asOf}, ${watermark}, ${createdAt})
        returning ${columns}`;
      return toInvoice(row!);
    },

    async find(tenantId: TenantId, id: string): Promise<Invoice | undefined> {
      const [row] = await sql<InvoiceRow[]>`
        select ${columns} from billing_invoices where tenant_id = ${tenantId} and id = ${id}`;
      return row && toInvoice(row);
    },

    async list(tenantId: TenantId, status: Invoice["status"] | undefined, page: Page): Promise<PageRows<Invoice>> {
      const where = sql`tenant_id = ${tenantId}`;
      const filter = status === undefined ? undefined : sql`status = ${status}`;
      const selection = { columns, table: "billing_invoices", where, filter, newestFirst: true };
      const { rows, ...rest } = await readKeyset<InvoiceRow>(sql, selection, page);
      return { ...rest, rows: rows.map(toInvoice) };
    },

    async voidIssued(tenantId: TenantId, id: string, reason: string, now: Date): Promise<Invoice | undefined> {
      const [row] = await sql<InvoiceRow[]>`
        update billing_invoices set status = 'void', voided_at = ${now}, void_reason = ${reason}
        where tenant_id = ${tenantId} and id = ${id} and status = 'issued'
        returning ${columns}`;
      return row && toInvoice(row);
    },
  };
}

function toInvoice({ lines, total, ...row }: InvoiceRow): Invoice {
  return {
    ...row,
    total: BigInt(total),
    lines: lines.map((line) => ({
      ...line,
      quantity: BigInt(line.quantity),
      included: BigInt(line.included),
      amount: BigInt(line.amount),
    })),
  };
}

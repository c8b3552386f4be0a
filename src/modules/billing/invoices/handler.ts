import { type InvoiceService as Rpc, Invoice_Status as Status } from "../../../../gen/service/api/invoice_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { dateOf, enumNumbers, nameOf } from "../../../platform/records/index.ts";
import type { Operators } from "../operators.ts";
import type { Draft, Invoice } from "./domain/invoice.ts";
import type { InvoiceService } from "./service.ts";
import { invoiceStore } from "./store.ts";

export function invoiceHandlers(service: InvoiceService, operators: Operators): Handlers<typeof Rpc> {
  return {
    async previewInvoice(context, { tenantId, periodStart }) {
      const invoice = await service.previewInvoice(context, tenantId, periodStart && dateOf(periodStart));
      return { invoice: fromInvoice(invoice) };
    },

    async getInvoice(context, { tenantId, invoiceId }) {
      return { invoice: fromInvoice(await service.getInvoice(context, tenantId, invoiceId)) };
    },

    async listInvoices(context, request) {
      const tenantId = await operators.requireTenant(context, request.tenantId);
      const status = nameOf(statuses, request.status);
      const page = await context.page("invoices", request, [tenantId, status ?? ""], (wanted) =>
        invoiceStore(context.sql).list(tenantId, status, wanted),
      );
      return { ...page, invoices: page.invoices.map(fromInvoice) };
    },

    async voidInvoice(context, { tenantId, invoiceId, reason }) {
      return { invoice: fromInvoice(await service.voidInvoice(context, tenantId, invoiceId, reason)) };
    },
  };
}

const statuses = enumNumbers(Status);

const fromInvoice = (invoice: Invoice) => ({ ...fromDraft(invoice), status: statuses[invoice.status] });

/** Converts a calculation. */
export const fromDraft = <D extends Draft>(draft: D) => ({
  ...draft,
  lines: draft.lines.map(({ fromMs, untilMs, ...line }) => ({
    ...line,
    since: new Date(fromMs),
    until: new Date(untilMs),
  })),
});

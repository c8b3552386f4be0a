import { create } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  GetInvoiceResponseSchema,
  type InvoiceDraft,
  InvoiceDraftSchema,
  type Invoice as InvoiceMessage,
  InvoiceSchema,
  ListInvoicesResponseSchema,
  PreviewInvoiceResponseSchema,
  type InvoiceService as Rpc,
  Invoice_Status as Status,
  VoidInvoiceResponseSchema,
} from "../../../../gen/service/api/invoice_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { dateOf, nameOf, optionalTime } from "../../../platform/records/index.ts";
import type { Operators } from "../operators.ts";
import type { Draft, Invoice } from "./domain/invoice.ts";
import type { InvoiceService } from "./service.ts";
import { invoiceStore } from "./store.ts";

export function invoiceHandlers(service: InvoiceService, operators: Operators, cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async previewInvoice(context, { tenantId, periodStart }) {
      const invoice = await service.previewInvoice(context, tenantId, periodStart && dateOf(periodStart));
      return create(PreviewInvoiceResponseSchema, { invoice: fromInvoice(invoice) });
    },

    async getInvoice(context, { tenantId, invoiceId }) {
      const invoice = await service.getInvoice(context, tenantId, invoiceId);
      return create(GetInvoiceResponseSchema, { invoice: fromInvoice(invoice) });
    },

    async listInvoices(context, request) {
      const tenantId = await operators.requireTenant(context, request.tenantId);
      const status = nameOf(statuses, request.status);
      const page = await readPage(
        cursors,
        request,
        { tenantId: context.tenantId, operation: context.operation.id, filter: [tenantId, status ?? ""] },
        (invoice: Invoice) => invoice.id,
        (wanted) => invoiceStore(context.sql).list(tenantId, status, wanted),
      );
      return create(ListInvoicesResponseSchema, { ...page, invoices: page.items.map(fromInvoice) });
    },

    async voidInvoice(context, { tenantId, invoiceId, reason }) {
      const invoice = await service.voidInvoice(context, tenantId, invoiceId, reason);
      return create(VoidInvoiceResponseSchema, { invoice: fromInvoice(invoice) });
    },
  };
}

const statuses = { preview: Status.PREVIEW, issued: Status.ISSUED, void: Status.VOID } as const;

/** Converts a calculation. */
export function fromDraft(draft: Draft): InvoiceDraft {
  return create(InvoiceDraftSchema, draftFields(draft));
}

function fromInvoice(invoice: Invoice): InvoiceMessage {
  return create(InvoiceSchema, {
    ...draftFields(invoice),
    id: invoice.id,
    tenantId: invoice.tenantId,
    status: statuses[invoice.status],
    number: BigInt(invoice.number),
    periodStart: timestampFromDate(invoice.periodStart),
    periodEnd: timestampFromDate(invoice.periodEnd),
    voidedAt: optionalTime(invoice.voidedAt),
    voidReason: invoice.voidReason,
    createdAt: timestampFromDate(invoice.createdAt),
  });
}

function draftFields({ currency, lines, total, asOf, watermark }: Draft) {
  return {
    ...{ currency, total },
    asOf: timestampFromDate(asOf),
    watermark: timestampFromDate(watermark),
    lines: lines.map(({ fromMs, untilMs, ...line }) => ({
      ...line,
      since: timestampFromMs(fromMs),
      until: timestampFromMs(untilMs),
    })),
  };
}

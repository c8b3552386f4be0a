// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Invoices: what a tenant owes for a billing period. They are records; the service collects no payments. */
export interface InvoiceService {
  /** Stores a preview of the invoice of a period, with the usage so far. With the same usage, the invoice is equal to it. */
  preview(request?: PreviewInvoiceRequest, options?: CallOptions): Promise<Invoice>;

  /** Returns an invoice or a preview. */
  get(request: GetInvoiceRequest, options?: CallOptions): Promise<Invoice>;

  /** Lists invoices and previews, newest first. */
  list(request?: ListInvoicesRequest, options?: CallOptions): List<Invoice>;

  /** Voids an invoice that was issued in error. Only an operator may do so. */
  void(request: VoidInvoiceRequest, options?: CallOptions): Promise<Invoice>;
}

const invoiceServiceOperations = {
  preview: { verb: "POST", path: "/api/v2/billing/invoices:preview", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/billing/invoices/{invoice_id}" },
  list: { verb: "GET", path: "/api/v2/billing/invoices", result: "cursor" },
  void: { verb: "POST", path: "/api/v2/billing/invoices/{invoice_id}:void", body: "*", keyed: true },
} as const satisfies Record<keyof InvoiceService, Operation>;

/** Creates the service over a transport. */
export function createInvoiceService(transport: Transport): InvoiceService {
  return bindOperations<InvoiceService>(transport, invoiceServiceOperations);
}

/** A calculation that is not stored. */
export type InvoiceDraft = {
  /** The ISO 4217 code of the currency of all amounts. */
  readonly currency: string;
  /** The lines. */
  readonly lines: readonly InvoiceLine[];
  /** The sum of the lines, in the smallest unit of the currency. */
  readonly total: number;
  /** The time of the calculation. */
  readonly as_of?: string;
  /** The time up to which the service had counted its own meters. */
  readonly watermark?: string;
};

/** A line of an invoice: a price of a version of a plan, for the part of the period in which the tenant had it. */
export type InvoiceLine = {
  /** The plan. */
  readonly plan_key: string;
  /** The version of the plan. */
  readonly plan_version: number;
  /** The price. */
  readonly price_key: string;
  /** The description of the price. */
  readonly description: string;
  /** The meter; empty for a flat price. */
  readonly meter_key: string;
  /** The start of the part of the period. */
  readonly since?: string;
  /** The end of the part of the period. */
  readonly until?: string;
  /** The usage; 1 for a flat price. */
  readonly quantity: number;
  /** Units that cost nothing. */
  readonly included: number;
  /** The amount, in the smallest unit of the currency. */
  readonly amount: number;
};

/** Selects the period to preview. */
export type PreviewInvoiceRequest = {
  /** The tenant; the caller's own when empty. Only an operator may name another. */
  readonly tenant_id?: string;
  /** The start of the period; of the current one if absent. */
  readonly period_start?: string | Date;
};

/** What a tenant owes for a billing period. */
export type Invoice = {
  /** The id, a ULID. */
  readonly id: string;
  /** The tenant. */
  readonly tenant_id: string;
  /** Whether it is a preview, issued or void. */
  readonly status: InvoiceStatus;
  /** The number among the issued invoices of the tenant, from 1; 0 for a preview. */
  readonly number: number;
  /** The start of the period. */
  readonly period_start?: string;
  /** The end of the period. */
  readonly period_end?: string;
  /** The ISO 4217 code of the currency of all amounts. */
  readonly currency: string;
  /** The lines. */
  readonly lines: readonly InvoiceLine[];
  /** The sum of the lines, in the smallest unit of the currency. */
  readonly total: number;
  /** The time of the calculation. */
  readonly as_of?: string;
  /** The time up to which the service had counted its own meters. */
  readonly watermark?: string;
  /** When it was voided, if it was. */
  readonly voided_at?: string;
  /** Why it was voided. */
  readonly void_reason: string;
  /** When it was created. */
  readonly created_at?: string;
};

/** The status of an invoice. */
export type InvoiceStatus = "STATUS_UNSPECIFIED" | "STATUS_PREVIEW" | "STATUS_ISSUED" | "STATUS_VOID";

/** Identifies an invoice. */
export type GetInvoiceRequest = {
  /** The id. */
  readonly invoice_id: string;
  /** The tenant; the caller's own when empty. Only an operator may name another. */
  readonly tenant_id?: string;
};

/** Request for a page of invoices. */
export type ListInvoicesRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** The tenant; the caller's own when empty. Only an operator may name another. */
  readonly tenant_id?: string;
  /** Only invoices with this status. */
  readonly status?: InvoiceStatus;
};

/** Selects the invoice to void. */
export type VoidInvoiceRequest = {
  /** The id. */
  readonly invoice_id: string;
  /** The tenant; the caller's own when empty. Only an operator may name another. */
  readonly tenant_id?: string;
  /** Why. */
  readonly reason: string;
};

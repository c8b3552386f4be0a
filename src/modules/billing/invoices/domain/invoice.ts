import type { TenantId } from "../../../../platform/access/index.ts";
import type { InvoiceLine } from "./invoice-lines.ts";

/** A tenant's charges for a billing period. */
export interface Invoice {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly status: "preview" | "issued" | "void";
  /** The number among the tenant's issued invoices, from 1; 0 for a preview. */
  readonly number: number;
  readonly periodStart: Date;
  readonly periodEnd: Date;
  readonly currency: string;
  readonly lines: readonly InvoiceLine[];
  readonly total: bigint;
  /** The time of the calculation. */
  readonly asOf: Date;
  /** The time up to which the service had counted its own meters. */
  readonly watermark: Date;
  readonly voidedAt: Date | null;
  readonly voidReason: string;
  readonly createdAt: Date;
}

/** A calculation of an invoice. */
export type Draft = Pick<Invoice, "currency" | "lines" | "total" | "asOf" | "watermark">;

/** The largest total, which all protocols can represent exactly. */
export const totalMax = 2n ** 63n - 1n;

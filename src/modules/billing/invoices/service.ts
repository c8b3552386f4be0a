import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import { notFound, requireFound } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import type { Meters } from "../meters/index.ts";
import type { Operators } from "../operators.ts";
import type { Period, Subscriptions } from "../subscriptions/index.ts";
import type { Calculate } from "./calculation.ts";
import type { Draft, Invoice } from "./domain/invoice.ts";
import { invoiceStore } from "./store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "metrics"> {
  readonly log: Pick<Log, "error">;
  readonly operators: Operators;
  readonly events: EventRecorder;
  readonly subscriptions: () => Subscriptions;
  readonly meters: Pick<Meters, "isSettled">;
  readonly calculate: Calculate;
}

/** How long after the end of a period its usage can still be reported. */
const lateUsageMs = 3_600_000;

const batchSize = 100;

export type InvoiceService = ReturnType<typeof createInvoiceService>;

export function createInvoiceService(dependencies: Dependencies) {
  const { db, log, operators, events, metrics, subscriptions, meters, calculate } = dependencies;
  const issuedTotal = metrics.counter({ name: "billing_invoices_issued_total", help: "Invoices that were issued." });

  async function store(context: EventContext, period: Period, status: "preview" | "issued", draft: Draft) {
    const invoice = await invoiceStore(context.sql).insert({
      ...draft,
      ...{ tenantId: period.tenantId, id: ulid(context.nowMs), status },
      ...{ periodStart: period.startsAt, periodEnd: period.endsAt, voidedAt: null, voidReason: "" },
      createdAt: new Date(context.nowMs),
    });
    const data = {
      ...{ number: invoice.number, currency: invoice.currency, total: String(invoice.total) },
      ...{ period_start: period.startsAt.toISOString(), period_end: period.endsAt.toISOString() },
    };
    const type = status === "preview" ? "billing.invoice.previewed" : "billing.invoice.issued";
    await events.record(context, type, invoice.id, data, period.tenantId);
    return invoice;
  }

  async function draftOf({ sql, nowMs }: Pick<EventContext, "sql" | "nowMs">, period: Period): Promise<Draft> {
    const segments = await subscriptions().findSegments(sql, period.tenantId, period);
    return calculate(sql, period.tenantId, period, segments, nowMs);
  }

  /** Issues the invoice of a closed period, once. */
  async function issue({ tenantId, startsAt }: Period, nowMs: number): Promise<void> {
    await db.transaction(async (sql) => {
      // Usage is not recorded meanwhile, so the invoice contains all usage that was acknowledged before.
      await subscriptions().lock(sql, tenantId);
      const period = await subscriptions().findPeriod(sql, tenantId, startsAt);
      if (period?.state !== "closed") return;
      const context = { tenantId, sql, nowMs, afterCommit: sql.afterCommit };
      await store(context, period, "issued", await draftOf(context, period));
      await subscriptions().markInvoiced(sql, tenantId, startsAt);
      sql.afterCommit(() => issuedTotal.inc());
    });
  }

  return {
    async previewInvoice(context: Context, tenantName: string, start: Date | undefined): Promise<Invoice> {
      const { sql } = context;
      const tenantId = await operators.requireTenant(context, tenantName);
      const startsAt = start ?? (await subscriptions().findPeriodStart(sql, tenantId));
      if (startsAt === undefined) throw notFound("subscription");
      const period = requireFound(await subscriptions().findPeriod(sql, tenantId, startsAt), "billing period");
      return store(context, period, "preview", await draftOf(context, period));
    },

    async getInvoice(context: Context, tenantName: string, id: string): Promise<Invoice> {
      const tenantId = await operators.requireTenant(context, tenantName);
      return requireFound(await invoiceStore(context.sql).find(tenantId, id), "invoice");
    },

    async voidInvoice(context: Context, tenantName: string, id: string, reason: string): Promise<Invoice> {
      const { status, tenantId } = await this.getInvoice(context, tenantName, id);
      operators.require(context, "void invoices");
      const invoice = await invoiceStore(context.sql).voidIssued(tenantId, id, reason, new Date(context.nowMs));
      if (invoice === undefined) {
        throw fail("FAILED_PRECONDITION", { public: `Only an issued invoice can be voided; this one is ${status}.` });
      }
      await events.record(context, "billing.invoice.voided", id, { number: invoice.number, reason }, tenantId);
      return invoice;
    },

    /**
     * Issues the invoices of all periods whose usage is complete. Several nodes can call this concurrently. An invoice that
     * cannot be issued is tried again by the next call, and delays no others.
     */
    async issueAll(nowMs: number, signal: AbortSignal): Promise<void> {
      const before = new Date(nowMs - lateUsageMs);
      let due: Period[] = [];
      do {
        due = await subscriptions().findClosedPeriods(db.sql, before, batchSize, due.at(-1));
        for (const period of due) {
          if (signal.aborted) return;
          if (!(await meters.isSettled(period.endsAt))) continue;
          await issue(period, nowMs).catch((error: unknown) => {
            const { tenantId, startsAt } = period;
            log.error({ err: error, tenant_id: tenantId, period_start: startsAt }, "issuing an invoice failed");
          });
        }
      } while (due.length === batchSize);
    },
  };
}

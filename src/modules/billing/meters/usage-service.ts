import type { Context } from "../../../chain/call.ts";
import { Failure, type Violation } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { Operators } from "../operators.ts";
import type { Meter } from "./domain/meter.ts";
import { isRepeated, timeRefusal, toRecord, type UsageRecord, type UsageReport } from "./domain/usage.ts";
import type { MeterService } from "./meter-service.ts";
import { type Aggregate, type GroupAggregate, identityOf, type Range, usageStore } from "./store.ts";

interface Dependencies {
  readonly meters: MeterService;
  readonly operators: Operators;
  readonly metrics: Metrics;
  /** Prevents the invoicing of a tenant until the transaction ends; returns the end of its last invoiced period. */
  readonly holdInvoices: (tx: Sql, tenantId: TenantId) => Promise<Date | undefined>;
}

/** The outcome of reported usage. */
export interface UsageResult {
  readonly recorded: number;
  readonly duplicates: number;
  readonly rejected: readonly { readonly record: UsageRecord; readonly reason: string }[];
}

/** A meter, and the range whose usage is wanted. */
export interface WantedUsage extends Range {
  readonly meterKey: string;
}

/** The usage of a meter, with its breakdown. */
export interface MeterUsage extends Aggregate {
  readonly meter: Meter;
  readonly groups: readonly GroupAggregate[];
}

export type UsageService = ReturnType<typeof createUsageService>;

export function createUsageService({ meters, operators, metrics, holdInvoices }: Dependencies) {
  const reported = metrics.counter({
    name: "billing_usage_events_total",
    help: "Usage events that callers reported, by result.",
    labels: ["result"],
  });

  return {
    /**
     * Records usage. Usage that is recorded already counts as a duplicate, even if its period is invoiced by now. Throws
     * TRANSACTION_ID_REUSED if it has another content.
     */
    async recordUsage(context: Context, tenantId: string, reports: readonly UsageReport[]): Promise<UsageResult> {
      const { sql } = context;
      const now = new Date(context.nowMs);
      const id = await operators.requireTenant(context, tenantId);
      const records = toRecords(await meters.all(sql), reports, now);
      const invoicedUntil = await holdInvoices(sql, id);
      const refusals = records.map(({ at }) => timeRefusal(at, context.nowMs, invoicedUntil));
      const store = usageStore(sql);
      // Sorted, so that concurrent calls with the same usage do not deadlock.
      const timely = records.filter((_, at) => refusals[at] === undefined);
      const sorted = timely.toSorted((a, b) => (identityOf(a) < identityOf(b) ? -1 : 1));
      const recorded = sorted.length === 0 ? 0 : await store.insert(id, sorted, now);
      const rejected: { record: UsageRecord; reason: string }[] = [];
      if (recorded < records.length) {
        const known = await store.findRecorded(id, records);
        requireRepeated(records, reports, known);
        for (const [at, record] of records.entries()) {
          if (!known.has(identityOf(record))) rejected.push({ record, reason: refusals[at]! });
        }
      }
      const duplicates = records.length - rejected.length - recorded;
      context.afterCommit(() => {
        reported.inc({ result: "recorded" }, recorded);
        reported.inc({ result: "duplicate" }, duplicates);
        reported.inc({ result: "rejected" }, rejected.length);
      });
      return { recorded, duplicates, rejected };
    },

    /** The usage of one meter, or of all that were used. */
    async getUsage(sql: Sql, tenantId: TenantId, meterKey: string, range: Range): Promise<MeterUsage[]> {
      const all = await meters.all(sql);
      const usage: MeterUsage[] = [];
      for (const meter of meterKey === "" ? all : all.filter(({ key }) => key === meterKey)) {
        const [aggregate] = await usageStore(sql).aggregateMany(tenantId, [{ meter, ...range }]);
        if (aggregate!.events === 0n) continue;
        const isGrouped = meter.groupBy.length > 0;
        const groups = isGrouped ? await usageStore(sql).aggregateGroups(tenantId, meter, range) : [];
        usage.push({ ...aggregate!, meter, groups });
      }
      return usage;
    },

    /** The aggregated usage of meters in ranges, in the given order; 0 if a meter does not exist. */
    async aggregateMany(sql: Sql, tenantId: TenantId, wanted: readonly WantedUsage[]): Promise<bigint[]> {
      const known = new Map((await meters.all(sql)).map((meter) => [meter.key, meter]));
      const places = wanted.flatMap(({ meterKey, ...range }, at) => {
        const meter = known.get(meterKey);
        return meter === undefined ? [] : [{ at, meter, ...range }];
      });
      const quantities = wanted.map(() => 0n);
      // One statement for each kind of aggregate: a period has as many ranges as its plan was changed.
      for (const group of Map.groupBy(places, ({ meter }) => `${meter.serviceFed} ${meter.aggregation}`).values()) {
        const found = await usageStore(sql).aggregateMany(tenantId, group);
        for (const [nth, { at }] of group.entries()) quantities[at] = found[nth]!.quantity;
      }
      return quantities;
    },
  };
}

/** Throws TRANSACTION_ID_REUSED with a violation for each record whose recorded usage has another content. */
function requireRepeated(
  records: readonly UsageRecord[],
  reports: readonly UsageReport[],
  known: ReadonlyMap<string, UsageRecord>,
): void {
  const violations = records.flatMap((record, at): Violation[] => {
    const recorded = known.get(identityOf(record));
    if (recorded === undefined || isRepeated(record, reports[at]!, recorded)) return [];
    const message = `${record.transactionId} is recorded with another content; use a new transaction id for other usage`;
    return [{ field: `events[${at}].transaction_id`, rule: "reused", message }];
  });
  const [first] = violations;
  if (first === undefined) return;
  throw new Failure("TRANSACTION_ID_REUSED", { public: `${first.field}: ${first.message}`, violations });
}

/** Converts reports, or throws INVALID_ARGUMENT with a violation for each that its meter does not accept. */
function toRecords(meters: readonly Meter[], reports: readonly UsageReport[], now: Date): UsageRecord[] {
  const byKey = new Map(meters.map((meter) => [meter.key, meter]));
  const violations: Violation[] = [];
  const records: UsageRecord[] = [];
  for (const [at, report] of reports.entries()) {
    const meter = byKey.get(report.meterKey);
    const refusal = meterRefusal(meter);
    const converted =
      refusal === undefined
        ? toRecord(meter!, report, now)
        : { field: "meter_key", message: `${report.meterKey} ${refusal}` };
    if ("message" in converted) {
      violations.push({ field: `events[${at}].${converted.field}`, rule: "meter", message: converted.message });
    } else records.push(converted);
  }
  const [first] = violations;
  if (first === undefined) return records;
  throw new Failure("INVALID_ARGUMENT", { public: `${first.field}: ${first.message}`, violations });
}

function meterRefusal(meter: Meter | undefined): string | undefined {
  if (meter === undefined) return "is not a meter; ListMeters returns those that exist";
  if (meter.serviceFed) return "is counted by the service itself";
  return meter.status === "archived" ? "is archived" : undefined;
}

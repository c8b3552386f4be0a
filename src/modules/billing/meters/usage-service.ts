import type { Context } from "../../../chain/call.ts";
import { Failure, type Violation } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { Operators } from "../operators.ts";
import type { Meter } from "./domain/meter.ts";
import { timeRefusal, toRecord, type UsageRecord, type UsageReport } from "./domain/usage.ts";
import type { MeterService } from "./meter-service.ts";
import { type Aggregate, type GroupAggregate, identityOf, type Range, usageStore } from "./store.ts";

interface Parts {
  readonly meters: MeterService;
  readonly operators: Operators;
  readonly metrics: Metrics;
  /** Prevents the invoicing of a tenant until the transaction ends; returns the end of its last invoiced period. */
  readonly holdInvoices: (tx: Sql, tenantId: TenantId) => Promise<Date | undefined>;
}

/** What became of reported usage. */
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

/** The operations on usage. */
export type UsageService = ReturnType<typeof createUsageService>;

/** Creates the service of usage. */
export function createUsageService({ meters, operators, metrics, holdInvoices }: Parts) {
  const reported = metrics.counter({
    name: "billing_usage_events_total",
    help: "Usage events that callers reported, by result.",
    labels: ["result"],
  });

  return {
    /** Records usage. Usage that is recorded already counts as a duplicate, even if its period is invoiced by now. */
    async recordUsage(context: Context, tenantId: string, reports: readonly UsageReport[]): Promise<UsageResult> {
      const { sql, nowMs } = context;
      const id = await operators.requireTenant(context, tenantId);
      const records = toRecords(await meters.all(sql), reports);
      const invoicedUntil = await holdInvoices(sql, id);
      const refused = new Map<UsageRecord, string>();
      for (const record of records) {
        const reason = timeRefusal(record.at, nowMs, invoicedUntil);
        if (reason !== undefined) refused.set(record, reason);
      }
      const store = usageStore(sql);
      const known = refused.size === 0 ? new Set() : await store.findRecorded(id, [...refused.keys()]);
      const rejected = [...refused].flatMap(([record, reason]) =>
        known.has(identityOf(record)) ? [] : [{ record, reason }],
      );
      // Sorted, so that concurrent calls with the same usage do not deadlock.
      const timely = records.filter((record) => !refused.has(record));
      const sorted = timely.toSorted((a, b) => (identityOf(a) < identityOf(b) ? -1 : 1));
      const recorded = sorted.length === 0 ? 0 : await store.insert(id, sorted, new Date(nowMs));
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
        const aggregate = await usageStore(sql).aggregate(tenantId, meter, range);
        if (aggregate.events === 0n) continue;
        const isGrouped = meter.groupBy.length > 0;
        const groups = isGrouped ? await usageStore(sql).aggregateGroups(tenantId, meter, range) : [];
        usage.push({ ...aggregate, meter, groups });
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
        for (const [nth, { at }] of group.entries()) quantities[at] = found[nth]!;
      }
      return quantities;
    },
  };
}

/** Converts reports, or throws INVALID_ARGUMENT with a violation for each that its meter does not accept. */
function toRecords(meters: readonly Meter[], reports: readonly UsageReport[]): UsageRecord[] {
  const byKey = new Map(meters.map((meter) => [meter.key, meter]));
  const violations: Violation[] = [];
  const records: UsageRecord[] = [];
  for (const [at, report] of reports.entries()) {
    const meter = byKey.get(report.meterKey);
    const refusal = meterRefusal(meter);
    const converted =
      refusal === undefined
        ? toRecord(meter!, report)
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

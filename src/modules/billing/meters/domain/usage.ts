import { isDeepStrictEqual } from "node:util";
import type { Meter } from "./meter.ts";

/** Usage of a meter as a caller reports it. */
export interface UsageReport {
  readonly meterKey: string;
  readonly transactionId: string;
  /** Undefined counts as 1. */
  readonly quantity: bigint | undefined;
  readonly properties: Readonly<Record<string, string>>;
  /** Undefined is the time of the call. */
  readonly at: Date | undefined;
}

/** Usage to store. */
export interface UsageRecord {
  readonly meterKey: string;
  readonly transactionId: string;
  readonly at: Date;
  readonly quantity: bigint;
  /** The text of the value, for meters that count different values. */
  readonly value: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** The largest value of one record. */
const quantityMax = 1_000_000_000_000_000n;

/** Why a report cannot be recorded: the field, and what is wrong with it. */
export interface ReportViolation {
  readonly field: string;
  readonly message: string;
}

/** Converts a report of a meter to a record. */
export function toRecord(meter: Meter, report: UsageReport, now: Date): UsageRecord | ReportViolation {
  const { meterKey, transactionId, at = now, properties, quantity } = report;
  const dimensions = Object.fromEntries(
    meter.groupBy.flatMap((name) => (Object.hasOwn(properties, name) ? [[name, properties[name]!]] : [])),
  );
  const record = { meterKey, transactionId, at, dimensions };
  if (meter.valuePath === "") {
    const counted = quantity ?? 1n;
    return { ...record, quantity: counted, value: String(counted) };
  }
  const field = `properties["${meter.valuePath}"]`;
  if (!Object.hasOwn(properties, meter.valuePath)) return { field, message: "is required: it holds the meter's value" };
  const value = properties[meter.valuePath]!;
  if (meter.aggregation === "unique_count" || meter.aggregation === "count") return { ...record, quantity: 1n, value };
  if (!/^\d{1,16}$/.test(value) || BigInt(value) > quantityMax) {
    return { field, message: `must be an integer from 0 to ${quantityMax} (for example: 42)` };
  }
  return { ...record, quantity: BigInt(value), value };
}

/** Whether a report repeats recorded usage. A report without a time has the time of its first call. */
export function isRepeated(record: UsageRecord, { at }: UsageReport, recorded: UsageRecord): boolean {
  return isDeepStrictEqual(record, at === undefined ? { ...recorded, at: record.at } : recorded);
}

const dayMs = 86_400_000;

/** How old usage may be. */
export const ageMsMax = 400 * dayMs;

/** How far the clock of a caller may be ahead. */
const futureMsMax = 300_000;

/** Why usage is too late or too early to be recorded; undefined if it is neither. */
export function timeRefusal(at: Date, nowMs: number, invoicedUntil: Date | undefined): string | undefined {
  if (at.getTime() > nowMs + futureMsMax) return "in_future";
  if (at.getTime() < nowMs - ageMsMax) return "too_old";
  return invoicedUntil !== undefined && at < invoicedUntil ? "period_invoiced" : undefined;
}

import { startOfStep, steps } from "../../history-source.ts";

/** How the points of a time range are read. */
interface RangeSettings {
  /** The length of the range in minutes. */
  readonly minutes: number;
  /** The stored step that the points are made of. */
  readonly step: number;
  /** The minutes between two points. */
  readonly pointMinutes: number;
}

/** The time ranges of charts. Each has at most 168 points. */
const ranges: Readonly<Record<string, RangeSettings>> = {
  "15m": { minutes: 15, step: steps.minute, pointMinutes: 1 },
  "1h": { minutes: 60, step: steps.minute, pointMinutes: 1 },
  "24h": { minutes: 24 * 60, step: steps.tenMinutes, pointMinutes: 10 },
  "7d": { minutes: 7 * 24 * 60, step: steps.hour, pointMinutes: 60 },
};

/** A time range that ends now. */
export interface HistoryRange extends RangeSettings {
  /** The start of the first point. */
  readonly since: Date;
}

/** The range with a name; the last hour if it is empty. The definition allows no other names. */
export function rangeOf(name: string, nowMs: number): HistoryRange {
  const settings = ranges[name || "1h"]!;
  const { minutes, pointMinutes } = settings;
  return { ...settings, since: startOfStep(pointMinutes, new Date(nowMs - (minutes - pointMinutes) * 60_000)) };
}

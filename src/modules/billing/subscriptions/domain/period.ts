import type { Interval } from "../../plans/index.ts";

/**
 * The start of the numbered period after an anchor, counted from 0. A day that a month does not have becomes its last day.
 * Counting from the anchor keeps later periods on the anchor's day.
 */
export function periodStart(anchor: Date, interval: Interval, number: number): Date {
  const months = anchor.getUTCMonth() + number * (interval === "year" ? 12 : 1);
  const year = anchor.getUTCFullYear() + Math.floor(months / 12);
  const month = months % 12;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const start = new Date(anchor);
  start.setUTCFullYear(year, month, Math.min(anchor.getUTCDate(), lastDay));
  return start;
}

import { invalid } from "../../../../errors/index.ts";
import { formatDuration, parseDuration } from "../../../../platform/text/index.ts";

const defaultMs = 3_600_000;
const minimumMs = 300_000;
const maximumMs = 7 * 86_400_000;

/** Reads the period of a report; throws if it is too short, or longer than runs are kept. */
export function readPeriod(text: string, retentionDays: number): number {
  const longestMs = Math.min(maximumMs, retentionDays * 86_400_000);
  const ms = text === "" ? Math.min(defaultMs, longestMs) : parseDuration(text);
  if (ms !== undefined && ms >= minimumMs && ms <= longestMs && ms % 1000 === 0) return ms;
  const range = `from ${formatDuration(minimumMs)} to ${formatDuration(longestMs)}`;
  throw invalid("period", "duration", `must be a duration in whole seconds ${range} (for example: 1h)`);
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const durationPattern = /^([0-9]{1,12})(ms|s|m|h|d)$/;

/** The pattern of a duration, for a JSON Schema. */
export const durationSource = "^[0-9]{1,12}(ms|s|m|h|d)$";

/** Reads a duration such as `10m`; undefined if the text is not one. */
export function parseDuration(text: string): number | undefined {
  const match = durationPattern.exec(text);
  return match === null ? undefined : Number(match[1]) * unitMs[match[2]!]!;
}

const writtenDuration = /^\s*(\d{1,9})\s*(ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)?\s*$/i;

/** Writes a duration as it is read, from a number of seconds or a unit that is written out; undefined if the text is neither. */
export function respellDuration(text: string): string | undefined {
  const match = writtenDuration.exec(text);
  if (match === null) return undefined;
  const unit = match[2]?.toLowerCase() ?? "s";
  return `${match[1]}${unit.startsWith("ms") || unit.startsWith("milli") ? "ms" : unit[0]}`;
}

/** Writes a duration in the largest unit that divides it. */
export function formatDuration(ms: number): string {
  const [unit, size] = Object.entries(unitMs).findLast(([, each]) => ms >= each && ms % each === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}

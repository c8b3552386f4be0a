import { Duration, Failure, isInt64, Timestamp } from "./values.ts";

const NS_PER_MS = 1_000_000n;
const NS_PER_S = 1_000_000_000n;

// From the year 1 to the year 9999, as in protobuf.
const TIMESTAMP_MIN_NS = -62_135_596_800n * NS_PER_S;
const TIMESTAMP_MAX_NS = 253_402_300_800n * NS_PER_S - 1n;

/** Creates a timestamp, or a failure if it is out of range. */
export function checkedTimestamp(ns: bigint, at: number): Timestamp | Failure {
  if (ns < TIMESTAMP_MIN_NS || ns > TIMESTAMP_MAX_NS) return new Failure("timestamp out of range", at);
  return new Timestamp(ns);
}

/** Creates a duration, or a failure beyond 292 years, the range of a 64-bit int of nanoseconds. */
export function checkedDuration(ns: bigint, at: number): Duration | Failure {
  return isInt64(ns) ? new Duration(ns) : new Failure("duration out of range", at);
}

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/** Parses an RFC 3339 time. */
export function parseTimestamp(text: string, at: number): Timestamp | Failure {
  const parts = text.length > 40 ? null : RFC_3339.exec(text);
  if (parts === null) return new Failure("not a time in RFC 3339", at);
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as number[];
  const date = new Date(0);
  date.setUTCFullYear(year!, month! - 1, day);
  date.setUTCHours(hour!, minute, second);
  const written = [date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes()];
  if (`${written}` !== `${[month, day, hour, minute]}` || date.getUTCSeconds() !== second)
    return new Failure("no such time", at);
  const offsetMinutes = Number(parts[9] ?? 0) * 60 + Number(parts[10] ?? 0);
  const offsetMs = offsetMinutes * 60_000 * (parts[8] === "-" ? -1 : 1);
  const fraction = BigInt((parts[7] ?? "").padEnd(9, "0"));
  return checkedTimestamp(BigInt(date.getTime() - offsetMs) * NS_PER_MS + fraction, at);
}

/** Milliseconds since the Unix epoch, rounded down. */
export function epochMs(timestamp: Timestamp): number {
  return Number(floorDivide(timestamp.ns, NS_PER_MS));
}

/** Seconds since the Unix epoch, rounded down. */
export function epochSeconds(timestamp: Timestamp): bigint {
  return floorDivide(timestamp.ns, NS_PER_S);
}

function floorDivide(a: bigint, b: bigint): bigint {
  return a % b < 0n ? a / b - 1n : a / b;
}

/** Formats a time as RFC 3339 in UTC, with as many fractional digits as necessary. */
export function formatTimestamp(timestamp: Timestamp): string {
  const seconds = epochSeconds(timestamp);
  const whole = new Date(Number(seconds) * 1_000).toISOString().slice(0, 19);
  return `${whole}${fractionOf(timestamp.ns - seconds * NS_PER_S)}Z`;
}

/** Formats a duration in seconds as in protobuf's JSON, such as `3.5s`. */
export function formatDuration(duration: Duration): string {
  const ns = duration.ns < 0n ? -duration.ns : duration.ns;
  return `${duration.ns < 0n ? "-" : ""}${ns / NS_PER_S}${fractionOf(ns % NS_PER_S)}s`;
}

function fractionOf(ns: bigint): string {
  return ns === 0n ? "" : `.${String(ns).padStart(9, "0").replace(/0+$/, "")}`;
}

const UNIT_NS: Readonly<Record<string, bigint>> = {
  h: 3_600n * NS_PER_S,
  m: 60n * NS_PER_S,
  s: NS_PER_S,
  ms: NS_PER_MS,
  us: 1_000n,
  µs: 1_000n,
  ns: 1n,
};

const DURATION_PART = /(\d{0,18})(?:\.(\d{0,18}))?(h|ms|m|s|us|µs|ns)/y;

/** Parses a duration such as `1h30m`, `-1.5s` or `250ms`. */
export function parseDuration(text: string, at: number): Duration | Failure {
  const failure = new Failure("not a duration such as '1h30m' or '1.5s'", at);
  const sign = text.startsWith("-") ? -1n : 1n;
  const unsigned = text.replace(/^[+-]/, "");
  if (unsigned === "0") return new Duration(0n);
  if (unsigned === "" || unsigned.length > 100) return failure;
  let total = 0n;
  for (let i = 0; i < unsigned.length; ) {
    DURATION_PART.lastIndex = i;
    const part = DURATION_PART.exec(unsigned);
    if (part === null || (!part[1] && !part[2])) return failure;
    total += partNs(part[1]!, part[2] ?? "", UNIT_NS[part[3]!]!);
    i += part[0].length;
  }
  return checkedDuration(sign * total, at);
}

function partNs(whole: string, fraction: string, unit: bigint): bigint {
  return BigInt(whole || "0") * unit + (BigInt(fraction || "0") * unit) / 10n ** BigInt(fraction.length);
}

/** The duration in a unit, rounded towards zero. */
export function durationIn(duration: Duration, unit: "h" | "m" | "s" | "ms"): bigint {
  return duration.ns / UNIT_NS[unit]!;
}

/** The part of a duration below a second, in milliseconds. */
export function millisecondsOf(duration: Duration): bigint {
  return (duration.ns % NS_PER_S) / NS_PER_MS;
}

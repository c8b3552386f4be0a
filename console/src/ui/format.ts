import { ConnectionError, DeadlineError } from "@client/transport/errors";

/** A number with separators, as everywhere in the console. Ten millions and more are shortened. */
export function formatCount(value: number | string | undefined): string {
  const number = Number(value ?? 0);
  if (Math.abs(number) >= 10_000_000) return `${trim(number / 1_000_000)}M`;
  return number.toLocaleString("en-US", { maximumFractionDigits: 2 });
}

/** A capacity or another limit. Without one, nothing is limited. */
export function formatLimit(limit: number | string | undefined): string {
  return Number(limit ?? 0) === 0 ? "unlimited" : formatCount(limit);
}

/** A statistic, such as a mean or a probability. */
export function formatDecimal(value: number | undefined, digits = 3): string {
  return value === undefined ? "–" : value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

/** An amount in hundredths of a currency. */
export function formatMoney(cents: number | string, currency: string): string {
  const amount = Number(cents) / 100;
  return `${amount.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })} ${currency}`;
}

/** How much was counted of something, such as "12" or "10,000+" when counting stopped early. */
export function formatTotal({ count, isCapped }: { readonly count: number; readonly isCapped: boolean }): string {
  return `${formatCount(count)}${isCapped ? "+" : ""}`;
}

function trim(value: number): string {
  return value.toFixed(value >= 100 ? 0 : 1).replace(/\.0$/, "");
}

/** A duration in its two largest units, such as "5 min". */
export function formatSeconds(seconds: number | undefined): string {
  if (seconds === undefined || Number.isNaN(seconds)) return "–";
  if (seconds < 1) return seconds === 0 ? "0 s" : `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds < 10 ? trim(seconds) : Math.round(seconds)} s`;
  const units = [
    ["d", 86400],
    ["h", 3600],
    ["min", 60],
    ["s", 1],
  ] as const;
  const first = units.findIndex(([, size]) => seconds >= size);
  let rest = Math.round(seconds);
  return units
    .slice(first, first + 2)
    .flatMap(([name, size]) => {
      const count = Math.floor(rest / size);
      rest -= count * size;
      return count === 0 ? [] : [`${count} ${name}`];
    })
    .join(" ");
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, min: 60, m: 60, h: 3600, d: 86400 };

/** The seconds of a text such as "5 min", "1 h 30 min" or "90". Throws a TypeError for any other text. */
export function parseSeconds(text: string): number {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)\s*(s|min|m|h|d)?(?:\s+|$)/gy)];
  const read = parts.reduce((length, [part]) => length + part.length, 0);
  if (parts.length === 0 || read !== text.trim().length) throw new TypeError("not a duration");
  return parts.reduce((sum, [, count, unit = "s"]) => sum + Number(count) * secondsOf[unit]!, 0);
}

/** A time, relative to now. */
export function formatAgo(time: string | undefined, nowMs: number): string {
  if (time === undefined || time === "") return "–";
  const seconds = (nowMs - Date.parse(time)) / 1000;
  const text = formatSeconds(Math.abs(seconds) < 1 ? 0 : Math.round(Math.abs(seconds)))
    .split(" ")
    .slice(0, 2)
    .join(" ");
  if (Math.abs(seconds) < 5) return "just now";
  return seconds < 0 ? `in ${text}` : `${text} ago`;
}

/** The time of day, with milliseconds. */
export function formatClock(time: string | undefined): string {
  if (time === undefined) return "";
  const at = new Date(time);
  return `${at.toLocaleTimeString("en-GB")}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

/** A date and time, in the zone of the browser unless another one is given. */
export function formatTime(time: string | undefined, timeZone?: string): string {
  if (time === undefined || time === "") return "–";
  return formatMoment(time, { dateStyle: "medium", timeStyle: "medium", timeZone });
}

/** A date and time without seconds, in the zone of the browser. */
export function formatMinute(time: string): string {
  return formatMoment(time, { dateStyle: "medium", timeStyle: "short" });
}

/** The parts of a time that a chart or a list has room for. */
export function formatMoment(time: string | number, parts: Intl.DateTimeFormatOptions): string {
  return new Date(time).toLocaleString("en-GB", parts);
}

/** A share as a percentage. */
export function formatPercent(share: number | undefined, digits = 1): string {
  return share === undefined ? "–" : `${(share * 100).toFixed(digits)} %`;
}

const abbreviation = /\b(?:ai|api|aws|id|jwt|oidc|saml|scim|sms|ttl)\b/gi;

/** A constant such as `STATUS_ACTIVE` or `weighted_random` in words. */
export function words(constant: string | undefined): string {
  if (constant === undefined || constant === "") return "–";
  const text = constant
    .replace(/^(STATUS|MODE|INTERVAL|AGGREGATION|FAILURE|SELECTION|DISABLED_REASON)_/, "")
    .replaceAll("_", " ")
    .toLowerCase();
  return (text.charAt(0).toUpperCase() + text.slice(1)).replace(abbreviation, (word) => word.toUpperCase());
}

/** Returns an error's message without its code. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ConnectionError || error instanceof DeadlineError) {
    return "The service does not respond. It may be starting, or the connection to it is interrupted.";
  }
  return error.message.replace(/^[A-Z_]+: /, "");
}

import { formatFraction, type SecondsAndNanos } from "./timestamp.ts";

const secondsMax = 315_576_000_000;
const shape = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;

/** Formats a duration, such as `90s` or `-0.250s`. */
export function formatDuration(duration: SecondsAndNanos): string {
  const seconds = Number(duration.seconds);
  const { nanos } = duration;
  if (!(Math.abs(seconds) <= secondsMax && Math.abs(nanos) <= 999_999_999) || seconds * nanos < 0) {
    throw new Error("The duration is out of range, or its parts have different signs.");
  }
  const sign = seconds < 0 || nanos < 0 ? "-" : "";
  return `${sign}${Math.abs(seconds)}${formatFraction(Math.abs(nanos))}s`;
}

/** Parses a duration; undefined for an invalid one or one longer than about 10,000 years. */
export function parseDuration(text: string): SecondsAndNanos | undefined {
  const match = shape.exec(text);
  if (match === null) return undefined;
  const seconds = Number(match[2]);
  if (seconds > secondsMax) return undefined;
  const nanos = match[3] === undefined ? 0 : Number(match[3].padEnd(9, "0"));
  if (match[1] === "") return { seconds: BigInt(seconds), nanos };
  // Adding zero converts -0 to 0.
  return { seconds: BigInt(-seconds), nanos: -nanos + 0 };
}

import { fractionText, type Moment } from "./timestamp.ts";

const secondsMax = 315_576_000_000;
const shape = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;

/** Writes a length of time: `90s`, `-0.250s`. */
export function durationText(duration: Moment): string {
  const seconds = Number(duration.seconds);
  const { nanos } = duration;
  if (!(Math.abs(seconds) <= secondsMax && Math.abs(nanos) <= 999_999_999) || seconds * nanos < 0) {
    throw new Error("a duration is out of range, or its parts have different signs");
  }
  const sign = seconds < 0 || nanos < 0 ? "-" : "";
  return `${sign}${Math.abs(seconds)}${fractionText(Math.abs(nanos))}s`;
}

/** Reads a length of time; undefined when the text is not one, or is longer than some 10,000 years. */
export function parseDuration(text: string): Moment | undefined {
  const match = shape.exec(text);
  if (match === null) return undefined;
  const seconds = Number(match[2]);
  if (seconds > secondsMax) return undefined;
  const nanos = match[3] === undefined ? 0 : Number(match[3].padEnd(9, "0"));
  if (match[1] === "") return { seconds: BigInt(seconds), nanos };
  // Adding zero turns -0 into 0.
  return { seconds: BigInt(-seconds), nanos: -nanos + 0 };
}

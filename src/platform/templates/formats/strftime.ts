import type { Run } from "../run.ts";

type FormatOf = (options: Intl.DateTimeFormatOptions) => Intl.DateTimeFormat;

/** The Intl options of each localised part of a date. */
const named: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  A: { weekday: "long" },
  a: { weekday: "short" },
  B: { month: "long" },
  b: { month: "short" },
  h: { month: "short" },
  Z: { timeZoneName: "short" },
};
const partOf: Readonly<Record<string, Intl.DateTimeFormatPartTypes>> = {
  A: "weekday",
  a: "weekday",
  B: "month",
  b: "month",
  h: "month",
  Z: "timeZoneName",
};
const shorthands: Readonly<Record<string, string>> = {
  F: "%Y-%m-%d",
  T: "%H:%M:%S",
  R: "%H:%M",
  D: "%m/%d/%y",
};
const lengthMax = 256;
/** The cost of splitting a date into parts, in steps. */
const partSteps = 40;

/** Formats a time with a pattern such as `%Y-%m-%d`; unknown directives stay unchanged. */
export function strftime(run: Run, time: Date, pattern: string, formatOf: FormatOf): string {
  const whole = pattern.slice(0, lengthMax).replace(/%([FTRD])/g, (_, letter: string) => shorthands[letter]!);
  let numbers: Readonly<Record<string, string>> | undefined;
  return whole.replace(/%([-^]?)([A-Za-z%])/g, (text, flag: string, letter: string) => {
    run.spend(2);
    if (letter === "%") return "%";
    const options = named[letter];
    if (options !== undefined) {
      run.spend(partSteps);
      const parts = formatOf(options).formatToParts(time);
      const name = parts.find(({ type }) => type === partOf[letter])?.value ?? "";
      return flag === "^" ? name.toUpperCase() : name;
    }
    if (numbers === undefined) {
      run.spend(2 * partSteps);
      numbers = numbersOf(time, formatOf);
    }
    const number = numbers[letter];
    if (number === undefined) return text;
    return flag === "-" ? number.replace(/^[0 ]+(?=\d)/, "") : number;
  });
}

const clock: Intl.DateTimeFormatOptions = {
  hourCycle: "h23",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "longOffset",
  numberingSystem: "latn",
  calendar: "gregory",
};

function numbersOf(time: Date, formatOf: FormatOf): Readonly<Record<string, string>> {
  const parts = new Map(
    formatOf(clock)
      .formatToParts(time)
      .map(({ type, value }) => [type as string, value]),
  );
  const part = (type: string) => parts.get(type) ?? "";
  const padded = (number: number, length: number) => String(number).padStart(length, "0");
  const [year, month, day, hour] = [
    part("year"),
    padded(Number(part("month")), 2),
    padded(Number(part("day")), 2),
    padded(Number(part("hour")), 2),
  ];
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const hour12 = Number(hour) % 12 || 12;
  return {
    Y: year,
    y: year.slice(-2),
    m: month,
    d: day,
    e: day.replace(/^0/, " "),
    H: hour,
    k: hour.replace(/^0/, " "),
    I: padded(hour12, 2),
    l: String(hour12).padStart(2, " "),
    M: padded(Number(part("minute")), 2),
    S: padded(Number(part("second")), 2),
    L: padded(time.getUTCMilliseconds(), 3),
    p: Number(hour) < 12 ? "AM" : "PM",
    P: Number(hour) < 12 ? "am" : "pm",
    j: padded(Math.round((midnight - Date.UTC(Number(year), 0, 1)) / 86_400_000) + 1, 3),
    u: String(new Date(midnight).getUTCDay() || 7),
    w: String(new Date(midnight).getUTCDay()),
    s: String(Math.floor(time.getTime() / 1000)),
    z: offsetOf(part("timeZoneName")),
  };
}

/** Converts Intl's `GMT+02:00` or `GMT` to `+0200` or `+0000`. */
function offsetOf(name: string): string {
  const found = /([+-]\d\d):(\d\d)/.exec(name.replace("−", "-"));
  return found === null ? "+0000" : `${found[1]}${found[2]}`;
}

import { BoundedCache } from "../../cache/bounded-cache.ts";
import type { Helper, Named } from "../helper.ts";
import type { Run } from "../run.ts";
import { numberOf, textOf, unwrapSafe } from "../values.ts";
import { strftime } from "./strftime.ts";

/** The cost of creating and of using a formatter, in steps. */
const creationSteps = 2000;
const formattingSteps = 12;

type Format = Intl.DateTimeFormat | Intl.NumberFormat | Intl.PluralRules;

const cache = new BoundedCache<string, Format>(1000);

/** The locale-aware and time-zone-aware helpers, identical in both engines. */
export const formatHelpers: readonly (readonly [string, Helper])[] = [
  ["date", (run, args, named) => dateText(run, args, named, (style) => ({ dateStyle: style }))],
  ["time", (run, args, named) => dateText(run, args, named, (style) => ({ timeStyle: style }), "short")],
  ["datetime", (run, args, named) => dateText(run, args, named, (style) => ({ dateStyle: style, timeStyle: "short" }))],
  ["number", numberText],
  ["currency", currencyText],
  ["pluralize", pluralText],
];

type Style = "full" | "long" | "medium" | "short";
const styles: ReadonlySet<string> = new Set(["full", "long", "medium", "short"]);

function dateText(
  run: Run,
  [value, format]: readonly unknown[],
  named: Named,
  optionsOf: (style: Style) => Intl.DateTimeFormatOptions,
  styleDefault: Style = "medium",
): string {
  const time = timeOf(run, value);
  if (time === undefined) return textOf(run, value, "");
  run.spend(formattingSteps);
  const wanted = textOf(run, format ?? named.format ?? styleDefault, "");
  if (wanted === "iso") return time.toISOString();
  const timeZone = textOf(run, named.timezone ?? run.timezone, "");
  const locale = textOf(run, named.locale ?? run.locale, "");
  if (wanted.includes("%")) {
    return strftime(run, time, wanted, (options) => dateFormat(run, locale, timeZone, options));
  }
  const style = styles.has(wanted) ? (wanted as Style) : styleDefault;
  return dateFormat(run, locale, timeZone, optionsOf(style)).format(time);
}

function numberText(run: Run, [value, decimals]: readonly unknown[], named: Named): string {
  const number = numberOf(value);
  if (Number.isNaN(number)) return textOf(run, value, "");
  run.spend(formattingSteps);
  return numberFormat(run, named, digitsOf(decimals ?? named.decimals)).format(number);
}

function currencyText(run: Run, [value, code]: readonly unknown[], named: Named): string {
  const number = numberOf(value);
  if (Number.isNaN(number)) return textOf(run, value, "");
  run.spend(formattingSteps);
  const currency = textOf(run, code ?? named.code, "").toUpperCase();
  const digits = digitsOf(named.decimals);
  if (!/^[A-Z]{3}$/.test(currency)) return numberFormat(run, named, digits).format(number);
  return numberFormat(run, named, { style: "currency", currency, ...digits }).format(number);
}

/** The word for a number: `pluralize n "item" "items"`, or by the categories of the language: `one="…" few="…" other="…"`. */
function pluralText(run: Run, [value, singular, plural]: readonly unknown[], named: Named): string {
  run.spend(formattingSteps);
  const locale = textOf(run, named.locale ?? run.locale, "");
  const rules = getFormat(run, `p ${locale}`, () => new Intl.PluralRules(knownLocale(locale)));
  const number = numberOf(value);
  const category = rules.select(Number.isNaN(number) ? 0 : number);
  const other = named.other ?? plural ?? singular;
  return run.chargeText(textOf(run, named[category] ?? (category === "one" ? (singular ?? other) : other), ""));
}

function digitsOf(decimals: unknown): Intl.NumberFormatOptions {
  const count = Math.trunc(numberOf(decimals));
  if (Number.isNaN(count)) return {};
  const digits = Math.min(Math.max(count, 0), 20);
  return { minimumFractionDigits: digits, maximumFractionDigits: digits };
}

/** Converts a value to a time: ISO 8601 text, `now`, or milliseconds; small numbers are seconds. */
function timeOf(run: Run, value: unknown): Date | undefined {
  const given = unwrapSafe(value);
  if (given === "now") return new Date(run.nowMs);
  if (given instanceof Date) return Number.isNaN(given.getTime()) ? undefined : given;
  if (typeof given === "string" && !isoTime.test(given)) return undefined;
  if (typeof given !== "string" && typeof given !== "number") return undefined;
  const time = new Date(typeof given === "number" && Math.abs(given) < secondsMax ? given * 1000 : given);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

const isoTime = /^\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?)?$/;
const secondsMax = 100_000_000_000;

function numberFormat(run: Run, named: Named, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const locale = textOf(run, named.locale ?? run.locale, "");
  const key = `n ${locale} ${options.currency ?? ""} ${options.minimumFractionDigits ?? ""}`;
  return getFormat(run, key, () => {
    const known = { ...options };
    return new Intl.NumberFormat(knownLocale(locale), known);
  });
}

function dateFormat(run: Run, locale: string, timeZone: string, options: Intl.DateTimeFormatOptions) {
  const key = `d ${locale} ${timeZone} ${Object.entries(options).join()}`;
  return getFormat(
    run,
    key,
    () => new Intl.DateTimeFormat(knownLocale(locale), { ...options, timeZone: knownZone(timeZone) }),
  );
}

function getFormat<F extends Format>(run: Run, key: string, make: () => F): F {
  const found = cache.get(key) as F | undefined;
  if (found !== undefined) return found;
  run.spend(creationSteps);
  const made = make();
  cache.set(key, made);
  return made;
}

function knownLocale(locale: string): string {
  if (locale === "" || locale.length > 35) return "en";
  try {
    return Intl.getCanonicalLocales(locale.replaceAll("_", "-"))[0] ?? "en";
  } catch {
    return "en";
  }
}

function knownZone(timeZone: string): string {
  if (timeZone === "" || timeZone.length > 64) return "UTC";
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone;
  } catch {
    return "UTC";
  }
}

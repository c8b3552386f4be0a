import { ScalarType } from "@bufbuild/protobuf";
import { offeredNames, parseJson } from "../protojson/index.ts";
import { nearestName, parseDuration, plainName, respellDuration } from "../text/index.ts";
import { type Change, isObject, type Mistake, toValue } from "./mistake.ts";
import { rulesAt } from "./place.ts";

/** Corrections of values of another type. */

const numberText = /^[+-]?\d{1,15}(?:\.\d{1,15})?(?:[eE][+-]?\d{1,3})?$/;
const groupedDigits = /^\d{1,3}(?:([,_])\d{3})(?:\1\d{3})*$/;
const epochMsMin = 100_000_000_000;

/** A number in a text: `"5"`, `"10,000"`. */
export function readNumber(mistake: Mistake): Change | undefined {
  const { value } = mistake.place;
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  const plain = groupedDigits.test(text) ? text.replaceAll(/[,_]/g, "") : text;
  return numberText.test(plain) ? toValue(mistake, Number(plain), "certain") : undefined;
}

/** A time span with a unit, for a field whose name has the unit: `"5m"` for `timeout_s`. */
export function readTimeSpan(mistake: Mistake): Change | undefined {
  const { value, names } = mistake.place;
  const unit = /_(ms|s|minutes|hours|days)$/.exec(names.at(-1) ?? "")?.[1];
  const text = typeof value === "string" ? respellDuration(value) : undefined;
  if (text === undefined || unit === undefined) return undefined;
  const count = parseDuration(text)! / parseDuration(respellDuration(`1${unit}`)!)!;
  return Number.isInteger(count) ? toValue(mistake, count, "certain") : undefined;
}

/** A boolean in a text or as a number: `"true"`, `1`. */
export function readBoolean(mistake: Mistake): Change | undefined {
  const { value } = mistake.place;
  const text = String(value).trim().toLowerCase();
  if (typeof value === "string" && (text === "true" || text === "false")) {
    return toValue(mistake, text === "true", "certain");
  }
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  if (/^(?:yes|on|1)$/.test(text)) return toValue(mistake, true, "likely");
  return /^(?:no|off|0)$/.test(text) ? toValue(mistake, false, "likely") : undefined;
}

/** A number or a boolean for a text: `5` for `"5"`. */
export function writeText(mistake: Mistake): Change | undefined {
  const { value } = mistake.place;
  const isExact = typeof value === "number" && (Number.isSafeInteger(value) || !Number.isInteger(value));
  return isExact || typeof value === "boolean" ? toValue(mistake, String(value), "certain") : undefined;
}

/** An object or a list as JSON in a text. */
export function readJson(mistake: Mistake): Change | undefined {
  const { value } = mistake.place;
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return undefined;
  try {
    return toValue(mistake, parseJson(value), "certain");
  } catch {
    return undefined;
  }
}

/** One value for a list. A text with commas is several. */
export function wrapInList(mistake: Mistake): Change | undefined {
  const { place, violation } = mistake;
  const { value, field } = place;
  if (value === undefined || value === null || field?.fieldKind !== "list") return undefined;
  const takesObjects = field.listKind === "message";
  if (takesObjects !== isObject(value) && !field.message?.typeName.startsWith("google.")) return undefined;
  if (typeof value === "string" && field.scalar === ScalarType.STRING && value.includes(",")) {
    const items = value.split(",").map((each) => each.trim());
    if (items.every((each) => each !== "")) return toValue(mistake, items, "likely");
  }
  return toValue(mistake, [value], "certain", `${violation.field}[0]`);
}

/** A list of one for a single value. */
export function unwrapList(mistake: Mistake): Change | undefined {
  const { value } = mistake.place;
  return Array.isArray(value) && value.length === 1 ? toValue(mistake, value[0], "certain") : undefined;
}

/** A name of an enum in another spelling, without its prefix, mistyped, or by its number. */
export function correctEnum(mistake: Mistake): Change | undefined {
  const { value, field } = mistake.place;
  if (field?.enum === undefined) return undefined;
  const names = offeredNames(field.enum);
  if (typeof value === "number" || (typeof value === "string" && /^\d{1,4}$/.test(value))) {
    const name = field.enum.value[Number(value)]?.name;
    return name !== undefined && names.includes(name) ? toValue(mistake, name, "certain") : undefined;
  }
  if (typeof value !== "string" || value.length > 100) return undefined;
  const prefix = field.enum.sharedPrefix?.toUpperCase() ?? "";
  const short = (name: string) => (name.startsWith(prefix) ? name.slice(prefix.length) : name);
  const typed = plainName(value);
  const same = names.filter((name) => plainName(name) === typed || plainName(short(name)) === typed);
  if (same.length === 1) return toValue(mistake, same[0], "certain");
  const upper = value
    .trim()
    .toUpperCase()
    .replaceAll(/[\s-]+/g, "_");
  const near = nearestName(upper, names) ?? nearestName(upper, names.map(short));
  const found = names.find((name) => name === near || short(name) === near);
  return found === undefined ? undefined : toValue(mistake, found, "likely");
}

/** A time as a number since 1970, or in another form than RFC 3339. A time without a zone is in UTC. */
export function correctTime(mistake: Mistake): Change | undefined {
  const { value } = mistake.place;
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  const text = String(value).trim();
  if (/^\d{9,13}(?:\.\d{1,6})?$/.test(text)) {
    const count = Number(text);
    return toTime(mistake, new Date(count < epochMsMin ? count * 1000 : count).toISOString(), "likely");
  }
  const match = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i.exec(
    text,
  );
  if (match === null) return undefined;
  const [, day, minutes = "00:00", seconds = ":00", zone] = match;
  const written = zone?.toUpperCase().replace(/^([+-]\d{2}):?(\d{2})$/, "$1:$2") ?? "Z";
  return toTime(mistake, `${day}T${minutes}${seconds}${written}`, zone === undefined ? "likely" : "certain");
}

function toTime(mistake: Mistake, text: string, confidence: Change["confidence"]): Change | undefined {
  return Number.isNaN(Date.parse(text)) ? undefined : toValue(mistake, text.replace(".000Z", "Z"), confidence);
}

/** The same item twice, in a list of different items. */
export function dropRepeatedItems(mistake: Mistake): Change | undefined {
  const { value } = mistake.place;
  return Array.isArray(value) ? toValue(mistake, [...new Set(value)], "certain") : undefined;
}

/** A missing value, of which only one is allowed. */
export function addOnlyValue(mistake: Mistake): Change | undefined {
  const { value, field } = mistake.place;
  if (value !== undefined && value !== "" && value !== 0) return undefined;
  const rules = rulesAt(mistake.place)?.type;
  const choices =
    rules?.case === "string"
      ? rules.value.in.filter((each) => each !== "")
      : field?.enum === undefined
        ? []
        : offeredNames(field.enum).filter(
            (name) => rules?.case !== "enum" || !rules.value.notIn.some((no) => field.enum!.value[no]?.name === name),
          );
  return choices.length === 1 ? toValue(mistake, choices[0], "likely") : undefined;
}

import { TemplateError } from "./template-error.ts";

/** Text that is safe to write to markup without escaping. */
export class SafeText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Charges the work of a rendering; throws if the budget is exceeded. */
export interface WorkMeter {
  readonly bytesMax: number;
  spend(steps: number): void;
  /** Charges for reading or creating a text, and returns it. */
  chargeText(text: string): string;
}

/** Unwraps safe text; returns any other value unchanged. */
export function unwrapSafe(value: unknown): unknown {
  return value instanceof SafeText ? value.text : value;
}

/** An own member of a value; inherited members and functions are excluded. */
export function memberOf(value: unknown, key: string): unknown {
  if (value === null || typeof value !== "object") {
    return typeof value === "string" && key === "length" ? value.length : undefined;
  }
  if (value instanceof SafeText || !Object.hasOwn(value, key)) return undefined;
  const member = (value as Record<string, unknown>)[key];
  return typeof member === "function" ? undefined : member;
}

/** The keys of an object's own members; empty for any other value. */
export function keysOf(meter: WorkMeter, value: unknown): string[] {
  if (value === null || typeof value !== "object" || value instanceof SafeText || value instanceof Date) return [];
  const keys = Object.keys(value);
  // Listing members costs more than iterating over items.
  meter.spend(4 * keys.length);
  return keys;
}

/** Converts a value to text: lists with a separator between items, objects as JSON. */
export function textOf(meter: WorkMeter, value: unknown, separator: string): string {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
    case "boolean":
    case "bigint":
      return String(value);
    case "object":
      if (value === null) return "";
      if (value instanceof SafeText) return value.text;
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : value.toISOString();
      return Array.isArray(value) ? joinItems(meter, value, separator) : jsonOf(meter, value);
    default:
      return "";
  }
}

/** Joins the texts of a list's items; nested lists are joined the same way. */
export function joinItems(meter: WorkMeter, items: readonly unknown[], separator: string, depth = 0): string {
  let text = "";
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (index > 0) text += separator;
    if (!Array.isArray(item)) text += textOf(meter, item, separator);
    else if (depth < nestingMax) text += joinItems(meter, item, separator, depth + 1);
    meter.spend(1);
    if (text.length > meter.bytesMax) break;
  }
  return meter.chargeText(text);
}

const nestingMax = 16;

/** Converts a value to JSON; empty for a value without a JSON form. */
export function jsonOf(meter: WorkMeter, value: unknown): string {
  try {
    return meter.chargeText(JSON.stringify(unwrapSafe(value)) ?? "");
  } catch (error) {
    // A value such as a bigint or a cycle has no JSON form.
    if (error instanceof TypeError) return "";
    if (error instanceof RangeError) throw new TemplateError("limit_exceeded", "A value is nested too deeply.");
    throw error;
  }
}

/** Converts a value to a number; NaN if it is not one. */
export function numberOf(value: unknown): number {
  const given = unwrapSafe(value);
  if (typeof given === "number") return given;
  if (typeof given === "bigint") return Number(given);
  if (typeof given === "string" && given.length <= 64 && given.trim() !== "") return Number(given);
  return Number.NaN;
}

/** Compares two values: negative, 0 or positive; NaN if they are not comparable. */
export function orderOf(meter: WorkMeter, left: unknown, right: unknown): number {
  const [a, b] = [unwrapSafe(left), unwrapSafe(right)];
  meter.spend(1);
  if (typeof a === "string" && typeof b === "string") {
    meter.spend(Math.min(a.length, b.length) >> 4);
    return a < b ? -1 : a > b ? 1 : 0;
  }
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  return numberOf(a) - numberOf(b);
}

/** Whether two values are equal; lists and objects are compared by identity. */
export function isSame(meter: WorkMeter, left: unknown, right: unknown): boolean {
  const [a, b] = [unwrapSafe(left), unwrapSafe(right)];
  meter.spend(1);
  if (typeof a === "string" && typeof b === "string" && a.length === b.length) meter.spend(a.length >> 4);
  return a === b || ((a ?? undefined) === undefined && (b ?? undefined) === undefined);
}

/** Whether a value is blank: undefined, null, false, an empty text or an empty list. */
export function isBlank(value: unknown): boolean {
  const given = unwrapSafe(value);
  return given === undefined || given === null || given === false || given === "" || isEmptyList(given);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

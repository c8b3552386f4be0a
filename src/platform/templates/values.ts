import { TemplateError } from "./template-error.ts";

/** Text that may stand in markup as it is. */
export class Safe {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Counts the work of a rendering; throws when it is too much. */
export interface WorkMeter {
  readonly bytesMax: number;
  spend(steps: number): void;
  /** Counts the steps to read or write a text, and returns the text. */
  passed(text: string): string;
}

/** The plain value of what may be safe text. */
export function plain(value: unknown): unknown {
  return value instanceof Safe ? value.text : value;
}

/** A value's own member; nothing that is inherited, and no function. */
export function memberOf(value: unknown, key: string): unknown {
  if (value === null || typeof value !== "object") {
    return typeof value === "string" && key === "length" ? value.length : undefined;
  }
  if (value instanceof Safe || !Object.hasOwn(value, key)) return undefined;
  const member = (value as Record<string, unknown>)[key];
  return typeof member === "function" ? undefined : member;
}

/** The keys of an object's own members; none of anything else. */
export function keysOf(meter: WorkMeter, value: unknown): string[] {
  if (value === null || typeof value !== "object" || value instanceof Safe || value instanceof Date) return [];
  const keys = Object.keys(value);
  // Listing members costs more than going through items.
  meter.spend(4 * keys.length);
  return keys;
}

/** A value as text: lists with a separator between their items, objects as JSON. */
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
      if (value instanceof Safe) return value.text;
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : value.toISOString();
      return Array.isArray(value) ? joined(meter, value, separator) : jsonOf(meter, value);
    default:
      return "";
  }
}

/** The texts of a list's items, joined; lists within it are joined in the same way. */
export function joined(meter: WorkMeter, items: readonly unknown[], separator: string, depth = 0): string {
  let text = "";
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (index > 0) text += separator;
    if (!Array.isArray(item)) text += textOf(meter, item, separator);
    else if (depth < nestingMax) text += joined(meter, item, separator, depth + 1);
    meter.spend(1);
    if (text.length > meter.bytesMax) break;
  }
  return meter.passed(text);
}

const nestingMax = 16;

/** A value as JSON; empty for what JSON has no form of. */
export function jsonOf(meter: WorkMeter, value: unknown): string {
  try {
    return meter.passed(JSON.stringify(plain(value)) ?? "");
  } catch (error) {
    // What is not JSON, such as a big integer or a cycle, has no form here.
    if (error instanceof TypeError) return "";
    if (error instanceof RangeError) throw new TemplateError("limit_exceeded", "A value is nested too deep.");
    throw error;
  }
}

/** A value as a number; NaN for what is none. */
export function numberOf(value: unknown): number {
  const given = plain(value);
  if (typeof given === "number") return given;
  if (typeof given === "bigint") return Number(given);
  if (typeof given === "string" && given.length <= 64 && given.trim() !== "") return Number(given);
  return Number.NaN;
}

/** The order of two values: negative, 0 or positive; NaN when they have none. */
export function orderOf(meter: WorkMeter, left: unknown, right: unknown): number {
  const [a, b] = [plain(left), plain(right)];
  meter.spend(1);
  if (typeof a === "string" && typeof b === "string") {
    meter.spend(Math.min(a.length, b.length) >> 4);
    return a < b ? -1 : a > b ? 1 : 0;
  }
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  return numberOf(a) - numberOf(b);
}

/** Whether two values are the same; lists and objects are the same as themselves only. */
export function same(meter: WorkMeter, left: unknown, right: unknown): boolean {
  const [a, b] = [plain(left), plain(right)];
  meter.spend(1);
  if (typeof a === "string" && typeof b === "string" && a.length === b.length) meter.spend(a.length >> 4);
  return a === b || ((a ?? undefined) === undefined && (b ?? undefined) === undefined);
}

/** Whether there is nothing to show: no value, false, an empty text or an empty list. */
export function isBlank(value: unknown): boolean {
  const given = plain(value);
  return given === undefined || given === null || given === false || given === "" || isEmptyList(given);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

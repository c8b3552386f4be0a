import type { FindRepair } from "../../errors/index.ts";
import { formatDuration, nearestName, parseDuration, respellDuration, snakeCase } from "../text/index.ts";
import type { Json, JsonObject } from "./json.ts";
import { isTooDeep } from "./nesting.ts";
import type { TextFormat } from "./text-format.ts";
import { memberPath, shortName, type Violations } from "./violation.ts";

/** The longest duration in a document: 365 days. */
const durationMaxMs = 365 * 86_400_000;

interface DurationRule {
  readonly maxMs?: number;
  /** Whether 0 is allowed. */
  readonly zero?: boolean;
  readonly example: string;
}

interface IntegerRule {
  readonly min: number;
  readonly max: number;
}

/**
 * Reads the members of an object. A member that is missing or invalid is reported, and its reader returns undefined or the
 * given default. Members that are not known are reported when the reader is created.
 */
export class ObjectReader {
  readonly path: string;
  readonly violations: Violations;
  readonly #value: JsonObject;

  private constructor(value: JsonObject, path: string, violations: Violations) {
    this.#value = value;
    this.path = path;
    this.violations = violations;
  }

  /** Opens an object with the known members; undefined if the value is not an object. */
  static open(
    value: Json | undefined,
    path: string,
    violations: Violations,
    { known, example, what }: { known: readonly string[]; example: string; what: string },
  ): ObjectReader | undefined {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return violations.add(path, "type", `must be an object, for example ${example}`);
    }
    for (const name of Object.keys(value)) {
      if (known.includes(name) || violations.isFull) continue;
      const near = name.length > 100 ? undefined : nearestName(name, known);
      const hint = near === undefined ? `known are ${known.join(", ")}` : `did you mean ${near}?`;
      const repair = near === undefined || Object.hasOwn(value, near) ? undefined : () => ({ name: near });
      violations.add(memberPath(path, name), "unknown_field", `is not a field of ${what}; ${hint}`, undefined, repair);
    }
    return new ObjectReader(value as JsonObject, path, violations);
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#value, name);
  }

  /** A member as written; undefined if it is missing. */
  get(name: string): Json | undefined {
    return this.has(name) ? this.#value[name] : undefined;
  }

  pathOf(name: string): string {
    return memberPath(this.path, name);
  }

  /** Reports that a member is invalid. */
  refuse(name: string, rule: string, message: string, repair?: FindRepair): undefined {
    return this.violations.add(this.pathOf(name), rule, message, undefined, repair);
  }

  /** A required member; undefined and reported if it is missing. */
  required(name: string, example: string): Json | undefined {
    if (!this.has(name)) this.refuse(name, "required", `is required, for example ${example}`);
    return this.get(name);
  }

  text(name: string, format: TextFormat, fallback?: string): string | undefined {
    if (!this.has(name)) {
      if (fallback === undefined) this.refuse(name, "required", `is required: it ${format.description}`);
      return fallback;
    }
    return readText(this.get(name)!, this.pathOf(name), format, this.violations);
  }

  /** A text for people. */
  prose(name: string, lengthMax: number): string {
    const value = this.get(name);
    if (value === undefined) return "";
    if (typeof value === "string" && value.length <= lengthMax) return value;
    this.refuse(name, "text", `must be a text of at most ${lengthMax} characters`);
    return "";
  }

  /** A whole number. Without a default it is required. */
  integer(name: string, { min, max }: IntegerRule, fallback?: number): number | undefined {
    if (!this.has(name)) {
      if (fallback === undefined) this.refuse(name, "required", `is required: a whole number from ${min} to ${max}`);
      return fallback;
    }
    const value = this.get(name);
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
    const message = `must be a whole number from ${min} to ${max}, for example ${fallback ?? min}`;
    const number = typeof value === "string" && /^\s*-?\d{1,15}\s*$/.test(value) ? Number(value) : undefined;
    const repair = number !== undefined && number >= min && number <= max ? () => ({ value: number }) : undefined;
    return this.refuse(name, "range", message, repair);
  }

  /** One of a few texts. */
  choice<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const value = this.get(name);
    if (value === undefined || choices.includes(value as T)) return (value as T | undefined) ?? fallback;
    const list = choices.map((each) => JSON.stringify(each)).join(" or ");
    this.refuse(name, "choice", `must be ${list}`, () => nearestChoice(value, choices));
    return fallback;
  }

  /** A duration in milliseconds; undefined if it is missing. */
  duration(name: string, rule: DurationRule): number | undefined {
    const value = this.get(name);
    return value === undefined ? undefined : readDuration(value, this.pathOf(name), rule, this.violations);
  }

  requiredDuration(name: string, rule: DurationRule): number | undefined {
    if (this.has(name)) return this.duration(name, rule);
    const max = formatDuration(rule.maxMs ?? durationMaxMs);
    return this.refuse(
      name,
      "required",
      `is required: the longest time, at most ${max}, for example "${rule.example}"`,
    );
  }

  /** Any value that does not nest too deep; undefined if it is missing. */
  nested(name: string, levelsMax: number): Json | undefined {
    const value = this.get(name);
    if (value !== undefined && isTooDeep(value, levelsMax)) {
      return this.refuse(name, "nesting", `must not nest deeper than ${levelsMax} levels`);
    }
    return value;
  }

  /** A list with a number of elements; undefined if it is missing or invalid. */
  list(name: string, { min, max }: IntegerRule, example: string): readonly Json[] | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.length >= min && value.length <= max) return value;
    const repair = Array.isArray(value) || min > 1 ? undefined : () => ({ value: [value] });
    return this.refuse(name, "list", `must be a list of ${min} to ${max} elements, for example ${example}`, repair);
  }

  /** A list of different texts of a format; undefined if it is missing. */
  textList(name: string, format: TextFormat, size: IntegerRule, example: string): readonly string[] | undefined {
    const elements = this.list(name, size, example);
    if (elements === undefined) return undefined;
    const texts = new Set<string>();
    for (const [at, element] of elements.entries()) {
      const path = `${this.pathOf(name)}[${at}]`;
      const text = readText(element, path, format, this.violations);
      if (text === undefined) continue;
      if (texts.has(text)) this.violations.add(path, "unique", `is listed twice: remove one ${shortName(text)}`);
      texts.add(text);
    }
    return [...texts];
  }
}

function readText(value: Json, path: string, format: TextFormat, violations: Violations): string | undefined {
  if (typeof value === "string" && value.length <= format.lengthMax && format.pattern.test(value)) return value;
  return violations.add(path, "pattern", format.description, undefined, () => {
    if (typeof value !== "string" || value.length > format.lengthMax) return undefined;
    const words = snakeCase(value.trim())
      .split(/[^a-z0-9]+/)
      .filter((word) => word !== "");
    return [value.trim(), value.trim().toLowerCase(), words.join("."), words.join("-"), words.join("_")].find((each) =>
      format.pattern.test(each),
    );
  });
}

export function readDuration(
  value: Json,
  path: string,
  { maxMs = durationMaxMs, zero = false, example }: DurationRule,
  violations: Violations,
): number | undefined {
  const ms = typeof value === "string" ? parseDuration(value) : undefined;
  if (ms === undefined) {
    const message = `must be a duration: a whole number and ms, s, m, h or d, for example "${example}"`;
    return violations.add(path, "duration", message, undefined, () => respellDuration(String(value)));
  }
  if (ms > maxMs) return violations.add(path, "duration_max", `must be at most ${formatDuration(maxMs)}`);
  if (ms === 0 && !zero) return violations.add(path, "duration_min", `must be longer than 0, for example "${example}"`);
  return ms;
}

/** The choice that a value probably means. */
export function nearestChoice(value: unknown, choices: readonly string[]): string | undefined {
  return typeof value === "string" && value.length <= 100 ? nearestName(value, choices) : undefined;
}

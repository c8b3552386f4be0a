import type { Violation } from "../../../../errors/index.ts";

/** Returns why a text is not a valid value; undefined when it is valid. */
type TextRule = (text: string) => string | undefined;

/** The validation rule of a connection's field. */
export interface FieldRule {
  readonly required?: boolean;
  readonly type: "text" | "number";
  readonly rule?: TextRule;
  /** Minimum and maximum of a number. */
  readonly range?: readonly [number, number];
}

/** The rules of a connection's fields by name. */
export type FieldRules = Readonly<Record<string, FieldRule>>;

/** The violations of the given fields: unknown, missing and invalid ones. */
export function fieldViolations(
  group: "settings" | "credentials",
  rules: FieldRules,
  given: Readonly<Record<string, unknown>>,
): Violation[] {
  const violations: Violation[] = [];
  const add = (name: string, rule: string, message: string) =>
    violations.push({ field: `${group}.${name}`, rule, message });
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(rules, name))
      add(name, "unknown", `is not a field of this provider; known fields: ${Object.keys(rules).join(", ") || "none"}`);
  }
  for (const [name, rule] of Object.entries(rules)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined || value === null || value === "") {
      if (rule.required) add(name, "required", "is required by this provider");
      continue;
    }
    const problem = problemOf(rule, value);
    if (problem !== undefined) add(name, "format", problem);
  }
  return violations;
}

function problemOf({ type, rule, range }: FieldRule, value: unknown): string | undefined {
  if (type === "number") {
    const [min, max] = range ?? [0, Number.MAX_SAFE_INTEGER];
    const fits = Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
    return fits ? undefined : `must be a whole number from ${min} to ${max}`;
  }
  if (typeof value !== "string") return "must be a text";
  if (value.length > textCharsMax) return `must have at most ${textCharsMax} characters`;
  return rule?.(value);
}

const textCharsMax = 16_384;

/** A rule that accepts one of the given words. */
export function oneOf(...words: readonly string[]): TextRule {
  return (text) => (words.includes(text) ? undefined : `must be ${words.join(" or ")}`);
}

/** A rule that accepts texts matching a pattern. */
export function matching(pattern: RegExp, message: string): TextRule {
  return (text) => (pattern.test(text) ? undefined : message);
}

/** A rule that accepts a single line without control characters. */
export const oneLine: TextRule = matching(/^[^\p{Cc}\u2028\u2029]+$/u, "must be one line without control characters");

/** A setting as text; empty when it is absent. */
export function textOf(values: Readonly<Record<string, unknown>>, name: string): string {
  const value = values[name];
  return typeof value === "string" ? value : "";
}

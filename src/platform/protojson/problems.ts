import { type Failure, fail, type Violation } from "../../errors/index.ts";
import { nearestName } from "../text/index.ts";

/** How many violations one input can collect; a caller mends the first ones and asks again. */
const violationsMax = 20;

/** How deep one input may nest, counting objects and lists alike. */
export const depthMax = 64;

const nameCharactersMax = 100;

/** How lenient a decoder is. */
export interface DecodeOptions {
  /** Passes over fields that the message does not have, instead of refusing them by name. */
  readonly ignoreUnknownFields?: boolean;
  /**
   * Takes one spelling of everything, the one that the OpenAPI document shows: fields and enum values by their names in
   * the definition, numbers as JSON numbers (64-bit integers as strings of digits too), and no null for an absent field.
   */
  readonly strict?: boolean;
}

/**
 * What is wrong with one input, and how deep its reader is in it.
 *
 * A reader reports without knowing where it is; each level that it returns through puts its own name in front. So a good
 * input pays for no paths at all.
 */
export class Problems {
  readonly violations: Violation[] = [];
  readonly ignoreUnknownFields: boolean;
  readonly strict: boolean;
  depth = 0;

  constructor({ ignoreUnknownFields = false, strict = false }: DecodeOptions = {}) {
    this.ignoreUnknownFields = ignoreUnknownFields;
    this.strict = strict;
  }

  get count(): number {
    return this.violations.length;
  }

  /** Reports a problem of the current place, or of a field right under it; answers undefined, for readers to return. */
  add(rule: string, message: string, field = ""): undefined {
    if (this.violations.length < violationsMax) this.violations.push({ field, rule, message });
  }

  /** Reports a field that does not exist, with the known field that its name comes closest to. */
  addUnknownField(name: string, kind: string, knownNames: Iterable<string>, path = name): void {
    // The search for a suggestion is not free, and a caller chooses how many unknown fields there are.
    if (this.violations.length >= violationsMax) return;
    const near = name.length > nameCharactersMax ? undefined : nearestName(name, [...knownNames]);
    const suggestion = near === undefined ? "" : `; did you mean ${near}?`;
    this.add("unknown_field", `is not a ${kind} here${suggestion}`, shortName(path));
  }

  /** Puts a path segment in front of everything that was reported since `before`. */
  under(segment: string, before: number): void {
    for (let i = before; i < this.violations.length; i++) {
      const violation = this.violations[i]!;
      this.violations[i] = { ...violation, field: joined(segment, violation.field) };
    }
  }
}

function joined(segment: string, rest: string): string {
  return rest === "" || rest.startsWith("[") ? segment + rest : `${segment}.${rest}`;
}

/** A name that a caller made up, short enough to be sent back. */
export function shortName(name: string): string {
  const cut = name.length > nameCharactersMax ? `${name.slice(0, nameCharactersMax)}…` : name;
  return cut.toWellFormed();
}

/** The path segment of a map's key: quoted when keys are strings. */
export function keySegment(key: string, quoted: boolean): string {
  return quoted ? `[${JSON.stringify(shortName(key))}]` : `[${shortName(key)}]`;
}

/** Makes the failure that tells a caller everything that is wrong with a request. */
export function violated(violations: readonly Violation[]): Failure {
  const [first] = violations;
  if (first === undefined) return fail("INVALID_ARGUMENT");
  const place = first.field === "" ? "The request" : `${first.field}:`;
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
  return fail("INVALID_ARGUMENT", { public: `${place} ${first.message}${more}`, violations });
}

/** What a JSON value is, in words. */
export function kindOf(json: unknown): string {
  if (json === null) return "null";
  if (Array.isArray(json)) return "a list";
  switch (typeof json) {
    case "string":
      return "a string";
    case "number":
      return "a number";
    case "boolean":
      return "a boolean";
    case "object":
      return "an object";
    default:
      return "nothing";
  }
}

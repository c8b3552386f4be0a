import { type Failure, fail, type RefusedInput, type Violation } from "../../errors/index.ts";
import { nearestName } from "../text/index.ts";

/** The maximum number of violations that are reported for one input. */
const violationsMax = 20;

/** The maximum nesting depth of one input, counting objects and lists. */
export const depthMax = 64;

const nameCharactersMax = 100;
/** The most names that are listed when none is close to an unknown one. */
const listedNamesMax = 10;

export interface DecodeOptions {
  /** Ignores unknown fields instead of reporting them. */
  readonly ignoreUnknownFields?: boolean;
  /**
   * Accepts only the representation in the OpenAPI document: fields and enum values by their names in the definition,
   * numbers as JSON numbers (64-bit integers also as strings of digits), and no null for an absent field.
   */
  readonly strict?: boolean;
}

/**
 * The violations of one input, and the current nesting depth of its reader.
 *
 * A reader reports violations without a path. Each level that it returns through prefixes its own path segment, so that no
 * paths are built for valid input.
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

  /** Reports a violation of the current value, or of one of its fields. Returns undefined, so that readers can return the result. */
  add(rule: string, message: string, field = ""): undefined {
    if (this.violations.length < violationsMax) this.violations.push({ field, rule, message });
  }

  /** Reports a field that does not exist, with the known field that its name comes closest to. */
  addUnknownField(name: string, kind: string, knownNames: Iterable<string>, path = name): void {
    // The search for a suggestion is not free, and a caller chooses how many unknown fields there are.
    if (this.violations.length >= violationsMax) return;
    const known = [...knownNames];
    const near = name.length > nameCharactersMax ? undefined : nearestName(name, known);
    // REST renames some query parameters, so only the fields of a body are listed.
    const names = kind === "field" ? listed(known) : "";
    const suggestion = near === undefined ? names : `; did you mean ${near}?`;
    this.add("unknown_field", `is not a ${kind} here${suggestion}`, shortName(path));
  }

  /** Prefixes a path segment to all violations reported since the count was `before`. */
  under(segment: string, before: number): void {
    for (let i = before; i < this.violations.length; i++) {
      const violation = this.violations[i]!;
      this.violations[i] = { ...violation, field: joinPath(segment, violation.field) };
    }
  }
}

/** The known names, if they are few enough to read. */
function listed(names: readonly string[]): string {
  return names.length === 0 || names.length > listedNamesMax ? "" : `; known are ${names.join(", ")}`;
}

function joinPath(segment: string, rest: string): string {
  return rest === "" || rest.startsWith("[") ? segment + rest : `${segment}.${rest}`;
}

/** Shortens a name from the request, so that it can be included in a response. */
export function shortName(name: string): string {
  const cut = name.length > nameCharactersMax ? `${name.slice(0, nameCharactersMax)}…` : name;
  return cut.toWellFormed();
}

/** The path segment of a map's key; quoted if keys are strings. */
export function keySegment(key: string, quoted: boolean): string {
  return quoted ? `[${JSON.stringify(shortName(key))}]` : `[${shortName(key)}]`;
}

/** Creates the INVALID_ARGUMENT failure that lists all violations of a request. */
export function toViolationFailure(
  violations: readonly Violation[],
  details?: { readonly refused?: RefusedInput | undefined; readonly repairs?: Failure["repairs"] },
): Failure {
  const [first] = violations;
  if (first === undefined) return fail("INVALID_ARGUMENT");
  const place = first.field === "" ? "The request" : `${first.field}:`;
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
  return fail("INVALID_ARGUMENT", { public: `${place} ${first.message}${more}`, violations, ...details });
}

/** Describes the type of a JSON value, for error messages. */
export function describeType(json: unknown): string {
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

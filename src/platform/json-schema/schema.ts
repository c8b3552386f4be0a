import { canonicalJson } from "../crypto/index.ts";
import {
  type DocumentViolation,
  isJsonObject,
  type Json,
  type JsonObject,
  memberPath,
  shortName,
  Violations,
} from "../document/index.ts";
import { nearestName } from "../text/index.ts";

/** The keywords of JSON Schema that schemas may use. */
export const schemaKeywords = [
  "type",
  "enum",
  "const",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "title",
  "description",
  "default",
] as const;

const typeNames = ["object", "array", "string", "number", "integer", "boolean", "null"] as const;
type TypeName = (typeof typeNames)[number];

const schemaDepthMax = 16;
const counts = ["minItems", "maxItems", "minLength", "maxLength"] as const;

/** A schema in the form that checks use. Values of enum and const are canonical JSON, so that a check is one lookup. */
interface Schema {
  readonly types: readonly TypeName[] | undefined;
  readonly allowed: ReadonlySet<string> | undefined;
  readonly isConst: boolean;
  readonly properties: ReadonlyMap<string, Schema>;
  readonly required: readonly string[];
  /** The schema of other members; undefined if any are allowed, false if none are. */
  readonly additional: Schema | false | undefined;
  readonly items: Schema | undefined;
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
}

/** Checks that a schema uses only supported keywords, with valid values. */
export function checkSchema(schema: Json, path: string, violations: Violations, depth = 1): void {
  if (!isJsonObject(schema)) {
    violations.add(path, "type", 'must be a JSON Schema object, for example {"type": "object"}');
    return;
  }
  if (depth > schemaDepthMax) {
    violations.add(path, "nesting", `must not nest deeper than ${schemaDepthMax} levels`);
    return;
  }
  for (const name of Object.keys(schema)) {
    if (violations.isFull) return;
    const place = memberPath(path, name);
    if (!(schemaKeywords as readonly string[]).includes(name)) {
      const near = name.length > 100 ? undefined : nearestName(name, schemaKeywords);
      const hint = near === undefined ? `supported are ${schemaKeywords.join(", ")}` : `did you mean ${near}?`;
      violations.add(place, "keyword", `is not a supported keyword; ${hint}`);
      continue;
    }
    checkKeyword(name as (typeof schemaKeywords)[number], schema[name]!, place, violations, depth);
  }
}

function checkKeyword(
  name: (typeof schemaKeywords)[number],
  value: Json,
  path: string,
  violations: Violations,
  depth: number,
): void {
  switch (name) {
    case "type":
      if (!isTypes(value)) violations.add(path, "choice", `must be one of ${typeNames.join(", ")}, or a list of them`);
      return;
    case "enum":
      if (!Array.isArray(value) || value.length === 0) {
        violations.add(path, "list", 'must be a list with at least one value, for example ["new", "open"]');
      }
      return;
    case "properties":
      if (!isJsonObject(value)) {
        violations.add(path, "type", 'must be an object of schemas, for example {"id": {"type": "string"}}');
        return;
      }
      for (const member of Object.keys(value)) {
        if (violations.isFull) return;
        checkSchema(value[member]!, memberPath(path, member), violations, depth + 1);
      }
      return;
    case "required":
      if (!Array.isArray(value) || value.some((each) => typeof each !== "string")) {
        violations.add(path, "list", 'must be a list of names, for example ["id"]');
      }
      return;
    case "additionalProperties":
      if (typeof value !== "boolean") checkSchema(value, path, violations, depth + 1);
      return;
    case "items":
      checkSchema(value, path, violations, depth + 1);
      return;
    case "minItems":
    case "maxItems":
    case "minLength":
    case "maxLength":
      if (typeof value !== "number" || !Number.isInteger(value) || value < 0) {
        violations.add(path, "range", "must be a whole number that is not negative, for example 1");
      }
      return;
    case "minimum":
    case "maximum":
      if (typeof value !== "number") violations.add(path, "type", "must be a number, for example 0");
      return;
    case "title":
    case "description":
      if (typeof value !== "string") violations.add(path, "type", "must be a text");
      return;
    default:
      return;
  }
}

function isTypes(value: Json): boolean {
  const listed = Array.isArray(value) ? value : [value];
  return listed.length > 0 && listed.every((each) => (typeNames as readonly unknown[]).includes(each));
}

const compiled = new WeakMap<JsonObject, Schema>();

/** Whether a value inside a checked one is not known yet. */
type IsOpen = (value: Json) => boolean;

/**
 * Checks a value against a schema that `checkSchema` accepts. It takes time in proportion to the size of the
 * value and of the schema. Open values fit every schema.
 */
export function checkValue(
  schema: JsonObject,
  value: Json,
  path: string,
  isOpen?: IsOpen,
): readonly DocumentViolation[] {
  let plan = compiled.get(schema);
  if (plan === undefined) {
    plan = compileSchema(schema);
    compiled.set(schema, plan);
  }
  const violations = new Violations();
  checkAgainst(plan, value, path, violations, isOpen);
  return violations.list;
}

function compileSchema(schema: JsonObject): Schema {
  const get = (name: string): Json | undefined => (Object.hasOwn(schema, name) ? schema[name] : undefined);
  const type = get("type");
  const isConst = get("const") !== undefined;
  const listed = (get("enum") as readonly Json[] | undefined)?.map(canonicalJson);
  const constant = isConst ? [canonicalJson(get("const"))] : undefined;
  const allowed = constant?.filter((each) => listed?.includes(each) ?? true) ?? listed;
  const additional = get("additionalProperties");
  const items = get("items");
  const properties = Object.entries((get("properties") as JsonObject | undefined) ?? {});
  const [minItems, maxItems, minLength, maxLength] = counts.map((name) => get(name) as number | undefined);
  return {
    types: type === undefined ? undefined : ((Array.isArray(type) ? type : [type]) as TypeName[]),
    allowed: allowed && new Set(allowed),
    isConst,
    properties: new Map(properties.map(([name, each]) => [name, compileSchema(each as JsonObject)])),
    required: [...new Set((get("required") as readonly string[] | undefined) ?? [])],
    additional: isJsonObject(additional) ? compileSchema(additional) : additional === false ? false : undefined,
    items: items === undefined ? undefined : compileSchema(items as JsonObject),
    minItems,
    maxItems,
    minLength,
    maxLength,
    minimum: get("minimum") as number | undefined,
    maximum: get("maximum") as number | undefined,
  };
}

function checkAgainst(
  schema: Schema,
  value: Json,
  path: string,
  violations: Violations,
  isOpen: IsOpen | undefined,
): void {
  if (violations.isFull || isOpen?.(value)) return;
  if (schema.types !== undefined && !schema.types.some((type) => hasType(value, type))) {
    violations.add(path, "type", `must be ${schema.types.map(article).join(" or ")}`);
    return;
  }
  if (schema.allowed !== undefined && !schema.allowed.has(canonicalJson(value)) && !hasOpenPart(value, isOpen)) {
    const shown = [...schema.allowed].slice(0, 10).map(shortName).join(", ");
    const more = schema.allowed.size > 10 ? ", …" : "";
    violations.add(
      path,
      schema.isConst ? "const" : "enum",
      `must be ${schema.isConst ? "" : "one of "}${shown}${more}`,
    );
    return;
  }
  if (typeof value === "string") checkLength(schema, value, path, violations);
  else if (typeof value === "number") checkNumber(schema, value, path, violations);
  else if (Array.isArray(value)) checkElements(schema, value, path, violations, isOpen);
  else if (isJsonObject(value)) checkMembers(schema, value, path, violations, isOpen);
}

function hasOpenPart(value: Json, isOpen: IsOpen | undefined): boolean {
  if (isOpen === undefined || typeof value !== "object" || value === null) return false;
  return Object.values(value).some((part) => isOpen(part) || hasOpenPart(part, isOpen));
}

function checkLength({ minLength, maxLength }: Schema, value: string, path: string, violations: Violations): void {
  if (minLength === undefined && maxLength === undefined) return;
  let length = 0;
  for (const _ of value) length++;
  if (minLength !== undefined && length < minLength) {
    violations.add(path, "minLength", `must have at least ${minLength} characters`);
  }
  if (maxLength !== undefined && length > maxLength) {
    violations.add(path, "maxLength", `must have at most ${maxLength} characters`);
  }
}

function checkNumber({ minimum, maximum }: Schema, value: number, path: string, violations: Violations): void {
  if (minimum !== undefined && value < minimum) violations.add(path, "minimum", `must be at least ${minimum}`);
  if (maximum !== undefined && value > maximum) violations.add(path, "maximum", `must be at most ${maximum}`);
}

function checkElements(
  schema: Schema,
  value: readonly Json[],
  path: string,
  violations: Violations,
  isOpen: IsOpen | undefined,
): void {
  const { minItems, maxItems, items } = schema;
  if (minItems !== undefined && value.length < minItems) {
    violations.add(path, "minItems", `must have at least ${minItems} elements`);
  }
  if (maxItems !== undefined && value.length > maxItems) {
    violations.add(path, "maxItems", `must have at most ${maxItems} elements`);
  }
  if (items === undefined) return;
  for (const [at, element] of value.entries()) {
    if (violations.isFull) return;
    checkAgainst(items, element, `${path}[${at}]`, violations, isOpen);
  }
}

function checkMembers(
  schema: Schema,
  value: JsonObject,
  path: string,
  violations: Violations,
  isOpen: IsOpen | undefined,
): void {
  for (const name of schema.required) {
    if (violations.isFull) return;
    if (!Object.hasOwn(value, name)) violations.add(memberPath(path, name), "required", "is required");
  }
  for (const name of Object.keys(value)) {
    if (violations.isFull) return;
    const member = schema.properties.get(name) ?? schema.additional;
    if (member === undefined) continue;
    if (member !== false) {
      checkAgainst(member, value[name]!, memberPath(path, name), violations, isOpen);
      continue;
    }
    const near = name.length > 100 ? undefined : nearestName(name, suggestionsOf(schema));
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    violations.add(memberPath(path, name), "additionalProperties", `is not allowed here${hint}`);
  }
}

/** The names that a suggestion is chosen from: some short ones, because the search is not free. */
function suggestionsOf({ properties }: Schema): readonly string[] {
  return [...properties.keys()].filter((name) => name.length <= 64).slice(0, 50);
}

function hasType(value: Json, type: TypeName): boolean {
  switch (type) {
    case "object":
      return isJsonObject(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    default:
      return typeof value === type;
  }
}

function article(type: TypeName): string {
  if (type === "null") return "null";
  return `${/^[aoi]/.test(type) ? "an" : "a"} ${type}`;
}

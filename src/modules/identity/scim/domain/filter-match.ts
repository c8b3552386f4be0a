import { unreachable } from "../../../../errors/index.ts";
import type { CompareOperator, CompareValue, Filter } from "./filter.ts";
import { type Attribute, attributeNamed, type ResourceType, resolvePath } from "./schema.ts";
import { badRequest } from "./scim-error.ts";

/** A resource or a part of it, with the names of its schema. */
export type ScimValue = string | number | boolean | null | ScimObject | readonly ScimValue[];

/** An object with the names of its schema. */
export interface ScimObject {
  readonly [name: string]: ScimValue | undefined;
}

/** Whether a resource matches a filter. Throws invalidFilter if the filter names an unknown attribute. */
export function matches(filter: Filter, resource: ScimObject, type: ResourceType): boolean {
  return test(filter, (path) => {
    const resolved = resolvePath(type, path);
    if (resolved === undefined) throw unknownAttribute(path);
    const { extension, attribute, sub } = resolved;
    const holder = extension === undefined ? resource : (resource[extension.id] as ScimObject | undefined);
    return { attribute, sub, value: holder?.[attribute.name] };
  });
}

/** Whether an element of a multi-valued attribute matches the filter of a value path. */
export function matchesElement(filter: Filter, element: ScimValue, attribute: Attribute): boolean {
  return test(filter, (path) => {
    const sub = attributeNamed(attribute.subAttributes, path);
    if (sub === undefined) throw unknownAttribute(path);
    const isObject = typeof element === "object" && element !== null && !Array.isArray(element);
    const value = isObject ? (element as ScimObject)[sub.name] : sub.name === "value" ? element : undefined;
    return { attribute: sub, sub: undefined, value };
  });
}

/** The values at a path. */
interface Located {
  readonly attribute: Attribute;
  readonly sub: Attribute | undefined;
  readonly value: ScimValue | undefined;
}

function test(filter: Filter, locate: (path: string) => Located): boolean {
  switch (filter.op) {
    case "and":
      // Every part is read, so that a filter with an unknown attribute is refused whatever the data are.
      return filter.filters.map((each) => test(each, locate)).every(Boolean);
    case "or":
      return filter.filters.map((each) => test(each, locate)).some(Boolean);
    case "not":
      return !test(filter.filter, locate);
    case "[]": {
      const { attribute, value } = locate(filter.path);
      return elementsOf(value).some(
        (element) =>
          matchesElement(filter.filter, element, attribute) &&
          (filter.elementFilter === undefined || matchesElement(filter.elementFilter, element, attribute)),
      );
    }
    case "pr":
      return valuesAt(locate(filter.path)).length > 0;
    case "eq":
    case "ne":
    case "co":
    case "sw":
    case "ew":
    case "gt":
    case "ge":
    case "lt":
    case "le": {
      const located = locate(filter.path);
      const { isCaseExact } = comparedAttribute(located);
      return valuesAt(located).some((each) => compare(filter.op, each, filter.value, isCaseExact));
    }
    default:
      return unreachable(filter);
  }
}

function elementsOf(value: ScimValue | undefined): readonly ScimValue[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value as ScimValue];
}

/** The attribute whose values are compared: a multi-valued one is compared by its sub-attribute `value`. */
function comparedAttribute({ attribute, sub }: Located): Attribute {
  return sub ?? attributeNamed(attribute.subAttributes, "value") ?? attribute;
}

/** The values at a path. A value that is not assigned is none. */
function valuesAt(located: Located): readonly ScimValue[] {
  const { attribute } = located;
  const elements = elementsOf(located.value);
  if (attribute.type !== "complex") return elements.filter((each) => each !== "");
  const { name } = comparedAttribute(located);
  if (name === attribute.name) return elements;
  return elements.flatMap((element) => {
    const value = (element as ScimObject)[name];
    return value === undefined || value === null || value === "" ? [] : [value];
  });
}

function compare(op: CompareOperator, actual: ScimValue, wanted: CompareValue, isCaseExact: boolean): boolean {
  if (typeof actual === "string" && typeof wanted === "string") {
    const [a, b] = isCaseExact ? [actual, wanted] : [actual.toLowerCase(), wanted.toLowerCase()];
    return compareTexts(op, a, b);
  }
  // Entra ID writes booleans as texts.
  const other = typeof actual === "boolean" && typeof wanted === "string" ? asBoolean(wanted) : wanted;
  if (op === "eq") return actual === other;
  if (op === "ne") return actual !== other;
  if (typeof actual !== "number" || typeof other !== "number") return false;
  return compareOrder(op, actual, other);
}

function compareTexts(op: CompareOperator, actual: string, wanted: string): boolean {
  switch (op) {
    case "eq":
      return actual === wanted;
    case "ne":
      return actual !== wanted;
    case "co":
      return actual.includes(wanted);
    case "sw":
      return actual.startsWith(wanted);
    case "ew":
      return actual.endsWith(wanted);
    default:
      return compareOrder(op, actual, wanted);
  }
}

function compareOrder<T extends string | number>(op: CompareOperator, actual: T, wanted: T): boolean {
  if (op === "gt") return actual > wanted;
  if (op === "ge") return actual >= wanted;
  if (op === "lt") return actual < wanted;
  return op === "le" && actual <= wanted;
}

function asBoolean(text: string): CompareValue {
  const lower = text.toLowerCase();
  return lower === "true" ? true : lower === "false" ? false : text;
}

function unknownAttribute(path: string) {
  return badRequest("invalidFilter", `The filter names an attribute that does not exist: ${path}.`);
}

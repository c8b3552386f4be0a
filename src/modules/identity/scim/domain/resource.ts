import type { ScimObject, ScimValue } from "./filter-match.ts";
import {
  type Attribute,
  attributeNamed,
  commonAttributes,
  extensionNamed,
  type ResourceType,
  resolvePath,
} from "./schema.ts";
import { badRequest } from "./scim-error.ts";

const textCharsMax = 4096;
const elementsMax = 1000;

/** The attributes of a resource that a directory can set, with the names of the schema. */
export type Attributes = Record<string, ScimValue>;

/**
 * Reads the attributes of a request. Names are found without regard to case; unknown and read-only attributes are left out,
 * because directories send more than a service has. Values that are null or empty are not assigned.
 */
export function readAttributes(type: ResourceType, body: unknown): Attributes {
  if (!isObject(body)) throw badRequest("invalidSyntax", "The body must be a JSON object.");
  const attributes: Attributes = {};
  for (const [key, value] of Object.entries(body)) {
    const extension = extensionNamed(type, key);
    if (extension !== undefined) {
      const read = readMembers(extension.attributes, value, extension.id);
      if (Object.keys(read).length > 0) attributes[extension.id] = { ...(attributes[extension.id] as object), ...read };
      continue;
    }
    const path = resolvePath(type, key);
    if (path === undefined || path.sub !== undefined || !isWritable(path.attribute)) continue;
    const read = readValue(path.attribute, value);
    if (read === undefined) continue;
    if (path.extension === undefined) attributes[path.attribute.name] = read;
    else attributes[path.extension.id] = { ...(attributes[path.extension.id] as object), [path.attribute.name]: read };
  }
  return attributes;
}

/** Throws if an attribute that the schema requires is missing. */
export function requireAttributes({ schema }: ResourceType, attributes: Attributes): void {
  for (const { name, isRequired } of schema.attributes) {
    if (isRequired && (typeof attributes[name] !== "string" || (attributes[name] as string).trim() === "")) {
      throw badRequest("invalidValue", `${name} is required.`);
    }
  }
}

/** Whether a directory can set an attribute. Passwords are not stored: people sign in at the identity provider. */
function isWritable(attribute: Attribute): boolean {
  return attribute.mutability === "readWrite" && !commonAttributes.includes(attribute);
}

/** Reads the value of an attribute; undefined if it is not assigned. */
export function readValue(attribute: Attribute, value: unknown): ScimValue | undefined {
  if (value === null || value === undefined) return undefined;
  if (!attribute.isMultiValued) return readSingle(attribute, value);
  const elements = Array.isArray(value) ? value : [value];
  if (elements.length > elementsMax && attribute.name !== "members") {
    throw badRequest("tooMany", `${attribute.name} has more than ${elementsMax} values.`);
  }
  const read = elements.flatMap((each) => readSingle(attribute, each) ?? []);
  return read.length === 0 ? undefined : onePrimary(read);
}

function readSingle(attribute: Attribute, value: unknown): ScimValue | undefined {
  switch (attribute.type) {
    case "boolean":
      return readBoolean(attribute.name, value);
    case "complex": {
      // Entra ID sends a manager, and some directories an email address, as a plain text.
      const object = typeof value === "string" ? { value } : value;
      const read = readMembers(attribute.subAttributes, object, attribute.name);
      return Object.keys(read).length === 0 ? undefined : read;
    }
    default: {
      const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
      if (typeof text !== "string") throw badRequest("invalidValue", `${attribute.name} must be a text.`);
      if (text.length > textCharsMax || text.includes("\0") || !text.isWellFormed()) {
        throw badRequest("invalidValue", `${attribute.name} is too long or contains characters that cannot be stored.`);
      }
      return text === "" ? undefined : text;
    }
  }
}

function readMembers(attributes: readonly Attribute[], value: unknown, name: string): Record<string, ScimValue> {
  if (value === null || value === undefined) return {};
  if (!isObject(value)) throw badRequest("invalidValue", `${name} must be an object.`);
  const read: Record<string, ScimValue> = {};
  for (const [key, member] of Object.entries(value)) {
    const attribute = attributeNamed(attributes, key);
    const found = attribute === undefined ? undefined : readValue(attribute, member);
    if (found !== undefined) read[attribute!.name] = found;
  }
  return read;
}

/** Reads a boolean. Entra ID sends "True" and "False". */
function readBoolean(name: string, value: unknown): boolean {
  const lower = typeof value === "string" ? value.toLowerCase() : value;
  if (lower === true || lower === "true") return true;
  if (lower === false || lower === "false") return false;
  throw badRequest("invalidValue", `${name} must be true or false.`);
}

/** Leaves at most one element primary: the last one that claims it. */
export function onePrimary(elements: readonly ScimValue[]): readonly ScimValue[] {
  const last = elements.findLastIndex((each) => isObject(each) && (each as ScimObject).primary === true);
  return elements.map((each, at) => {
    if (at === last || !isObject(each) || (each as ScimObject).primary !== true) return each;
    return { ...(each as ScimObject), primary: false };
  });
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

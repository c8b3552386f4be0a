import { type Filter, parsePatchPath } from "./filter.ts";
import { matchesElement, type ScimObject, type ScimValue } from "./filter-match.ts";
import { mergeMemberOperations } from "./member-operations.ts";
import type { PatchOperation } from "./patch-operation.ts";
import { type Attributes, isObject, onePrimary, readValue } from "./resource.ts";
import {
  type Attribute,
  type AttributePath,
  attributeNamed,
  commonAttributes,
  extensionNamed,
  type ResourceType,
  resolvePath,
} from "./schema.ts";
import { badRequest } from "./scim-error.ts";

export type { PatchOperation };

const operationsMax = 1000;

/** Reads the operations of a request. Entra ID writes their names with capitals. */
export function readOperations(body: unknown): PatchOperation[] {
  if (!isObject(body)) throw badRequest("invalidSyntax", "The body must be a JSON object.");
  const listed = Object.entries(body).find(([name]) => name.toLowerCase() === "operations")?.[1];
  if (!Array.isArray(listed) || listed.length === 0) {
    throw badRequest("invalidSyntax", "Operations must be a list with at least one operation.");
  }
  if (listed.length > operationsMax) throw badRequest("tooMany", `At most ${operationsMax} operations are accepted.`);
  return listed.map((each) => {
    if (!isObject(each)) throw badRequest("invalidSyntax", "An operation must be a JSON object.");
    const member = (wanted: string) => Object.entries(each).find(([name]) => name.toLowerCase() === wanted)?.[1];
    const op = String(member("op")).toLowerCase();
    if (op !== "add" && op !== "replace" && op !== "remove") {
      throw badRequest("invalidSyntax", "op must be add, replace or remove.");
    }
    const path = member("path");
    if (path !== undefined && path !== null && typeof path !== "string") {
      throw badRequest("invalidPath", "path must be a text.");
    }
    return { op, path: path === undefined || path === null || path === "" ? undefined : path, value: member("value") };
  });
}

/** Applies operations to the attributes of a resource. Either all are applied or, if one is not valid, none. */
export function applyPatch(
  type: ResourceType,
  attributes: Attributes,
  operations: readonly PatchOperation[],
): Attributes {
  let current = attributes;
  for (const operation of mergeMemberOperations(operations)) current = applyOperation(type, current, operation);
  return current;
}

function applyOperation(type: ResourceType, attributes: Attributes, { op, path, value }: PatchOperation): Attributes {
  if (path !== undefined) return applyAt(type, attributes, op, path, value, false);
  if (op === "remove") throw badRequest("noTarget", "An operation that removes must have a path.");
  if (!isObject(value))
    throw badRequest("invalidValue", "An operation without a path must have an object as its value.");
  // Directories send paths as names: name.givenName, urn:…:User:manager, or emails[type eq "work"].value.
  return Object.entries(value).reduce(
    (current, [name, member]) => applyAt(type, current, op, name, member, true),
    attributes,
  );
}

/** Applies a value at a path. A path from the names of a value may lead to something that the service does not have. */
function applyAt(
  type: ResourceType,
  attributes: Attributes,
  op: PatchOperation["op"],
  text: string,
  value: unknown,
  isLenient: boolean,
): Attributes {
  const extension = extensionNamed(type, text);
  if (extension !== undefined) return applyToExtension(type, attributes, op, extension.id, value);
  const { path, filter, sub: subName } = parsePatchPath(text);
  const located = resolvePath(type, path);
  if (located === undefined) {
    if (isLenient) return attributes;
    throw badRequest("invalidPath", `There is no attribute ${path}.`);
  }
  const { attribute } = located;
  if (attribute.mutability === "writeOnly") return attributes;
  if (attribute.mutability === "readOnly" || commonAttributes.includes(attribute)) {
    // Okta sends the id of a group that it renames.
    if (isLenient) return attributes;
    throw badRequest("mutability", `${attribute.name} cannot be changed.`);
  }
  return change(attributes, located, (before) => {
    if (filter !== undefined) return changeElements(attribute, before, op, filter, subName, value);
    if (located.sub !== undefined) return changeSub(attribute, located.sub, before, op, value);
    return changeWhole(attribute, before, op, value);
  });
}

/** Applies an object of attributes of an extension, or removes them all. */
function applyToExtension(
  type: ResourceType,
  attributes: Attributes,
  op: PatchOperation["op"],
  id: string,
  value: unknown,
): Attributes {
  if (op === "remove") {
    const { [id]: _, ...rest } = attributes;
    return rest;
  }
  if (!isObject(value)) throw badRequest("invalidValue", `${id} must be an object.`);
  return Object.entries(value).reduce(
    (current, [name, member]) => applyAt(type, current, op, `${id}:${name}`, member, true),
    attributes,
  );
}

/** Replaces the value at a path with what `next` makes of it; undefined removes it. */
function change(
  attributes: Attributes,
  { extension, attribute }: AttributePath,
  next: (before: ScimValue | undefined) => ScimValue | undefined,
): Attributes {
  const holder = extension === undefined ? attributes : ((attributes[extension.id] as Attributes | undefined) ?? {});
  const after = next(holder[attribute.name]);
  const { [attribute.name]: _, ...others } = holder;
  const changed = after === undefined ? others : { ...others, [attribute.name]: after };
  if (extension === undefined) return changed;
  const { [extension.id]: __, ...rest } = attributes;
  return Object.keys(changed).length === 0 ? rest : { ...rest, [extension.id]: changed };
}

function changeWhole(
  attribute: Attribute,
  before: ScimValue | undefined,
  op: PatchOperation["op"],
  value: unknown,
): ScimValue | undefined {
  if (op === "remove") {
    // Entra ID names the members to remove in the value.
    if (!attribute.isMultiValued || value === undefined || value === null) return undefined;
    const named = (readValue(attribute, value) as readonly ScimValue[] | undefined) ?? [];
    return nonEmpty(without(elementsOf(before), named));
  }
  const read = readValue(attribute, value);
  if (!attribute.isMultiValued) {
    const isMerged = attribute.type === "complex" && isObject(before) && isObject(read);
    return isMerged ? { ...before, ...(read as ScimObject) } : read;
  }
  const added = elementsOf(read);
  if (op === "replace") return nonEmpty(added);
  const kept = elementsOf(before);
  return nonEmpty([...withoutPrimary(kept, added), ...distinct(kept, added)]);
}

function changeSub(
  attribute: Attribute,
  sub: Attribute,
  before: ScimValue | undefined,
  op: PatchOperation["op"],
  value: unknown,
): ScimValue | undefined {
  const read = op === "remove" ? undefined : readValue(sub, value);
  if (!attribute.isMultiValued) return withMember((before as ScimObject | undefined) ?? {}, sub.name, read);
  const elements = elementsOf(before);
  // A sub-attribute of all elements: there must be some, or one is added.
  const changed =
    elements.length === 0 && read !== undefined
      ? [{ [sub.name]: read }]
      : elements.flatMap((each): ScimValue[] => listed(withMember(each as ScimObject, sub.name, read)));
  return nonEmpty(onePrimary(changed));
}

function changeElements(
  attribute: Attribute,
  before: ScimValue | undefined,
  op: PatchOperation["op"],
  filter: Filter,
  subName: string | undefined,
  value: unknown,
): ScimValue | undefined {
  if (!attribute.isMultiValued) throw badRequest("invalidPath", `${attribute.name} has one value only.`);
  const sub = subName === undefined ? undefined : attributeNamed(attribute.subAttributes, subName);
  if (subName !== undefined && sub === undefined) {
    throw badRequest("invalidPath", `There is no attribute ${attribute.name}.${subName}.`);
  }
  const elements = elementsOf(before);
  const isSelected = elements.map((each) => matchesElement(filter, each, attribute));
  if (op === "remove") {
    const kept = elements.flatMap((each, at): ScimValue[] => {
      if (!isSelected[at]) return [each];
      return sub === undefined ? [] : listed(withMember(each as ScimObject, sub.name, undefined));
    });
    return nonEmpty(kept);
  }
  const read = sub === undefined ? elementOf(attribute, value) : { [sub.name]: readValue(sub, value) };
  const isPrimary = (read as ScimObject | undefined)?.primary === true;
  if (isSelected.includes(true)) {
    const changed = elements.map((each, at) => {
      if (isSelected[at]) return merged(each as ScimObject, read as ScimObject);
      return isPrimary
        ? { ...(each as ScimObject), ...((each as ScimObject).primary === true && { primary: false }) }
        : each;
    });
    return nonEmpty(changed.filter((each) => Object.keys(each as object).length > 0));
  }
  // Entra ID expects that emails[type eq "work"].value creates the address.
  const template = templateOf(filter, attribute);
  if (template === undefined)
    throw badRequest("noTarget", `No value of ${attribute.name} matches the filter of the path.`);
  const created = merged(template, read as ScimObject);
  return nonEmpty([...withoutPrimary(elements, [created]), created]);
}

/** The element that a filter describes, if it is made of equations only. */
function templateOf(filter: Filter, attribute: Attribute): ScimObject | undefined {
  if (filter.op === "and") {
    const parts = filter.filters.map((each) => templateOf(each, attribute));
    return parts.every((each) => each !== undefined) ? Object.assign({}, ...parts) : undefined;
  }
  if (filter.op !== "eq") return undefined;
  const sub = attributeNamed(attribute.subAttributes, filter.path);
  const value = sub === undefined ? undefined : readValue(sub, filter.value);
  return value === undefined ? undefined : { [sub!.name]: value };
}

function elementOf(attribute: Attribute, value: unknown): ScimValue | undefined {
  return elementsOf(readValue(attribute, value))[0];
}

function merged(element: ScimObject, change: ScimObject | undefined): ScimObject {
  const all = { ...element, ...change };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function withMember(object: ScimObject, name: string, value: ScimValue | undefined): ScimObject | undefined {
  const { [name]: _, ...rest } = object;
  const changed = value === undefined ? rest : { ...rest, [name]: value };
  return Object.keys(changed).length === 0 ? undefined : changed;
}

function listed(value: ScimObject | undefined): ScimValue[] {
  return value === undefined ? [] : [value];
}

function elementsOf(value: ScimValue | undefined): readonly ScimValue[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value as ScimValue];
}

function nonEmpty(elements: readonly ScimValue[]): readonly ScimValue[] | undefined {
  return elements.length === 0 ? undefined : elements;
}

/** The elements, none of them primary if one of the added is. */
function withoutPrimary(elements: readonly ScimValue[], added: readonly ScimValue[]): readonly ScimValue[] {
  const isTaken = added.some((each) => isObject(each) && each.primary === true);
  if (!isTaken) return elements;
  return elements.map((each) =>
    isObject(each) && each.primary === true ? { ...(each as ScimObject), primary: false } : each,
  );
}

/** The added elements that are not there yet. */
function distinct(kept: readonly ScimValue[], added: readonly ScimValue[]): readonly ScimValue[] {
  const known = new Set(kept.map(identityOf));
  return added.filter((each) => {
    const identity = identityOf(each);
    if (known.has(identity)) return false;
    known.add(identity);
    return true;
  });
}

/** Two elements are the same if their values and types are, or everything if they have no value. */
function identityOf(element: ScimValue): string {
  if (!isObject(element) || element.value === undefined) return JSON.stringify(element);
  return JSON.stringify([element.value, element.type ?? null]);
}

/** The elements that are not named: by their value, or by everything if the name has no value. */
function without(elements: readonly ScimValue[], named: readonly ScimValue[]): readonly ScimValue[] {
  const values = new Set<unknown>();
  const texts = new Set<string>();
  for (const each of named) {
    if (isObject(each) && each.value !== undefined) values.add(each.value);
    else texts.add(JSON.stringify(each));
  }
  return elements.filter((each) => {
    if (isObject(each) && values.has(each.value)) return false;
    return texts.size === 0 || !texts.has(JSON.stringify(each));
  });
}

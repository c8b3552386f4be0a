import type { ScimObject, ScimValue } from "./filter-match.ts";
import { isObject } from "./resource.ts";
import { type AttributePath, type ResourceType, resolvePath } from "./schema.ts";

/** Which attributes a response contains. */
export interface Projection {
  /** Only these, if any are given. */
  readonly attributes: readonly string[];
  readonly excluded: readonly string[];
}

/** Reads the parameters attributes and excludedAttributes. */
export function readProjection(attributes: string | null | undefined, excluded: string | null | undefined): Projection {
  const names = (text: string | null | undefined) => (text ?? "").split(",").flatMap((each) => each.trim() || []);
  return { attributes: names(attributes), excluded: names(excluded) };
}

/** Whether a response contains an attribute of the core schema. */
export function includes({ attributes, excluded }: Projection, name: string): boolean {
  const isNamed = (list: readonly string[]) =>
    list.some((each) => each.toLowerCase().split(/[.[]/)[0]!.split(":").at(-1) === name.toLowerCase());
  if (attributes.length > 0) return isNamed(attributes);
  return !excluded.some((each) => each.toLowerCase() === name.toLowerCase());
}

/** The attributes of a resource that a response contains. The id and the schemas are always there. */
export function project(type: ResourceType, resource: ScimObject, { attributes, excluded }: Projection): ScimObject {
  const { schemas, id, ...rest } = resource;
  const always = { schemas, id };
  if (attributes.length > 0) {
    const picked = attributes.flatMap((each) => resolvePath(type, each) ?? extensionPath(type, each) ?? []);
    return { ...always, ...picked.reduce((kept, path) => pick(kept, rest, path), {} as ScimObject) };
  }
  const dropped = excluded.flatMap((each) => resolvePath(type, each) ?? []);
  return { ...always, ...dropped.reduce(drop, rest as ScimObject) };
}

type WholeExtension = { readonly whole: string };

function extensionPath(type: ResourceType, text: string): WholeExtension | undefined {
  const found = type.extensions.find(({ id }) => id.toLowerCase() === text.toLowerCase());
  return found && { whole: found.id };
}

function pick(kept: ScimObject, resource: ScimObject, path: AttributePath | WholeExtension): ScimObject {
  if ("whole" in path)
    return resource[path.whole] === undefined ? kept : { ...kept, [path.whole]: resource[path.whole]! };
  const { extension, attribute, sub } = path;
  const holder = extension === undefined ? resource : (resource[extension.id] as ScimObject | undefined);
  const value = holder?.[attribute.name];
  if (value === undefined) return kept;
  const shown = sub === undefined ? value : subsOf(value, (name) => name === sub.name);
  if (extension === undefined) return { ...kept, [attribute.name]: shown };
  return { ...kept, [extension.id]: { ...(kept[extension.id] as ScimObject), [attribute.name]: shown } };
}

function drop(resource: ScimObject, { extension, attribute, sub }: AttributePath): ScimObject {
  const holder = extension === undefined ? resource : (resource[extension.id] as ScimObject | undefined);
  if (holder?.[attribute.name] === undefined) return resource;
  const { [attribute.name]: value, ...others } = holder;
  const left =
    sub === undefined ? others : { ...others, [attribute.name]: subsOf(value!, (name) => name !== sub.name) };
  return extension === undefined ? left : { ...resource, [extension.id]: left };
}

function subsOf(value: ScimValue, isKept: (name: string) => boolean): ScimValue {
  if (Array.isArray(value)) return value.map((each: ScimValue) => subsOf(each, isKept));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => isKept(name))) as ScimObject;
}

import type { Field } from "./field";

/** The part of JSON Schema that forms show as fields. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
}

/** The fields of an object, and a field for what its schema does not name. Without known properties the object is JSON. */
export function schemaFields(name: string, label: string, schema: Schema = {}): readonly Field[] {
  // A dot in the name of a field leads into an object.
  const properties = Object.entries(schema.properties ?? {}).filter(([key]) => !/[.*]/.test(key));
  if (properties.length === 0) return [{ name, label, kind: "json", placeholder: "{}" }];
  const named = properties.map(([key, property]): Field => {
    const { title = key, description } = property;
    const required = schema.required?.includes(key) ?? false;
    return {
      name: `${name}.${key}`,
      label: title,
      hint: description,
      required,
      row: rowOf(name, property),
      ...kindOf(property),
    };
  });
  const isClosed =
    schema.additionalProperties === false && properties.length === Object.keys(schema.properties!).length;
  return isClosed ? named : [...named, { name: `${name}.*`, label: `${label}: other fields`, kind: "json" }];
}

function kindOf({ type, enum: choices, items }: Schema): Pick<Field, "kind" | "choices"> {
  if (choices?.every((choice) => typeof choice === "string")) return { kind: "choice", choices };
  const [only, ...others] = [type ?? []].flat().filter((each) => each !== "null");
  if (only === undefined || others.length > 0 || choices !== undefined) return { kind: "value" };
  if (only === "number" || only === "integer") return { kind: "number" };
  if (only === "boolean") return { kind: "flag" };
  if (only === "string") return { kind: "text" };
  return { kind: only === "array" && items?.type === "string" ? "list" : "json" };
}

/** Small fields stand side by side. */
function rowOf(name: string, schema: Schema): string | undefined {
  return kindOf(schema).kind === "json" ? undefined : name;
}

/** More properties than these are easier to enter as JSON. */
const propertiesMax = 16;

/** A schema with the properties that earlier objects have. */
export function schemaOf(objects: readonly unknown[], names: readonly string[] = []): Schema {
  const properties: Record<string, Schema> = Object.fromEntries(names.map((name) => [name, {}]));
  for (const object of objects) {
    for (const [key, value] of Object.entries((object ?? {}) as object)) {
      const type = value === null ? undefined : Array.isArray(value) ? "array" : typeof value;
      const known = properties[key]?.type;
      properties[key] = type === undefined || (known !== undefined && known !== type) ? {} : { type };
    }
  }
  return Object.keys(properties).length > propertiesMax ? {} : { properties };
}

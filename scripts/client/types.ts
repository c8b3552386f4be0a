import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { commentOf } from "../../src/definitions/comments.ts";
import { isRequired, readRules } from "../../src/gateway/openapi/schemas/rules.ts";
import { isAlwaysSent } from "../../src/gateway/openapi/schemas/schemas.ts";
import { docComment, moduleOf, typeNameOf } from "./names.ts";

/** Whether a message is in a request or in a response. The fields that must be present differ. */
export type Direction = "request" | "response";

/** The declarations of one module, and the types that it imports from others. */
export interface Module {
  readonly name: string;
  readonly imports: Map<string, Set<string>>;
  readonly declarations: Map<string, string>;
}

/** Writes messages and enums as TypeScript types, each into the module of its definition file. */
export interface TypeWriter {
  readonly modules: ReadonlyMap<string, Module>;
  /** The name of a message's type, for use in a module. */
  ofMessage(message: DescMessage, direction: Direction, user: Module): string;
  /** Writes an object type with these fields under a name of its own. */
  writeObject(name: string, comment: string, fields: readonly ObjectField[], module: Module): void;
  /** A field of a message as a field of an object type. */
  toObjectField(field: DescField, direction: Direction, module: Module): ObjectField;
  moduleOf(desc: { readonly file: { readonly name: string } }): Module;
}

/** A field of an object type. */
export interface ObjectField {
  readonly name: string;
  readonly comment: string;
  readonly isOptional: boolean;
  readonly type: string;
}

/** Creates the writer. `responseMessages` are the names of all messages in responses. */
export function createTypeWriter(responseMessages: ReadonlySet<string>): TypeWriter {
  const modules = new Map<string, Module>();

  function moduleFor(desc: { readonly file: { readonly name: string } }): Module {
    const name = moduleOf(desc);
    const module = modules.get(name) ?? { name, imports: new Map(), declarations: new Map() };
    modules.set(name, module);
    return module;
  }

  function ofMessage(message: DescMessage, direction: Direction, user: Module): string {
    const known = wellKnownType(message, direction);
    if (known !== undefined) return imported("../json", known, user);
    // A message in both directions has two types, because a request omits what a response always has.
    const isBoth = direction === "request" && responseMessages.has(message.typeName);
    const name = `${typeNameOf(message)}${isBoth ? "Input" : ""}`;
    const owner = moduleFor(message);
    if (!owner.declarations.has(name)) {
      // Reserved before it is written, because a message may be recursive.
      owner.declarations.set(name, "");
      const fields = message.fields.map((field) => toObjectField(field, direction, owner));
      writeObject(name, commentOf(message), fields, owner);
    }
    return owner === user ? name : imported(`./${owner.name}`, name, user);
  }

  function ofEnum(desc: DescEnum, user: Module): string {
    const owner = moduleFor(desc);
    const name = typeNameOf(desc);
    const values = desc.values.map((value) => JSON.stringify(value.name));
    owner.declarations.set(name, `${docComment(commentOf(desc))}export type ${name} = ${values.join(" | ")};\n`);
    return owner === user ? name : imported(`./${owner.name}`, name, user);
  }

  function typeOf(field: DescField, direction: Direction, user: Module): string {
    const rules = direction === "request" ? readRules(field) : {};
    const valueType = (literals: readonly string[] | undefined): string => {
      if (field.message !== undefined) return ofMessage(field.message, direction, user);
      if (field.enum !== undefined) return ofEnum(field.enum, user);
      if (literals !== undefined) return literals.map((each) => JSON.stringify(each)).join(" | ");
      return scalarType(field.scalar!);
    };
    switch (field.fieldKind) {
      case "list":
        return arrayOf(valueType(rules.repeated?.items?.string?.in));
      case "map":
        return `Readonly<Record<string, ${valueType(rules.map?.values?.string?.in)}>>`;
      default:
        return valueType(rules.string?.in);
    }
  }

  function toObjectField(field: DescField, direction: Direction, module: Module): ObjectField {
    return {
      name: field.name,
      comment: commentOf(field),
      isOptional: direction === "request" ? !isRequired(field) : !isAlwaysSent(field),
      type: typeOf(field, direction, module),
    };
  }

  function writeObject(name: string, comment: string, fields: readonly ObjectField[], module: Module): void {
    const lines = fields.map(
      (field) =>
        `${docComment(field.comment, "  ")}  readonly ${field.name}${field.isOptional ? "?" : ""}: ${field.type};\n`,
    );
    const body = lines.length === 0 ? "Record<never, never>" : `{\n${lines.join("")}}`;
    module.declarations.set(name, `${docComment(comment)}export type ${name} = ${body};\n`);
  }

  return { modules, ofMessage, writeObject, toObjectField, moduleOf: moduleFor };
}

/** Adds a type to the imports of a module. Well-known types that TypeScript has itself need no import. */
function imported(path: string, name: string, user: Module): string {
  if (!/^[A-Z]\w*$/.test(name)) return name;
  const names = user.imports.get(path) ?? new Set();
  user.imports.set(path, names.add(name));
  return name;
}

function wellKnownType(message: DescMessage, direction: Direction): string | undefined {
  switch (message.typeName) {
    case "google.protobuf.Timestamp":
      return direction === "request" ? "string | Date" : "string";
    case "google.protobuf.Struct":
      return direction === "request" ? "object" : "JsonObject";
    case "google.protobuf.Value":
      return direction === "request" ? "unknown" : "JsonValue";
    case "google.api.HttpBody":
      return "RawBody";
    default:
      if (message.typeName.startsWith("google.")) throw new Error(`${message.typeName} has no type in the client`);
      return undefined;
  }
}

function arrayOf(type: string): string {
  return /^\w+$/.test(type) ? `readonly ${type}[]` : `readonly (${type})[]`;
}

function scalarType(scalar: ScalarType): string {
  switch (scalar) {
    case ScalarType.BOOL:
      return "boolean";
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return "string";
    default:
      return "number";
  }
}

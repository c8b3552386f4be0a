import type { DescEnum, DescField, DescMessage, ScalarType } from "@bufbuild/protobuf";
import { commentOf } from "../../src/definitions/comments.ts";
import { isRequired, readRules } from "../../src/gateway/openapi/schemas/rules.ts";
import { isAlwaysSent } from "../../src/gateway/openapi/schemas/schemas.ts";
import { typeNameOf } from "./names.ts";

/** Whether a message is in a request or in a response. The fields that must be present differ. */
export type Direction = "request" | "response";

/** The declarations of one module, and the types that it imports from others, by module. */
export interface Module {
  readonly name: string;
  readonly imports: Map<string, Set<string>>;
  readonly declarations: Map<string, string>;
}

/** How a programming language writes types. */
export interface Language {
  /** The module of a definition file. */
  moduleName(file: string): string;
  /** The module of the types of arbitrary JSON. */
  readonly jsonModule: string;
  wellKnownType(message: DescMessage, direction: Direction): string | undefined;
  scalarType(scalar: ScalarType): string;
  literals(values: readonly string[]): string;
  list(item: string, direction: Direction): string;
  map(value: string, direction: Direction): string;
  declareEnum(name: string, comment: string, values: readonly string[]): string;
  declareObject(name: string, comment: string, fields: readonly ObjectField[]): string;
}

/** Writes messages and enums as types, each into the module of its definition file. */
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
export function createTypeWriter(responseMessages: ReadonlySet<string>, language: Language): TypeWriter {
  const modules = new Map<string, Module>();

  function moduleFor(desc: { readonly file: { readonly name: string } }): Module {
    const name = language.moduleName(desc.file.name.slice(desc.file.name.lastIndexOf("/") + 1));
    const module = modules.get(name) ?? { name, imports: new Map(), declarations: new Map() };
    modules.set(name, module);
    return module;
  }

  function ofMessage(message: DescMessage, direction: Direction, user: Module): string {
    const known = language.wellKnownType(message, direction);
    if (known !== undefined) return imported(language.jsonModule, known, user);
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
    return owner === user ? name : imported(owner.name, name, user);
  }

  function ofEnum(desc: DescEnum, user: Module): string {
    const owner = moduleFor(desc);
    const name = typeNameOf(desc);
    const values = desc.values.map((value) => value.name);
    owner.declarations.set(name, language.declareEnum(name, commentOf(desc), values));
    return owner === user ? name : imported(owner.name, name, user);
  }

  function typeOf(field: DescField, direction: Direction, user: Module): string {
    const rules = direction === "request" ? readRules(field) : {};
    const valueType = (literals: readonly string[] | undefined): string => {
      if (field.message !== undefined) return ofMessage(field.message, direction, user);
      if (field.enum !== undefined) return ofEnum(field.enum, user);
      return literals === undefined ? language.scalarType(field.scalar!) : language.literals(literals);
    };
    switch (field.fieldKind) {
      case "list":
        return language.list(valueType(rules.repeated?.items?.string?.in), direction);
      case "map":
        return language.map(valueType(rules.map?.values?.string?.in), direction);
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
    module.declarations.set(name, language.declareObject(name, comment, fields));
  }

  return { modules, ofMessage, writeObject, toObjectField, moduleOf: moduleFor };
}

/** Adds a type to the imports of a module. Well-known types that a language has itself need no import. */
function imported(module: string, name: string, user: Module): string {
  if (!/^[A-Z]\w*$/.test(name)) return name;
  const names = user.imports.get(module) ?? new Set();
  user.imports.set(module, names.add(name));
  return name;
}

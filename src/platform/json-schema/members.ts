import { type Json, type JsonObject, ObjectReader, type TextFormat, Violations } from "../document/index.ts";
import { integerSchema, listSchema, objectSchema, textSchema } from "./builders.ts";

/** State shared by the readers of a document. */
export interface ReadContext {
  readonly violations: Violations;
}

/** A member of an object in a language: how it is read, and its JSON Schema. */
export interface Member<T, C extends ReadContext = ReadContext> {
  readonly name: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  /** Reads the member; a missing or invalid one is reported, and read as a default. */
  read(reader: ObjectReader, context: C): T;
}

/** The values of members, as their readers return them. */
export type ValuesOf<M> = {
  readonly [K in keyof M]: M[K] extends { read(reader: ObjectReader, context: never): infer T } ? T : never;
};

interface Range {
  readonly min: number;
  readonly max: number;
}

/** Checks the values of an object's members together, and adds what is not a member of its own. */
export type Complete<M, C, T> = (values: ValuesOf<M>, reader: ObjectReader, context: C) => T;

/** An object of a language. */
export interface ObjectDefinition<T, C extends ReadContext = ReadContext> {
  readonly schema: JsonObject;
  /** The names of the members. */
  readonly known: readonly string[];
  open(value: Json | undefined, path: string, context: ReadContext): ObjectReader | undefined;
  readMembers(reader: ObjectReader, context: C): T;
  /** Reads an object; undefined if the value is none. */
  read(value: Json | undefined, path: string, context: C): T | undefined;
  /** The values of an object without members. Stands for one that is reported as invalid. */
  readEmpty(context: C): T;
}

/** The type of an object of a language. */
export type ValueOf<D> = D extends ObjectDefinition<infer T, never> ? T : never;

/** Defines an object of a language once: the names of its members, its JSON Schema, its reader and the type of its values. */
export function defineObject<
  M extends Readonly<Record<string, Member<unknown, C>>>,
  C extends ReadContext,
  T = ValuesOf<M>,
>(
  what: string,
  example: string,
  members: M & Readonly<Record<string, Member<unknown, C>>>,
  complete: Complete<M, C, T> = (values) => values as T,
): ObjectDefinition<T, C> {
  const entries = Object.entries<Member<unknown, C>>(members);
  const known = entries.map(([, { name }]) => name);
  const required = entries.flatMap(([, { name, isRequired }]) => (isRequired ? [name] : []));
  const schema = objectSchema(Object.fromEntries(entries.map(([, member]) => [member.name, member.schema])), required);

  const rule = { known, example, what };
  const open = (value: Json | undefined, path: string, { violations }: ReadContext) =>
    ObjectReader.open(value, path, violations, rule);

  function readMembers(reader: ObjectReader, context: C): T {
    const values: Record<string, unknown> = {};
    for (const [key, member] of entries) values[key] = member.read(reader, context);
    return complete(values as ValuesOf<M>, reader, context);
  }

  return {
    schema,
    known,
    open,
    readMembers,
    read(value, path, context) {
      const reader = open(value, path, context);
      return reader && readMembers(reader, context);
    },
    readEmpty(context) {
      const unreported = { ...context, violations: new Violations() };
      return readMembers(open({}, "", unreported)!, unreported);
    },
  };
}

/** A member that may be missing; undefined then. */
export function optional<T, C extends ReadContext>(member: Member<T, C>): Member<T | undefined, C> {
  const { name } = member;
  const read = (reader: ObjectReader, context: C) => (reader.has(name) ? member.read(reader, context) : undefined);
  return { ...member, isRequired: false, read };
}

/** A member that is reported with an example if it is missing, besides what its own reader reports. */
export function required<T, C extends ReadContext>(member: Member<T, C>, example: string): Member<T, C> {
  return {
    ...member,
    isRequired: true,
    read(reader, context) {
      reader.required(member.name, example);
      return member.read(reader, context);
    },
  };
}

/** A member with a description in the JSON Schema. */
export function described<T, C extends ReadContext>(member: Member<T, C>, description: string): Member<T, C> {
  return { ...member, schema: { ...member.schema, description } };
}

/** A member that has only one value. */
export function constant<const T extends string | number>(name: string, value: T, message: string): Member<T> {
  return {
    ...{ name, schema: { const: value }, isRequired: true },
    read(reader) {
      if (reader.get(name) !== value) reader.refuse(name, "choice", message);
      return value;
    },
  };
}

/** An object. A missing one is reported as a value that is not an object. */
export function object<T, C extends ReadContext>(name: string, definition: ObjectDefinition<T, C>): Member<T, C> {
  return {
    ...{ name, schema: definition.schema, isRequired: true },
    read: (reader, context) =>
      definition.read(reader.get(name), reader.pathOf(name), context) ?? definition.readEmpty(context),
  };
}

/** An object; read as one without members if it is missing. */
export function objectOrEmpty<T, C extends ReadContext>(
  name: string,
  definition: ObjectDefinition<T, C>,
): Member<T, C> {
  const { read, ...member } = optional(object(name, definition));
  return { ...member, read: (reader, context) => read(reader, context) ?? definition.readEmpty(context) };
}

/** A list of objects; empty if it is missing. */
export function objects<T, C extends ReadContext>(
  name: string,
  definition: Pick<ObjectDefinition<T, C>, "schema" | "read">,
  size: Range,
  example: string,
): Member<readonly T[], C> {
  return {
    ...{ name, schema: listSchema(definition.schema, size.min, size.max, false), isRequired: false },
    read(reader, context) {
      const path = reader.pathOf(name);
      const elements = reader.list(name, size, example) ?? [];
      return elements.flatMap((element, at) => definition.read(element, `${path}[${at}]`, context) ?? []);
    },
  };
}

/** True or false. A missing one is read as false. */
export function flag(name: string, fallback?: false): Member<boolean> {
  const schema = { type: "boolean", ...(fallback !== undefined && { default: fallback }) };
  const read = (reader: ObjectReader) => {
    const value = reader.get(name);
    if (value !== undefined && typeof value !== "boolean") reader.refuse(name, "type", "must be true or false");
    return value === true;
  };
  return { name, schema, isRequired: false, read };
}

/** A required text of a format. */
export function text(name: string, format: TextFormat): Member<string> {
  return { name, schema: textSchema(format), isRequired: true, read: (reader) => reader.text(name, format) ?? "" };
}

/** A text of a format; empty, or the default, if it is missing. */
export function optionalText(name: string, format: TextFormat, fallback = ""): Member<string> {
  return {
    ...text(name, format),
    isRequired: false,
    read: (reader) => reader.text(name, format, fallback) ?? fallback,
  };
}

/** A text for people. */
export function prose(name: string, lengthMax: number): Member<string> {
  const schema = { type: "string", maxLength: lengthMax };
  return { name, schema, isRequired: false, read: (reader) => reader.prose(name, lengthMax) };
}

/** A whole number. Without a default it is required. */
export function integer(name: string, range: Range, fallback?: number): Member<number> {
  const schema = { ...integerSchema(range.min, range.max), ...(fallback !== undefined && { default: fallback }) };
  const isRequired = fallback === undefined;
  return { name, schema, isRequired, read: (reader) => reader.integer(name, range, fallback) ?? range.min };
}

/** One of a few texts. */
export function choice<const T extends string>(name: string, choices: readonly T[], fallback: T): Member<T> {
  const schema = { enum: choices, default: fallback };
  return { name, schema, isRequired: false, read: (reader) => reader.choice(name, choices, fallback) };
}

/** A list of different texts of a format; undefined if it is missing. */
export function optionalTexts(
  name: string,
  format: TextFormat,
  size: Range,
  example: string,
): Member<readonly string[] | undefined> {
  const schema = listSchema(textSchema(format), size.min, size.max);
  return { name, schema, isRequired: false, read: (reader) => reader.textList(name, format, size, example) };
}

/** A required list of different texts of a format. */
export function texts(name: string, format: TextFormat, size: Range, example: string): Member<readonly string[]> {
  const { read, ...member } = optionalTexts(name, format, size, example);
  return required({ ...member, read: (reader, context) => read(reader, context) ?? [] }, example);
}

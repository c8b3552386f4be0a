import { type Json, type JsonObject, ObjectReader, type TextFormat, type Violations } from "../document/index.ts";
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

/** Defines an object of a language once: the names of its members, its JSON Schema, its reader and the type of its values. */
export function defineObject<M extends Readonly<Record<string, Member<unknown, C>>>, C extends ReadContext>(
  what: string,
  example: string,
  members: M & Readonly<Record<string, Member<unknown, C>>>,
) {
  const entries = Object.entries<Member<unknown, C>>(members);
  const known = entries.map(([, { name }]) => name);
  const required = entries.flatMap(([, { name, isRequired }]) => (isRequired ? [name] : []));
  const schema = objectSchema(Object.fromEntries(entries.map(([, member]) => [member.name, member.schema])), required);

  const rule = { known, example, what };
  const open = (value: Json | undefined, path: string, { violations }: C) =>
    ObjectReader.open(value, path, violations, rule);

  function readMembers(reader: ObjectReader, context: C): ValuesOf<M> {
    const values: Record<string, unknown> = {};
    for (const [key, member] of entries) values[key] = member.read(reader, context);
    return values as ValuesOf<M>;
  }

  return {
    members: members as M,
    schema,
    open,
    readMembers,

    /** Reads an object; undefined if the value is none. */
    read(value: Json | undefined, path: string, context: C): ValuesOf<M> | undefined {
      const reader = open(value, path, context);
      return reader && readMembers(reader, context);
    },
  };
}

/** A required text of a format. */
export function text(name: string, format: TextFormat): Member<string> {
  return { name, schema: textSchema(format), isRequired: true, read: (reader) => reader.text(name, format) ?? "" };
}

/** A text of a format; empty if it is missing. */
export function optionalText(name: string, format: TextFormat): Member<string> {
  return { ...text(name, format), isRequired: false, read: (reader) => reader.text(name, format, "") ?? "" };
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

/** A whole number; undefined if it is missing. */
export function optionalInteger(name: string, range: Range): Member<number | undefined> {
  const read = (reader: ObjectReader) => (reader.has(name) ? reader.integer(name, range) : undefined);
  return { ...integer(name, range), isRequired: false, read };
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
  return {
    ...optionalTexts(name, format, size, example),
    isRequired: true,
    read(reader) {
      reader.required(name, example);
      return reader.textList(name, format, size, example) ?? [];
    },
  };
}

import { type CelExpression, type CelType, type CelVariables, compileCel } from "../../../../../platform/cel/index.ts";
import {
  isJsonObject,
  type Json,
  type JsonObject,
  memberPath,
  nearestChoice,
  type ObjectReader,
  type TextFormat,
} from "../../../../../platform/document/index.ts";
import {
  type Complete,
  defineObject,
  listSchema,
  type Member,
  required,
  text,
  textSchema,
  type ValuesOf,
} from "../../../../../platform/json-schema/index.ts";
import type { TextTemplate, ValueTemplate } from "../template.ts";
import type { CompileContext } from "./compile-context.ts";
import { formats, limits } from "./limits.ts";
import { parseExpression } from "./parse-condition.ts";
import { parseText, parseValue, suggest } from "./parse-template.ts";
import { parseUrl } from "./parse-url.ts";

const templateSchema: JsonObject = { type: "string", description: "A text with placeholders such as {input.title}." };
const expressionSchema: JsonObject = { type: "string", description: "A CEL expression." };

/** Stands for a template that is reported as invalid. */
const noTemplate: TextTemplate = { source: "", parts: [] };

/** Defines an object of the language. */
export function define<M extends Readonly<Record<string, Member<unknown, CompileContext>>>, T = ValuesOf<M>>(
  what: string,
  example: string,
  members: M,
  complete?: Complete<M, CompileContext, T>,
) {
  return defineObject<M, CompileContext, T>(what, example, members, complete);
}

/** The schema that a name of the published schema refers to. */
export function ref(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` };
}

/** The schema of an object of values by name. */
export function mapSchema({ source }: TextFormat, additionalProperties: Json, maxProperties: number): JsonObject {
  return { type: "object", maxProperties, propertyNames: { type: "string", pattern: source }, additionalProperties };
}

/** A member whose schema has a name in the published schema. */
export function named<T>(member: Member<T, CompileContext>, name: string): Member<T, CompileContext> {
  return { ...member, schema: ref(name) };
}

/** A member as written, for values that depend on other members or are read in steps. */
export function raw(name: string, schema: JsonObject): Member<Json | undefined> {
  return { name, schema, isRequired: false, read: (reader) => reader.get(name) };
}

/** A member whose default is not part of the published schema. */
export function withoutDefault<T>(member: Member<T>): Member<T> {
  const { default: _, ...schema } = member.schema;
  return { ...member, schema };
}

/** A JSON Pointer. */
export function pointer(name: string): Member<string> {
  return text(name, formats.pointer);
}

/** The name of a header, in lower case. */
export function header(name: string): Member<string> {
  const member = text(name, formats.header);
  return { ...member, read: (reader, context) => member.read(reader, context).toLowerCase() };
}

/** One of some names, read as written. An unknown name is reported with the nearest one. */
export function oneOf<const T extends string>(name: string, names: readonly T[], what: string): Member<T> {
  return {
    ...{ name, schema: { enum: names }, isRequired: true },
    read(reader) {
      const value = reader.get(name) as T;
      if (!names.includes(value))
        reader.refuse(name, "choice", suggest(value, names, what), () => nearestChoice(value, names));
      return value;
    },
  };
}

/** A required list of different texts. What they are is said if it is missing. */
export function requiredTexts(
  name: string,
  format: TextFormat,
  size: { readonly min: number; readonly max: number },
  example: string,
  what: string,
): Member<readonly string[]> {
  return {
    ...{ name, schema: listSchema(textSchema(format), size.min, size.max), isRequired: true },
    read(reader) {
      if (!reader.has(name)) reader.refuse(name, "required", `is required: ${what}, for example ${example}`);
      return reader.textList(name, format, size, example) ?? [];
    },
  };
}

/** Reports an object that does not have exactly one of some members. */
export function checkExclusive(reader: ObjectReader, ...names: readonly string[]): void {
  if (names.filter((name) => reader.has(name)).length === 1) return;
  const isPair = names.length === 2;
  const list = new Intl.ListFormat("en-GB", { type: isPair ? "disjunction" : "conjunction" }).format(names);
  reader.violations.add(reader.path, "exclusive", `must have ${isPair ? "either" : "exactly one of"} ${list}`);
}

/** A text with placeholders. */
export function template(name: string): Member<TextTemplate, CompileContext> {
  return {
    ...{ name, schema: templateSchema, isRequired: true },
    read: (reader, { scope, violations }) =>
      parseText(reader.get(name), reader.pathOf(name), scope, violations) ?? noTemplate,
  };
}

/** A text with placeholders and a default. */
export function templateOr(name: string, fallback: string): Member<TextTemplate, CompileContext> {
  return {
    ...{ name, schema: templateSchema, isRequired: false },
    read: (reader, { scope, violations }) =>
      parseText(reader.get(name) ?? fallback, reader.pathOf(name), scope, violations) ?? noTemplate,
  };
}

/** A URL with placeholders. Its host must be declared. */
export function url(name: string): Member<TextTemplate, CompileContext> {
  return {
    ...template(name),
    read: (reader, context) => parseUrl(reader.get(name), reader.pathOf(name), context.scope, context) ?? noTemplate,
  };
}

/** A JSON value with placeholders; undefined if it is missing. */
export function valueTemplate(name: string, schema: JsonObject): Member<ValueTemplate | undefined, CompileContext> {
  return {
    ...{ name, schema, isRequired: false },
    read(reader, { scope, violations }) {
      const value = reader.get(name);
      return value === undefined ? undefined : parseValue(value, reader.pathOf(name), scope, violations);
    },
  };
}

/** A CEL expression; undefined if it is missing. */
export function expression(
  name: string,
  variables: CelVariables,
  expected: CelType,
): Member<CelExpression | undefined> {
  return {
    ...{ name, schema: expressionSchema, isRequired: false },
    read: (reader, { violations }) =>
      parseExpression(reader.get(name), reader.pathOf(name), violations, variables, expected),
  };
}

export function requiredExpression(
  name: string,
  variables: CelVariables,
  expected: CelType,
  example: string,
): Member<CelExpression> {
  const { read, ...member } = expression(name, variables, expected);
  const orFalse: Member<CelExpression>["read"] = (reader, context) =>
    read(reader, context) ?? compileCel("false", variables, expected);
  return required({ ...member, read: orFalse }, example);
}

/** Names, and texts with placeholders. */
export function templates(
  name: string,
): Member<readonly (readonly [name: string, value: TextTemplate])[], CompileContext> {
  return {
    name,
    schema: { type: "object", maxProperties: limits.params, additionalProperties: { type: "string" } },
    isRequired: false,
    read(reader, { scope, violations }) {
      const value = reader.get(name);
      if (value === undefined) return [];
      if (!isJsonObject(value) || Object.keys(value).length > limits.params) {
        reader.refuse(name, "type", `must be an object of at most ${limits.params} texts`);
        return [];
      }
      return Object.entries(value).flatMap(([key, text]) => {
        const template = parseText(text, memberPath(reader.pathOf(name), key), scope, violations);
        return template === undefined ? [] : [[key, template] as const];
      });
    },
  };
}

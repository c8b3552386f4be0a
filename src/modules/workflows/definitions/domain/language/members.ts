import { isExpression } from "../../../../../platform/cel/index.ts";
import type { Json, JsonObject } from "../../../../../platform/document/index.ts";
import { checkSchema, type Member } from "../../../../../platform/json-schema/index.ts";
import { durationSource } from "../../../../../platform/text/index.ts";
import { limits } from "./limits.ts";

export const templateSchema: JsonObject = { $ref: "#/$defs/template" };
export const expressionSchema: JsonObject = { type: "string", pattern: "^=([^=]|$)" };
export const stepsSchema: JsonObject = { type: "array", maxItems: limits.steps, items: { $ref: "#/$defs/step" } };

const positive = durationSource.replace("^", "^(?!0+[a-z])");
const durationSchema: JsonObject = { type: "string", pattern: positive, examples: ["30s", "10m", "14d"] };

/** Whether a value is an expression. */
export function isExpressionText(value: Json | undefined): value is string {
  return typeof value === "string" && isExpression(value);
}

/** A template; undefined if it is missing. */
export function template(name: string): Member<Json | undefined> {
  const read: Member<Json | undefined>["read"] = (reader) => reader.nested(name, limits.templateDepth);
  return { name, schema: templateSchema, isRequired: false, read };
}

/** A template with a default. */
export function templateOr(name: string, fallback: Json): Member<Json> {
  const { read, ...member } = template(name);
  return { ...member, read: (reader, context) => read(reader, context) ?? fallback };
}

export function requiredTemplate(name: string, example: string, fallback: Json, schema = templateSchema): Member<Json> {
  const { read } = template(name);
  return {
    ...{ name, schema, isRequired: true },
    read(reader, context) {
      reader.required(name, example);
      return read(reader, context) ?? fallback;
    },
  };
}

interface DurationRule {
  readonly example: string;
  readonly maxMs?: number;
}

/** A duration in milliseconds; undefined if it is missing. */
export function duration(name: string, rule: DurationRule): Member<number | undefined> {
  return { name, schema: durationSchema, isRequired: false, read: (reader) => reader.duration(name, rule) };
}

/** A duration with a default. */
export function durationOr(name: string, rule: DurationRule, fallbackMs: number): Member<number> {
  return { ...duration(name, rule), read: (reader) => reader.duration(name, rule) ?? fallbackMs };
}

/** The longest time of something, which is required. */
export function requiredDuration(name: string, example: string): Member<number> {
  const read: Member<number>["read"] = (reader) => reader.requiredDuration(name, { example }) ?? 0;
  return { name, schema: durationSchema, isRequired: true, read };
}

/** A JSON Schema; undefined if any value is valid. */
export const inputSchema: Member<JsonObject | undefined> = {
  ...{ name: "input_schema", schema: { $ref: "#/$defs/input_schema" }, isRequired: false },
  read(reader, { violations }) {
    const schema = reader.get("input_schema");
    if (schema !== undefined) checkSchema(schema, reader.pathOf("input_schema"), violations);
    return schema as JsonObject | undefined;
  },
};

import { CelError, compileCel, evaluateCondition } from "../../../../../platform/cel/index.ts";
import {
  isJsonObject,
  type Json,
  memberPath,
  ObjectReader,
  type Violations,
} from "../../../../../platform/document/index.ts";
import type { FieldSpec } from "../auth-spec.ts";
import { formats, limits } from "./limits.ts";
import { fieldMembers } from "./manifest-schema.ts";

const variables = { value: "string" } as const;

/** Reads an object of values that are asked for when an account is connected, one field per step. */
export function* parseFields(
  value: Json | undefined,
  path: string,
  violations: Violations,
  { secret }: { readonly secret: boolean },
): Generator<void, readonly FieldSpec[]> {
  if (value === undefined) return [];
  if (!isJsonObject(value)) {
    violations.add(path, "type", 'must be an object of fields, for example {"api_key": {"title": "API key"}}');
    return [];
  }
  const names = Object.keys(value);
  if (names.length > limits.fields) violations.add(path, "size", `must have at most ${limits.fields} fields`);
  const fields: FieldSpec[] = [];
  for (const name of names.slice(0, limits.fields)) {
    const place = memberPath(path, name);
    if (!formats.field.pattern.test(name) || name.length > formats.field.lengthMax) {
      violations.add(place, "pattern", formats.field.description);
      continue;
    }
    const field = parseField(name, value[name]!, place, violations, secret);
    if (field !== undefined) fields.push(field);
    yield;
  }
  return fields;
}

function parseField(
  name: string,
  value: Json,
  path: string,
  violations: Violations,
  secretDefault: boolean,
): FieldSpec | undefined {
  const reader = ObjectReader.open(value, path, violations, {
    known: fieldMembers,
    example: '{"title": "API key"}',
    what: "a field",
  });
  if (reader === undefined) return undefined;
  const pattern = reader.get("pattern");
  const matches = pattern === undefined ? undefined : parsePattern(pattern, reader);
  const choices = reader.textList("choices", formats.title, { min: 1, max: 100 }, '["eu", "us"]');
  const accepts = (text: string) => (matches?.(text) ?? true) && (choices?.includes(text) ?? true);
  const fallback = reader.has("default") ? reader.prose("default", 2000) : undefined;
  if (fallback !== undefined && !accepts(fallback)) {
    reader.refuse("default", "pattern", "must match the pattern and be one of the choices");
  }
  return {
    name,
    title: reader.text("title", formats.title, name) ?? name,
    description: reader.prose("description", limits.descriptionLength),
    secret: flag(reader, "secret", secretDefault),
    required: flag(reader, "required", fallback === undefined),
    multiline: flag(reader, "multiline", false),
    pattern: typeof pattern === "string" ? pattern : undefined,
    choices,
    example: reader.prose("example", 500),
    default: fallback,
    accepts,
  };
}

export function flag(reader: ObjectReader, name: string, fallback: boolean): boolean {
  const value = reader.get(name);
  if (value === undefined || typeof value === "boolean") return value ?? fallback;
  reader.refuse(name, "type", "must be true or false");
  return fallback;
}

/** Reads the `pattern` of a reader. CEL matches in linear time, also for hostile patterns. */
export function parsePattern(pattern: Json, reader: ObjectReader): ((value: string) => boolean) | undefined {
  if (typeof pattern !== "string") return reader.refuse("pattern", "type", 'must be a text, for example "^[a-z]+$"');
  try {
    const expression = compileCel(`value.matches(${JSON.stringify(pattern)})`, variables, "bool");
    return (value) => {
      try {
        return evaluateCondition(expression, { value });
      } catch (error) {
        if (error instanceof CelError) return false;
        throw error;
      }
    };
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return reader.refuse("pattern", "pattern", `is not a valid regular expression (RE2): ${error.message}`);
  }
}

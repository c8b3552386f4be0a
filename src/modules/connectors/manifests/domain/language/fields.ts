import { CelError, compileCel, evaluateCondition } from "../../../../../platform/cel/index.ts";
import {
  isJsonObject,
  type Json,
  type JsonObject,
  memberPath,
  type ObjectReader,
} from "../../../../../platform/document/index.ts";
import {
  defineObject,
  flag,
  optional,
  optionalTexts,
  prose,
  type ReadContext,
  text,
  type ValueOf,
} from "../../../../../platform/json-schema/index.ts";
import { formats, limits } from "./limits.ts";
import { mapSchema, raw, ref } from "./members.ts";

const variables = { value: "string" } as const;

const field = defineObject(
  "a field",
  '{"title": "API key"}',
  {
    title: optional(text("title", formats.title)),
    description: prose("description", limits.descriptionLength),
    /** Whether forms hide the value. Settings are never secret. */
    secret: optional(flag("secret")),
    required: optional(flag("required")),
    multiline: flag("multiline"),
    pattern: raw("pattern", { type: "string", description: "A regular expression (RE2) that values match." }),
    choices: optionalTexts("choices", formats.title, { min: 1, max: 100 }, '["eu", "us"]'),
    example: prose("example", 500),
    default: optional(prose("default", 2000)),
  },
  ({ pattern, required, ...field }, reader) => {
    const matches = pattern === undefined ? undefined : parsePattern(pattern, reader);
    const accepts = (text: string) => (matches?.(text) ?? true) && (field.choices?.includes(text) ?? true);
    if (field.default !== undefined && !accepts(field.default)) {
      reader.refuse("default", "pattern", "must match the pattern and be one of the choices");
    }
    return {
      ...field,
      required: required ?? field.default === undefined,
      /** A regular expression (RE2) that values match. */
      pattern: typeof pattern === "string" ? pattern : undefined,
      /** Whether a value matches the pattern and is one of the choices. It takes linear time. */
      accepts,
    };
  },
);

/** A value that is asked for when an account is connected. */
export interface FieldSpec extends ValueOf<typeof field> {
  readonly name: string;
  readonly title: string;
  readonly secret: boolean;
}

/** Reads an object of values that are asked for when an account is connected, one field per step. */
export function* parseFields(
  value: Json | undefined,
  path: string,
  context: ReadContext,
  { secret }: { readonly secret: boolean },
): Generator<void, readonly FieldSpec[]> {
  const { violations } = context;
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
    const read = field.read(value[name]!, place, context);
    if (read !== undefined) fields.push({ ...read, name, title: read.title ?? name, secret: read.secret ?? secret });
    yield;
  }
  return fields;
}

/** The schemas of fields, by name. */
export const fieldSchemas: JsonObject = {
  field: field.schema,
  fields: mapSchema(formats.field, ref("field"), limits.fields),
};

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

import { type DescField, getOption, hasOption, toJson } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { FieldRulesSchema, field as fieldRules } from "../../../../gen/buf/validate/validate_pb.ts";
import type { Schema } from "../document.ts";

interface NumberRules {
  readonly lte?: number | string;
  readonly gt?: number | string;
  readonly gte?: number | string;
}

/** The buf.validate rules of a field as JSON. 64-bit numbers are strings. */
export interface Rules {
  readonly required?: boolean;
  readonly ignore?: "IGNORE_IF_ZERO_VALUE" | "IGNORE_ALWAYS";
  readonly double?: NumberRules;
  readonly int32?: NumberRules;
  readonly int64?: NumberRules;
  readonly uint32?: NumberRules;
  readonly string?: {
    readonly min_len?: string;
    readonly max_len?: string;
    readonly max_bytes?: string;
    readonly pattern?: string;
    readonly in?: readonly string[];
    readonly email?: boolean;
    readonly uri?: boolean;
  };
  readonly bytes?: { readonly min_len?: string; readonly max_len?: string };
  readonly enum?: { readonly defined_only?: boolean; readonly not_in?: readonly number[] };
  readonly repeated?: {
    readonly min_items?: string;
    readonly max_items?: string;
    readonly unique?: boolean;
    readonly items?: Rules;
  };
  readonly map?: {
    readonly min_pairs?: string;
    readonly max_pairs?: string;
    readonly keys?: Rules;
    readonly values?: Rules;
  };
}

/** Reads a field's rules from its definition. */
export function readRules(field: DescField): Rules {
  if (!hasOption(field, fieldRules)) return {};
  const rules = toJson(FieldRulesSchema, getOption(field, fieldRules), { useProtoFieldName: true }) as Rules;
  return rules.ignore === "IGNORE_ALWAYS" ? {} : rules;
}

/** Whether a field is required: its rules say so, or its default value violates them. */
export function isRequired(field: DescField): boolean {
  const rules = readRules(field);
  if (rules.required === true) return true;
  const implicit =
    field.fieldKind === "list" || field.fieldKind === "map" || field.presence === FeatureSet_FieldPresence.IMPLICIT;
  return implicit && rules.ignore === undefined && rejectsZero(rules);
}

/** Converts the rules to JSON Schema keywords, for a value that is not a list, a map or an enum. */
export function toConstraints(rules: Rules, implicit: boolean): Schema {
  const keywords = { ...stringKeywords(rules), ...bytesKeywords(rules), ...numberKeywords(rules) };
  if (rules.required === true && implicit && rules.string !== undefined) keywords.minLength ??= 1;
  if (rules.ignore !== "IGNORE_IF_ZERO_VALUE" || !rejectsZero(rules)) return keywords;
  const zero = rules.string !== undefined || rules.bytes !== undefined ? "" : 0;
  if (Array.isArray(keywords.enum)) return { ...keywords, enum: [zero, ...keywords.enum] };
  const { pattern, ...others } = keywords;
  const onlyPattern = pattern !== undefined && others.minLength === undefined && others.format === undefined;
  return onlyPattern ? { ...others, pattern: `^$|${pattern}` } : { anyOf: [{ const: zero }, keywords] };
}

/** Converts the size rules of a list or a map to JSON Schema keywords. */
export function sizeKeywords(rules: Rules): Schema {
  const { repeated, map } = rules;
  return present({
    minItems: numeric(repeated?.min_items) ?? (rules.required && repeated ? 1 : undefined),
    maxItems: numeric(repeated?.max_items),
    uniqueItems: repeated?.unique || undefined,
    minProperties: numeric(map?.min_pairs),
    maxProperties: numeric(map?.max_pairs),
  });
}

/** The pattern if it is valid in JavaScript. Patterns with RE2-only syntax are omitted. */
export function ecmaPattern(pattern: string | undefined): string | undefined {
  if (pattern === undefined) return undefined;
  try {
    new RegExp(pattern, "u");
    return pattern;
  } catch {
    return undefined;
  }
}

function stringKeywords({ string }: Rules): Schema {
  if (string === undefined) return {};
  const longest = [numeric(string.max_len), numeric(string.max_bytes)].filter((length) => length !== undefined);
  return present({
    minLength: numeric(string.min_len),
    // A string has at most as many characters as bytes.
    maxLength: longest.length > 0 ? Math.min(...longest) : undefined,
    pattern: ecmaPattern(string.pattern),
    enum: string.in,
    format: string.email ? "email" : string.uri ? "uri" : undefined,
  });
}

function bytesKeywords({ bytes }: Rules): Schema {
  if (bytes === undefined) return {};
  const encoded = (length: number | undefined) => (length === undefined ? undefined : Math.ceil(length / 3) * 4);
  return present({ minLength: encoded(numeric(bytes.min_len)), maxLength: encoded(numeric(bytes.max_len)) });
}

function numberKeywords(rules: Rules): Schema {
  const bounds = numberRules(rules);
  return present({
    minimum: numeric(bounds.gte),
    exclusiveMinimum: numeric(bounds.gt),
    maximum: numeric(bounds.lte),
  });
}

function numberRules(rules: Rules): NumberRules {
  return rules.int32 ?? rules.int64 ?? rules.uint32 ?? rules.double ?? {};
}

function rejectsZero(rules: Rules): boolean {
  const { string, bytes, repeated, map } = rules;
  const { gte, gt, lte } = numberRules(rules);
  const pattern = ecmaPattern(string?.pattern);
  return (
    positive(string?.min_len ?? bytes?.min_len ?? repeated?.min_items ?? map?.min_pairs) ||
    (pattern !== undefined && !new RegExp(pattern, "u").test("")) ||
    (string?.in !== undefined && !string.in.includes("")) ||
    string?.email === true ||
    string?.uri === true ||
    positive(gte) ||
    (gt !== undefined && Number(gt) >= 0) ||
    (lte !== undefined && Number(lte) < 0) ||
    rules.enum?.not_in?.includes(0) === true
  );
}

function positive(value: number | string | undefined): boolean {
  return value !== undefined && Number(value) > 0;
}

function numeric(value: number | string | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

function present(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}

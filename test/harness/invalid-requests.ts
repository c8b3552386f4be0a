import { type DescField, isFieldSet, ScalarType } from "@bufbuild/protobuf";
import { DoubleRulesSchema, type FieldRules, Ignore, Int32RulesSchema } from "../../gen/buf/validate/validate_pb.ts";
import type { Operation } from "../../src/definitions/index.ts";
import { type Json, rulesOf } from "./operations.ts";

/** A value that a field must reject. */
export interface InvalidValue {
  readonly field: string;
  readonly what: string;
  readonly value: unknown;
}

/** For each field of a request, values that violate its type or one of its rules. */
export function invalidValuesOf({ method }: Operation): InvalidValue[] {
  return method.input.fields.flatMap((field) =>
    valuesAgainst(field).map(([what, value]) => ({ field: field.name, what, value })),
  );
}

/** The list fields whose items are validated one by one, each with its own result. */
export function itemwiseFields({ method }: Operation): DescField[] {
  return method.input.fields.filter((field) => {
    const type = rulesOf(field)?.type;
    return type?.case === "repeated" && type.value.items?.ignore === Ignore.ALWAYS;
  });
}

/** A request with one invalid field. */
export function broken(request: Json, { field, value }: InvalidValue): Json {
  return { ...request, [field]: value };
}

function valuesAgainst(field: DescField): [string, unknown][] {
  const rules = rulesOf(field);
  switch (field.fieldKind) {
    case "list":
      return againstList(field, rules);
    case "map":
      return [
        ["a list instead of a map", []],
        ...(rules?.type.case === "map" && rules.type.value.keys !== undefined
          ? ([["an unknown key", { "no such key": {} }]] as [string, unknown][])
          : []),
      ];
    case "enum":
      return againstEnum(rules);
    case "message":
      return againstMessage(field.message.typeName);
    default:
      return againstScalar(field.scalar, rules);
  }
}

function againstList(field: DescField & { fieldKind: "list" }, rules: FieldRules | undefined): [string, unknown][] {
  const list = rules?.type.case === "repeated" ? rules.type.value : undefined;
  const items =
    field.listKind === "scalar"
      ? againstScalar(field.scalar, list?.items)
      : ([["text", "no message"]] as [string, unknown][]);
  const against = items.map(([what, value]): [string, unknown] => [`an item: ${what}`, [value]]);
  if (list !== undefined && list.minItems > 0n) against.push(["too few items", []]);
  if (list !== undefined && list.maxItems > 0n) against.push(["too many items", tooMany(Number(list.maxItems))]);
  return against;
}

function tooMany(max: number): string[] {
  return Array.from({ length: max + 1 }, (_, i) => `a${i}`);
}

function againstEnum(rules: FieldRules | undefined): [string, unknown][] {
  const refused = rules?.type.case === "enum" ? rules.type.value.notIn : [];
  return [
    ["an unknown name", "NO_SUCH_NAME"],
    ["an unknown number", 999],
    ...refused.map((number): [string, unknown] => [`the number ${number}`, number]),
  ];
}

function againstMessage(typeName: string): [string, unknown][] {
  switch (typeName) {
    case "google.protobuf.Timestamp":
      return [
        ["no time", "yesterday"],
        ["a time after the year 9999", "10000-01-01T00:00:00Z"],
        ["the 30th of February", "2024-02-30T00:00:00Z"],
      ];
    case "google.protobuf.Value":
      return [];
    default:
      return [
        ["text instead of an object", "text"],
        ["a list instead of an object", []],
      ];
  }
}

function againstScalar(scalar: ScalarType, rules: FieldRules | undefined): [string, unknown][] {
  switch (scalar) {
    case ScalarType.STRING:
      return againstString(rules);
    case ScalarType.BOOL:
      return [
        ["text instead of a boolean", "perhaps"],
        ["a number instead of a boolean", 1],
      ];
    case ScalarType.BYTES:
      return [["no base64", "*"]];
    case ScalarType.DOUBLE:
      return [["text instead of a number", "many"], ["a number beyond every type", "1e999"], ...againstBounds(rules)];
    default:
      return [
        ["text instead of a number", "many"],
        ["a fraction", 1.5],
        ["a number beyond every type", "99999999999999999999999"],
        ...againstBounds(rules),
      ];
  }
}

function againstBounds(rules: FieldRules | undefined): [string, unknown][] {
  const type = rules?.type;
  if (type?.case !== "int32" && type?.case !== "double") return [];
  const { gte, lte } = (type.case === "int32" ? Int32RulesSchema : DoubleRulesSchema).field;
  const against: [string, unknown][] = [];
  if (isFieldSet(type.value, gte)) against.push(["too small a number", type.value.gte - 1]);
  if (isFieldSet(type.value, lte)) against.push(["too large a number", type.value.lte + 1]);
  return against;
}

function againstString(rules: FieldRules | undefined): [string, unknown][] {
  const string = rules?.type.case === "string" ? rules.type.value : undefined;
  const against: [string, unknown][] = [["U+0000", "a\u0000b"]];
  if (string === undefined) return against;
  const max = Number(string.maxLen || string.maxBytes);
  if (max > 0) against.push(["too long a text", "x".repeat(max + 1)]);
  if (string.pattern !== "") against.push(["another pattern", "! no pattern has this"]);
  if (string.in.length > 0) against.push(["no listed value", "not listed"]);
  if (string.wellKnown.case === "email") against.push(["no address", "nobody"]);
  return against;
}

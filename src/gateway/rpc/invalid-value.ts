import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import type { ListValue, Struct, Value } from "@bufbuild/protobuf/wkt";
import type { Violation } from "../../errors/index.ts";
import { depthMax } from "../../platform/protojson/index.ts";

type Fields = Record<string, unknown>;
/** A violation, with the path relative to the checked value. */
type InvalidValue = Violation;

const checkedFields = new WeakMap<DescMessage, readonly DescField[]>();
const secondsMin = -62_135_596_800n; // 0001-01-01T00:00:00Z
const secondsMax = 253_402_300_799n; // 9999-12-31T23:59:59Z
const durationSecondsMax = 315_576_000_000n;

/** Finds the first value that the binary format can encode but that is not valid. The JSON decoder refuses the same values. */
export function findInvalidValue(desc: DescMessage, message: Message): InvalidValue | undefined {
  for (const field of fieldsToCheck(desc)) {
    const value = valueIn(field, message as unknown as Fields);
    const found = value === undefined ? undefined : invalidInField(field, value);
    if (found !== undefined) return { ...found, field: field.name + found.field };
  }
  return undefined;
}

/** Fields that contain a time, a duration or free JSON, directly or in a nested message. */
function fieldsToCheck(desc: DescMessage): readonly DescField[] {
  let fields = checkedFields.get(desc);
  if (fields === undefined) {
    fields = desc.fields.filter(({ message }) => message !== undefined && holdsAny(message, new Set()));
    checkedFields.set(desc, fields);
  }
  return fields;
}

function holdsAny(desc: DescMessage, seen: Set<DescMessage>): boolean {
  if (/^google\.protobuf\.(Timestamp|Duration|Struct|Value|ListValue)$/.test(desc.typeName)) return true;
  if (seen.has(desc)) return false;
  seen.add(desc);
  return desc.fields.some(({ message }) => message !== undefined && holdsAny(message, seen));
}

function valueIn(field: DescField, fields: Fields): unknown {
  if (field.oneof === undefined) return fields[field.localName];
  const chosen = fields[field.oneof.localName] as { case: string | undefined; value?: unknown };
  return chosen.case === field.localName ? chosen.value : undefined;
}

function invalidInField(field: DescField, value: unknown): InvalidValue | undefined {
  if (field.fieldKind !== "list" && field.fieldKind !== "map") return invalidInItem(field.message!, value);
  for (const [key, item] of Object.entries(value as object)) {
    const found = invalidInItem(field.message!, item);
    if (found !== undefined) return { ...found, field: `[${key}]${found.field}` };
  }
  return undefined;
}

function invalidInItem(desc: DescMessage, item: unknown): InvalidValue | undefined {
  switch (desc.typeName) {
    case "google.protobuf.Timestamp": {
      const { seconds, nanos } = item as { seconds: bigint; nanos: number };
      const within = seconds >= secondsMin && seconds <= secondsMax && nanos >= 0 && nanos <= 999_999_999;
      return within
        ? undefined
        : invalidValue("type.timestamp", "must be between the years 1 and 9999 (for example: 2024-01-01T00:00:00Z)");
    }
    case "google.protobuf.Duration": {
      const { seconds, nanos } = item as { seconds: bigint; nanos: number };
      const within = seconds >= -durationSecondsMax && seconds <= durationSecondsMax && Math.abs(nanos) <= 999_999_999;
      return within ? undefined : invalidValue("type.duration", "must be between -10000 and 10000 years");
    }
    case "google.protobuf.Struct":
      return invalidInJson(item, 1);
    case "google.protobuf.Value":
      return invalidInValue(item as Value, 1);
    case "google.protobuf.ListValue":
      return (item as ListValue).values.reduce<InvalidValue | undefined>(
        (found, each) => found ?? invalidInValue(each, 2),
        undefined,
      );
    default: {
      const found = findInvalidValue(desc, item as Message);
      return found && { ...found, field: `.${found.field}` };
    }
  }
}

/** protobuf-es represents a Struct as plain JSON. */
function invalidInJson(json: unknown, depth: number): InvalidValue | undefined {
  if (json === undefined) return noValue();
  if (typeof json === "number") return invalidInNumber(json);
  if (typeof json !== "object" || json === null) return undefined;
  if (depth > depthMax) return tooDeep();
  for (const each of Object.values(json)) {
    const found = invalidInJson(each, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** protobuf-es represents a Value, and a Struct in one, as messages. */
function invalidInValue({ kind }: Value, depth: number): InvalidValue | undefined {
  if (depth > depthMax) return tooDeep();
  switch (kind.case) {
    case undefined:
      return noValue();
    case "numberValue":
      return invalidInNumber(kind.value);
    case "structValue":
    case "listValue": {
      const held = kind.value as Struct | ListValue;
      for (const each of "values" in held ? held.values : Object.values(held.fields)) {
        const found = invalidInValue(each, depth + 1);
        if (found !== undefined) return found;
      }
      return undefined;
    }
    default:
      return undefined;
  }
}

function invalidInNumber(value: number): InvalidValue | undefined {
  return Number.isFinite(value) ? undefined : invalidValue("type.value", "must not contain NaN or infinite numbers");
}

function tooDeep(): InvalidValue {
  return invalidValue("type.value", `must not nest deeper than ${depthMax} levels`);
}

function noValue(): InvalidValue {
  return invalidValue("type.value", "must contain a value");
}

function invalidValue(rule: string, message: string): InvalidValue {
  return { field: "", rule, message };
}

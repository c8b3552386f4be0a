import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import type { ListValue, Struct, Value } from "@bufbuild/protobuf/wkt";
import type { Violation } from "../../errors/index.ts";
import { depthMax } from "../../platform/protojson/index.ts";

type Fields = Record<string, unknown>;
/** What is wrong, and where below the place that was looked at. */
type Fault = Violation;

const looked = new WeakMap<DescMessage, readonly DescField[]>();
const secondsMin = -62_135_596_800n; // 0001-01-01T00:00:00Z
const secondsMax = 253_402_300_799n; // 9999-12-31T23:59:59Z
const durationSecondsMax = 315_576_000_000n;

/** Finds the first value that the binary format can carry but that means nothing: JSON's reader refuses the same. */
export function findFault(desc: DescMessage, message: Message): Fault | undefined {
  for (const field of fieldsToLookAt(desc)) {
    const value = valueIn(field, message as unknown as Fields);
    const found = value === undefined ? undefined : faultInField(field, value);
    if (found !== undefined) return { ...found, field: field.name + found.field };
  }
  return undefined;
}

/** The fields that hold a time, a duration or free JSON, or a message that has such a field. */
function fieldsToLookAt(desc: DescMessage): readonly DescField[] {
  let fields = looked.get(desc);
  if (fields === undefined) {
    fields = desc.fields.filter(({ message }) => message !== undefined && holdsAny(message, new Set()));
    looked.set(desc, fields);
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

function faultInField(field: DescField, value: unknown): Fault | undefined {
  if (field.fieldKind !== "list" && field.fieldKind !== "map") return faultInItem(field.message!, value);
  for (const [key, item] of Object.entries(value as object)) {
    const found = faultInItem(field.message!, item);
    if (found !== undefined) return { ...found, field: `[${key}]${found.field}` };
  }
  return undefined;
}

function faultInItem(desc: DescMessage, item: unknown): Fault | undefined {
  switch (desc.typeName) {
    case "google.protobuf.Timestamp": {
      const { seconds, nanos } = item as { seconds: bigint; nanos: number };
      const within = seconds >= secondsMin && seconds <= secondsMax && nanos >= 0 && nanos <= 999_999_999;
      return within ? undefined : fault("type.timestamp", "must lie in the years 1 to 9999");
    }
    case "google.protobuf.Duration": {
      const { seconds, nanos } = item as { seconds: bigint; nanos: number };
      const within = seconds >= -durationSecondsMax && seconds <= durationSecondsMax && Math.abs(nanos) <= 999_999_999;
      return within ? undefined : fault("type.duration", "must be at most 10000 years");
    }
    case "google.protobuf.Struct":
      return faultInJson(item, 1);
    case "google.protobuf.Value":
      return faultInValue(item as Value, 1);
    case "google.protobuf.ListValue":
      return (item as ListValue).values.reduce<Fault | undefined>(
        (found, each) => found ?? faultInValue(each, 2),
        undefined,
      );
    default: {
      const found = findFault(desc, item as Message);
      return found && { ...found, field: `.${found.field}` };
    }
  }
}

/** A Struct is held as plain JSON. */
function faultInJson(json: unknown, depth: number): Fault | undefined {
  if (json === undefined) return noValue();
  if (typeof json === "number") return faultInNumber(json);
  if (typeof json !== "object" || json === null) return undefined;
  if (depth > depthMax) return tooDeep();
  for (const each of Object.values(json)) {
    const found = faultInJson(each, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A Value, and a Struct within one, are held as messages. */
function faultInValue({ kind }: Value, depth: number): Fault | undefined {
  if (depth > depthMax) return tooDeep();
  switch (kind.case) {
    case undefined:
      return noValue();
    case "numberValue":
      return faultInNumber(kind.value);
    case "structValue":
    case "listValue": {
      const held = kind.value as Struct | ListValue;
      for (const each of "values" in held ? held.values : Object.values(held.fields)) {
        const found = faultInValue(each, depth + 1);
        if (found !== undefined) return found;
      }
      return undefined;
    }
    default:
      return undefined;
  }
}

function faultInNumber(value: number): Fault | undefined {
  return Number.isFinite(value) ? undefined : fault("type.value", "must not hold NaN or infinite numbers");
}

function tooDeep(): Fault {
  return fault("type.value", `must not nest deeper than ${depthMax} levels`);
}

function noValue(): Fault {
  return fault("type.value", "must hold a value");
}

function fault(rule: string, message: string): Fault {
  return { field: "", rule, message };
}

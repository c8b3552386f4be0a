import { type DescEnum, ScalarType } from "@bufbuild/protobuf";
import { unreachable } from "../../../errors/index.ts";
import { describeType, type Problems, shortName } from "../problems.ts";
import { isCleanText, reportUncleanText } from "./struct.ts";

/** Reads one JSON value; reports a violation and returns undefined if it is invalid. */
export type Reader = (json: unknown, problems: Problems) => unknown;

const allowedNamesMax = 20;
const decimal = /^-?\d{1,20}$/;
const decimalFraction = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const unboundedNumbers: ReadonlySet<string> = new Set(["NaN", "Infinity", "-Infinity"]);
const floatMax = 3.4028234663852886e38;

/** Creates the reader of a scalar type. With `longAsString`, 64-bit integers are represented as strings. */
export function createScalarReader(scalar: ScalarType, longAsString: boolean): Reader {
  switch (scalar) {
    case ScalarType.STRING:
      return readString;
    case ScalarType.BOOL:
      return readBool;
    case ScalarType.BYTES:
      return readBytes;
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return createIntReader("int32", -0x8000_0000, 0x7fff_ffff);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return createIntReader("uint32", 0, 0xffff_ffff);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return createLongReader("int64", -(2n ** 63n), 2n ** 63n - 1n, longAsString);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return createLongReader("uint64", 0n, 2n ** 64n - 1n, longAsString);
    case ScalarType.FLOAT:
      return createFloatReader("float", floatMax);
    case ScalarType.DOUBLE:
      return createFloatReader("double", Number.MAX_VALUE);
    default:
      return unreachable(scalar);
  }
}

function readString(json: unknown, problems: Problems): string | undefined {
  if (typeof json !== "string") return problems.add("type.string", `must be a string, not ${describeType(json)}`);
  return isCleanText(json) ? json : reportUncleanText(problems);
}

function readBool(json: unknown, problems: Problems): boolean | undefined {
  return typeof json === "boolean"
    ? json
    : problems.add("type.bool", `must be true or false, not ${describeType(json)}`);
}

function readBytes(json: unknown, problems: Problems): Uint8Array | undefined {
  if (typeof json !== "string") return problems.add("type.bytes", `must be a base64 string, not ${describeType(json)}`);
  const padded = json.endsWith("=");
  if (!base64.test(json) || (padded ? json.length % 4 !== 0 : json.length % 4 === 1)) {
    return problems.add("type.bytes", "must be base64 or base64url (for example: aGVsbG8=)");
  }
  // Copied, because a Buffer would keep the whole shared pool alive.
  return new Uint8Array(Buffer.from(json, "base64"));
}

function createIntReader(name: string, min: number, max: number): Reader {
  const rule = `type.${name}`;
  return (json, problems) => {
    const value = typeof json === "string" && !problems.strict && decimal.test(json) ? Number(json) : json;
    if (typeof value !== "number") return problems.add(rule, wrongNumberMessage("an integer", json, problems));
    if (!Number.isInteger(value)) return problems.add(rule, "must be an integer");
    // Adding zero converts -0 to 0.
    return value >= min && value <= max ? value + 0 : problems.add(rule, `must be between ${min} and ${max}`);
  };
}

function createLongReader(name: string, min: bigint, max: bigint, asString: boolean): Reader {
  const rule = `type.${name}`;
  return (json, problems) => {
    let value: bigint;
    if (typeof json === "number") {
      if (Number.isFinite(json) && !Number.isInteger(json)) return problems.add(rule, "must be an integer");
      if (!Number.isSafeInteger(json)) {
        return problems.add(
          rule,
          'is too large to be exact as a JSON number; send it as a string of digits (for example: "9007199254740993")',
        );
      }
      value = BigInt(json);
    } else if (typeof json === "string" && decimal.test(json)) {
      value = BigInt(json);
    } else {
      return problems.add(rule, wrongNumberMessage("an integer", json));
    }
    if (value < min || value > max) return problems.add(rule, `must be between ${min} and ${max}`);
    return asString ? String(value) : value;
  };
}

function createFloatReader(name: string, max: number): Reader {
  const rule = `type.${name}`;
  return (json, problems) => {
    const isText = typeof json === "string" && !problems.strict;
    if (isText && unboundedNumbers.has(json)) return Number(json);
    const value = isText && decimalFraction.test(json) ? Number(json) : json;
    if (typeof value !== "number") return problems.add(rule, wrongNumberMessage("a number", json, problems));
    return Math.abs(value) <= max ? value : problems.add(rule, `must be within the range of a ${name}`);
  };
}

// Where a string of digits is accepted as a number, the text "not a string" would be misleading.
function wrongNumberMessage(wanted: string, json: unknown, problems?: Problems): string {
  return typeof json === "string" && !problems?.strict
    ? `must be ${wanted}`
    : `must be ${wanted}, not ${describeType(json)}`;
}

/** Creates the reader of an enum. It accepts names and, unless it is strict, numbers. */
export function createEnumReader(desc: DescEnum): Reader {
  if (desc.typeName === "google.protobuf.NullValue") return () => 0;
  const numbers = new Map<unknown, number>(desc.values.map((value) => [value.name, value.number]));
  const names = offeredNames(desc);
  const more = names.length > allowedNamesMax ? ", …" : "";
  const allowed = `must be one of ${names.slice(0, allowedNamesMax).join(", ")}${more}`;
  const known = new Set<unknown>(numbers.values());
  return (json, problems) => {
    const number = numbers.get(json);
    if (number !== undefined) return number;
    if (typeof json === "number" && !problems.strict && (desc.open ? (json | 0) === json : known.has(json)))
      return json + 0;
    return problems.add("type.enum", `${allowed}, not ${typeof json === "string" ? quoted(json) : describeType(json)}`);
  };
}

/** The names of an enum to offer a caller: all except the one for an absent value. */
export function offeredNames(desc: DescEnum): string[] {
  const names = desc.values.map(({ name }) => name);
  const chosen = names.filter((name) => !name.endsWith("_UNSPECIFIED"));
  return chosen.length === 0 ? names : chosen;
}

function quoted(text: string): string {
  return JSON.stringify(shortName(text));
}

/** Creates the reader of a map's keys, which are always strings in JSON; it returns the key in its stored form. */
export function createKeyReader(scalar: ScalarType): (key: string, problems: Problems) => string | undefined {
  if (scalar === ScalarType.STRING) return (key, problems) => (isCleanText(key) ? key : reportUncleanText(problems));
  if (scalar === ScalarType.BOOL) {
    return (key, problems) =>
      key === "true" || key === "false" ? key : problems.add("type.bool", "must have the key true or false");
  }
  const read = createScalarReader(scalar, true);
  return (key, problems) => {
    const value = read(key, problems);
    return value === undefined ? undefined : String(value);
  };
}

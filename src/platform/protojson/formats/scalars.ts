import { type DescEnum, ScalarType } from "@bufbuild/protobuf";
import { unreachable } from "../../../errors/index.ts";
import { kindOf, type Problems, shortName } from "../problems.ts";
import { isCleanText, unclean } from "./struct.ts";

/** Reads one JSON value; undefined after reporting what is wrong with it. */
export type Reader = (json: unknown, problems: Problems) => unknown;

const allowedNamesMax = 20;
const decimal = /^-?\d{1,20}$/;
const decimalFraction = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const unboundedNumbers: ReadonlySet<string> = new Set(["NaN", "Infinity", "-Infinity"]);
const floatMax = 3.4028234663852886e38;

/** The reader of a scalar type. With `longAsString`, 64-bit integers are kept as strings. */
export function scalarReader(scalar: ScalarType, longAsString: boolean): Reader {
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
      return intReader("int32", -0x8000_0000, 0x7fff_ffff);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return intReader("uint32", 0, 0xffff_ffff);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return longReader("int64", -(2n ** 63n), 2n ** 63n - 1n, longAsString);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return longReader("uint64", 0n, 2n ** 64n - 1n, longAsString);
    case ScalarType.FLOAT:
      return floatReader("float", floatMax);
    case ScalarType.DOUBLE:
      return floatReader("double", Number.MAX_VALUE);
    default:
      return unreachable(scalar);
  }
}

function readString(json: unknown, problems: Problems): string | undefined {
  if (typeof json !== "string") return problems.add("type.string", `must be a string, not ${kindOf(json)}`);
  return isCleanText(json) ? json : unclean(problems);
}

function readBool(json: unknown, problems: Problems): boolean | undefined {
  return typeof json === "boolean" ? json : problems.add("type.bool", `must be true or false, not ${kindOf(json)}`);
}

function readBytes(json: unknown, problems: Problems): Uint8Array | undefined {
  if (typeof json !== "string") return problems.add("type.bytes", `must be a base64 string, not ${kindOf(json)}`);
  const padded = json.endsWith("=");
  if (!base64.test(json) || (padded ? json.length % 4 !== 0 : json.length % 4 === 1)) {
    return problems.add("type.bytes", "must be base64 or base64url");
  }
  // A copy: a Buffer would keep its neighbours in the shared pool alive.
  return new Uint8Array(Buffer.from(json, "base64"));
}

function intReader(name: string, min: number, max: number): Reader {
  const rule = `type.${name}`;
  return (json, problems) => {
    const value = typeof json === "string" && !problems.strict && decimal.test(json) ? Number(json) : json;
    if (typeof value !== "number") return problems.add(rule, wrongNumber("an integer", json, problems));
    if (!Number.isInteger(value)) return problems.add(rule, "must be an integer");
    // Adding zero turns -0 into 0.
    return value >= min && value <= max ? value + 0 : problems.add(rule, `must be between ${min} and ${max}`);
  };
}

function longReader(name: string, min: bigint, max: bigint, asString: boolean): Reader {
  const rule = `type.${name}`;
  return (json, problems) => {
    let value: bigint;
    if (typeof json === "number") {
      if (Number.isFinite(json) && !Number.isInteger(json)) return problems.add(rule, "must be an integer");
      if (!Number.isSafeInteger(json)) {
        return problems.add(rule, "is too large to be exact as a JSON number; send it as a string of digits");
      }
      value = BigInt(json);
    } else if (typeof json === "string" && decimal.test(json)) {
      value = BigInt(json);
    } else {
      return problems.add(rule, wrongNumber("an integer", json));
    }
    if (value < min || value > max) return problems.add(rule, `must be between ${min} and ${max}`);
    return asString ? String(value) : value;
  };
}

function floatReader(name: string, max: number): Reader {
  const rule = `type.${name}`;
  return (json, problems) => {
    const isText = typeof json === "string" && !problems.strict;
    if (isText && unboundedNumbers.has(json)) return Number(json);
    const value = isText && decimalFraction.test(json) ? Number(json) : json;
    if (typeof value !== "number") return problems.add(rule, wrongNumber("a number", json, problems));
    return Math.abs(value) <= max ? value : problems.add(rule, `must be a number that a ${name} can hold`);
  };
}

// Where a string of digits is a number too, "not a string" would mislead.
function wrongNumber(wanted: string, json: unknown, problems?: Problems): string {
  return typeof json === "string" && !problems?.strict ? `must be ${wanted}` : `must be ${wanted}, not ${kindOf(json)}`;
}

/** The reader of an enum: its names, or numbers unless strict. */
export function enumReader(desc: DescEnum): Reader {
  if (desc.typeName === "google.protobuf.NullValue") return () => 0;
  const numbers = new Map<unknown, number>(desc.values.map((value) => [value.name, value.number]));
  const names = [...numbers.keys()];
  const more = names.length > allowedNamesMax ? ", …" : "";
  const allowed = `must be one of ${names.slice(0, allowedNamesMax).join(", ")}${more}`;
  const known = new Set<unknown>(numbers.values());
  return (json, problems) => {
    const number = numbers.get(json);
    if (number !== undefined) return number;
    if (typeof json === "number" && !problems.strict && (desc.open ? (json | 0) === json : known.has(json)))
      return json + 0;
    return problems.add("type.enum", `${allowed}, not ${typeof json === "string" ? quoted(json) : kindOf(json)}`);
  };
}

function quoted(text: string): string {
  return JSON.stringify(shortName(text));
}

/** The reader of a map's keys, which JSON always gives as strings: it answers the key as it is kept. */
export function keyReader(scalar: ScalarType): (key: string, problems: Problems) => string | undefined {
  if (scalar === ScalarType.STRING) return (key, problems) => (isCleanText(key) ? key : unclean(problems));
  if (scalar === ScalarType.BOOL) {
    return (key, problems) =>
      key === "true" || key === "false" ? key : problems.add("type.bool", "must have true or false as its key");
  }
  const read = scalarReader(scalar, true);
  return (key, problems) => {
    const value = read(key, problems);
    return value === undefined ? undefined : String(value);
  };
}

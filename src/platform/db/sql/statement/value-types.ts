/** PostgreSQL's ids of the types that the client handles. */
export const typeIds = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  varchar: 1043,
  date: 1082,
  timestamp: 1114,
  timestamptz: 1184,
  jsonb: 3802,
} as const;

/** The element type of each array type that the client handles. */
const elements: ReadonlyMap<number, number> = new Map<number, number>([
  [199, typeIds.json],
  [1000, typeIds.bool],
  [1001, typeIds.bytea],
  [1002, 18],
  [1003, 19],
  [1005, typeIds.int2],
  [1007, typeIds.int4],
  [1009, 25],
  [1014, 1042],
  [1015, typeIds.varchar],
  [1016, typeIds.int8],
  [1021, typeIds.float4],
  [1022, typeIds.float8],
  [1028, typeIds.oid],
  [1115, typeIds.timestamp],
  [1182, typeIds.date],
  [1185, typeIds.timestamptz],
  [1231, 1700],
  [2951, 2950],
  [271, 5069],
  [3807, typeIds.jsonb],
]);

/** Parses a value from PostgreSQL's text format. */
export type ValueParser = (text: string) => unknown;

const parsers = new Map<number, ValueParser>([
  [typeIds.bool, (text) => text === "t"],
  [typeIds.bytea, (text) => Buffer.from(text.slice(2), "hex")],
  // All bigint values of the service are far below 2^53.
  [typeIds.int8, Number],
  [typeIds.int2, Number],
  [typeIds.int4, Number],
  [typeIds.oid, Number],
  [typeIds.float4, Number],
  [typeIds.float8, Number],
  [typeIds.json, (text) => JSON.parse(text)],
  [typeIds.jsonb, (text) => JSON.parse(text)],
  // Only columns with JSON that PostgreSQL does not check are varchar; texts are text.
  [typeIds.varchar, (text) => JSON.parse(text)],
  [typeIds.date, parseMoment],
  [typeIds.timestamp, parseMoment],
  [typeIds.timestamptz, parseMoment],
]);

/** Converts to ISO 8601: Date would parse the year of `0001-01-01 00:00:00+00` as 2001. */
function parseMoment(text: string): Date {
  return new Date(text.endsWith("+00") ? `${text.slice(0, 10)}T${text.slice(11, -3)}Z` : text);
}

/** Parses and encodes the types of a database. */
export class ValueTypes {
  private readonly arrayParsers = new Map<number, ValueParser>();

  /** The parser for a type; undefined when the text is the value. */
  parserOf(type: number): ValueParser | undefined {
    const known = parsers.get(type) ?? this.arrayParsers.get(type);
    const element = elements.get(type);
    if (known !== undefined || element === undefined) return known;
    const elementParser = parsers.get(element);
    const parser: ValueParser = (text) => parseArray(text, elementParser);
    this.arrayParsers.set(type, parser);
    return parser;
  }

  /** Encodes a parameter for its type. */
  serialize(value: unknown, type: number): string | Buffer | null {
    if (typeof value === "string") {
      return type === typeIds.jsonb || type === typeIds.json ? JSON.stringify(value) : value;
    }
    if (value === null) return null;
    if (type === typeIds.jsonb || type === typeIds.json) return JSON.stringify(value);
    if (Array.isArray(value)) return this.serializeArray(value, elements.get(type) ?? 0);
    if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return serializeScalar(value);
  }

  private serializeArray(values: readonly unknown[], element: number): string {
    const isJson = element === typeIds.jsonb || element === typeIds.json;
    let text = "{";
    for (let i = 0; i < values.length; i++) {
      if (i > 0) text += ",";
      const value = values[i];
      if (typeof value === "string" && !isJson) text += quoteElement(value);
      else if (value === undefined) throw undefinedValue();
      else if (value === null) text += "null";
      else if (isJson) text += quoteElement(JSON.stringify(value));
      else if (Array.isArray(value)) text += this.serializeArray(value, element);
      else if (value instanceof Uint8Array) text += quoteElement(`\\x${Buffer.from(value).toString("hex")}`);
      else text += quoteElement(serializeScalar(value));
    }
    return `${text}}`;
  }
}

/** Infers the type of a value; 0 lets PostgreSQL infer it. */
export function inferType(value: unknown): number {
  switch (typeof value) {
    case "boolean":
      return typeIds.bool;
    case "bigint":
      return typeIds.int8;
    case "undefined":
      throw undefinedValue();
    case "object":
      if (value instanceof Date) return typeIds.timestamptz;
      return value instanceof Uint8Array ? typeIds.bytea : 0;
    default:
      return 0;
  }
}

function serializeScalar(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "object") throw new TypeError("An object cannot be a parameter: use sql.json(…).");
  return String(value);
}

function undefinedValue(): Error {
  return Object.assign(new TypeError("undefined cannot be a parameter: use null."), { code: "UNDEFINED_VALUE" });
}

/**
 * Most elements need no escaping, and a test is cheaper than a replacement without matches. With this test, and without
 * joining a list of texts, the columns of an event with its idempotency record take 8 µs instead of 14 µs.
 */
function quoteElement(text: string): string {
  let escaped = text;
  if (text.includes("\\")) escaped = text.replaceAll("\\", "\\\\");
  if (text.includes('"')) escaped = escaped.replaceAll('"', '\\"');
  return `"${escaped}"`;
}

/** Reads an array, for example `{a,"b c",NULL,{d}}`. */
function parseArray(text: string, parse: ValueParser | undefined): unknown[] {
  // An array with non-default bounds starts with them: `[0:1]={a,b}`.
  const start = text.startsWith("[") ? text.indexOf("=") + 1 : 0;
  return new ArrayReader(text, start, parse).read();
}

class ArrayReader {
  private readonly text: string;
  private at: number;
  private readonly parse: ValueParser | undefined;

  constructor(text: string, at: number, parse: ValueParser | undefined) {
    this.text = text;
    this.at = at;
    this.parse = parse;
  }

  read(): unknown[] {
    const values: unknown[] = [];
    this.at++;
    while (this.text[this.at] !== "}") {
      values.push(this.readElement());
      if (this.text[this.at] === ",") this.at++;
    }
    this.at++;
    return values;
  }

  private readElement(): unknown {
    if (this.text[this.at] === "{") return this.read();
    if (this.text[this.at] === '"') return this.valueOf(this.readQuoted());
    const start = this.at;
    while (this.text[this.at] !== "," && this.text[this.at] !== "}") this.at++;
    const element = this.text.slice(start, this.at);
    return element === "NULL" ? null : this.valueOf(element);
  }

  private readQuoted(): string {
    let value = "";
    let start = ++this.at;
    while (this.text[this.at] !== '"') {
      if (this.text[this.at] === "\\") {
        value += this.text.slice(start, this.at);
        start = ++this.at;
      }
      this.at++;
    }
    value += this.text.slice(start, this.at++);
    return value;
  }

  private valueOf(element: string): unknown {
    return this.parse === undefined ? element : this.parse(element);
  }
}

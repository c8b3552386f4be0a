import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { type Failure, fail, invalid } from "../../../errors/index.ts";
import { bytesMaxOf, isFreeJson, KeyTable, keysMax, valuesMax } from "../../../platform/protojson/index.ts";

/** The largest number of fields in a message, including nested messages. A free JSON value takes two to four fields. */
const fieldsMax = 2 * valuesMax;
/** The decoder's own nesting limit. */
const levelsMax = 100;
/** The allowed size of binary free JSON relative to its text: a one-digit number with its comma takes eleven bytes. */
const freeJsonFactor = 6;
/** Values up to this size are not checked against their size limit. */
const smallBytes = 64 * 1024;

const keys = new KeyTable();
const fieldsByNumber = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

/** The wire type of strings, bytes, messages, map entries and packed lists. */
const delimited = 2;

/**
 * Checks the limits of a binary message before it is decoded: the number of fields, the number of different map keys, and
 * the size of values.
 *
 * The decoder reads a known field by its type, regardless of the tag's wire type, and reads past the end of a nested
 * message. Either would let a body decode to something other than what was scanned, so both are refused.
 */
export function scanBinary(desc: DescMessage, body: Buffer): void {
  keys.begin(body);
  new BinaryScan(body).message(desc, 0, body.length, 0);
}

/** Creates the failure for bytes that are not a message of the expected type. */
export function malformed(cause?: unknown): Failure {
  return fail("INVALID_ARGUMENT", {
    public: "The request's body is not a valid message of the method's request type.",
    cause,
  });
}

class BinaryScan {
  readonly #body: Buffer;
  #fields = 0;
  #at = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  message(desc: DescMessage, start: number, end: number, level: number): void {
    if (level > levelsMax) throw malformed();
    const known = fieldsOf(desc);
    // The last key of each map in this message.
    const nodes = new Map<DescField, number>();
    let openGroups = 0;
    let at = start;
    while (at < end) {
      this.#count(1);
      const tag = this.#varint(at);
      const wireType = tag % 8;
      const valueStart = this.#at;
      // The decoder skips groups with their content.
      const field = openGroups === 0 ? known.get(Math.floor(tag / 8)) : undefined;
      if (field !== undefined && !hasWireType(field, wireType)) throw malformed();
      if (wireType === 3 || wireType === 4) {
        openGroups += wireType === 3 ? 1 : -1;
        if (openGroups < 0) throw malformed();
        at = valueStart;
        continue;
      }
      at = this.#skip(wireType, valueStart, end);
      if (field !== undefined && wireType === delimited) this.#delimited(field, this.#at, at, level, nodes);
    }
    if (at !== end || openGroups > 0) throw malformed();
  }

  #delimited(field: DescField, start: number, end: number, level: number, nodes: Map<DescField, number>): void {
    const bytesMax = end - start > smallBytes ? bytesMaxOf(field) : undefined;
    if (bytesMax !== undefined && end - start > (isFreeJson(field) ? freeJsonFactor * bytesMax : bytesMax)) {
      throw invalid(field.name, "max_bytes", `must take at most ${bytesMax} bytes`);
    }
    if (field.fieldKind === "map") this.#entry(field, start, end, level + 1, nodes);
    else if (field.message !== undefined) this.message(field.message, start, end, level + 1);
    else if (field.fieldKind === "list") this.#packed(field, start, end);
  }

  #entry(
    field: DescField & { fieldKind: "map" },
    start: number,
    end: number,
    level: number,
    nodes: Map<DescField, number>,
  ): void {
    const keyTag = 8 + wireTypeOf(field.mapKey);
    const valueTag = 16 + (field.message === undefined ? wireTypeOf(field.scalar) : delimited);
    for (let at = start; at < end; ) {
      this.#count(1);
      const tag = this.#varint(at);
      // The decoder would read the value of any other field as the next tag.
      if (tag !== keyTag && tag !== valueTag) throw malformed();
      at = this.#skip(tag % 8, this.#at, end);
      if (tag === keyTag && field.mapKey === ScalarType.STRING) {
        // The last entry of a repeated key wins, so duplicates are valid here.
        if (keys.add(level, nodes.get(field) ?? 0, this.#at, at, false) === "too many") throw tooManyKeys();
        nodes.set(field, keys.node);
      } else if (tag === valueTag && field.message !== undefined) {
        this.message(field.message, this.#at, at, level);
      }
    }
  }

  /** Counts the numbers of a packed list. */
  #packed(field: DescField, start: number, end: number): void {
    const wireType = wireTypeOf(field.scalar);
    if (wireType === delimited) return;
    let at = start;
    while (at < end) {
      this.#count(1);
      at = this.#skip(wireType, at, end);
    }
  }

  /** Returns the index after a value, and sets `#at` to the start of its content. */
  #skip(wireType: number, start: number, end: number): number {
    this.#at = start;
    let next: number;
    switch (wireType) {
      case 0:
        this.#varint(start);
        next = this.#at;
        break;
      case 1:
        next = start + 8;
        break;
      case delimited:
        next = this.#varint(start);
        next += this.#at;
        break;
      case 5:
        next = start + 4;
        break;
      default:
        throw malformed();
    }
    if (next > end) throw malformed();
    return next;
  }

  #count(more: number): void {
    this.#fields += more;
    if (this.#fields > fieldsMax) {
      throw fail("INVALID_ARGUMENT", {
        public: `The request has more than ${fieldsMax} fields. Split it into several requests.`,
      });
    }
  }

  /** Reads a varint and sets `#at` to the index after it. */
  #varint(start: number): number {
    let value = 0;
    let factor = 1;
    let at = start;
    for (; at < start + 10; at++) {
      const byte = this.#body[at] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        this.#at = at + 1;
        return value;
      }
      factor *= 0x80;
    }
    throw malformed();
  }
}

function hasWireType(field: DescField, wireType: number): boolean {
  if (field.message !== undefined || field.fieldKind === "map") return wireType === delimited;
  return wireType === wireTypeOf(field.scalar) || (field.fieldKind === "list" && wireType === delimited);
}

/** The wire type of a scalar, or of an enum if `scalar` is undefined. */
function wireTypeOf(scalar: ScalarType | undefined): number {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return delimited;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return 1;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return 5;
    default:
      return 0;
  }
}

function tooManyKeys() {
  return fail("INVALID_ARGUMENT", { public: `The request's maps have more than ${keysMax} different keys.` });
}

function fieldsOf(desc: DescMessage): ReadonlyMap<number, DescField> {
  let fields = fieldsByNumber.get(desc);
  if (fields === undefined) {
    fields = new Map(desc.fields.map((field) => [field.number, field]));
    fieldsByNumber.set(desc, fields);
  }
  return fields;
}

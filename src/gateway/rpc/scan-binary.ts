import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { fail, invalid } from "../../errors/index.ts";
import { bytesMaxOf, isFreeJson, KeyTable, keysMax, valuesMax } from "../../platform/protojson/index.ts";

/** How many fields one message may have, with those of the messages in it. A value of free JSON takes two to four. */
const fieldsMax = 2 * valuesMax;
/** The decoder refuses what nests deeper than this. */
const levelsMax = 100;
/** How many times as long free JSON may be as in text: a one-digit number and its comma take eleven bytes. */
const freeJsonFactor = 6;
/** Values up to this size are not worth asking for their limit. */
const smallBytes = 64 * 1024;

const keys = new KeyTable();
const fieldsByNumber = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

/**
 * Checks how much a message of the binary format holds, before anything is built from it: the number of its fields, of
 * different keys of its maps, and the size of its values. What is not well-formed is left to the decoder.
 */
export function scanBinary(desc: DescMessage, body: Buffer): void {
  keys.begin(body);
  new BinaryScan(body).message(desc, 0, body.length, 0);
}

class BinaryScan {
  readonly #body: Buffer;
  #fields = 0;
  #at = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  message(desc: DescMessage | undefined, start: number, end: number, level: number): void {
    if (level > levelsMax) return;
    const known = desc && fieldsOf(desc);
    // The last key of each map in this message.
    const nodes = new Map<DescField, number>();
    for (let at = start; at < end; ) {
      this.#count(1);
      const tag = this.#varint(at);
      at = this.#at;
      switch (tag % 8) {
        case 0:
          this.#varint(at);
          at = this.#at;
          break;
        case 1:
          at += 8;
          break;
        case 2: {
          const length = this.#varint(at);
          at = this.#at;
          if (at + length > end) return;
          const field = known?.get(Math.floor(tag / 8));
          if (field !== undefined) this.#delimited(field, at, at + length, level, nodes);
          at += length;
          break;
        }
        case 5:
          at += 4;
          break;
        default:
          // A group's begin or end: its fields follow, and are counted like any others.
          break;
      }
    }
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
    for (let at = start; at < end; ) {
      this.#count(1);
      const tag = this.#varint(at);
      at = this.#at;
      if (tag % 8 !== 2) return;
      const length = this.#varint(at);
      at = this.#at;
      if (at + length > end) return;
      if (tag === 0x0a && field.mapKey === ScalarType.STRING) {
        // The last of two entries with one key counts, so that duplicates are no fault here.
        if (keys.add(level, nodes.get(field) ?? 0, at, at + length, false) === "too many") throw tooManyKeys();
        nodes.set(field, keys.node);
      } else if (tag === 0x12) {
        this.message(field.message, at, at + length, level);
      }
      at += length;
    }
  }

  /** Counts the numbers of a packed list. */
  #packed(field: DescField, start: number, end: number): void {
    if (field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES) return;
    let count = 0;
    for (let at = start; at < end; at++) if (this.#body[at]! < 0x80) count++;
    this.#count(count);
  }

  #count(more: number): void {
    this.#fields += more;
    if (this.#fields > fieldsMax) {
      throw fail("INVALID_ARGUMENT", {
        public: `The request has more than ${fieldsMax} fields; send it in several requests.`,
      });
    }
  }

  /** Reads a varint and leaves the index behind it in `#at`. */
  #varint(start: number): number {
    let value = 0;
    let factor = 1;
    let at = start;
    for (; at < start + 10; at++) {
      const byte = this.#body[at] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
      factor *= 0x80;
    }
    this.#at = at + 1;
    return value;
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

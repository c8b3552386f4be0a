import { randomInt } from "node:crypto";

/** The maximum number of distinct keys in one document. A key counts again when it follows a different sequence of keys. */
export const keysMax = 10_000;

/** The result of adding a key to an object. */
export type KeyResult = "new" | "duplicate" | "too many";

const slotCount = 1 << 15;
const slotMask = slotCount - 1;
// Two thirds of the slots stay empty, so that probe sequences are short unless keys were chosen to collide.
const probesMax = 16 * keysMax;
const ancestorsMax = 32;

/**
 * The keys of one JSON document, read from its bytes.
 *
 * Each object is a path in a tree whose nodes are keys, each following the keys before it. JSON.parse builds a similar tree
 * (hidden classes), in which a new node costs a thousand times as much as a value. Therefore the number of nodes is bounded. The
 * tree also detects duplicates. All memory is allocated once and reused; a generation number marks the current document's entries.
 */
export class KeyTable {
  readonly #seed = randomInt(2 ** 31);
  #generation = 0;
  #bytes: Uint8Array = new Uint8Array();
  #probes = 0;

  #names = 0;
  readonly #nameSlots = new Int32Array(slotCount);
  readonly #nameGenerations = new Float64Array(slotCount);
  readonly #nameStarts = new Int32Array(keysMax + 1);
  readonly #nameLengths = new Int32Array(keysMax + 1);
  readonly #nameHashes = new Int32Array(keysMax + 1);
  /** The decoded bytes of names that contain escapes. */
  readonly #decodedNames = new Map<number, Uint8Array>();

  #nodes = 0;
  readonly #nodeSlots = new Int32Array(slotCount);
  readonly #nodeGenerations = new Float64Array(slotCount);
  readonly #nodeParents = new Int32Array(keysMax + 1);
  readonly #nodeNames = new Int32Array(keysMax + 1);
  readonly #nodeDepths = new Int32Array(keysMax + 1);
  /** The last child used under a node, because objects of the same kind have the same keys in the same order. */
  readonly #lastChildren = new Int32Array(keysMax + 1);
  #node = 0;
  /** The names of an open object with many keys, by the object's depth. After a new key all following nodes are new. */
  readonly #longPaths: ({ readonly names: Set<number>; node: number } | undefined)[] = [];

  /** Resets the table for a new document. */
  begin(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#generation++;
    this.#probes = 0;
    this.#names = 0;
    this.#nodes = 0;
    this.#lastChildren[0] = 0;
    this.#longPaths.length = 0;
    this.#decodedNames.clear();
  }

  /** The node of the last accepted key. */
  get node(): number {
    return this.#node;
  }

  /** Adds a key to an object at a depth whose last key is the node `parent`; 0 for an object without keys. */
  add(depth: number, parent: number, start: number, end: number, escaped: boolean): KeyResult {
    const likely = this.#lastChildren[parent]!;
    if (likely !== 0 && !escaped && this.#isNamed(this.#nodeNames[likely]!, this.#bytes, start, end - start)) {
      this.#node = likely;
      return "new";
    }
    const name = escaped ? this.#escapedName(start, end) : this.#name(this.#bytes, start, end - start, false);
    if (name < 0) return "too many";
    let slot = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(name + this.#seed, 0x85ebca6b)) >>> 16;
    for (slot &= slotMask; this.#nodeGenerations[slot] === this.#generation; slot = (slot + 1) & slotMask) {
      const node = this.#nodeSlots[slot]!;
      if (this.#nodeParents[node] === parent && this.#nodeNames[node] === name) {
        this.#lastChildren[parent] = node;
        this.#node = node;
        return "new";
      }
      if (++this.#probes > probesMax) return "too many";
    }
    if (this.#isOnPath(depth, parent, name)) return "duplicate";
    if (this.#nodes === keysMax) return "too many";
    const node = ++this.#nodes;
    this.#nodeGenerations[slot] = this.#generation;
    this.#nodeSlots[slot] = node;
    this.#nodeParents[node] = parent;
    this.#nodeNames[node] = name;
    this.#nodeDepths[node] = parent === 0 ? 1 : this.#nodeDepths[parent]! + 1;
    this.#lastChildren[parent] = node;
    this.#lastChildren[node] = 0;
    this.#node = node;
    const path = this.#longPaths[depth];
    if (path !== undefined && path.node === parent) {
      path.names.add(name);
      path.node = node;
    }
    return "new";
  }

  #isOnPath(depth: number, parent: number, name: number): boolean {
    if (parent === 0) return false;
    if (this.#nodeDepths[parent]! <= ancestorsMax) {
      for (let node = parent; node !== 0; node = this.#nodeParents[node]!) {
        if (this.#nodeNames[node] === name) return true;
      }
      return false;
    }
    let path = this.#longPaths[depth];
    if (path?.node !== parent) {
      path = { names: new Set(), node: parent };
      for (let node = parent; node !== 0; node = this.#nodeParents[node]!) path.names.add(this.#nodeNames[node]!);
      this.#longPaths[depth] = path;
    }
    return path!.names.has(name);
  }

  /** The number of a name, equal for equal text; negative if there are too many names or collisions. */
  #name(from: Uint8Array, start: number, length: number, decoded: boolean): number {
    let hash = this.#seed ^ length;
    for (let i = start; i < start + length; i++) hash = Math.imul(hash ^ from[i]!, 0x01000193);
    hash ^= hash >>> 15;
    let slot = hash & slotMask;
    for (; this.#nameGenerations[slot] === this.#generation; slot = (slot + 1) & slotMask) {
      const name = this.#nameSlots[slot]!;
      if (this.#nameHashes[name] === hash && this.#isNamed(name, from, start, length)) return name;
      if (++this.#probes > probesMax) return -1;
    }
    if (this.#names === keysMax) return -1;
    const name = ++this.#names;
    this.#nameGenerations[slot] = this.#generation;
    this.#nameSlots[slot] = name;
    this.#nameStarts[name] = start;
    this.#nameLengths[name] = length;
    this.#nameHashes[name] = hash;
    if (decoded) this.#decodedNames.set(name, from);
    return name;
  }

  #escapedName(start: number, end: number): number {
    const decoded = Buffer.from(decodeKey(this.#bytes, start, end));
    return this.#name(decoded, 0, decoded.length, true);
  }

  #isNamed(name: number, from: Uint8Array, start: number, length: number): boolean {
    if (this.#nameLengths[name] !== length) return false;
    const known = this.#decodedNames.size === 0 ? this.#bytes : (this.#decodedNames.get(name) ?? this.#bytes);
    const knownStart = this.#nameStarts[name]!;
    for (let i = 0; i < length; i++) if (known[knownStart + i] !== from[start + i]) return false;
    return true;
  }
}

/** The text of a key between its quotes. */
export function decodeKey(bytes: Uint8Array, start: number, end: number): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
  return text.includes("\\") ? JSON.parse(`"${text}"`) : text;
}

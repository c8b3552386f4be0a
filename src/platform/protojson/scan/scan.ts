import { setImmediate as nextTurn } from "node:timers/promises";
import { depthMax } from "../problems.ts";
import { decodeKey, KeyTable } from "./key-table.ts";

/** The maximum number of values in one document: members of objects and items of lists at any depth. */
export const valuesMax = 250_000;

/** A path in a document: keys of objects and positions in lists, outermost first. */
export type JsonPath = readonly (string | number)[];

/** Why a document is rejected. */
export type JsonFailure =
  | { readonly kind: "syntax"; readonly at: number }
  | { readonly kind: "depth" }
  | { readonly kind: "values" }
  | { readonly kind: "keys" }
  | { readonly kind: "duplicate_key"; readonly path: JsonPath }
  | { readonly kind: "unsafe_integer"; readonly path: JsonPath }
  | { readonly kind: "size"; readonly path: JsonPath; readonly bytesMax: number };

/** The maximum size of the value at a path, without escapes and whitespace; undefined for no limit. */
export type SizeLimit = (path: JsonPath) => number | undefined;

/** Values up to this size are accepted without looking up their limit. */
const smallBytes = 64 * 1024;
/** In strings longer than this the end is found by a native search instead of byte by byte. */
const longRunBytes = 64;

/** The number of values that a scan in turns checks per turn of the event loop; one to two milliseconds. */
const valuesPerTurn = 10_000;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
const minus = 0x2d;
const zero = 0x30;

const keysOfWholeScans = new KeyTable();
const keysOfScansInTurns = new KeyTable();
let keys = keysOfWholeScans;
// The open objects and lists, by depth. For a list `positions` counts the items; for an object the others describe the last key.
const isObject = new Uint8Array(depthMax + 1);
const positions = new Int32Array(depthMax + 1);
const nodes = new Int32Array(depthMax + 1);
const keyStarts = new Int32Array(depthMax + 1);
const keyEnds = new Int32Array(depthMax + 1);
const valueStarts = new Int32Array(depthMax + 1);
const valueSlacks = new Int32Array(depthMax + 1);
const stack = [isObject, positions, nodes, keyStarts, keyEnds, valueStarts, valueSlacks];

let source: Buffer = Buffer.alloc(0);
/** Bytes so far that do not count towards a value's size: whitespace and the overhead of escapes. */
let slack = 0;
let stringHasEscapes = false;
let nextQuote = -1;
let nextBackslash = -1;
let skipping = true;
let fault: JsonFailure | undefined;

/**
 * Validates a JSON document in one pass over its bytes, before anything is built from it. It checks the syntax, the nesting
 * depth, the number of values and distinct keys, duplicate keys, integers that a double cannot represent, and the size of large
 * values. It stops at the first fault.
 *
 * Within the limits it accepts the same documents as JSON.parse. Only control characters in long strings are left to
 * JSON.parse, unless `inStrings` is set.
 */
export function scanJson(bytes: Buffer, sizeLimit?: SizeLimit, inStrings = false): JsonFailure | undefined {
  const position = begin(bytes, keysOfWholeScans, inStrings);
  return scan(position, sizeLimit, valuesMax + 1) as JsonFailure | undefined;
}

let lastScanInTurns: Promise<unknown> = Promise.resolve();

/**
 * Like scanJson, over several turns of the event loop. These scans run one after the other, because they share the memory
 * of their keys. Other scans may run between their turns.
 */
export function scanJsonInTurns(bytes: Buffer, sizeLimit?: SizeLimit): Promise<JsonFailure | undefined> {
  const scanned = lastScanInTurns.then(() => scanTurns(bytes, sizeLimit));
  lastScanInTurns = scanned.catch(() => {});
  return scanned;
}

async function scanTurns(bytes: Buffer, sizeLimit: SizeLimit | undefined): Promise<JsonFailure | undefined> {
  const position = begin(bytes, keysOfScansInTurns, false);
  for (;;) {
    const result = scan(position, sizeLimit, position.values + valuesPerTurn);
    if (result !== "paused") return result;
    const restore = saveState(position.depth);
    await nextTurn();
    restore();
  }
}

/** Where a scan has paused: before a value. */
interface Position {
  depth: number;
  values: number;
  at: number;
}

function begin(bytes: Buffer, table: KeyTable, inStrings: boolean): Position {
  source = bytes;
  skipping = !inStrings;
  slack = 0;
  fault = undefined;
  nextQuote = -1;
  nextBackslash = -1;
  keys = table;
  keys.begin(bytes);
  return { depth: 0, values: 0, at: skipSpace(0) };
}

/** Saves the state of a paused scan without a fault; returns a function that restores it. */
function saveState(depth: number): () => void {
  const saved = { source, skipping, slack, nextQuote, nextBackslash, keys };
  const savedStack = stack.map((column) => column.slice(0, depth + 1));
  return () => {
    ({ source, skipping, slack, nextQuote, nextBackslash, keys } = saved);
    fault = undefined;
    for (const [nth, column] of savedStack.entries()) stack[nth]!.set(column);
  };
}

/** Scans from a position to the end, to the first fault, or until about `pauseAt` values are checked. */
function scan(
  position: Position,
  sizeLimit: SizeLimit | undefined,
  pauseAt: number,
): JsonFailure | "paused" | undefined {
  const bytes = source;
  let { depth, values, at } = position;
  for (;;) {
    // A value starts here.
    const first = bytes[at];
    if (first === openObject || first === openList) {
      if (depth === depthMax) return { kind: "depth" };
      depth++;
      isObject[depth] = first === openObject ? 1 : 0;
      positions[depth] = 0;
      nodes[depth] = 0;
      valueStarts[depth] = at;
      valueSlacks[depth] = slack;
      at = skipSpace(at + 1);
      if (bytes[at] !== (first === openObject ? closeObject : closeList)) {
        if (++values > valuesMax) return { kind: "values" };
        if (first === openObject) at = afterKey(depth, at);
        if (fault !== undefined) return fault;
        continue;
      }
    } else {
      const start = at;
      const slackBefore = slack;
      at = endOfScalar(start, first);
      if (at < 0) return { kind: "syntax", at: start };
      if (first !== quote && at - start > 15 && isUnsafeInteger(start, at)) {
        return { kind: "unsafe_integer", path: pathTo(depth) };
      }
      if (isTooLarge(start, at, slackBefore, depth, sizeLimit)) return fault;
      at = skipSpace(at);
    }
    // A value has ended: close the objects and lists that end with it, up to the next comma.
    for (; bytes[at] !== comma; at = skipSpace(at)) {
      if (depth === 0) return at < bytes.length ? { kind: "syntax", at } : undefined;
      if (bytes[at] !== (isObject[depth] === 1 ? closeObject : closeList)) return { kind: "syntax", at };
      at++;
      depth--;
      if (isTooLarge(valueStarts[depth + 1]!, at, valueSlacks[depth + 1]!, depth, sizeLimit)) return fault;
    }
    if (depth === 0) return { kind: "syntax", at };
    if (++values > valuesMax) return { kind: "values" };
    positions[depth]!++;
    at = skipSpace(at + 1);
    if (isObject[depth] === 1) at = afterKey(depth, at);
    if (fault !== undefined) return fault;
    if (values >= pauseAt) {
      position.depth = depth;
      position.values = values;
      position.at = at;
      return "paused";
    }
  }
}

/** Reads a key and its colon; returns the index of the value. */
function afterKey(depth: number, start: number): number {
  const end = source[start] === quote ? endOfString(start) : -1;
  if (end < 0) {
    fault = { kind: "syntax", at: start };
    return start;
  }
  keyStarts[depth] = start + 1;
  keyEnds[depth] = end - 1;
  const result = keys.add(depth, nodes[depth]!, start + 1, end - 1, stringHasEscapes);
  nodes[depth] = keys.node;
  const at = skipSpace(end);
  if (source[at] !== colon) fault = { kind: "syntax", at };
  else if (result === "duplicate") fault = { kind: "duplicate_key", path: pathTo(depth) };
  else if (result === "too many") fault = { kind: "keys" };
  return skipSpace(at + 1);
}

function skipSpace(from: number): number {
  const bytes = source;
  const end = bytes.length;
  let at = from;
  while (at < end) {
    const code = bytes[at]!;
    if (code > 0x20 || (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)) break;
    at++;
  }
  if (at !== from) slack += at - from;
  return at;
}

/** The index after a string, number or literal; negative if there is none. */
function endOfScalar(start: number, first: number | undefined): number {
  switch (first) {
    case quote:
      return endOfString(start);
    case 0x74:
      return endOfWord(start, "true");
    case 0x66:
      return endOfWord(start, "false");
    case 0x6e:
      return endOfWord(start, "null");
    default:
      return endOfNumber(start);
  }
}

function endOfWord(start: number, word: string): number {
  for (let i = 1; i < word.length; i++) if (source[start + i] !== word.charCodeAt(i)) return -1;
  return start + word.length;
}

function endOfString(start: number): number {
  const bytes = source;
  const end = bytes.length;
  stringHasEscapes = false;
  let skipAt = skipping ? start + longRunBytes : end;
  for (let at = start + 1; at < end; at++) {
    if (at === skipAt) at = endOfRun(at);
    const code = bytes[at];
    if (code === undefined) return -1;
    if (code === quote) return at + 1;
    if (code < 0x20) return -1;
    if (code === backslash) {
      stringHasEscapes = true;
      const length = escapeLength(at);
      if (length === 0) return -1;
      // An escape represents at least one byte.
      slack += length - 1;
      at += length - 1;
      if (skipping) skipAt = at + longRunBytes;
    }
  }
  return -1;
}

/** The index of the next quote or backslash. A native search is many times faster than a loop. */
function endOfRun(from: number): number {
  if (nextQuote < from) nextQuote = indexOrEnd(quote, from);
  if (nextBackslash < from) nextBackslash = indexOrEnd(backslash, from);
  return Math.min(nextQuote, nextBackslash);
}

function indexOrEnd(code: number, from: number): number {
  const at = source.indexOf(code, from);
  return at < 0 ? source.length : at;
}

/** The length of an escape in bytes; 0 if it is invalid. */
function escapeLength(at: number): number {
  switch (source[at + 1]) {
    case quote:
    case backslash:
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return 2;
    case 0x75: // u
      for (let i = at + 2; i < at + 6; i++) if (!isHexDigit(source[i])) return 0;
      return 6;
    default:
      return 0;
  }
}

function isHexDigit(code: number | undefined): boolean {
  return code !== undefined && (isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66));
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= zero && code <= 0x39;
}

/** The index after the longest number that starts at an index; negative if there is none. */
function endOfNumber(start: number): number {
  let at = source[start] === minus ? start + 1 : start;
  if (!isDigit(source[at])) return -1;
  if (source[at] === zero) at++;
  else at = endOfDigits(at);
  if (source[at] === 0x2e && isDigit(source[at + 1])) at = endOfDigits(at + 1);
  if (source[at] === 0x65 || source[at] === 0x45) {
    const sign = source[at + 1];
    const digits = sign === 0x2b || sign === minus ? at + 2 : at + 1;
    if (isDigit(source[digits])) at = endOfDigits(digits);
  }
  return at;
}

function endOfDigits(start: number): number {
  let at = start;
  while (isDigit(source[at])) at++;
  return at;
}

/** Whether a number is an integer that a double cannot represent exactly. */
function isUnsafeInteger(start: number, end: number): boolean {
  const length = end - start - (source[start] === minus ? 1 : 0);
  for (let at = end - length; at < end; at++) if (!isDigit(source[at])) return false;
  return length > 16 || !Number.isSafeInteger(Number(source.toString("latin1", start, end)));
}

/** Whether the value that ended at `depth` exceeds its size limit. */
function isTooLarge(
  start: number,
  end: number,
  slackBefore: number,
  depth: number,
  sizeLimit: SizeLimit | undefined,
): boolean {
  if (end - start <= smallBytes || sizeLimit === undefined) return false;
  // The quotes are not part of the string.
  const quotes = source[start] === quote ? 2 : 0;
  const bytes = end - start - quotes - (slack - slackBefore);
  if (bytes <= smallBytes) return false;
  const path = pathTo(depth);
  const bytesMax = sizeLimit(path);
  if (bytesMax === undefined || bytes <= bytesMax) return false;
  fault = { kind: "size", path, bytesMax };
  return true;
}

function pathTo(depth: number): JsonPath {
  const path: (string | number)[] = [];
  for (let i = 1; i <= depth; i++) {
    path.push(isObject[i] === 1 ? decodeKey(source, keyStarts[i]!, keyEnds[i]!) : positions[i]!);
  }
  return path;
}

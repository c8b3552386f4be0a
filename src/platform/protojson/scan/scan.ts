import { depthMax } from "../problems.ts";
import { decodeKey, KeyTable } from "./key-table.ts";

/** How many values one document may have: members of objects and items of lists, however deep. */
export const valuesMax = 250_000;

/** A place in a document: keys of objects and positions in lists, outermost first. */
export type JsonPath = readonly (string | number)[];

/** Why a document is not parsed. */
export type JsonFault =
  | { readonly kind: "syntax"; readonly at: number }
  | { readonly kind: "depth" }
  | { readonly kind: "values" }
  | { readonly kind: "keys" }
  | { readonly kind: "duplicate_key"; readonly path: JsonPath }
  | { readonly kind: "unsafe_integer"; readonly path: JsonPath }
  | { readonly kind: "size"; readonly path: JsonPath; readonly bytesMax: number };

/** The most bytes that the value at a place may take, written without escapes and white space; undefined for any number. */
export type SizeLimit = (path: JsonPath) => number | undefined;

/** Values up to this size are not worth asking for their limit. */
const smallBytes = 64 * 1024;
/** Strings longer than this are searched for their end instead of read byte by byte. */
const longRunBytes = 64;

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

const keys = new KeyTable();
// The open objects and lists, by depth. Of a list `positions` counts the items; of an object the rest tells the last key.
const isObject = new Uint8Array(depthMax + 1);
const positions = new Int32Array(depthMax + 1);
const nodes = new Int32Array(depthMax + 1);
const keyStarts = new Int32Array(depthMax + 1);
const keyEnds = new Int32Array(depthMax + 1);
const valueStarts = new Int32Array(depthMax + 1);
const valueSlacks = new Int32Array(depthMax + 1);

let source: Buffer = Buffer.alloc(0);
/** Bytes so far that a value's size does not count: white space, and what escapes add. */
let slack = 0;
let stringHasEscapes = false;
let nextQuote = -1;
let nextBackslash = -1;
let skipping = true;
let fault: JsonFault | undefined;

/**
 * Checks a JSON document in one pass over its bytes, before anything is built from it: its grammar, how deep it nests, how
 * many values and different keys it has, that no object has a key twice, that no integer changes by being read, and that
 * no large value is larger than its place allows. Stops at the first fault.
 *
 * Within the bounds, the documents that pass are those that JSON.parse takes; only control characters in long strings are
 * left to JSON.parse, unless `inStrings` asks for them too.
 */
export function scanJson(bytes: Buffer, sizeLimit?: SizeLimit, inStrings = false): JsonFault | undefined {
  source = bytes;
  skipping = !inStrings;
  slack = 0;
  fault = undefined;
  nextQuote = -1;
  nextBackslash = -1;
  keys.begin(bytes);
  let depth = 0;
  let values = 0;
  let at = skipSpace(0);
  for (;;) {
    // A value begins here.
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
    // A value ended: close what ends with it, up to the next comma.
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
  }
}

/** Reads a key and its colon; answers with where the value begins. */
function afterKey(depth: number, start: number): number {
  const end = source[start] === quote ? endOfString(start) : -1;
  if (end < 0) {
    fault = { kind: "syntax", at: start };
    return start;
  }
  keyStarts[depth] = start + 1;
  keyEnds[depth] = end - 1;
  const verdict = keys.add(depth, nodes[depth]!, start + 1, end - 1, stringHasEscapes);
  nodes[depth] = keys.node;
  const at = skipSpace(end);
  if (source[at] !== colon) fault = { kind: "syntax", at };
  else if (verdict === "duplicate") fault = { kind: "duplicate_key", path: pathTo(depth) };
  else if (verdict === "too many") fault = { kind: "keys" };
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

/** The index after a string, number or literal; below 0 when there is none. */
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
      // An escape stands for one byte at least.
      slack += length - 1;
      at += length - 1;
      if (skipping) skipAt = at + longRunBytes;
    }
  }
  return -1;
}

/** The index of the next quote or backslash: native searches are many times as fast as a loop. */
function endOfRun(from: number): number {
  if (nextQuote < from) nextQuote = indexOrEnd(quote, from);
  if (nextBackslash < from) nextBackslash = indexOrEnd(backslash, from);
  return Math.min(nextQuote, nextBackslash);
}

function indexOrEnd(code: number, from: number): number {
  const at = source.indexOf(code, from);
  return at < 0 ? source.length : at;
}

/** How many bytes an escape takes; 0 when it is none. */
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

/** The longest number that begins at an index. */
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

/** Whether a number is written as an integer that a double cannot tell from its neighbours. */
function isUnsafeInteger(start: number, end: number): boolean {
  const length = end - start - (source[start] === minus ? 1 : 0);
  for (let at = end - length; at < end; at++) if (!isDigit(source[at])) return false;
  return length > 16 || !Number.isSafeInteger(Number(source.toString("latin1", start, end)));
}

/** Whether the value that ended inside `depth` is larger than its place allows. */
function isTooLarge(
  start: number,
  end: number,
  slackBefore: number,
  depth: number,
  sizeLimit: SizeLimit | undefined,
): boolean {
  if (end - start <= smallBytes || sizeLimit === undefined) return false;
  // The quotes are no part of a text.
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

import { charge, chargeNewText, chargeScan, chargeText, type Frame } from "../plan/frame.ts";
import { BOOL, INT, listOf, STRING } from "../syntax/static-type.ts";
import { Failure, ListValue, listItem, listLength, type Value } from "../values/values.ts";
import { type FunctionTable, overload } from "./overload.ts";

/** `size(text)`: the length in code points. */
export function textSize(frame: Frame, _at: number, text: string): bigint {
  chargeScan(frame, text.length);
  return BigInt(codePointCount(text));
}

function codePointCount(text: string): number {
  let count = text.length;
  for (let i = 1; i < text.length; i += 1) if (isPairEnd(text, i)) count -= 1;
  return count;
}

function isPairEnd(text: string, i: number): boolean {
  const unit = text.charCodeAt(i);
  return unit >= 0xdc00 && unit <= 0xdfff && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800;
}

// In the worst case a search compares the whole needle at every position.
function chargeSearch(frame: Frame, text: string, needle: string): void {
  const places = Math.max(text.length - needle.length, 0);
  if (text.length > 64) charge(frame, 1 + (text.length >> 4) + ((places * Math.min(needle.length, text.length)) >> 7));
}

/** `text.contains(needle)`. */
function contains(frame: Frame, _at: number, text: string, needle: string): boolean {
  chargeSearch(frame, text, needle);
  return text.includes(needle);
}

/** `text.startsWith(prefix)`. */
function startsWith(frame: Frame, _at: number, text: string, prefix: string): boolean {
  chargeText(frame, prefix.length);
  return text.startsWith(prefix);
}

/** `text.endsWith(suffix)`. */
function endsWith(frame: Frame, _at: number, text: string, suffix: string): boolean {
  chargeText(frame, suffix.length);
  return text.endsWith(suffix);
}

/** `text.lowerAscii()`: converts only ASCII letters to lower case. */
function lowerAscii(frame: Frame, _at: number, text: string): string {
  chargeNewText(frame, text.length);
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** `text.upperAscii()`: converts only ASCII letters to upper case. */
function upperAscii(frame: Frame, _at: number, text: string): string {
  chargeNewText(frame, text.length);
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

const WHITE_SPACE = /\p{White_Space}/u;

/** `text.trim()`: removes Unicode whitespace at both ends, which differs from JavaScript's definition of whitespace. */
function trim(frame: Frame, _at: number, text: string): string {
  chargeScan(frame, text.length * 4);
  let start = 0;
  let end = text.length;
  while (start < end && WHITE_SPACE.test(text[start]!)) start += 1;
  while (end > start && WHITE_SPACE.test(text[end - 1]!)) end -= 1;
  return text.slice(start, end);
}

/** `text.split(separator)`, with an optional limit on the number of parts. */
function split(frame: Frame, _at: number, text: string, separator: string, limit = -1n): Value {
  if (limit === 0n) return new ListValue([]);
  chargeSearch(frame, text, separator);
  const parts = separator === "" ? [...text] : text.split(separator);
  charge(frame, 1 + 2 * parts.length);
  const most = limit < 0n || limit > BigInt(parts.length) ? parts.length : Number(limit);
  return new ListValue([...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)]);
}

/** `list.join(separator)`. */
function join(frame: Frame, at: number, list: object, separator = ""): Value {
  const length = listLength(list);
  charge(frame, 1 + 2 * length);
  const parts: string[] = [];
  let total = separator.length * Math.max(length - 1, 0);
  for (let i = 0; i < length; i += 1) {
    const part = listItem(list, i);
    if (typeof part !== "string") return new Failure("join() needs a list of strings", at);
    total += part.length;
    parts.push(part);
  }
  chargeNewText(frame, total);
  return parts.join(separator);
}

/** `text.replace(needle, replacement)`: replaces all occurrences, or the first `limit`. */
function replace(frame: Frame, _at: number, text: string, needle: string, by: string, limit = -1n): Value {
  if (limit === 0n) return text;
  chargeSearch(frame, text, needle);
  const parts = needle === "" ? ["", ...text, ""] : text.split(needle);
  charge(frame, 1 + 2 * parts.length);
  const times =
    limit < 0n || limit > BigInt(parts.length) ? parts.length - 1 : Math.min(Number(limit), parts.length - 1);
  chargeNewText(frame, text.length + times * Math.max(by.length - needle.length, 0));
  return [...parts.slice(0, times), parts.slice(times).join(needle)].join(by);
}

/** `text.indexOf(needle, from)` in code points; -1 if there is none. */
function indexOf(frame: Frame, at: number, text: string, needle: string, from = 0n): Value {
  const start = unitIndex(frame, text, from);
  if (start === undefined) return new Failure("index out of range", at);
  chargeSearch(frame, text, needle);
  return pointIndex(frame, text, text.indexOf(needle, start));
}

/** `text.lastIndexOf(needle, from)` in code points; -1 if there is none. */
function lastIndexOf(frame: Frame, at: number, text: string, needle: string, from?: bigint): Value {
  const start = from === undefined ? text.length : unitIndex(frame, text, from);
  if (start === undefined) return new Failure("index out of range", at);
  chargeSearch(frame, text, needle);
  return pointIndex(frame, text, text.lastIndexOf(needle, start));
}

/** `text.substring(from, to)` in code points. */
function substring(frame: Frame, at: number, text: string, from: bigint, to?: bigint): Value {
  const start = unitIndex(frame, text, from);
  const end = to === undefined ? text.length : unitIndex(frame, text, to);
  if (start === undefined || end === undefined || start > end) return new Failure("index out of range", at);
  return text.slice(start, end);
}

/** `text.charAt(index)`: one code point, or an empty string at the end. */
function charAt(frame: Frame, at: number, text: string, index: bigint): Value {
  const start = unitIndex(frame, text, index);
  if (start === undefined) return new Failure("index out of range", at);
  const point = text.codePointAt(start);
  return point === undefined ? "" : String.fromCodePoint(point);
}

/** The UTF-16 index of a code point; undefined beyond the end. */
function unitIndex(frame: Frame, text: string, point: bigint): number | undefined {
  if (point < 0n || point > BigInt(text.length)) return undefined;
  chargeScan(frame, Number(point));
  let unit = 0;
  for (let left = Number(point); left > 0; left -= 1) {
    if (unit >= text.length) return undefined;
    unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return unit;
}

function pointIndex(frame: Frame, text: string, unit: number): bigint {
  return unit < 0 ? -1n : textSize(frame, 0, text.slice(0, unit));
}

/** The functions on strings. */
export const TEXT_FUNCTIONS: FunctionTable = {
  ".contains": [overload([STRING, STRING], BOOL, contains)],
  ".startsWith": [overload([STRING, STRING], BOOL, startsWith)],
  ".endsWith": [overload([STRING, STRING], BOOL, endsWith)],
  ".lowerAscii": [overload([STRING], STRING, lowerAscii)],
  ".upperAscii": [overload([STRING], STRING, upperAscii)],
  ".trim": [overload([STRING], STRING, trim)],
  ".charAt": [overload([STRING, INT], STRING, charAt)],
  ".indexOf": [overload([STRING, STRING], INT, indexOf), overload([STRING, STRING, INT], INT, indexOf)],
  ".lastIndexOf": [overload([STRING, STRING], INT, lastIndexOf), overload([STRING, STRING, INT], INT, lastIndexOf)],
  ".substring": [overload([STRING, INT], STRING, substring), overload([STRING, INT, INT], STRING, substring)],
  ".replace": [
    overload([STRING, STRING, STRING], STRING, replace),
    overload([STRING, STRING, STRING, INT], STRING, replace),
  ],
  ".split": [overload([STRING, STRING], listOf(STRING), split), overload([STRING, STRING, INT], listOf(STRING), split)],
  ".join": [overload([listOf(STRING)], STRING, join), overload([listOf(STRING), STRING], STRING, join)],
};

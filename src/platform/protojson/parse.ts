import { isUtf8 } from "node:buffer";
import { type Failure, fail } from "../../errors/index.ts";
import { locateError } from "./locate.ts";
import { depthMax } from "./problems.ts";

/**
 * Parses JSON from outside; fails with INVALID_ARGUMENT on text that is not UTF-8, is not JSON or nests too deep.
 *
 * Of a key that an object has twice, the last one wins.
 */
export function parseJson(text: string | Buffer): unknown {
  if (typeof text !== "string") {
    const decoded = text.toString("utf8");
    // Decoding puts U+FFFD where bytes are not UTF-8; only then is it worth asking whether they are.
    if (decoded.includes("\ufffd") && !isUtf8(text)) throw broken("The request is not valid UTF-8.");
    return parseJson(decoded);
  }
  if (opensMany(text) && nestsTooDeep(text)) {
    throw broken(`The request's JSON nests deeper than ${depthMax} levels.`);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw broken(`The request is not valid JSON${placeOf(text)}.`, cause);
  }
}

function broken(text: string, cause?: unknown): Failure {
  return fail("INVALID_ARGUMENT", { public: text, cause });
}

/** Whether text has enough opening brackets to nest too deep at all; most has not, and is spared the full look. */
function opensMany(text: string): boolean {
  let count = 0;
  for (let at = text.indexOf("{"); at >= 0 && count <= depthMax; at = text.indexOf("{", at + 1)) count++;
  for (let at = text.indexOf("["); at >= 0 && count <= depthMax; at = text.indexOf("[", at + 1)) count++;
  return count > depthMax;
}

/** Counts brackets outside strings in one pass, so that hostile text is refused before anything is built from it. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x22: // "
        i = endOfString(text, i);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > depthMax) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
    }
  }
  return false;
}

/** The index of the quote that ends a string; past the text when none does. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) return i;
    if (code === 0x5c) i++;
  }
  return i;
}

function placeOf(text: string): string {
  const at = locateError(text);
  if (at === undefined) return "";
  if (at >= text.length) return text.trim() === "" ? ": it is empty" : ": it ends too early";
  const before = text.slice(0, at).split("\n");
  return `, from line ${before.length}, column ${before.at(-1)!.length + 1} on`;
}

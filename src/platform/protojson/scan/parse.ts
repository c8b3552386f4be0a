import { isUtf8 } from "node:buffer";
import type { DescMessage } from "@bufbuild/protobuf";
import { type Failure, fail, unreachable } from "../../../errors/index.ts";
import { depthMax, violated } from "../problems.ts";
import { pathText, sizeLimitOf } from "./json-place.ts";
import { keysMax } from "./key-table.ts";
import { type JsonFault, scanJson, valuesMax } from "./scan.ts";

const safeMax = Number.MAX_SAFE_INTEGER;

/**
 * Parses JSON from outside; fails with INVALID_ARGUMENT on bytes that are not JSON in UTF-8, or that exceed a bound.
 *
 * With the message that the JSON is for, errors name its fields and large values are held to their fields' sizes. The
 * bounds are checked before anything is built, so that hostile input costs a fraction of what parsing it would.
 */
export function parseJson(text: string | Buffer, desc?: DescMessage): unknown {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const fault = scanJson(bytes, desc && sizeLimitOf(desc));
  if (fault !== undefined) throw isUtf8(bytes) ? refusalOf(fault, bytes, desc) : notUtf8();
  const decoded = typeof text === "string" ? text : bytes.toString("utf8");
  // Decoding puts U+FFFD where bytes are not UTF-8; only then is it worth asking whether they are.
  if (decoded.includes("\ufffd") && !isUtf8(bytes)) throw notUtf8();
  try {
    return JSON.parse(decoded);
  } catch {
    throw refusalOf(scanJson(bytes, undefined, true)!, bytes, desc);
  }
}

function refusalOf(fault: JsonFault, bytes: Buffer, desc: DescMessage | undefined): Failure {
  const atField = (rule: string, message: string) =>
    violated([{ field: "path" in fault ? pathText(desc, fault.path) : "", rule, message }]);
  switch (fault.kind) {
    case "syntax":
      return broken(`The request is not valid JSON${placeOf(bytes, fault.at)}.`);
    case "depth":
      return broken(`The request's JSON nests deeper than ${depthMax} levels.`);
    case "values":
      return broken(`The request's JSON has more than ${valuesMax} values; send it in several requests.`);
    case "keys":
      return broken(
        `The request's JSON has more than ${keysMax} different keys; give objects of one kind the same keys in the same order, or send a list of pairs.`,
      );
    case "duplicate_key":
      return atField("duplicate_key", "must not be given twice in one object");
    case "unsafe_integer":
      return atField(
        "unsafe_integer",
        `must be between -${safeMax} and ${safeMax} to stay exact as a JSON number; send it as a string of digits`,
      );
    case "size":
      return atField("max_bytes", `must take at most ${fault.bytesMax} bytes`);
    default:
      return unreachable(fault);
  }
}

function broken(text: string): Failure {
  return fail("INVALID_ARGUMENT", { public: text });
}

function notUtf8(): Failure {
  return broken("The request is not valid UTF-8.");
}

function placeOf(bytes: Buffer, at: number): string {
  if (at >= bytes.length) return bytes.toString("latin1").trim() === "" ? ": it is empty" : ": it ends too early";
  let line = 1;
  for (let i = 0; i < at; i++) if (bytes[i] === 0x0a) line++;
  const before = at === 0 ? -1 : bytes.lastIndexOf(0x0a, at - 1);
  return `, from line ${line}, column ${bytes.toString("utf8", before + 1, at).length + 1} on`;
}

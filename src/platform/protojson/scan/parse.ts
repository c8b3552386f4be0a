import { isUtf8 } from "node:buffer";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { DescMessage } from "@bufbuild/protobuf";
import { type Failure, fail, unreachable } from "../../../errors/index.ts";
import { depthMax, toViolationFailure } from "../problems.ts";
import { formatPath, sizeLimitOf } from "./json-location.ts";
import { keysMax } from "./key-table.ts";
import { type JsonFailure, scanJson, scanJsonInTurns, valuesMax } from "./scan.ts";

const safeMax = Number.MAX_SAFE_INTEGER;

/**
 * Parses untrusted JSON; throws INVALID_ARGUMENT for input that is not UTF-8 JSON or that exceeds a limit.
 *
 * With a message type, errors name its fields and large values are limited by their fields' sizes. Limits are checked before
 * anything is built, so that hostile input costs a fraction of parsing it.
 */
export function parseJson(text: string | Buffer, desc?: DescMessage): unknown {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  return parseScanned(text, bytes, scanJson(bytes, desc && sizeLimitOf(desc)), desc);
}

/** Like parseJson, over several turns of the event loop: only JSON.parse takes longer than two milliseconds. */
export async function parseJsonInTurns(bytes: Buffer, desc?: DescMessage): Promise<unknown> {
  const fault = await scanJsonInTurns(bytes, desc && sizeLimitOf(desc));
  await nextTurn();
  return parseScanned(bytes, bytes, fault, desc);
}

function parseScanned(
  text: string | Buffer,
  bytes: Buffer,
  fault: JsonFailure | undefined,
  desc: DescMessage | undefined,
): unknown {
  if (fault !== undefined) throw isUtf8(bytes) ? toFailure(fault, bytes, desc) : notUtf8();
  const decoded = typeof text === "string" ? text : bytes.toString("utf8");
  // Decoding replaces invalid UTF-8 with U+FFFD, so the bytes need to be validated only if it occurs.
  if (decoded.includes("\ufffd") && !isUtf8(bytes)) throw notUtf8();
  try {
    return JSON.parse(decoded);
  } catch {
    throw toFailure(scanJson(bytes, undefined, true)!, bytes, desc);
  }
}

function toFailure(fault: JsonFailure, bytes: Buffer, desc: DescMessage | undefined): Failure {
  const atField = (rule: string, message: string) =>
    toViolationFailure([{ field: "path" in fault ? formatPath(desc, fault.path) : "", rule, message }]);
  switch (fault.kind) {
    case "syntax":
      return invalidRequest(`The request ${describeSyntax(bytes, fault.at)}.`);
    case "depth":
      return invalidRequest(`The request's JSON nests deeper than ${depthMax} levels.`);
    case "values":
      return invalidRequest(`The request's JSON has more than ${valuesMax} values; send it in several requests.`);
    case "keys":
      return invalidRequest(
        `The request's JSON has more than ${keysMax} different keys; use the same keys in the same order for similar objects, or send a list of pairs.`,
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

function invalidRequest(text: string): Failure {
  return fail("INVALID_ARGUMENT", { public: text });
}

function notUtf8(): Failure {
  return invalidRequest("The request is not valid UTF-8.");
}

/** Says where a text that JSON.parse refuses is not valid. */
export function describeSyntaxError(text: string): string {
  const bytes = Buffer.from(text);
  const fault = scanJson(bytes, undefined, true);
  // Of a text beyond the limits of requests, the position is not known.
  return fault?.kind === "syntax" ? describeSyntax(bytes, fault.at) : "is not valid JSON";
}

function describeSyntax(bytes: Buffer, at: number): string {
  const problem = "is not valid JSON";
  if (at >= bytes.length)
    return `${problem}: it ${bytes.toString("latin1").trim() === "" ? "is empty" : "ends too early"}`;
  let line = 1;
  for (let i = 0; i < at; i++) if (bytes[i] === 0x0a) line++;
  const before = at === 0 ? -1 : bytes.lastIndexOf(0x0a, at - 1);
  return `${problem}, from line ${line}, column ${bytes.toString("utf8", before + 1, at).length + 1} on`;
}

import { createHmac } from "node:crypto";
import { invalid } from "../../../../errors/index.ts";
import type { Json } from "../../../../platform/document/index.ts";

/** A part of payloads that is not stored. */
export interface Redaction {
  /** A JSON pointer; `*` is any member or element. */
  readonly path: string;
  readonly action: "drop" | "mask" | "hash";
}

type JsonNode = Record<string, Json> | Json[];

const pointer = /^(\/([^~/]|~[01])*)+$/;

/** Throws if a path is not a JSON pointer. */
export function checkRedaction(redaction: readonly Redaction[]): void {
  for (const [at, { path }] of redaction.entries()) {
    if (!pointer.test(path)) {
      throw invalid(
        `pins.redaction[${at}].path`,
        "json_pointer",
        "must be a JSON pointer (for example: /customer/email)",
      );
    }
  }
}

/** Redacts a payload in place, and returns it. */
export function redact(payload: Json, redaction: readonly Redaction[], key: Buffer): Json {
  for (const { path, action } of redaction) {
    const segments = path
      .slice(1)
      .split("/")
      .map((each) => each.replaceAll("~1", "/").replaceAll("~0", "~"));
    redactAt(payload, segments, 0, action, key);
  }
  return payload;
}

function redactAt(node: Json, segments: readonly string[], depth: number, action: string, key: Buffer): void {
  if (typeof node !== "object" || node === null) return;
  const holder = node as JsonNode;
  // Elements are dropped from the end, so that the positions of the others stay valid.
  for (const name of namesIn(holder, segments[depth]!).reverse()) {
    const value = (holder as Record<string, Json>)[name]!;
    if (depth < segments.length - 1) redactAt(value, segments, depth + 1, action, key);
    else if (action === "drop") remove(holder, name);
    else (holder as Record<string, Json>)[name] = action === "mask" ? "***" : hashOf(value, key);
  }
}

function namesIn(holder: JsonNode, segment: string): string[] {
  if (segment === "*") return Object.keys(holder);
  return Object.hasOwn(holder, segment) && !(Array.isArray(holder) && segment === "length") ? [segment] : [];
}

function remove(holder: JsonNode, name: string): void {
  if (Array.isArray(holder)) holder.splice(Number(name), 1);
  else delete holder[name];
}

/** Keyed, because the hash of a guessable value would disclose it. */
function hashOf(value: Json, key: Buffer): string {
  return `hmac:${createHmac("sha256", key).update(JSON.stringify(value)).digest("hex")}`;
}

import { type Json, ObjectReader, shortName, type Violations } from "../../../../../platform/document/index.ts";
import type { SignatureTimestamp, SignedPart, VerifySpec } from "../trigger.ts";
import { formats } from "./limits.ts";
import { verifyMembers } from "./manifest-schema.ts";
import { suggest } from "./parse-template.ts";

const kinds = Object.keys(verifyMembers) as VerifySpec["kind"][];

/** Reads how a delivery proves its origin. */
export function parseVerify(value: Json | undefined, path: string, violations: Violations): VerifySpec | undefined {
  const open = (known: readonly string[]) =>
    ObjectReader.open(value, path, violations, {
      known,
      example: '{"kind": "hmac", "algorithm": "sha256", "header": "x-signature"}',
      what: "a verification",
    });
  const kind = (value as { kind?: unknown } | null | undefined)?.kind as VerifySpec["kind"];
  if (!kinds.includes(kind)) {
    const reader = open(["kind", ...new Set(Object.values(verifyMembers).flat())]);
    return reader?.refuse("kind", "choice", suggest(String(kind), kinds, "kinds"));
  }
  const reader = open(verifyMembers[kind]);
  if (reader === undefined) return undefined;
  switch (kind) {
    case "hmac": {
      const header = headerOf(reader);
      const over = readOver(reader);
      const timestamp = readTimestamp(reader, over);
      if (header === undefined) return undefined;
      return {
        kind,
        algorithm: reader.choice("algorithm", ["sha256", "sha1", "sha512"], "sha256"),
        encoding: reader.choice("encoding", ["hex", "base64"], "hex"),
        header,
        prefix: reader.prose("prefix", 50),
        member: reader.has("member") ? reader.text("member", formats.member) : undefined,
        over,
        timestamp,
        key: reader.choice("key", ["text", "base64", "hex"], "text"),
      };
    }
    case "ed25519": {
      const header = headerOf(reader);
      const over = readOver(reader);
      const timestamp = readTimestamp(reader, over);
      return header === undefined
        ? undefined
        : { kind, header, encoding: reader.choice("encoding", ["hex", "base64"], "hex"), over, timestamp };
    }
    case "ecdsa": {
      const header = headerOf(reader);
      const over = readOver(reader);
      const timestamp = readTimestamp(reader, over);
      return header === undefined ? undefined : { kind, header, over, timestamp };
    }
    case "body_hmac":
      return readBodyHmac(reader);
    case "token": {
      if (reader.has("header") === reader.has("query")) {
        return violations.add(path, "exclusive", "must have either header or query");
      }
      const place = reader.has("header") ? "header" : "query";
      const name = place === "header" ? headerOf(reader) : reader.text("query", formats.param);
      return name === undefined ? undefined : { kind, in: place, name, prefix: reader.prose("prefix", 50) };
    }
    case "body_token": {
      const pointer = reader.text("pointer", formats.pointer);
      return pointer === undefined ? undefined : { kind, pointer };
    }
    case "none": {
      const reason = reader.prose("reason", 500);
      if (reason === "") reader.refuse("reason", "required", "is required: say why deliveries cannot be verified");
      return { kind, reason };
    }
  }
}

function readBodyHmac(reader: ObjectReader): VerifySpec | undefined {
  const signature = reader.text("signature", formats.pointer);
  const pointers = '["/timestamp", "/token"]';
  reader.required("over", pointers);
  const over = reader.textList("over", formats.pointer, { min: 1, max: 10 }, pointers);
  const example = '{"pointer": "/timestamp"}';
  const timestamp = ObjectReader.open(
    reader.required("timestamp", example),
    reader.pathOf("timestamp"),
    reader.violations,
    { known: ["pointer", "tolerance_s"], example, what: "a timestamp" },
  );
  const pointer = timestamp?.text("pointer", formats.pointer);
  const toleranceS = timestamp?.integer("tolerance_s", { min: 1, max: 86_400 }, 300);
  if (over !== undefined && pointer !== undefined && !over.includes(pointer)) {
    reader.refuse(
      "over",
      "required",
      "must contain the pointer of the timestamp: otherwise the signature does not cover it",
    );
  }
  if (signature === undefined || over === undefined || pointer === undefined || toleranceS === undefined)
    return undefined;
  return { kind: "body_hmac", signature, over, timestamp: { pointer, toleranceS } };
}

function headerOf(reader: ObjectReader): string | undefined {
  return reader.text("header", formats.header)?.toLowerCase();
}

const partPattern = /\{([^}]*)\}/g;
const partNames = ["body", "timestamp", "url", "sorted_form"] as const;

function readOver(reader: ObjectReader): readonly SignedPart[] {
  const text = reader.has("over") ? reader.prose("over", 500) : "{body}";
  const parts: SignedPart[] = [];
  let end = 0;
  for (const match of text.matchAll(partPattern)) {
    if (match.index > end) parts.push({ kind: "literal", text: text.slice(end, match.index) });
    end = match.index + match[0].length;
    const name = match[1]!;
    if (name.startsWith("header.")) parts.push({ kind: "header", name: name.slice("header.".length).toLowerCase() });
    else if (partNames.includes(name as (typeof partNames)[number]))
      parts.push({ kind: name as (typeof partNames)[number] });
    else
      reader.refuse(
        "over",
        "placeholder",
        `{${shortName(name)}}: ${suggest(name, [...partNames, "header.x"], "parts")}`,
      );
  }
  if (end < text.length) parts.push({ kind: "literal", text: text.slice(end) });
  if (!parts.some(({ kind }) => kind === "body" || kind === "sorted_form")) {
    reader.refuse(
      "over",
      "required",
      "must contain {body} or {sorted_form}: otherwise the signature does not cover the body",
    );
  }
  return parts;
}

function readTimestamp(reader: ObjectReader, over: readonly SignedPart[]): SignatureTimestamp | undefined {
  const isSigned = over.some(({ kind }) => kind === "timestamp");
  if (!reader.has("timestamp")) {
    if (isSigned) reader.refuse("timestamp", "required", "is required because over contains {timestamp}");
    return undefined;
  }
  const timestamp = ObjectReader.open(reader.get("timestamp"), reader.pathOf("timestamp"), reader.violations, {
    known: ["header", "member", "unit", "tolerance_s"],
    example: '{"header": "x-timestamp", "unit": "epoch_s", "tolerance_s": 300}',
    what: "a timestamp",
  });
  if (timestamp === undefined) return undefined;
  if (!isSigned) {
    reader.refuse("over", "required", "must contain {timestamp}: otherwise the signature does not cover the timestamp");
  }
  if (timestamp.has("header") === timestamp.has("member")) {
    return reader.refuse("timestamp", "exclusive", "must have either header or member");
  }
  const member = timestamp.has("member") ? timestamp.text("member", formats.member) : undefined;
  const header = timestamp.has("header") ? timestamp.text("header", formats.header) : undefined;
  const from =
    member === undefined ? (header === undefined ? undefined : { header: header.toLowerCase() }) : { member };
  const toleranceS = timestamp.integer("tolerance_s", { min: 1, max: 86_400 }, 300);
  const unit = timestamp.choice("unit", ["epoch_s", "epoch_ms", "rfc3339"], "epoch_s");
  return from && toleranceS !== undefined ? { from, unit, toleranceS } : undefined;
}

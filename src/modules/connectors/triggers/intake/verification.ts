import { createHash, createHmac, createPublicKey, timingSafeEqual, verify as verifySignature } from "node:crypto";
import type { Json } from "../../../../platform/document/index.ts";
import { parseForm } from "../../../../platform/text/index.ts";
import { type SignatureTimestamp, type SignedPart, type VerifySpec, valueAt } from "../../manifests/index.ts";

/** A request of a provider, unchanged. */
export interface Delivery {
  readonly method: "GET" | "POST";
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: Buffer;
  /** The public URL with its query. */
  readonly url: string;
}

/** A delivery with its parsed parts. */
export interface ReadDelivery extends Delivery {
  readonly query: Readonly<Record<string, string>>;
  /** JSON, or the members of a form; null if it is neither. */
  readonly body: Json;
}

type Signed = Extract<VerifySpec, { kind: "hmac" | "ed25519" | "ecdsa" }>;

/** Whether a delivery proves its origin with a secret. It never throws: what cannot be read is not verified. */
export function isVerified(spec: VerifySpec, secret: string, delivery: ReadDelivery, nowMs: number): boolean {
  switch (spec.kind) {
    case "hmac":
    case "ed25519":
    case "ecdsa":
      return isSigned(spec, secret, delivery, nowMs);
    case "body_hmac":
      return isSignedInBody(spec, secret, delivery.body, nowMs);
    case "token": {
      const found = spec.in === "header" ? delivery.headers[spec.name] : delivery.query[spec.name];
      return found?.startsWith(spec.prefix) === true && isSameText(found.slice(spec.prefix.length), secret);
    }
    case "body_token": {
      const found = valueAt(delivery.body, spec.pointer);
      return typeof found === "string" && isSameText(found, secret);
    }
    case "none":
      // Only the secret part of the URL protects the intake, and the caller has checked it.
      return false;
  }
}

/** Compares texts in constant time, whatever their length. */
export function isSameText(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

/** Further signatures of a header are not compared, because anybody may send a header with thousands of them. */
const signaturesMax = 10;

function isSigned(spec: Signed, secret: string, delivery: ReadDelivery, nowMs: number): boolean {
  const header = delivery.headers[spec.header];
  if (header === undefined) return false;
  const timestamp = spec.timestamp === undefined ? "" : timestampOf(spec.timestamp, header, delivery);
  if (timestamp === undefined) return false;
  if (spec.timestamp !== undefined && !isRecent(spec.timestamp, timestamp, nowMs)) return false;
  const text = signedText(spec.over, timestamp, delivery);
  if (text === undefined) return false;
  const matches = createMatcher(spec, secret, text);
  // A header can have several signatures while the provider rotates its key.
  return signaturesOf(spec, header).slice(0, signaturesMax).some(matches);
}

function signaturesOf(spec: Signed, header: string): readonly string[] {
  const member = spec.kind === "hmac" ? spec.member : undefined;
  const prefix = spec.kind === "hmac" ? spec.prefix : "";
  // Standard Webhooks separates signatures by spaces.
  const found =
    member === undefined ? new Set([header, ...header.split(" ")]).values().toArray() : membersOf(header, member);
  return found.flatMap((each) => (each.startsWith(prefix) ? [each.slice(prefix.length)] : []));
}

/** The values of a member of a header of the form `t=…,v1=…`. A value may contain `=`. */
function membersOf(header: string, name: string): readonly string[] {
  return header.split(",").flatMap((part) => {
    const at = part.indexOf("=");
    return at > 0 && part.slice(0, at).trim() === name ? [part.slice(at + 1).trim()] : [];
  });
}

function timestampOf({ from }: SignatureTimestamp, header: string, { headers }: Delivery): string | undefined {
  return "header" in from ? headers[from.header] : membersOf(header, from.member)[0];
}

function isRecent(
  { unit, toleranceS }: Pick<SignatureTimestamp, "unit" | "toleranceS">,
  text: string,
  nowMs: number,
): boolean {
  const atMs = unit === "rfc3339" ? Date.parse(text) : /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Math.abs(nowMs - (unit === "epoch_s" ? atMs * 1000 : atMs)) <= toleranceS * 1000;
}

/** Undefined for a form with too many members. */
function signedText(over: readonly SignedPart[], timestamp: string, delivery: ReadDelivery): Buffer | undefined {
  const parts: Buffer[] = [];
  for (const part of over) {
    const signed = signedPart(part, timestamp, delivery);
    if (signed === undefined) return undefined;
    parts.push(typeof signed === "string" ? Buffer.from(signed) : signed);
  }
  return Buffer.concat(parts);
}

function signedPart(
  part: SignedPart,
  timestamp: string,
  { rawBody, url, headers }: ReadDelivery,
): string | Buffer | undefined {
  switch (part.kind) {
    case "literal":
      return part.text;
    case "body":
      return rawBody;
    case "timestamp":
      return timestamp;
    case "url":
      return url;
    case "sorted_form":
      return sortedForm(rawBody);
    case "header":
      return headers[part.name] ?? "";
  }
}

/** The names and values of a form, sorted by name. Names that occur several times are sorted by value too. */
function sortedForm(rawBody: Buffer): string | undefined {
  const pairs = parseForm(rawBody.toString("utf8"));
  const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
  return pairs
    ?.sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => name + value)
    .join("");
}

/** The signature covers some members of the body only. */
function isSignedInBody(
  { signature, over, timestamp }: Extract<VerifySpec, { kind: "body_hmac" }>,
  secret: string,
  body: Json,
  nowMs: number,
): boolean {
  const textAt = (pointer: string) => {
    const value = valueAt(body, pointer);
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  };
  const parts = over.map(textAt);
  const given = bytesOf(textAt(signature) ?? "", "hex");
  const atS = textAt(timestamp.pointer);
  if (given === undefined || atS === undefined || parts.includes(undefined)) return false;
  if (!isRecent({ unit: "epoch_s", toleranceS: timestamp.toleranceS }, atS, nowMs)) return false;
  const expected = createHmac("sha256", secret).update(parts.join("")).digest();
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Creates a function that tells whether a signature is one of the text. */
function createMatcher(spec: Signed, secret: string, text: Buffer): (signature: string) => boolean {
  const isSignature = createByteMatcher(spec, secret, text);
  return (signature) => {
    const given = bytesOf(signature, spec.kind === "ecdsa" ? "base64" : spec.encoding);
    return given !== undefined && isSignature(given);
  };
}

function createByteMatcher(spec: Signed, secret: string, text: Buffer): (given: Buffer) => boolean {
  if (spec.kind === "ecdsa") return (given) => isEcdsaSignature(secret, text, given);
  if (spec.kind === "ed25519") return (given) => isEd25519Signature(secret, spec.encoding, text, given);
  const key = keyBytes(secret, spec.key);
  if (key === undefined) return () => false;
  const expected = createHmac(spec.algorithm, key).update(text).digest();
  return (given) => given.length === expected.length && timingSafeEqual(given, expected);
}

function keyBytes(secret: string, form: "text" | "base64" | "hex"): Buffer | undefined {
  if (form === "text") return Buffer.from(secret);
  // Standard Webhooks writes its secrets with this prefix.
  return bytesOf(form === "base64" ? secret.replace(/^whsec_/, "") : secret, form);
}

/** Decodes strictly; undefined for anything that is not of the encoding. */
function bytesOf(text: string, encoding: "hex" | "base64"): Buffer | undefined {
  const pattern = encoding === "hex" ? /^([0-9a-fA-F]{2})+$/ : /^[A-Za-z0-9+/_-]+={0,2}$/;
  return pattern.test(text) ? Buffer.from(text, encoding) : undefined;
}

function isEcdsaSignature(key: string, text: Buffer, signature: Buffer): boolean {
  const der = bytesOf(key.trim(), "base64");
  if (der === undefined) return false;
  try {
    const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
    return publicKey.asymmetricKeyType === "ec" && verifySignature("sha256", text, publicKey, signature);
  } catch {
    // Not a public key.
    return false;
  }
}

/** The header of a raw Ed25519 public key in DER. */
const ed25519Prefix = Buffer.from("302a300506032b6570032100", "hex");

function isEd25519Signature(key: string, encoding: "hex" | "base64", text: Buffer, signature: Buffer): boolean {
  const raw = bytesOf(key.trim(), encoding);
  if (raw?.length !== 32 || signature.length !== 64) return false;
  try {
    const publicKey = createPublicKey({ key: Buffer.concat([ed25519Prefix, raw]), format: "der", type: "spki" });
    return verifySignature(null, text, publicKey, signature);
  } catch {
    // Not every 32 bytes are a point of the curve.
    return false;
  }
}

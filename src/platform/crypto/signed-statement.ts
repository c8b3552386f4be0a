import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { fail } from "../../errors/index.ts";
import { canonicalJson } from "./canonical-json.ts";

/** A public key that verifies statements. */
export interface StatementKey {
  /** `ed25519-` and the first 32 hex digits of the SHA-256 of the raw key, so that an id cannot name another key. */
  readonly id: string;
  /** The 32 bytes of the key as base64. */
  readonly publicKey: string;
}

const rawKeyBytes = 32;
const signatureBytes = 64;
/** The DER bytes that precede the raw key in a SubjectPublicKeyInfo of Ed25519 (RFC 8410). */
const publicKeyPrefix = Buffer.from("302a300506032b6570032100", "hex");

/** The SHA-256 of a value as canonical JSON, in hexadecimal. */
export function digestOfStatement(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}

/**
 * Signs a value. The type is part of what is signed, so that a signature cannot be moved to a statement of another type.
 * Returns the 64 bytes of the signature as base64.
 */
export function signStatement(type: string, value: unknown, privateKey: KeyObject): string {
  return sign(null, encode(type, value), privateKey).toString("base64");
}

/** Whether the key's owner signed this value as a statement of this type. */
export function verifyStatement(type: string, value: unknown, signature: string, key: StatementKey): boolean {
  const bytes = Buffer.from(signature, "base64");
  // Only the canonical encoding is accepted, so that a statement has exactly one signature text per key.
  if (bytes.length !== signatureBytes || bytes.toString("base64") !== signature) return false;
  return verify(null, encode(type, value), toKeyObject(Buffer.from(key.publicKey, "base64")), bytes);
}

/** Reads an Ed25519 public key from base64 of its 32 bytes, or from PEM. Throws INVALID_ARGUMENT for anything else. */
export function readPublicKey(text: string): StatementKey {
  return toStatementKey(text.includes("-----BEGIN") ? rawKeyOf(parsePem(text)) : decodeRawKey(text.trim()));
}

/** Reads an Ed25519 private key from PEM (PKCS#8). */
export function readPrivateKey(pem: string): { readonly privateKey: KeyObject; readonly key: StatementKey } {
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch (cause) {
    throw fail("INVALID_ARGUMENT", {
      public: "The private key is not a PEM text (PKCS#8). Create one with: service pack keygen",
      cause,
    });
  }
  if (privateKey.asymmetricKeyType !== "ed25519") throw notEd25519();
  return { privateKey, key: toStatementKey(rawKeyOf(createPublicKey(privateKey))) };
}

/** Creates a key pair; the private key is PEM (PKCS#8). */
export function createStatementKey(): { readonly privateKeyPem: string; readonly key: StatementKey } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    key: toStatementKey(rawKeyOf(publicKey)),
  };
}

/** The pre-authentication encoding of DSSE: lengths before the type and the body make the encoding unambiguous. */
function encode(type: string, value: unknown): Buffer {
  const body = Buffer.from(canonicalJson(value));
  return Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${body.length} `), body]);
}

function toStatementKey(raw: Buffer): StatementKey {
  const digest = createHash("sha256").update(raw).digest("hex");
  return { id: `ed25519-${digest.slice(0, 32)}`, publicKey: raw.toString("base64") };
}

function toKeyObject(raw: Buffer): KeyObject {
  return createPublicKey({ key: Buffer.concat([publicKeyPrefix, raw]), format: "der", type: "spki" });
}

function rawKeyOf(key: KeyObject): Buffer {
  if (key.asymmetricKeyType !== "ed25519") throw notEd25519();
  return key.export({ type: "spki", format: "der" }).subarray(publicKeyPrefix.length);
}

function parsePem(text: string): KeyObject {
  if (text.includes("PRIVATE KEY")) {
    throw fail("INVALID_ARGUMENT", {
      public: "This is a private key. Keep it secret, and register the public key that belongs to it.",
    });
  }
  try {
    return createPublicKey(text);
  } catch (cause) {
    throw fail("INVALID_ARGUMENT", { public: "The public key is not a valid PEM text.", cause });
  }
}

function decodeRawKey(text: string): Buffer {
  const raw = Buffer.from(text, "base64");
  if (raw.length !== rawKeyBytes || raw.toString("base64") !== text) {
    throw fail("INVALID_ARGUMENT", { public: "The public key must be 32 bytes as base64, or a PEM text." });
  }
  return raw;
}

function notEd25519() {
  return fail("INVALID_ARGUMENT", { public: "The key must be an Ed25519 key. Create one with: service pack keygen" });
}

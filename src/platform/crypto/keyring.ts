import { randomFillSync } from "node:crypto";
import { fail } from "../../errors/index.ts";
import { type KeySource, readMasterKeys } from "./master-keys.ts";
import { sealFailure } from "./seal-error.ts";
import { decrypt, encrypt, nonceBytes, tagBytes } from "./xchacha.ts";

/** What a ciphertext belongs to; it opens nowhere else, so a row copied to another tenant or column is useless. */
export interface Binding {
  readonly tenantId: string;
  readonly recordId: string;
  readonly field: string;
}

/** The master keys: the active one, and retired ones that still open what they once sealed. */
export interface KeyringSettings {
  readonly activeKeyId: string;
  readonly keys: KeySource;
}

/** Seals and opens stored secrets. */
export interface Keyring {
  readonly activeKeyId: string;
  /** Encrypts with the active key: `xc1:<key id>:<base64 of nonce, ciphertext, tag>`. */
  seal(plaintext: string, binding: Binding): string;
  /** Decrypts with whichever key sealed it. Failures are INTERNAL with a SealError as their cause. */
  open(ciphertext: string, binding: Binding): string;
  /** The id of the key that sealed it. */
  keyIdOf(ciphertext: string): string;
  /** Whether the active key sealed it; when not, seal it again at the next occasion. */
  isCurrent(ciphertext: string): boolean;
}

const shape = /^xc1:([A-Za-z0-9._-]{1,64}):([A-Za-z0-9+/]+={0,2})$/;

/** Checks the keys and makes a keyring of them; a bad key stops the start with a message that names it. */
export function createKeyring(settings: KeyringSettings): Keyring {
  const keys = readMasterKeys(settings.keys);
  const activeKeyId = settings.activeKeyId;
  const activeKey = keys.get(activeKeyId);
  if (activeKey === undefined) {
    const known = [...keys.keys()].join(", ") || "none";
    throw fail("FAILED_PRECONDITION", {
      public: `The active encryption key ${JSON.stringify(activeKeyId)} is missing; keys given: ${known}.`,
    });
  }

  return {
    activeKeyId,
    seal(plaintext, binding) {
      const bytes = Buffer.allocUnsafe(nonceBytes);
      randomFillSync(bytes);
      const sealed = encrypt(activeKey, bytes, Buffer.from(plaintext, "utf8"), additionalData(binding));
      return `xc1:${activeKeyId}:${Buffer.concat([bytes, sealed]).toString("base64")}`;
    },
    open(ciphertext, binding) {
      const { keyId, bytes } = parse(ciphertext);
      const key = keys.get(keyId);
      if (key === undefined) {
        throw sealFailure(
          "unknown_key",
          `No key ${JSON.stringify(keyId)} in the keyring: was it retired for good?`,
          keyId,
        );
      }
      const additional = additionalData(binding);
      try {
        return decrypt(key, bytes.subarray(0, nonceBytes), bytes.subarray(nonceBytes), additional).toString("utf8");
      } catch (cause) {
        // The cipher cannot tell these apart, by design.
        const why = "altered, bound to another tenant, record or field, or sealed with another key of that id";
        throw sealFailure("rejected", `The ciphertext does not open: ${why}.`, keyId, cause);
      }
    },
    keyIdOf: (ciphertext) => parse(ciphertext).keyId,
    isCurrent: (ciphertext) => parse(ciphertext).keyId === activeKeyId,
  };
}

function parse(ciphertext: string): { keyId: string; bytes: Buffer } {
  const match = shape.exec(ciphertext);
  if (match === null) throw sealFailure("malformed", "Not of the form xc1:<key id>:<base64>.");
  const bytes = Buffer.from(match[2]!, "base64");
  // One spelling a ciphertext: base64 with stray bits at its end would decode to the same bytes.
  if (bytes.length < nonceBytes + tagBytes || bytes.toString("base64") !== match[2]) {
    throw sealFailure("malformed", "The base64 part is too short or not canonical.", match[1]);
  }
  return { keyId: match[1]!, bytes };
}

function additionalData(binding: Binding): Buffer {
  const parts = [binding.tenantId, binding.recordId, binding.field];
  // A separator inside a part would let two bindings share one spelling.
  if (parts.some((part) => part === "" || part.includes("|"))) {
    throw sealFailure("bad_binding", "Tenant, record and field must be non-empty and free of '|'.");
  }
  return Buffer.from(parts.join("|"), "utf8");
}

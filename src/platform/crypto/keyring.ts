import { randomFillSync } from "node:crypto";
import { fail } from "../../errors/index.ts";
import { type KeySource, readMasterKeys } from "./master-keys.ts";
import { sealFailure } from "./seal-error.ts";
import { decrypt, encrypt, nonceBytes, tagBytes } from "./xchacha.ts";

/** The field that a ciphertext is bound to. It cannot be opened elsewhere, so a copy in another tenant or column is useless. */
export interface Binding {
  readonly tenantId: string;
  readonly recordId: string;
  readonly field: string;
}

/** The master keys: the active key, and retired keys that still open what they sealed. */
export interface KeyringSettings {
  readonly activeKeyId: string;
  readonly keys: KeySource;
}

/** Seals and opens stored secrets. */
export interface Keyring {
  readonly activeKeyId: string;
  /** Encrypts with the active key: `xc1:<key id>:<base64 of nonce, ciphertext, tag>`. */
  seal(plaintext: string, binding: Binding): string;
  /** Decrypts with the key that sealed the ciphertext. Failures are INTERNAL with a SealError as cause. */
  open(ciphertext: string, binding: Binding): string;
  /** The id of the key that sealed the ciphertext. */
  keyIdOf(ciphertext: string): string;
  /** Whether the active key sealed the ciphertext. If not, it should be re-encrypted. */
  isCurrent(ciphertext: string): boolean;
}

const shape = /^xc1:([A-Za-z0-9._-]{1,64}):([A-Za-z0-9+/]+={0,2})$/;

/** Creates a keyring from validated keys. An invalid key fails the startup with a message that names it. */
export function createKeyring(settings: KeyringSettings): Keyring {
  const keys = readMasterKeys(settings.keys);
  const activeKeyId = settings.activeKeyId;
  const activeKey = keys.get(activeKeyId);
  if (activeKey === undefined) {
    const known = [...keys.keys()].join(", ") || "none";
    throw fail("FAILED_PRECONDITION", {
      public: `The active encryption key ${JSON.stringify(activeKeyId)} is missing; configured keys: ${known}.`,
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
          `The key ${JSON.stringify(keyId)} is not in the keyring. It may have been removed too early.`,
          keyId,
        );
      }
      const additional = additionalData(binding);
      try {
        return decrypt(key, bytes.subarray(0, nonceBytes), bytes.subarray(nonceBytes), additional).toString("utf8");
      } catch (cause) {
        // The cipher cannot distinguish these causes, by design.
        const why = "altered, bound to another tenant, record or field, or sealed with another key of that id";
        throw sealFailure("rejected", `The ciphertext cannot be opened: ${why}.`, keyId, cause);
      }
    },
    keyIdOf: (ciphertext) => parse(ciphertext).keyId,
    isCurrent: (ciphertext) => parse(ciphertext).keyId === activeKeyId,
  };
}

function parse(ciphertext: string): { keyId: string; bytes: Buffer } {
  const match = shape.exec(ciphertext);
  if (match === null) throw sealFailure("malformed", "The ciphertext is not of the form xc1:<key id>:<base64>.");
  const bytes = Buffer.from(match[2]!, "base64");
  // Only the canonical encoding is accepted, since base64 with stray bits at its end decodes to the same bytes.
  if (bytes.length < nonceBytes + tagBytes || bytes.toString("base64") !== match[2]) {
    throw sealFailure("malformed", "The base64 part is too short or not canonical.", match[1]);
  }
  return { keyId: match[1]!, bytes };
}

function additionalData(binding: Binding): Buffer {
  const parts = [binding.tenantId, binding.recordId, binding.field];
  // A separator inside a part would make two bindings indistinguishable.
  if (parts.some((part) => part === "" || part.includes("|"))) {
    throw sealFailure("bad_binding", "Tenant, record and field must not be empty and must not contain '|'.");
  }
  return Buffer.from(parts.join("|"), "utf8");
}

import { type Failure, fail } from "../../errors/index.ts";
import { keyBytes } from "./xchacha.ts";

/** Base64 keys by id from the settings, as a map or as pairs. Pairs allow detection of a repeated id. */
export type KeySource = Readonly<Record<string, string>> | Iterable<readonly [id: string, base64: string]>;

const idPattern = /^[A-Za-z0-9._-]{1,64}$/;
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Decodes and validates master keys. An error names the key by its id and never shows any of its bytes. */
export function readMasterKeys(source: KeySource): Map<string, Uint8Array> {
  const pairs = Symbol.iterator in source ? source : Object.entries(source);
  const keys = new Map<string, Uint8Array>();
  const idByKey = new Map<string, string>();
  for (const [id, base64] of pairs) {
    if (!idPattern.test(id))
      throw invalidKey(id, "has an id that is not 1 to 64 letters, digits, dots, dashes or underscores");
    if (keys.has(id)) throw invalidKey(id, "is configured twice");
    const text = base64.trim();
    if (text === "") throw invalidKey(id, "is empty");
    if (!base64Pattern.test(text)) throw invalidKey(id, "is not base64 (standard alphabet, padded)");
    const key = Buffer.from(text, "base64");
    if (key.length !== keyBytes) throw invalidKey(id, `decodes to ${key.length} bytes; it must be ${keyBytes}`);
    if (key.every((byte) => byte === key[0]))
      throw invalidKey(
        id,
        "is a single byte repeated: a placeholder, not a key; create one with `openssl rand -base64 32`",
      );
    // The same key under two ids is a copying mistake, and a rotation between them would change nothing.
    const twin = idByKey.get(text);
    if (twin !== undefined) throw invalidKey(id, `has the same bytes as ${JSON.stringify(twin)}`);
    idByKey.set(text, id);
    keys.set(id, Uint8Array.from(key));
  }
  return keys;
}

function invalidKey(id: string, what: string): Failure {
  return fail("FAILED_PRECONDITION", { public: `Encryption key ${JSON.stringify(id)} ${what}.` });
}

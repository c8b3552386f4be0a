import { type Failure, fail } from "../../errors/index.ts";
import { keyBytes } from "./xchacha.ts";

/** Keys as settings give them: base64 by id, as a map or as pairs (pairs let a repeated id be noticed). */
export type KeySource = Readonly<Record<string, string>> | Iterable<readonly [id: string, base64: string]>;

const idPattern = /^[A-Za-z0-9._-]{1,64}$/;
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Reads and checks master keys. A refusal names the key by its id and never shows a byte of it. */
export function readMasterKeys(source: KeySource): Map<string, Uint8Array> {
  const pairs = Symbol.iterator in source ? source : Object.entries(source);
  const keys = new Map<string, Uint8Array>();
  const idByKey = new Map<string, string>();
  for (const [id, base64] of pairs) {
    if (!idPattern.test(id))
      throw refuse(id, "has an id that is not 1 to 64 letters, digits, dots, dashes or underscores");
    if (keys.has(id)) throw refuse(id, "is given twice");
    const text = base64.trim();
    if (text === "") throw refuse(id, "is empty");
    if (!base64Pattern.test(text)) throw refuse(id, "is not base64 (standard alphabet, padded)");
    const key = Buffer.from(text, "base64");
    if (key.length !== keyBytes) throw refuse(id, `decodes to ${key.length} bytes; it must be ${keyBytes}`);
    if (key.every((byte) => byte === key[0])) throw refuse(id, "is one byte repeated: a placeholder, not a key");
    // One key under two ids is a copying mistake, and would make a rotation that changes nothing.
    const twin = idByKey.get(text);
    if (twin !== undefined) throw refuse(id, `has the same bytes as ${JSON.stringify(twin)}`);
    idByKey.set(text, id);
    keys.set(id, Uint8Array.from(key));
  }
  return keys;
}

function refuse(id: string, what: string): Failure {
  return fail("FAILED_PRECONDITION", { public: `Encryption key ${JSON.stringify(id)} ${what}.` });
}

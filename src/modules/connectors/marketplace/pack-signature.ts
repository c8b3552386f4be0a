import type { KeyObject } from "node:crypto";
import { type Failure, fail } from "../../../errors/index.ts";
import {
  digestOfStatement,
  type StatementKey,
  signStatement,
  verifyStatement,
} from "../../../platform/crypto/index.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import { packName, packStatementType, type SignedPack } from "./domain/pack.ts";
import { parsePack } from "./domain/parse-pack.ts";

/** A key of a publisher. */
export interface TrustedKey extends StatementKey {
  readonly publisher: string;
  readonly revoked: boolean;
}

/** Reads a pack with its digest and signature. Throws INVALID_ARGUMENT for a document that is not a pack. */
export function readSignedPack(value: JsonObject): SignedPack {
  const { digest, signature, key_id: keyId, ...document } = value;
  const { pack, violations } = parsePack(document);
  if (violations !== undefined) {
    const fields = violations.map(({ path, rule, message }) => ({ field: path || "pack", rule, message }));
    throw fail("INVALID_ARGUMENT", { public: `${fields[0]!.field}: ${fields[0]!.message}`, violations: fields });
  }
  return { pack, document, digest: text(digest), signature: text(signature), keyId: text(keyId) };
}

/** The pack with its digest, and with a signature if it has one. */
export function writeSignedPack({ document, digest, signature, keyId }: Omit<SignedPack, "pack">): JsonObject {
  return { ...document, digest, ...(signature !== "" && { signature, key_id: keyId }) };
}

/** Signs a pack. Members that are not signed are replaced. */
export function signPack(value: JsonObject, privateKey: KeyObject, key: StatementKey): SignedPack {
  const { pack, document } = readSignedPack(value);
  const signature = signStatement(packStatementType, document, privateKey);
  return { pack, document, digest: digestOfStatement(document), signature, keyId: key.id };
}

/**
 * Throws PACK_UNTRUSTED unless the pack is exactly what a key of its publisher signed. The key is looked up by its id among
 * the keys of the publisher that the tenant trusts.
 */
export function verifyPack(
  { pack, document, digest, signature, keyId }: SignedPack,
  keys: readonly TrustedKey[],
): void {
  const name = `${packName(pack)} ${pack.version}`;
  const key = keys.find(({ id, publisher }) => id === keyId && publisher === pack.publisher);
  if (signature === "") throw untrusted(`${name} is not signed: sign it with \`service pack sign\``);
  if (key === undefined) {
    throw untrusted(
      `${name} is signed with ${keyId || "no key"}, which is not a key of ${pack.publisher} in this tenant`,
    );
  }
  if (key.revoked) throw untrusted(`${name} is signed with the key ${keyId}, which is revoked`);
  if (digestOfStatement(document) !== digest) throw untrusted(`${name} does not match its digest: it was changed`);
  if (!verifyStatement(packStatementType, document, signature, key)) {
    throw untrusted(`The signature of ${name} is not valid: the pack was changed, or another key signed it`);
  }
}

function untrusted(message: string): Failure {
  return fail("PACK_UNTRUSTED", { public: `${message}.` });
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

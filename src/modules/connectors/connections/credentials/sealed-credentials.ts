import { fail } from "../../../../errors/index.ts";
import type { Keyring } from "../../../../platform/crypto/index.ts";
import { bindingOf, type Credentials, type SealedConnection } from "../domain/connection.ts";

/** Decrypts credentials; undefined if they cannot be decrypted. */
export function openCredentials(keyring: Keyring | undefined, sealed: SealedConnection): Credentials | undefined {
  if (keyring === undefined) return undefined;
  try {
    return JSON.parse(keyring.open(sealed.ciphertext, bindingOf(sealed))) as Credentials;
  } catch {
    return undefined;
  }
}

/** Encrypts credentials with the active master key. */
export function sealCredentials(
  keyring: Keyring | undefined,
  record: { readonly tenantId: string; readonly id: string },
  credentials: Credentials,
): Pick<SealedConnection, "ciphertext" | "keyId"> {
  if (keyring === undefined) {
    throw fail("FAILED_PRECONDITION", {
      public:
        "Connections require a master key: the operator must set connector.encryption_key (for example to the output of: openssl rand -base64 32).",
    });
  }
  return { ciphertext: keyring.seal(JSON.stringify(credentials), bindingOf(record)), keyId: keyring.activeKeyId };
}

import { randomBytes } from "node:crypto";
import { fail } from "../../../errors/index.ts";
import { type Binding, type Keyring, type Reencryptable, sealedTable } from "../../../platform/crypto/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { registrationBinding, type Secrets, subscriptionBinding } from "./domain/subscription.ts";

/** Sealed secrets; both fields are empty if there are none. */
export interface SealedSecrets {
  readonly ciphertext: string;
  readonly keyId: string;
}

export function sealSecrets(keyring: Keyring | undefined, secrets: Secrets, binding: Binding): SealedSecrets {
  if (secrets.signing === undefined && secrets.urlKey === undefined) return { ciphertext: "", keyId: "" };
  if (keyring === undefined) {
    throw fail("FAILED_PRECONDITION", {
      public:
        "Webhooks require a master key: the operator must set connector.encryption_key (for example to the output of: openssl rand -base64 32).",
    });
  }
  return { ciphertext: keyring.seal(JSON.stringify(secrets), binding), keyId: keyring.activeKeyId };
}

/** Opens sealed secrets; undefined if no key of the keyring opens them. */
export function openSecrets(keyring: Keyring | undefined, ciphertext: string, binding: Binding): Secrets | undefined {
  if (ciphertext === "") return {};
  try {
    return keyring && (JSON.parse(keyring.open(ciphertext, binding)) as Secrets);
  } catch {
    return undefined;
  }
}

export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** The secrets of subscriptions and registrations, for re-encryption. */
export function reencryptableSecrets(sql: Sql): readonly Reencryptable[] {
  return [
    sealedTable(sql, "connector_trigger_subscriptions", subscriptionBinding),
    sealedTable(sql, "connector_trigger_registrations", registrationBinding),
  ];
}

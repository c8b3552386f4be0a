import { randomBytes } from "node:crypto";
import { fail } from "../../../errors/index.ts";
import type { Binding, Keyring, Reencryptable } from "../../../platform/crypto/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { registrationBinding, type Secrets, subscriptionBinding } from "./domain/subscription.ts";

/** Seals secrets; both fields are empty if there are none. */
export function sealSecrets(
  keyring: Keyring | undefined,
  secrets: Secrets,
  binding: Binding,
): { readonly ciphertext: string; readonly keyId: string } {
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

/** Creates a random secret. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** The secrets of subscriptions and registrations, for re-encryption. */
export function reencryptableSecrets(sql: Sql): readonly Reencryptable[] {
  return [
    reencryptable(sql, "connector_trigger_subscriptions", subscriptionBinding),
    reencryptable(sql, "connector_trigger_registrations", registrationBinding),
  ];
}

function reencryptable(sql: Sql, table: string, bindingOf: Reencryptable["bindingOf"]): Reencryptable {
  return {
    bindingOf,

    async next(activeKeyId, after, limit) {
      // An index supports < and > but not <>. Mostly no row matches.
      return sql`
        select tenant_id, id, ciphertext from ${sql(table)}
        where (key_id < ${activeKeyId} or key_id > ${activeKeyId}) and ciphertext <> ''
          and (tenant_id, id) > (${after?.tenantId ?? ""}, ${after?.id ?? ""})
        order by tenant_id, id limit ${limit}`;
    },

    async replace(activeKeyId, replacements) {
      // Lock rows in the global order to avoid deadlocks between nodes.
      const { count } = await sql`
        with unchanged as (
          select record.tenant_id, record.id, sealed.replacement
          from ${sql(table)} record join unnest(
              ${replacements.map((each) => each.tenantId)}::text[], ${replacements.map((each) => each.id)}::text[],
              ${replacements.map((each) => each.ciphertext)}::text[],
              ${replacements.map((each) => each.replacement)}::text[]) as sealed(tenant_id, id, ciphertext, replacement)
            on record.tenant_id = sealed.tenant_id and record.id = sealed.id and record.ciphertext = sealed.ciphertext
          order by record.tenant_id, record.id for update of record)
        update ${sql(table)} record set ciphertext = unchanged.replacement, key_id = ${activeKeyId}
        from unchanged where record.tenant_id = unchanged.tenant_id and record.id = unchanged.id`;
      return count;
    },
  };
}

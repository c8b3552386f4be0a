import type { TenantId } from "../../../platform/access/index.ts";
import { type Reencryptable, sealedTable } from "../../../platform/crypto/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import { bindingOf, type SealedSecret, type Secret } from "./domain/secret.ts";

/** A sealed value and the id of its master key. */
export interface SealedValue {
  readonly ciphertext: string;
  readonly keyId: string;
}

const secrets = recordTable<Secret, Pick<SealedSecret, "ciphertext">>("secrets", {
  fixed: "tenant_id id name created_at",
  mutable: "version metadata key_id updated_at record_version",
  internal: "ciphertext",
});

/** The SQL queries of secrets. Only queries that need ciphertexts read them. */
export function secretStore(sql: Sql) {
  const { columns, insert, find, remove, set, list } = secrets(sql);
  return {
    insert,
    find,
    remove,
    list,

    /** Finds by name or id. Names start with a letter and ids with a digit, so at most one secret matches. */
    findSealed: (tenantId: TenantId, nameOrId: string) =>
      sql<SealedSecret[]>`
        select ${columns}, ciphertext from secrets
        where tenant_id = ${tenantId} and (id = ${nameOrId} or name = ${nameOrId})`.first(),

    /** Undefined fields stay unchanged; a new value increments the version; `expectedVersion`, if given, must be current. */
    update(
      tenantId: TenantId,
      id: string,
      change: { metadata?: Readonly<Record<string, unknown>> | undefined; sealed?: SealedValue | undefined },
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<Secret | undefined> {
      const { metadata, sealed } = change;
      return set(
        tenantId,
        id,
        now,
        sql`metadata = coalesce(${metadata === undefined ? null : sql.json(metadata as never)}::jsonb, metadata),
          ciphertext = coalesce(${sealed?.ciphertext ?? null}, ciphertext),
          key_id = coalesce(${sealed?.keyId ?? null}, key_id), version = version + ${sealed === undefined ? 0 : 1}`,
        sql`record_version = coalesce(${expectedVersion ?? null}::int, record_version)`,
      );
    },
  };
}

/** The secrets of all tenants, for re-encryption. Callers see only the changed key id. */
export function reencryptableSecrets(sql: Sql): Reencryptable {
  return sealedTable(sql, "secrets", bindingOf);
}

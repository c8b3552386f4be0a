import type { TenantId } from "../../../../platform/access/index.ts";
import { type Reencryptable, type StatementKey, sealedTable } from "../../../../platform/crypto/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";

/** A public key of the instance. */
export interface SigningKey extends StatementKey {
  readonly createdAt: Date;
  /** Null while the key signs. */
  readonly retiredAt: Date | null;
}

/** A key with its sealed private key. */
export interface SealedKey extends SigningKey {
  readonly ciphertext: string;
}

/** The SQL queries of signing keys. They belong to the platform tenant. */
export function keyStore(sql: Sql) {
  const columns = sql`id, public_key, created_at, retired_at`;
  return {
    findActive: (tenantId: TenantId) =>
      sql<SealedKey[]>`
        select ${columns}, ciphertext from evidence_signing_keys where tenant_id = ${tenantId} and retired_at is null`.first(),

    /** Adds a key, unless there is an active one. */
    async insert(tenantId: TenantId, key: SealedKey, masterKeyId: string): Promise<void> {
      await sql`
        insert into evidence_signing_keys (tenant_id, id, public_key, key_id, ciphertext, created_at)
        values (${tenantId}, ${key.id}, ${key.publicKey}, ${masterKeyId}, ${key.ciphertext}, ${key.createdAt})
        on conflict (tenant_id) where retired_at is null do nothing`;
    },

    /** Retires the active key; returns its id. */
    async retireActive(tenantId: TenantId, now: Date): Promise<string | undefined> {
      const [row] = await sql<{ id: string }[]>`
        update evidence_signing_keys set retired_at = ${now} where tenant_id = ${tenantId} and retired_at is null
        returning id`;
      return row?.id;
    },

    /** The newest keys first. */
    async list(tenantId: TenantId, limit: number): Promise<SigningKey[]> {
      return sql<SigningKey[]>`
        select ${columns} from evidence_signing_keys where tenant_id = ${tenantId}
        order by retired_at desc nulls first, created_at desc, id limit ${limit}`;
    },

    async find(tenantId: TenantId, ids: readonly string[]): Promise<SigningKey[]> {
      return sql<SigningKey[]>`
        select ${columns} from evidence_signing_keys where tenant_id = ${tenantId} and id = any(${ids as string[]})
        order by created_at desc, id`;
    },
  };
}

/** The private keys, for re-encryption when the master key changes. */
export function reencryptableSigningKeys(sql: Sql): Reencryptable {
  return sealedTable(sql, "evidence_signing_keys", bindingOf);
}

/** Returns the binding of a private key's ciphertext. */
export function bindingOf({ tenantId, id }: { readonly tenantId: string; readonly id: string }) {
  return { tenantId, recordId: id, field: "evidence_signing_key" };
}

import type { TenantId } from "../../../platform/access/index.ts";
import { type Reencryptable, sealedTable } from "../../../platform/crypto/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import { bindingOf, type SealedSecret, type Secret } from "./domain/secret.ts";

/** A sealed value and the id of its master key. */
export interface SealedValue {
  readonly ciphertext: string;
  readonly keyId: string;
}

/** The SQL queries of secrets. Only queries that need ciphertexts read them. */
export function secretStore(sql: Sql) {
  const columns = sql`tenant_id, id, name, version, metadata, key_id, created_at, updated_at, record_version`;
  return {
    async insert(secret: SealedSecret): Promise<Secret> {
      const [row] = await sql<Secret[]>`
        insert into secrets (tenant_id, id, name, version, ciphertext, key_id, metadata, created_at, updated_at)
        values (${secret.tenantId}, ${secret.id}, ${secret.name}, ${secret.version}, ${secret.ciphertext},
          ${secret.keyId}, ${sql.json(secret.metadata as never)}, ${secret.createdAt}, ${secret.updatedAt})
        returning ${columns}`;
      return row!;
    },

    async find(tenantId: TenantId, id: string): Promise<Secret | undefined> {
      const [row] = await sql<Secret[]>`select ${columns} from secrets where tenant_id = ${tenantId} and id = ${id}`;
      return row;
    },

    /** Finds by name or id. Names start with a letter and ids with a digit, so at most one secret matches. */
    async findSealed(tenantId: TenantId, nameOrId: string): Promise<SealedSecret | undefined> {
      const [row] = await sql<SealedSecret[]>`
        select ${columns}, ciphertext from secrets
        where tenant_id = ${tenantId} and (id = ${nameOrId} or name = ${nameOrId})`;
      return row;
    },

    /** Undefined fields stay unchanged; a new value increments the version; `expectedVersion`, if given, must be current. */
    async update(
      tenantId: TenantId,
      id: string,
      change: { metadata?: Readonly<Record<string, unknown>> | undefined; sealed?: SealedValue | undefined },
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<Secret | undefined> {
      const { metadata, sealed } = change;
      const [row] = await sql<Secret[]>`
        update secrets set
          metadata = coalesce(${metadata === undefined ? null : sql.json(metadata as never)}::jsonb, metadata),
          ciphertext = coalesce(${sealed?.ciphertext ?? null}, ciphertext),
          key_id = coalesce(${sealed?.keyId ?? null}, key_id),
          version = version + ${sealed === undefined ? 0 : 1},
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id}
          and record_version = coalesce(${expectedVersion ?? null}::int, record_version)
        returning ${columns}`;
      return row;
    },

    async remove(tenantId: TenantId, id: string): Promise<Secret | undefined> {
      const [row] = await sql<Secret[]>`
        delete from secrets where tenant_id = ${tenantId} and id = ${id} returning ${columns}`;
      return row;
    },

    async list(tenantId: TenantId, page: Page): Promise<PageRows<Secret>> {
      return readKeyset<Secret>(sql, { columns, table: "secrets", where: sql`tenant_id = ${tenantId}` }, page);
    },
  };
}

/** The secrets of all tenants, for re-encryption. Callers see only the changed key id. */
export function reencryptableSecrets(sql: Sql): Reencryptable {
  return sealedTable(sql, "secrets", bindingOf);
}

import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";

/** A key that signs packs of a publisher. */
export interface PublisherKey {
  readonly id: string;
  readonly publisher: string;
  /** 32 bytes as base64. */
  readonly publicKey: string;
  readonly status: "active" | "revoked";
  readonly revokeReason: string;
  /** Null for built-in keys. */
  readonly createdAt: Date | null;
  readonly revokedAt: Date | null;
}

export function publisherKeyStore(sql: Sql) {
  const columns = sql`id, publisher, public_key, status, revoke_reason, created_at, revoked_at`;
  return {
    async count(tenantId: TenantId, publisher: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from marketplace_publisher_keys
        where tenant_id = ${tenantId} and (${publisher} = '' or publisher = ${publisher})`;
      return row!.count;
    },

    async insert(tenantId: TenantId, { id, publisher, publicKey, createdAt }: PublisherKey): Promise<PublisherKey> {
      const [row] = await sql<PublisherKey[]>`
        insert into marketplace_publisher_keys (tenant_id, id, publisher, public_key, status, created_at)
        values (${tenantId}, ${id}, ${publisher}, ${publicKey}, 'active', ${createdAt})
        returning ${columns}`;
      return row!;
    },

    find: (tenantId: TenantId, id: string) =>
      sql<PublisherKey[]>`
        select ${columns} from marketplace_publisher_keys where tenant_id = ${tenantId} and id = ${id}`.first(),

    async ofPublisher(tenantId: TenantId, publisher: string): Promise<PublisherKey[]> {
      return sql<PublisherKey[]>`
        select ${columns} from marketplace_publisher_keys
        where tenant_id = ${tenantId} and publisher = ${publisher} order by id`;
    },

    async list(tenantId: TenantId, publisher: string, offset: number, limit: number): Promise<PublisherKey[]> {
      return sql<PublisherKey[]>`
        select ${columns} from marketplace_publisher_keys
        where tenant_id = ${tenantId} and (${publisher} = '' or publisher = ${publisher})
        order by publisher, id offset ${offset} limit ${limit}`;
    },

    /** Revokes a key; undefined if it is already revoked or does not exist. */
    revoke: (tenantId: TenantId, id: string, reason: string, now: Date) =>
      sql<PublisherKey[]>`
        update marketplace_publisher_keys set status = 'revoked', revoke_reason = ${reason}, revoked_at = ${now}
        where tenant_id = ${tenantId} and id = ${id} and status = 'active'
        returning ${columns}`.first(),
  };
}

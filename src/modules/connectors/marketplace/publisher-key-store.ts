import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { recordTable } from "../../../platform/records/index.ts";

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

const keys = recordTable<PublisherKey, object, PublisherKey & { readonly tenantId: TenantId }>(
  "marketplace_publisher_keys",
  { fixed: "tenant_id id publisher public_key status revoke_reason created_at revoked_at" },
);

export function publisherKeyStore(sql: Sql) {
  const { columns, insert, find } = keys(sql);
  return {
    insert,
    find,

    async count(tenantId: TenantId, publisher: string): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from marketplace_publisher_keys
        where tenant_id = ${tenantId} and (${publisher} = '' or publisher = ${publisher})`;
      return row!.count;
    },

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

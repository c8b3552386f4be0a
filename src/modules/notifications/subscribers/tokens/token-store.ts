import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";

/** Identifies a subscriber. */
export interface SubscriberRef {
  readonly tenantId: TenantId;
  readonly id: string;
}

/** Facts that decide whether a subscriber's tokens are valid. */
export interface TokenState extends SubscriberRef {
  readonly active: boolean;
  /** How often its tokens were revoked. */
  readonly revocations: number;
  /** The ids of tokens that were revoked alone. */
  readonly revokedIds: readonly string[];
}

export function tokenStore(sql: Sql) {
  const columns = sql`tenant_id, id, active, token_revocations as revocations, revoked_tokens as revoked_ids`;
  return {
    find: (tenantId: TenantId, id: string) =>
      sql<TokenState[]>`
        select ${columns} from notification_subscribers where tenant_id = ${tenantId} and id = ${id}`.first(),

    /** The states of subscribers of any tenants; unknown ones are omitted. */
    async findMany(refs: readonly SubscriberRef[]): Promise<TokenState[]> {
      return sql<TokenState[]>`
        select ${columns} from notification_subscribers
        where (tenant_id, id) in (
          select * from unnest(${refs.map(({ tenantId }) => tenantId)}::text[], ${refs.map(({ id }) => id)}::text[]))`;
    },

    /** Revokes all tokens of a subscriber; false when there is no such subscriber. */
    async revokeAll(tenantId: TenantId, id: string): Promise<boolean> {
      const rows = await sql`
        update notification_subscribers set token_revocations = token_revocations + 1, revoked_tokens = '{}'
        where tenant_id = ${tenantId} and id = ${id}
        returning id`;
      return rows.length > 0;
    },

    /**
     * Revokes one token, and forgets those whose ids are lower than `lowestId`. Returns how many are revoked alone; undefined
     * when there is no such subscriber.
     */
    async revoke(tenantId: TenantId, id: string, tokenId: string, lowestId: string): Promise<number | undefined> {
      const [row] = await sql<{ count: number }[]>`
        update notification_subscribers set revoked_tokens = array(
          select distinct revoked from unnest(revoked_tokens || ${tokenId}::text) as revoked where revoked >= ${lowestId})
        where tenant_id = ${tenantId} and id = ${id}
        returning cardinality(revoked_tokens) as count`;
      return row?.count;
    },
  };
}

import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Page } from "../../../platform/paging/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { BrowserSession, EndReason, SessionOwner } from "./domain/session.ts";

/** A link that signs a browser in. */
export interface LoginLink {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly memberId: string;
  readonly apiKeyId: string;
  readonly returnTo: string;
}

const sessions = recordTable<BrowserSession, { readonly tokenHash: Buffer }>("browser_sessions", {
  fixed: `tenant_id id member_id api_key_id method connection_id groups provider_data user_agent address created_at
    last_seen_at expires_at ended_at end_reason`,
  internal: "token_hash",
});

export function sessionStore(sql: Sql) {
  const { columns, insert, find, listWhere } = sessions(sql);
  return {
    insert: (tokenHash: Buffer, session: BrowserSession) => insert({ ...session, tokenHash }),
    find,

    findByToken: (tenantId: TenantId, tokenHash: Buffer) =>
      sql<BrowserSession[]>`
        select ${columns} from browser_sessions where tenant_id = ${tenantId} and token_hash = ${tokenHash}`.first(),

    list: (tenantId: TenantId, { memberId, apiKeyId }: SessionOwner, now: Date, page: Page) =>
      listWhere(tenantId, {}, page, {
        where: sql`member_id = ${memberId} and api_key_id = ${apiKeyId} and ended_at is null and expires_at > ${now}`,
      }),

    end: (tenantId: TenantId, id: string, reason: EndReason, now: Date) =>
      sql<BrowserSession[]>`
        update browser_sessions set ended_at = ${now}, end_reason = ${reason}
        where tenant_id = ${tenantId} and id = ${id} and ended_at is null
        returning ${columns}`.first(),

    async endOfPerson(
      tenantId: TenantId,
      memberId: string,
      apiKeyIds: readonly string[],
      reason: EndReason,
      now: Date,
    ): Promise<BrowserSession[]> {
      return sql<BrowserSession[]>`
        update browser_sessions set ended_at = ${now}, end_reason = ${reason}
        where tenant_id = ${tenantId} and ended_at is null
          and (member_id = ${memberId} or api_key_id = any(${apiKeyIds as string[]}::text[]))
        returning ${columns}`;
    },

    async deleteLinksOfPerson(tenantId: TenantId, memberId: string, apiKeyIds: readonly string[]): Promise<void> {
      await sql`
        delete from login_links where tenant_id = ${tenantId}
          and (member_id = ${memberId} or api_key_id = any(${apiKeyIds as string[]}::text[]))`;
    },

    async endOfConnection(
      tenantId: TenantId,
      connectionId: string,
      providerData: Readonly<Record<string, string>>,
      reason: EndReason,
      now: Date,
    ): Promise<BrowserSession[]> {
      return sql<BrowserSession[]>`
        update browser_sessions set ended_at = ${now}, end_reason = ${reason}
        where tenant_id = ${tenantId} and connection_id = ${connectionId} and ended_at is null
          and provider_data @> ${sql.json(providerData)}
        returning ${columns}`;
    },

    /** Stores when sessions were last used, in one statement. */
    async touch(uses: readonly { tenantId: TenantId; id: string; at: Date }[]): Promise<void> {
      await sql`
        update browser_sessions set last_seen_at = greatest(last_seen_at, used.at)
        from unnest(${uses.map((use) => use.tenantId)}::text[], ${uses.map((use) => use.id)}::text[],
          ${uses.map((use) => use.at.toISOString())}::timestamptz[]) as used(tenant_id, id, at)
        where browser_sessions.tenant_id = used.tenant_id and browser_sessions.id = used.id`;
    },

    async insertLink(tokenHash: Buffer, link: LoginLink & { createdBy: string; expiresAt: Date; createdAt: Date }) {
      await sql`
        insert into login_links (tenant_id, id, token_hash, member_id, api_key_id, return_to, created_by, expires_at,
          created_at)
        values (${link.tenantId}, ${link.id}, ${tokenHash}, ${link.memberId}, ${link.apiKeyId}, ${link.returnTo},
          ${link.createdBy}, ${link.expiresAt}, ${link.createdAt})`;
    },

    /** Spends a link; undefined if it is unknown, expired or was used. */
    spendLink: (tenantId: TenantId, tokenHash: Buffer, now: Date) =>
      sql<LoginLink[]>`
        delete from login_links where tenant_id = ${tenantId} and token_hash = ${tokenHash} and expires_at > ${now}
        returning tenant_id, id, member_id, api_key_id, return_to`.first(),
  };
}

import type { TenantId } from "../../platform/access/index.ts";
import type { Sql } from "../../platform/db/index.ts";

/**
 * The identities of the people behind a caller: its subjects, who created its key, who created that key, and so on. Of each
 * person all that is known: the subject of tokens and of single sign-on, also with its issuer, as tokens of further issuers have
 * it; `member:` with the member's id, and `email:` with the address.
 */
export async function findIdentities(sql: Sql, tenantId: TenantId, identities: readonly string[]): Promise<string[]> {
  const members = sql`select id from members where tenant_id = ${tenantId}`;
  const rows = await sql<{ identity: string }[]>`
    with recursive known (identity) as (
      select identity from unnest(${identities as string[]}::text[]) as given(identity)
      union
      select next.identity collate "default" from known k cross join lateral (
        select created_by from api_keys
        where tenant_id = ${tenantId} and id = substr(k.identity, 5) and k.identity like 'key:%'
        union all
        select person.identity from (
          ${members} and id = substr(k.identity, 8) and k.identity like 'member:%'
          union all ${members} and subject = k.identity and subject <> '' and status <> 'removed'
          union all ${members} and lower(email) = substr(k.identity, 7) and k.identity like 'email:%' and status <> 'removed'
          union all select member_id from sso_accounts where tenant_id = ${tenantId} and subject = k.identity
          union all
          select account.member_id from sso_connections c
          join sso_accounts account on account.tenant_id = c.tenant_id and account.connection_id = c.id
            and account.subject = substr(k.identity, length(c.settings->>'issuer') + 2)
          where c.tenant_id = ${tenantId} and starts_with(k.identity, (c.settings->>'issuer') || '|')
        ) found
        join members m on m.tenant_id = ${tenantId} and m.id = found.id
        left join sso_accounts a on a.tenant_id = m.tenant_id and a.member_id = m.id
        left join sso_connections c on c.tenant_id = a.tenant_id and c.id = a.connection_id
        cross join lateral unnest(array['member:' || m.id, m.subject, 'email:' || lower(m.email), a.subject,
          (c.settings->>'issuer') || '|' || a.subject]) as person(identity)
      ) next(identity)
      where next.identity <> ''
    )
    select identity from known`;
  return rows.map(({ identity }) => identity);
}

/** How many members who are none of these people have one of some roles. */
export async function countOtherMembers(
  sql: Sql,
  tenantId: TenantId,
  roles: readonly string[],
  except: readonly string[],
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from members
    where tenant_id = ${tenantId} and status in ('active', 'invited')
      and (roles && ${roles as string[]}::text[] or group_roles && ${roles as string[]}::text[])
      and not (array[subject, 'member:' || id, 'email:' || lower(email)] && ${except as string[]}::text[])`;
  return row!.count;
}

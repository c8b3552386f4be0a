import type { TenantId } from "../../platform/access/index.ts";
import type { Sql } from "../../platform/db/index.ts";

/** How many keys that created keys are followed. */
const depthMax = 10;

/**
 * The people behind a subject: the subject, who created a key, who created that key, and so on; of members both the subject of
 * their tokens and `member:` with their id.
 */
export async function findIdentities(sql: Sql, tenantId: TenantId, subjects: readonly string[]): Promise<string[]> {
  const rows = await sql<{ identity: string }[]>`
    with recursive chain (subject, depth) as (
      select subject, 0 from unnest(${subjects as string[]}::text[]) as given(subject)
      union
      select k.created_by, c.depth + 1 from chain c
      join api_keys k on k.tenant_id = ${tenantId} and 'key:' || k.id = c.subject
      where c.depth < ${depthMax}
    )
    select distinct identity from chain c
    left join members m on m.tenant_id = ${tenantId}
      and (('member:' || m.id) = c.subject or (m.subject <> '' and m.subject = c.subject))
    cross join lateral unnest(array[c.subject, m.subject, 'member:' || m.id]) as identity
    where identity is not null and identity <> ''`;
  return rows.map(({ identity }) => identity);
}

/** Whether a member who is none of these people has one of some roles. */
export async function hasOtherMember(
  sql: Sql,
  tenantId: TenantId,
  roles: readonly string[],
  except: readonly string[],
): Promise<boolean> {
  const rows = await sql`
    select from members
    where tenant_id = ${tenantId} and status in ('active', 'invited')
      and (roles && ${roles as string[]}::text[] or group_roles && ${roles as string[]}::text[])
      and subject <> all(${except as string[]}::text[]) and ('member:' || id) <> all(${except as string[]}::text[])
    limit 1`;
  return rows.length > 0;
}

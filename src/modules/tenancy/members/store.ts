import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { Bearer, Member, ProvisionedChange } from "./domain/member.ts";

const members = recordTable<Member>("members", {
  fixed: "tenant_id id subject group_roles session_roles signed_out_at created_at",
  mutable: "email display_name roles status environment_mode expires_at updated_at record_version",
  exists: "status <> 'removed'",
});

/** The SQL queries of members. The row of a removed member stays, and only `findByBearer` returns it. */
export function memberStore(sql: Sql) {
  const { columns, insert, find, lock, update, set, list } = members(sql);
  return {
    insert,
    find,
    lock,
    update,
    list,

    /**
     * Finds a token's member by subject, else by the verified email address of a member without a subject, or of a suspended one.
     * Removed members come last, so that a person who was invited again matches the new invitation.
     */
    findByBearer: (tenantId: TenantId, { subject, verifiedEmail }: Bearer) =>
      sql<Member[]>`
        select ${columns} from members
        where tenant_id = ${tenantId} and (subject = ${subject}
          or ((subject = '' and status <> 'removed' or status = 'suspended') and lower(email) = lower(${verifiedEmail ?? null})))
        order by status = 'removed', subject = ${subject} desc limit 1`.first(),

    /** Finds the member that a subject of keys or sessions names. Removed members come last. */
    findOwner(tenantId: TenantId, subject: string, isLocked: boolean): Promise<Member | undefined> {
      const id = /^member:(.*)$/.exec(subject)?.[1] ?? null;
      return sql<Member[]>`
        select ${columns} from members
        where tenant_id = ${tenantId} and (id = ${id} or subject = ${subject})
        order by status = 'removed', id desc limit 1 ${isLocked ? sql`for share` : sql``}`.first();
    },

    /** Finds the member with an email address. */
    findByEmail: (tenantId: TenantId, email: string) =>
      sql<Member[]>`
        select ${columns} from members
        where tenant_id = ${tenantId} and lower(email) = lower(${email}) and status <> 'removed'`.first(),

    /** Changes what the identity provider decides about a member. Undefined fields stay unchanged. */
    provision: (tenantId: TenantId, id: string, change: ProvisionedChange, now: Date) =>
      update(tenantId, id, change, undefined, now),

    /** Sets the roles that members have through groups or sessions; returns the number of changed members. */
    async setRolesOf(
      source: "group" | "session",
      tenantId: TenantId,
      entries: readonly { readonly memberId: string; readonly roles: readonly string[] }[],
    ): Promise<number> {
      const column = source === "group" ? sql`group_roles` : sql`session_roles`;
      const { count } = await sql`
        update members set ${column} = array(select jsonb_array_elements_text(wanted.roles::jsonb)),
          updated_at = now(), record_version = record_version + 1
        from unnest(${entries.map(({ memberId }) => memberId)}::text[],
          ${entries.map(({ roles }) => JSON.stringify(roles))}::text[]) as wanted(id, roles)
        where members.tenant_id = ${tenantId} and members.id = wanted.id
          and members.${column} is distinct from array(select jsonb_array_elements_text(wanted.roles::jsonb))`;
      return count;
    },

    signOut: (tenantId: TenantId, id: string, now: Date) => set(tenantId, id, now, sql`signed_out_at = ${now}`),

    /** Binds a member to a token's subject and activates it, at the first call; undefined if a concurrent call did so first. */
    activate: (tenantId: TenantId, id: string, subject: string) =>
      sql<Member[]>`
        update members set status = 'active', subject = ${subject}, updated_at = now(), record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and subject in ('', ${subject})
          and (status = 'invited' or (status = 'active' and subject = ''))
        returning ${columns}`.first(),
  };
}

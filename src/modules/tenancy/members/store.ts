import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { Bearer, Member, MemberChange, ProvisionedChange } from "./domain/member.ts";

/** The SQL queries of members. The row of a removed member stays, and only `findByBearer` returns it. */
export function memberStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, subject, email, display_name, roles, group_roles, session_roles, status, environment_mode, expires_at,
    signed_out_at, created_at, updated_at, record_version`;
  return {
    async insert(member: Member): Promise<Member> {
      const [row] = await sql<Member[]>`
        insert into members (tenant_id, id, subject, email, display_name, roles, status, environment_mode, expires_at,
          created_at, updated_at)
        values (${member.tenantId}, ${member.id}, ${member.subject}, ${member.email}, ${member.displayName},
          ${member.roles as string[]}, ${member.status}, ${member.environmentMode}, ${member.expiresAt},
          ${member.createdAt}, ${member.updatedAt})
        returning ${columns}`;
      return row!;
    },

    async find(tenantId: TenantId, id: string): Promise<Member | undefined> {
      const [row] = await sql<Member[]>`
        select ${columns} from members where tenant_id = ${tenantId} and id = ${id} and status <> 'removed'`;
      return row;
    },

    /** Finds a member and locks its row until the transaction ends. */
    async lock(tenantId: TenantId, id: string): Promise<Member | undefined> {
      const [row] = await sql<Member[]>`
        select ${columns} from members where tenant_id = ${tenantId} and id = ${id} and status <> 'removed'
        for update`;
      return row;
    },

    /** Undefined fields stay unchanged; `expectedVersion`, if given, must be the current version. */
    async update(
      tenantId: TenantId,
      id: string,
      change: MemberChange,
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<Member | undefined> {
      const [row] = await sql<Member[]>`
        update members set
          display_name = coalesce(${change.displayName ?? null}, display_name),
          roles = coalesce(${(change.roles as string[] | undefined) ?? null}::text[], roles),
          status = coalesce(${change.status ?? null}, status),
          environment_mode = coalesce(${change.environmentMode ?? null}, environment_mode),
          expires_at = coalesce(${change.expiresAt ?? null}::timestamptz, expires_at),
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and status <> 'removed'
          and record_version = coalesce(${expectedVersion ?? null}::int, record_version)
        returning ${columns}`;
      return row;
    },

    async list(tenantId: TenantId, page: Page): Promise<PageRows<Member>> {
      const where = sql`tenant_id = ${tenantId} and status <> 'removed'`;
      return readKeyset<Member>(sql, { columns, table: "members", where }, page);
    },

    /**
     * Finds a token's member by subject, else by a verified email address of a member without a subject.
     * Removed members come last, so that a person who was invited again matches the new invitation.
     */
    async findByBearer(tenantId: TenantId, { subject, verifiedEmail }: Bearer): Promise<Member | undefined> {
      const [row] = await sql<Member[]>`
        select ${columns} from members
        where tenant_id = ${tenantId} and (subject = ${subject}
          or (subject = '' and status <> 'removed' and lower(email) = lower(${verifiedEmail ?? null})))
        order by status = 'removed', subject = ${subject} desc limit 1`;
      return row;
    },

    /** Finds the member that a subject of keys or sessions names. Removed members come last. */
    async findOwner(tenantId: TenantId, subject: string, isLocked: boolean): Promise<Member | undefined> {
      const id = /^member:(.*)$/.exec(subject)?.[1] ?? null;
      const [row] = await sql<Member[]>`
        select ${columns} from members
        where tenant_id = ${tenantId} and (id = ${id} or subject = ${subject})
        order by status = 'removed', id desc limit 1 ${isLocked ? sql`for share` : sql``}`;
      return row;
    },

    /** Finds the member with an email address. */
    async findByEmail(tenantId: TenantId, email: string): Promise<Member | undefined> {
      const [row] = await sql<Member[]>`
        select ${columns} from members
        where tenant_id = ${tenantId} and lower(email) = lower(${email}) and status <> 'removed'`;
      return row;
    },

    /** Changes what the identity provider decides about a member. Undefined fields stay unchanged. */
    async provision(tenantId: TenantId, id: string, change: ProvisionedChange, now: Date): Promise<Member | undefined> {
      const [row] = await sql<Member[]>`
        update members set
          email = coalesce(${change.email ?? null}, email),
          display_name = coalesce(${change.displayName ?? null}, display_name),
          status = coalesce(${change.status ?? null}, status),
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and status <> 'removed'
        returning ${columns}`;
      return row;
    },

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

    async signOut(tenantId: TenantId, id: string, now: Date): Promise<Member | undefined> {
      const [row] = await sql<Member[]>`
        update members set signed_out_at = ${now}, updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and status <> 'removed'
        returning ${columns}`;
      return row;
    },

    /** Binds a member to a token's subject and activates it, at the first call; undefined if a concurrent call did so first. */
    async activate(tenantId: TenantId, id: string, subject: string): Promise<Member | undefined> {
      const [row] = await sql<Member[]>`
        update members set status = 'active', subject = ${subject}, updated_at = now(), record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id} and subject in ('', ${subject})
          and (status = 'invited' or (status = 'active' and subject = ''))
        returning ${columns}`;
      return row;
    },
  };
}

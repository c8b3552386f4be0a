import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { recordTable, type Stamps } from "../../../platform/records/index.ts";
import type { Attributes } from "./domain/resource.ts";

/** A person that a directory provisions. */
export interface ScimUser extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly memberId: string;
  readonly userName: string;
  readonly externalId: string;
  readonly active: boolean;
  readonly attributes: Attributes;
}

/** A group that a directory provisions. */
export interface ScimGroup extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly displayName: string;
  readonly externalId: string;
}

/** A person in a group. */
export interface Membership {
  readonly groupId: string;
  readonly groupName: string;
  readonly userId: string;
  readonly userName: string;
}

/** Columns that have an index, for filters. */
export interface Lookup {
  readonly column: "id" | "name" | "external_id";
  readonly value: string;
}

const users = recordTable<ScimUser>("scim_users", {
  fixed: "tenant_id id member_id created_at",
  mutable: "user_name external_id active attributes updated_at record_version",
});

const groups = recordTable<ScimGroup>("scim_groups", {
  fixed: "tenant_id id created_at",
  mutable: "display_name external_id updated_at record_version",
});

/** The SQL queries that people and groups have in common. */
export type ResourceStore<R extends ScimUser | ScimGroup> = ReturnType<typeof resourceStore<R>>;

function resourceStore<R extends ScimUser | ScimGroup>(
  sql: Sql,
  records: ReturnType<ReturnType<typeof recordTable<R>>>,
  { table, name, memberColumn }: { readonly table: string; readonly name: string; readonly memberColumn: string },
) {
  const { columns, insert, find, lock, update, remove, count } = records;
  const selected = sql`select ${columns} from ${sql(table)}`;
  const hasName = (wanted: string) => sql`lower(${sql(name)}) = lower(${wanted})`;
  const condition = ({ column, value }: Lookup) =>
    column === "name" ? hasName(value) : sql`${sql(column)} = ${value}`;
  return {
    insert,
    find,
    lock,
    update,
    count,

    findByName: (tenantId: TenantId, wanted: string) =>
      sql<R[]>`${selected} where tenant_id = ${tenantId} and ${hasName(wanted)}`.first(),

    async remove(tenantId: TenantId, id: string): Promise<void> {
      await sql`delete from scim_group_members where tenant_id = ${tenantId} and ${sql(memberColumn)} = ${id}`;
      await remove(tenantId, id);
    },

    async page(tenantId: TenantId, offset: number, limit: number): Promise<R[]> {
      return sql<R[]>`${selected} where tenant_id = ${tenantId} order by id offset ${offset} limit ${limit}`;
    },

    /** The next records after an id, in the order of ids. */
    async scan(tenantId: TenantId, lookup: Lookup | undefined, after: string, limit: number): Promise<R[]> {
      return sql<R[]>`
        ${selected} where tenant_id = ${tenantId} and id > ${after}
          ${lookup === undefined ? sql`` : sql`and ${condition(lookup)}`}
        order by id limit ${limit}`;
    },
  };
}

export function scimUserStore(sql: Sql) {
  const records = users(sql);
  return {
    ...resourceStore(sql, records, { table: "scim_users", name: "user_name", memberColumn: "user_id" }),

    findByMember: (tenantId: TenantId, memberId: string) =>
      sql<ScimUser[]>`
        select ${records.columns} from scim_users where tenant_id = ${tenantId} and member_id = ${memberId}`.first(),

    /** The ids among these that are people of the tenant. */
    async existing(tenantId: TenantId, ids: readonly string[]): Promise<string[]> {
      const rows = await sql<{ id: string }[]>`
        select id from scim_users where tenant_id = ${tenantId} and id = any(${ids as string[]}::text[])`;
      return rows.map(({ id }) => id);
    },

    /** The roles that people have through their groups, by member. */
    async rolesByMember(tenantId: TenantId, userIds: readonly string[] | undefined) {
      const some = userIds === undefined ? sql`` : sql`and people.id = any(${userIds as string[]}::text[])`;
      return sql<{ memberId: string; roles: string[] }[]>`
        select people.member_id, coalesce(array_agg(distinct given.role order by given.role)
          filter (where given.role is not null), '{}') as roles
        from scim_users people
          left join scim_group_members part on part.tenant_id = people.tenant_id and part.user_id = people.id
          left join scim_groups whole on whole.tenant_id = part.tenant_id and whole.id = part.group_id
          left join group_roles on group_roles.tenant_id = whole.tenant_id
            and lower(group_roles.name) = lower(whole.display_name)
          left join lateral unnest(group_roles.roles) as given(role) on true
        where people.tenant_id = ${tenantId} ${some}
        group by people.member_id`;
    },
  };
}

export function scimGroupStore(sql: Sql) {
  return {
    ...resourceStore(sql, groups(sql), { table: "scim_groups", name: "display_name", memberColumn: "group_id" }),

    async memberIds(tenantId: TenantId, groupId: string): Promise<string[]> {
      const rows = await sql<{ userId: string }[]>`
        select user_id from scim_group_members where tenant_id = ${tenantId} and group_id = ${groupId} order by user_id`;
      return rows.map(({ userId }) => userId);
    },

    async addMembers(tenantId: TenantId, groupId: string, userIds: readonly string[]): Promise<void> {
      await sql`
        insert into scim_group_members (tenant_id, group_id, user_id)
        select ${tenantId}, ${groupId}, each from unnest(${userIds as string[]}::text[]) as each
        on conflict do nothing`;
    },

    async removeMembers(tenantId: TenantId, groupId: string, userIds: readonly string[]): Promise<void> {
      await sql`
        delete from scim_group_members
        where tenant_id = ${tenantId} and group_id = ${groupId} and user_id = any(${userIds as string[]}::text[])`;
    },

    /** The people of groups, or the groups of people. */
    async memberships(tenantId: TenantId, of: "group" | "user", ids: readonly string[]): Promise<Membership[]> {
      const some = of === "group" ? sql`part.group_id` : sql`part.user_id`;
      return sql<Membership[]>`
        select part.group_id, whole.display_name as group_name, part.user_id, people.user_name
        from scim_group_members part
          join scim_groups whole on whole.tenant_id = part.tenant_id and whole.id = part.group_id
          join scim_users people on people.tenant_id = part.tenant_id and people.id = part.user_id
        where part.tenant_id = ${tenantId} and ${some} = any(${ids as string[]}::text[])
        order by part.group_id, part.user_id`;
    },
  };
}

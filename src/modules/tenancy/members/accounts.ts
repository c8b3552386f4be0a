import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql, TenantChanges } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { newStamps } from "../../../platform/records/index.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import {
  type Member,
  type MemberRoles,
  type ProvisionedChange,
  statusAfter,
  subjectsOf,
  toMemberRoles,
} from "./domain/member.ts";
import { memberStore } from "./store.ts";

/** A person that an identity provider names. */
export interface ProvisionedPerson {
  readonly email: string;
  readonly displayName: string;
  readonly roles: readonly string[];
  readonly isActive: boolean;
}

/** Members as sign-in and provisioning see them. Callers have checked that the change is allowed. */
export type MemberAccounts = ReturnType<typeof createMemberAccounts>;

interface Parts {
  readonly changes: TenantChanges;
  readonly events: EventRecorder;
  readonly revokeKeys: RevokeKeys;
}

/** Revokes the API keys that were created under any of these subjects; returns how many. */
export type RevokeKeys = (context: EventContext, creators: readonly string[], by: string) => Promise<number>;

/** Creates the access to members for sign-in and provisioning. */
export function createMemberAccounts({ changes, events, revokeKeys }: Parts) {
  async function changed({ sql, tenantId, afterCommit }: EventContext): Promise<void> {
    await changes.record(sql, tenantId);
    afterCommit(() => changes.published(tenantId));
  }

  async function change(context: EventContext, id: string, wanted: ProvisionedChange): Promise<Member | undefined> {
    const { sql, tenantId, nowMs } = context;
    const member = await memberStore(sql).provision(tenantId, id, wanted, new Date(nowMs));
    if (member !== undefined) await changed(context);
    return member;
  }

  return {
    async find(sql: Sql, tenantId: TenantId, id: string): Promise<Member | undefined> {
      return memberStore(sql).find(tenantId, id);
    },

    async findByEmail(sql: Sql, tenantId: TenantId, email: string): Promise<Member | undefined> {
      return memberStore(sql).findByEmail(tenantId, email);
    },

    /** A member's access; undefined if there is no such member. */
    async access(sql: Sql, tenantId: TenantId, id: string): Promise<MemberRoles | undefined> {
      const member = await memberStore(sql).find(tenantId, id);
      return member && toMemberRoles(member);
    },

    /** Creates a member. An active one has not signed in yet. */
    async create(context: EventContext, person: ProvisionedPerson): Promise<Member> {
      const { sql, tenantId, nowMs } = context;
      const member = await memberStore(sql).insert({
        ...{ tenantId, id: ulid(nowMs), subject: "", email: person.email, displayName: person.displayName },
        ...{ roles: person.roles, groupRoles: [], environmentMode: "any", expiresAt: null },
        status: person.isActive ? "active" : "suspended",
        ...newStamps(nowMs),
      });
      await changed(context);
      await events.record(context, "member.invited", member.id, { roles: member.roles });
      return member;
    },

    /** Activates an invited member who has signed in. */
    activate: (context: EventContext, id: string) => change(context, id, { status: "active" }),

    /** Changes the profile, and suspends or reinstates the member. */
    async update(
      context: EventContext,
      member: Member,
      { email, displayName, isActive }: Partial<Pick<ProvisionedPerson, "email" | "displayName" | "isActive">>,
    ): Promise<void> {
      const wanted = isActive === undefined ? undefined : isActive ? "active" : "suspended";
      const isKept = wanted === undefined || (wanted === "suspended") === (member.status === "suspended");
      const status = isKept ? undefined : (statusAfter(member, wanted) ?? member.status);
      await change(context, member.id, { email, displayName, status });
      const fields = Object.entries({ email, display_name: displayName, status });
      const set = fields.flatMap(([name, value]) => (value === undefined ? [] : [name]));
      if (set.length > 0) await events.record(context, "member.updated", member.id, { fields: set });
    },

    /** Revokes the API keys that a person created. */
    revokeKeys: (context: EventContext, member: Pick<Member, "id" | "subject">, by: string) =>
      revokeKeys(context, subjectsOf(member), by),

    async remove(context: EventContext, id: string): Promise<void> {
      if ((await change(context, id, { status: "removed" })) === undefined) return;
      await events.record(context, "member.removed", id, {});
    },

    /** Sets the roles that members have through groups. */
    async setGroupRoles(
      context: EventContext,
      entries: readonly { readonly memberId: string; readonly roles: readonly string[] }[],
    ): Promise<void> {
      if (entries.length === 0) return;
      const count = await memberStore(context.sql).setGroupRoles(context.tenantId, entries);
      if (count > 0) await changed(context);
    },
  };
}

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

/** The credentials that follow from a membership. They belong to other modules. */
export interface MemberCredentials {
  /** Revokes the API keys that have one of these owners; returns how many. */
  revokeKeys(context: EventContext, owners: readonly string[], by: string): Promise<number>;
  /** The ids of the API keys that have one of these owners. */
  listKeys(sql: Sql, tenantId: TenantId, owners: readonly string[]): Promise<readonly string[]>;
  /** Ends the browser sessions of a member and of API keys, and voids their login links; returns the number of sessions. */
  endSessions(
    context: EventContext,
    memberId: string,
    apiKeyIds: readonly string[],
    reason: "deactivated" | "signed_out",
  ): Promise<number>;
}

interface Dependencies {
  readonly changes: TenantChanges;
  readonly events: EventRecorder;
  readonly credentials: MemberCredentials;
}

/** The data of the event of an invited member who comes for the first time. */
export const activation = { fields: ["status"] };

/** Creates the access to members for sign-in and provisioning. */
export function createMemberAccounts({ changes, events, credentials }: Dependencies) {
  async function change(context: EventContext, id: string, wanted: ProvisionedChange): Promise<Member | undefined> {
    const { sql, tenantId, nowMs } = context;
    const member = await memberStore(sql).provision(tenantId, id, wanted, new Date(nowMs));
    if (member !== undefined) await changes.invalidate(context);
    return member;
  }

  return {
    async find(sql: Sql, tenantId: TenantId, id: string): Promise<Member | undefined> {
      return memberStore(sql).find(tenantId, id);
    },

    async findByEmail(sql: Sql, tenantId: TenantId, email: string): Promise<Member | undefined> {
      return memberStore(sql).findByEmail(tenantId, email);
    },

    /** Finds a member and locks its row until the transaction ends. */
    async lock(sql: Sql, tenantId: TenantId, id: string): Promise<Member | undefined> {
      return memberStore(sql).lock(tenantId, id);
    },

    /** A member's access; undefined if there is no such member. */
    async access(sql: Sql, tenantId: TenantId, id: string): Promise<MemberRoles | undefined> {
      const member = await memberStore(sql).find(tenantId, id);
      return member && toMemberRoles(member);
    },

    /** The access of the member that a subject names, through sessions too; undefined if there was never such a member. */
    async findOwner(sql: Sql, tenantId: TenantId, subject: string, isLocked = false): Promise<MemberRoles | undefined> {
      const member = subject === "" ? undefined : await memberStore(sql).findOwner(tenantId, subject, isLocked);
      return member && toMemberRoles(member, ["direct", "group", "session"]);
    },

    /** Creates a member. An active one has not signed in yet. */
    async create(context: EventContext, person: ProvisionedPerson): Promise<Member> {
      const { sql, tenantId, nowMs } = context;
      const member = await memberStore(sql).insert({
        ...{ tenantId, id: ulid(nowMs), subject: "", email: person.email, displayName: person.displayName },
        ...{ roles: person.roles, groupRoles: [], sessionRoles: [], environmentMode: "any", expiresAt: null },
        signedOutAt: null,
        status: person.isActive ? "active" : "suspended",
        ...newStamps(nowMs),
      });
      await changes.invalidate(context);
      await events.record(context, "member.invited", member.id, { roles: member.roles });
      return member;
    },

    /** Activates an invited member who has signed in. */
    async activate(context: EventContext, id: string): Promise<Member | undefined> {
      const member = await change(context, id, { status: "active" });
      if (member !== undefined) await events.record(context, "member.updated", id, activation);
      return member;
    },

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

    /**
     * Ends everything that a person acts with: the person's API keys, and browser sessions and login links of the person and of
     * these keys. They do not come back. Call it after the status of the member has changed, so that nothing new can follow.
     */
    async endAccess(context: EventContext, member: Pick<Member, "id" | "subject">, by: string) {
      const owners = subjectsOf(member);
      const keyIds = await credentials.listKeys(context.sql, context.tenantId, owners);
      const keys = await credentials.revokeKeys(context, owners, by);
      const sessions = await credentials.endSessions(context, member.id, keyIds, "deactivated");
      return { keys, sessions };
    },

    /** Signs a person out: ends the browser sessions, voids the login links and refuses the tokens that were issued until now. */
    async signOut(context: EventContext, id: string): Promise<{ member: Member; sessions: number } | undefined> {
      const { sql, tenantId, nowMs } = context;
      const member = await memberStore(sql).signOut(tenantId, id, new Date(nowMs));
      if (member === undefined) return undefined;
      await changes.invalidate(context);
      const keyIds = await credentials.listKeys(sql, tenantId, subjectsOf(member));
      const sessions = await credentials.endSessions(context, id, keyIds, "signed_out");
      await events.record(context, "member.signed_out", id, { sessions });
      return { member, sessions };
    },

    async remove(context: EventContext, id: string): Promise<void> {
      if ((await change(context, id, { status: "removed" })) === undefined) return;
      await events.record(context, "member.removed", id, {});
    },

    /** Sets the roles that members have through groups of the directory, or through those of their sign-ins. */
    async setRolesOf(
      source: "group" | "session",
      context: EventContext,
      entries: readonly { readonly memberId: string; readonly roles: readonly string[] }[],
    ): Promise<void> {
      if (entries.length === 0) return;
      const count = await memberStore(context.sql).setRolesOf(source, context.tenantId, entries);
      if (count > 0) await changes.invalidate(context);
    },
  };
}

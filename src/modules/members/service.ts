import type { Context } from "../../chain/call.ts";
import { fail, invalid } from "../../errors/index.ts";
import { roleBeyond, roleGrants, unknownRole } from "../../platform/access/index.ts";
import { notFound, type TenantChanges, unchangedRecord, updateRefusal } from "../../platform/db/index.ts";
import { ulid } from "../../platform/ids/ulid.ts";
import { changedFields, isEmptyChange, newStamps } from "../../platform/records/index.ts";
import type { EventRecorder } from "../events/index.ts";
import { type Member, type MemberChange, type MemberStatus, type NewMember, statusAfter } from "./domain/member.ts";
import { memberStore } from "./store.ts";

/** What the use cases stand on. */
export interface MemberParts {
  readonly changes: TenantChanges;
  readonly events: EventRecorder;
}

/** What is asked of an update. */
export interface WantedChange extends MemberChange {
  readonly status?: "active" | "suspended" | undefined;
}

/** The use cases of members. */
export type MemberService = ReturnType<typeof createMemberService>;

/** Makes the use cases of members. */
export function createMemberService({ changes, events }: MemberParts) {
  async function changed(context: Context): Promise<void> {
    await changes.record(context.sql, context.tenantId);
    context.afterCommit(() => changes.published(context.tenantId));
  }

  return {
    async inviteMember(context: Context, input: NewMember): Promise<Member> {
      const { sql, tenantId, nowMs } = context;
      refuseRoles(context, "roles", input.roles, []);
      const member = await memberStore(sql).insert({
        ...input,
        tenantId,
        id: ulid(nowMs),
        status: "invited",
        ...newStamps(nowMs),
      });
      // Whoever was invited may have called before, and is remembered as a stranger.
      await changed(context);
      await events.record(context, "member.invited", member.id, { roles: member.roles });
      return member;
    },

    async getMember({ sql, tenantId }: Context, id: string): Promise<Member> {
      const member = await memberStore(sql).find(tenantId, id);
      if (member === undefined) throw notFound("member");
      return member;
    },

    async updateMember(
      context: Context,
      id: string,
      wanted: WantedChange,
      expectedVersion: number | undefined,
    ): Promise<Member> {
      const { sql, tenantId, nowMs } = context;
      const store = memberStore(sql);
      const current = await store.lock(tenantId, id);
      if (current === undefined) throw notFound("member");
      if (isEmptyChange(wanted)) return unchangedRecord(current, expectedVersion, "member");
      refuseRoles(context, "role_set.roles", wanted.roles ?? [], current.roles);
      const change = { ...wanted, status: wanted.status && nextStatus(current, wanted.status) };
      const member = await store.update(tenantId, id, change, expectedVersion, new Date(nowMs));
      if (member === undefined) throw updateRefusal(current, "member");
      await changed(context);
      await events.record(context, "member.updated", id, { fields: changedFields(wanted) });
      return member;
    },

    async removeMember(context: Context, id: string): Promise<Member> {
      const { sql, tenantId, nowMs } = context;
      const removed = await memberStore(sql).update(tenantId, id, { status: "removed" }, undefined, new Date(nowMs));
      if (removed === undefined) throw notFound("member");
      await changed(context);
      await events.record(context, "member.removed", id, {});
      return removed;
    },
  };
}

/** Roles exist, and nobody gives what they have not got themselves; those that a member has already are no gift. */
function refuseRoles({ principal }: Context, field: string, roles: readonly string[], held: readonly string[]): void {
  const unknown = unknownRole(roles);
  if (unknown >= 0) {
    throw invalid(`${field}[${unknown}]`, "role", `must be one of ${Object.keys(roleGrants).join(", ")}`);
  }
  const given = roles.filter((role) => !held.includes(role));
  const beyond = roleBeyond(principal, given);
  if (beyond !== undefined) {
    throw fail("PERMISSION_DENIED", { public: `The role ${beyond} grants more than the caller has.` });
  }
}

function nextStatus(member: Member, wanted: "active" | "suspended"): MemberStatus {
  const status = statusAfter(member, wanted);
  if (status !== undefined) return status;
  throw fail("FAILED_PRECONDITION", { public: "An invited member becomes active with their first call." });
}

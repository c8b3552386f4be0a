import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { beyondCeiling, roleGrants, unknownRole } from "../../../platform/access/index.ts";
import { notFound, type TenantChanges, unchangedRecord, updateRefusal } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { changedFields, isEmptyChange, newStamps } from "../../../platform/records/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import {
  grantOf,
  type Member,
  type MemberChange,
  type MemberStatus,
  type NewMember,
  statusAfter,
} from "./domain/member.ts";
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
      const { sql, tenantId, principal, nowMs } = context;
      refuseUnknownRole("roles", input.roles);
      refusePast(input.expiresAt, nowMs);
      const { environmentMode = principal.environmentMode, expiresAt = principal.expiresAt } = input;
      refuseBeyond(context, { roles: input.roles, scopes: [], environmentMode, expiresAt });
      const member = await memberStore(sql).insert({
        ...input,
        tenantId,
        environmentMode,
        expiresAt: expiresAt ?? null,
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
      refuseUnknownRole("role_set.roles", wanted.roles ?? []);
      refusePast(wanted.expiresAt, nowMs);
      const store = memberStore(sql);
      const current = await store.lock(tenantId, id);
      if (current === undefined) throw notFound("member");
      if (isEmptyChange(wanted)) return unchangedRecord(current, expectedVersion, "member");
      const change = { ...wanted, status: wanted.status && nextStatus(current, wanted.status) };
      const grant = grantOf(current, change);
      if (grant !== undefined) refuseBeyond(context, grant);
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

function refuseUnknownRole(field: string, roles: readonly string[]): void {
  const unknown = unknownRole(roles);
  if (unknown >= 0) {
    throw invalid(`${field}[${unknown}]`, "role", `must be one of ${Object.keys(roleGrants).join(", ")}`);
  }
}

function refusePast(expiresAt: Date | undefined, nowMs: number): void {
  if (expiresAt !== undefined && expiresAt.getTime() <= nowMs) {
    throw invalid("expires_at", "future", "must lie in the future");
  }
}

/** Nobody gives what they have not got themselves. */
function refuseBeyond({ principal }: Context, grant: Parameters<typeof beyondCeiling>[1]): void {
  const beyond = beyondCeiling(principal, grant);
  if (beyond !== undefined) throw fail("PERMISSION_DENIED", { public: beyond });
}

function nextStatus(member: Member, wanted: "active" | "suspended"): MemberStatus {
  const status = statusAfter(member, wanted);
  if (status !== undefined) return status;
  throw fail("FAILED_PRECONDITION", { public: "An invited member becomes active with their first call." });
}

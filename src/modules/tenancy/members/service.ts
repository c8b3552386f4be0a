import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { beyondCeiling, roleGrants, unknownRole } from "../../../platform/access/index.ts";
import { requireFound, type TenantChanges, unchangedRecord, updateRefusal } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { changedFields, isEmptyChange, newStamps } from "../../../platform/records/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { MemberAccounts } from "./accounts.ts";
import {
  grantOf,
  type Member,
  type MemberChange,
  type MemberStatus,
  type NewMember,
  statusAfter,
} from "./domain/member.ts";
import { memberStore } from "./store.ts";

export interface MemberParts {
  readonly changes: TenantChanges;
  readonly events: EventRecorder;
  readonly accounts: Pick<MemberAccounts, "endAccess">;
}

export interface MemberUpdate extends MemberChange {
  readonly status?: "active" | "suspended" | undefined;
}

export type MemberService = ReturnType<typeof createMemberService>;

export function createMemberService({ changes, events, accounts }: MemberParts) {
  return {
    async inviteMember(context: Context, input: NewMember): Promise<Member> {
      const { sql, tenantId, principal, nowMs } = context;
      requireKnownRoles("roles", input.roles);
      requireFutureExpiry(input.expiresAt, nowMs);
      const { environmentMode = principal.environmentMode, expiresAt = principal.expiresAt } = input;
      requireWithinCeiling(context, { roles: input.roles, scopes: [], environmentMode, expiresAt });
      const member = await memberStore(sql).insert({
        ...input,
        tenantId,
        environmentMode,
        expiresAt: expiresAt ?? null,
        id: ulid(nowMs),
        groupRoles: [],
        sessionRoles: [],
        signedOutAt: null,
        status: "invited",
        ...newStamps(nowMs),
      });
      // The person may have called before and be cached as a non-member.
      await changes.invalidate(context);
      await events.record(context, "member.invited", member.id, { roles: member.roles });
      return member;
    },

    async getMember({ sql, tenantId }: Context, id: string): Promise<Member> {
      return requireFound(await memberStore(sql).find(tenantId, id), "member");
    },

    async updateMember(context: Context, id: string, update: MemberUpdate, expectedVersion: number | undefined) {
      const { sql, tenantId, nowMs } = context;
      requireKnownRoles("role_set.roles", update.roles ?? []);
      requireFutureExpiry(update.expiresAt, nowMs);
      const store = memberStore(sql);
      const current = requireFound(await store.lock(tenantId, id), "member");
      if (isEmptyChange(update)) return unchangedRecord(current, expectedVersion, "member");
      const change = { ...update, status: update.status && nextStatus(current, update.status) };
      const grant = grantOf(current, change);
      if (grant !== undefined) requireWithinCeiling(context, grant);
      const member = await store.update(tenantId, id, change, expectedVersion, new Date(nowMs));
      if (member === undefined) throw updateRefusal(current, "member");
      await changes.invalidate(context);
      if (change.status === "suspended") await accounts.endAccess(context, member, context.principal.subject);
      await events.record(context, "member.updated", id, { fields: changedFields(update) });
      return member;
    },

    async removeMember(context: Context, id: string): Promise<Member> {
      const { sql, tenantId, nowMs } = context;
      const removed = requireFound(
        await memberStore(sql).update(tenantId, id, { status: "removed" }, undefined, new Date(nowMs)),
        "member",
      );
      await changes.invalidate(context);
      await accounts.endAccess(context, removed, context.principal.subject);
      await events.record(context, "member.removed", id, {});
      return removed;
    },
  };
}

function requireKnownRoles(field: string, roles: readonly string[]): void {
  const unknown = unknownRole(roles);
  if (unknown >= 0) {
    throw invalid(`${field}[${unknown}]`, "role", `must be one of ${Object.keys(roleGrants).join(", ")}`);
  }
}

function requireFutureExpiry(expiresAt: Date | undefined, nowMs: number): void {
  if (expiresAt !== undefined && expiresAt.getTime() <= nowMs) {
    throw invalid("expires_at", "future", "must be in the future (for example: 2030-01-31T00:00:00Z)");
  }
}

/** Rejects a grant that exceeds the caller's own roles, environments or expiry. */
function requireWithinCeiling({ principal }: Context, grant: Parameters<typeof beyondCeiling>[1]): void {
  const beyond = beyondCeiling(principal, grant);
  if (beyond !== undefined) throw fail("PERMISSION_DENIED", { public: beyond });
}

function nextStatus(member: Member, update: "active" | "suspended"): MemberStatus {
  const status = statusAfter(member, update);
  if (status !== undefined) return status;
  throw fail("FAILED_PRECONDITION", {
    public: "An invited member cannot be set to active: the member's first call activates the membership.",
  });
}

import type { TenantId } from "../../../platform/access/index.ts";
import type { Stamps } from "../../../platform/records/index.ts";

/** Where a member stands. */
export type MemberStatus = "invited" | "active" | "suspended" | "removed";

/** A person of a tenant. */
export interface Member extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  /** The subject of their token; empty until it is known. */
  readonly subject: string;
  readonly email: string;
  readonly displayName: string;
  readonly roles: readonly string[];
  readonly status: MemberStatus;
}

/** What is asked for a new member. */
export type NewMember = Pick<Member, "subject" | "email" | "displayName" | "roles">;

/** What an update may change. */
export interface MemberChange {
  readonly displayName?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly status?: MemberStatus | undefined;
}

/** What a token's subject is to a tenant. */
export type MemberRoles = Pick<Member, "roles" | "status">;

/** What a member's token adds; only an active member has roles. */
export function standingOf({ roles, status }: Member): MemberRoles {
  return { roles: status === "active" ? roles : [], status };
}

/** Who a token says its bearer is. */
export interface Bearer {
  readonly subject: string;
  /** The address, when the token vouches for it. */
  readonly verifiedEmail: string | undefined;
}

/**
 * The status that a member comes to when they are suspended or reinstated; undefined when that cannot be.
 * Somebody whose subject is unknown is recognised by their first call only: reinstated, they are invited again.
 */
export function statusAfter({ subject, status }: Member, wanted: "active" | "suspended"): MemberStatus | undefined {
  if (wanted === "suspended") return "suspended";
  if (subject !== "") return "active";
  return status === "suspended" ? "invited" : undefined;
}

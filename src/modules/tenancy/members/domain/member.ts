import { type EnvironmentMode, isWithinMode, type TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

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
  /** Where they may work, whatever their token says. */
  readonly environmentMode: EnvironmentMode;
  /** When the membership ends by itself; null when it does not. */
  readonly expiresAt: Date | null;
}

/** What is asked for a new member; where nothing is said, they have what whoever invites them has. */
export interface NewMember extends Pick<Member, "subject" | "email" | "displayName" | "roles"> {
  readonly environmentMode?: EnvironmentMode | undefined;
  readonly expiresAt?: Date | undefined;
}

/** What an update may change. */
export interface MemberChange {
  readonly displayName?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly status?: MemberStatus | undefined;
  readonly environmentMode?: EnvironmentMode | undefined;
  readonly expiresAt?: Date | undefined;
}

/** What a token's subject is to a tenant. */
export type MemberRoles = Pick<Member, "roles" | "status" | "environmentMode" | "expiresAt">;

/** What a member's token adds; only an active member has roles. */
export function standingOf({ roles, status, environmentMode, expiresAt }: Member): MemberRoles {
  return { roles: status === "active" ? roles : [], status, environmentMode, expiresAt };
}

/** What a change gives to a member; undefined when it only takes away, or changes what grants nothing. */
export function grantOf(member: Member, change: MemberChange) {
  const { roles = member.roles, environmentMode = member.environmentMode } = change;
  const expiresAt = change.expiresAt ?? member.expiresAt ?? undefined;
  const isReinstated = member.status === "suspended" && change.status !== undefined && change.status !== "suspended";
  const isWidened = !isWithinMode(environmentMode, member.environmentMode);
  const isProlonged = member.expiresAt !== null && expiresAt !== undefined && expiresAt > member.expiresAt;
  // Who may work in more places, longer or again gets there, then or again what they have already.
  const given = isReinstated || isWidened || isProlonged ? roles : roles.filter((role) => !member.roles.includes(role));
  if (given.length === 0 && !isWidened && !isProlonged) return undefined;
  return { roles: given, scopes: [], environmentMode, expiresAt };
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

import { type EnvironmentMode, isWithinMode, type TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

export type MemberStatus = "invited" | "active" | "suspended" | "removed";

/** A person with roles in a tenant. */
export interface Member extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  /** The `sub` claim of the member's tokens; empty until it is known. */
  readonly subject: string;
  readonly email: string;
  readonly displayName: string;
  readonly roles: readonly string[];
  /** Roles through groups of the identity provider. */
  readonly groupRoles: readonly string[];
  /** Roles of browser sessions, through the groups that identity providers named at the last sign-in. */
  readonly sessionRoles: readonly string[];
  readonly status: MemberStatus;
  /** The environments that the member can use, regardless of the token. */
  readonly environmentMode: EnvironmentMode;
  /** When the membership expires; null if it does not. */
  readonly expiresAt: Date | null;
  /** When the person was signed out everywhere; null if that never happened. */
  readonly signedOutAt: Date | null;
}

/** The input for a new member. Undefined fields default to the inviting caller's own values. */
export interface NewMember extends Pick<Member, "subject" | "email" | "displayName" | "roles"> {
  readonly environmentMode?: EnvironmentMode | undefined;
  readonly expiresAt?: Date | undefined;
}

/** The fields that an update can change. */
export interface MemberChange extends Partial<Pick<Member, "displayName" | "roles" | "status" | "environmentMode">> {
  readonly expiresAt?: Date | undefined;
}

/** A change to a member by an identity provider. */
export type ProvisionedChange = Partial<Pick<Member, "email" | "displayName" | "status">>;

/** The part of a member that authorization needs. */
export type MemberRoles = Pick<
  Member,
  "id" | "subject" | "email" | "roles" | "status" | "environmentMode" | "expiresAt" | "signedOutAt"
>;

/** Where a member has a role from. */
export type RoleSource = "direct" | "group" | "session";

/** A role that a member has, and where from. */
export interface RoleGrant {
  readonly role: string;
  readonly sources: readonly RoleSource[];
}

/** Returns the roles that a member has now: only an active member has any. */
export function roleGrantsOf({ status, roles, groupRoles, sessionRoles }: Member): RoleGrant[] {
  if (status !== "active") return [];
  const given = { direct: roles, group: groupRoles, session: sessionRoles };
  const sources = Object.keys(given) as RoleSource[];
  const held = new Set(Object.values(given).flat());
  return [...held].map((role) => ({ role, sources: sources.filter((source) => given[source].includes(role)) }));
}

/** Returns the part of a member that authorization needs, with the roles from some sources. */
export function toMemberRoles(member: Member, sources: readonly RoleSource[] = ["direct", "group"]): MemberRoles {
  const { id, subject, email, status, environmentMode, expiresAt, signedOutAt } = member;
  const given = roleGrantsOf(member).filter((grant) => grant.sources.some((source) => sources.includes(source)));
  return { id, subject, email, roles: given.map(({ role }) => role), status, environmentMode, expiresAt, signedOutAt };
}

/** Returns the grants of a change to a member; undefined if it grants nothing new. */
export function grantOf(member: Member, change: MemberChange) {
  const { roles = member.roles, environmentMode = member.environmentMode } = change;
  const expiresAt = change.expiresAt ?? member.expiresAt ?? undefined;
  const isReinstated = member.status === "suspended" && change.status !== undefined && change.status !== "suspended";
  const isWidened = !isWithinMode(environmentMode, member.environmentMode);
  const isProlonged = member.expiresAt !== null && expiresAt !== undefined && expiresAt > member.expiresAt;
  // More environments, a later expiry or reinstatement grant all roles again, not only the new ones.
  const given = isReinstated || isWidened || isProlonged ? roles : roles.filter((role) => !member.roles.includes(role));
  if (given.length === 0 && !isWidened && !isProlonged) return undefined;
  return { roles: given, scopes: [], environmentMode, expiresAt };
}

/** The subjects under which a member creates records: as a session, and as a bearer of tokens. */
export function subjectsOf({ id, subject }: Pick<Member, "id" | "subject">): string[] {
  return [`member:${id}`, ...(subject === "" ? [] : [subject])];
}

/** The identity in a token. */
export interface Bearer {
  readonly subject: string;
  /** The email address; undefined if the token does not mark it as verified. */
  readonly verifiedEmail: string | undefined;
}

/**
 * Returns a member's status after suspension or reinstatement; undefined if the transition is not allowed.
 * A member without a subject is identified by the first call, so reinstatement makes the member invited again.
 */
export function statusAfter({ subject, status }: Member, wanted: "active" | "suspended"): MemberStatus | undefined {
  if (wanted === "suspended") return "suspended";
  if (subject !== "") return "active";
  return status === "suspended" ? "invited" : undefined;
}

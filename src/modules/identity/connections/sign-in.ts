import { unreachable } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { lockFor, type Sql, shareLockFor } from "../../../platform/db/index.ts";
import { isSubject } from "../../../platform/tokens/index.ts";
import type { EventContext } from "../../operations/index.ts";
import type { Member, MemberAccounts } from "../../tenancy/index.ts";
import { type ExternalPerson, isInDomains, type SsoConnection } from "./domain/connection.ts";
import { connectionStore, groupRoleStore } from "./store.ts";

/** Why a person who is known to the identity provider may not sign in. */
export type SignInRefusal =
  | "not_a_member"
  | "inactive"
  | "email_domain"
  | "email_unverified"
  | "invalid_person"
  | "sso_enforced";

/** Finds or creates the member that a person is. Runs in the transaction that starts the session. */
export type MemberFinder = (
  context: EventContext,
  connection: SsoConnection,
  person: ExternalPerson,
) => Promise<{ readonly member: Member } | { readonly refusal: SignInRefusal }>;

/** Sets the roles that members have through the groups of their last sign-ins; of all members if none is given. */
export async function applySessionRoles(
  context: EventContext,
  members: Pick<MemberAccounts, "setRolesOf">,
  memberId?: string,
): Promise<void> {
  const { sql, tenantId } = context;
  await members.setRolesOf("session", context, await groupRoleStore(sql).rolesBySignIn(tenantId, memberId));
}

/**
 * Whether a member may sign in, or stay signed in, in this way: with the connection that enforces it, if one does. An admin can
 * always use a login link, so that a provider that is down or set up wrongly locks nobody out for good.
 */
export async function maySignIn(
  sql: Sql,
  tenantId: TenantId,
  { email, roles }: { readonly email: string; readonly roles: readonly string[] },
  { method, connectionId }: { readonly method: "link" | "oidc" | "saml"; readonly connectionId: string },
): Promise<boolean> {
  const enforcing = await connectionStore(sql).listEnforcing(tenantId, email);
  if (enforcing.length === 0 || enforcing.includes(connectionId)) return true;
  return method === "link" && roles.includes("admin");
}

export function createMemberFinder(members: MemberAccounts): MemberFinder {
  const find = createAccountFinder(members);
  return async (context, connection, person) => {
    const found = await find(context, connection, person);
    if ("refusal" in found) return found;
    const { sql, tenantId, nowMs } = context;
    if (connection.firstSignInAt === null) await connectionStore(sql).setFirstSignIn(connection, new Date(nowMs));
    // A change of the groups' roles at the same time must see this sign-in, or be seen by it.
    await shareLockFor(sql, "group_roles", tenantId);
    await connectionStore(sql).setGroups(tenantId, connection.id, person.subject, person.groups);
    await applySessionRoles(context, members, found.member.id);
    return found;
  };
}

function createAccountFinder(members: MemberAccounts): MemberFinder {
  return async (context, connection, person) => {
    const { sql, tenantId } = context;
    const { subject, email, isEmailVerified } = person;
    if (!isSubject(subject) || (email !== "" && !isSubject(email))) return { refusal: "invalid_person" };
    if (!isInDomains(email, connection.emailDomains)) return { refusal: "email_domain" };
    if (
      !(await maySignIn(sql, tenantId, { email, roles: [] }, { method: connection.kind, connectionId: connection.id }))
    ) {
      return { refusal: "sso_enforced" };
    }
    const store = connectionStore(sql);
    await lockFor(sql, "sign_in", tenantId, email.toLowerCase() || subject);
    const knownId = await store.findAccount(tenantId, connection.id, subject);
    const known = knownId === undefined ? undefined : await members.find(sql, tenantId, knownId);
    const member = known ?? (await memberOfEmail());
    if (member === undefined) return createMember();
    switch (member.status) {
      case "active":
        return { member };
      case "invited":
        return { member: (await members.activate(context, member.id)) ?? member };
      case "suspended":
      case "removed":
        return { refusal: "inactive" };
      default:
        return unreachable(member.status);
    }

    /** The member with the person's address, if that is not the account of somebody else at this provider. */
    async function memberOfEmail(): Promise<Member | undefined> {
      if (email === "" || !isEmailVerified) return undefined;
      const found = await members.findByEmail(sql, tenantId, email);
      if (found === undefined || (await store.hasAccount(tenantId, connection.id, found.id))) return undefined;
      await store.setAccount(tenantId, connection.id, subject, found.id);
      return found;
    }

    async function createMember(): ReturnType<MemberFinder> {
      if (!connection.justInTime) return { refusal: "not_a_member" };
      if (email === "" || !isEmailVerified) return { refusal: "email_unverified" };
      // Somebody else at this provider has the address.
      if ((await members.findByEmail(sql, tenantId, email)) !== undefined) return { refusal: "not_a_member" };
      const roles = connection.defaultRoles;
      const created = await members.create(context, { email, displayName: person.displayName, roles, isActive: true });
      await store.setAccount(tenantId, connection.id, subject, created.id);
      return { member: created };
    }
  };
}

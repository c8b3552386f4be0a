/**
 * Members: people with roles in a tenant.
 *
 * Subject: the `sub` claim that identifies a member. Invited: not seen yet; the first call activates the member.
 * Resolver: finds the member that a token belongs to, from a cache for most calls.
 */
import type { PlatformServices } from "../../area.ts";
import { createMemberAccounts, type MemberCredentials } from "./accounts.ts";
import { memberHandlers } from "./handler.ts";
import { createMemberResolver } from "./resolver.ts";
import { createMemberService, type MemberParts } from "./service.ts";

export type { MemberAccounts, MemberCredentials } from "./accounts.ts";
export type { Member, MemberRoles } from "./domain/member.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock">, Omit<MemberParts, "accounts"> {
  readonly credentials: MemberCredentials;
}

/** The module's public API. */
export type Members = ReturnType<typeof createMembers>;

export function createMembers(parts: Dependencies) {
  const accounts = createMemberAccounts(parts);
  return {
    handlers: memberHandlers(createMemberService({ ...parts, accounts })),
    resolve: createMemberResolver(parts),
    accounts,
  };
}

/**
 * Members: the people of a tenant.
 *
 * subject: how their token names them. invited: asked, and not seen yet; the first call makes them active.
 * resolver: tells what a token's bearer is to a tenant, from memory for most calls.
 */
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Database } from "../../../platform/db/index.ts";
import { memberHandlers } from "./handler.ts";
import { createMemberResolver } from "./resolver.ts";
import { createMemberService, type MemberParts } from "./service.ts";

export type { MemberRoles } from "./domain/member.ts";

interface Parts extends MemberParts {
  readonly db: Database;
  readonly cursors: Cursors;
}

/** The door of the module. */
export type Members = ReturnType<typeof createMembers>;

/** Makes the module. */
export function createMembers({ db, cursors, ...parts }: Parts) {
  return {
    handlers: memberHandlers(createMemberService(parts), cursors),
    resolve: createMemberResolver(db, parts.changes),
  };
}

import type { TenantId } from "../../../platform/access/index.ts";
import { createTenantCache, type Database, type TenantChanges } from "../../../platform/db/index.ts";
import { type Bearer, type Member, type MemberRoles, standingOf } from "./domain/member.ts";
import { memberStore } from "./store.ts";

/** Tells what a token's bearer is to a tenant; undefined for somebody who never was a member. */
export type MemberResolver = (
  tenantId: TenantId,
  subject: string,
  email: string | undefined,
  emailVerified: boolean,
) => MemberRoles | undefined | Promise<MemberRoles | undefined>;

/** Also remembers who is not a member, so that their calls cost no query either. */
interface Resolved {
  readonly member: MemberRoles | undefined;
}

/** Resolves from memory; reads, and activates whoever was invited, when the tenant changed or the bearer is new. */
export function createMemberResolver(db: Database, changes: TenantChanges): MemberResolver {
  async function activate(tenantId: TenantId, id: string, bearer: Bearer): Promise<Member | undefined> {
    const activated = await db.transaction(async (tx) => {
      const member = await memberStore(tx).activate(tenantId, id, bearer.subject);
      if (member !== undefined) await changes.record(tx, tenantId);
      return member;
    });
    if (activated === undefined) return memberStore(db.sql).recognize(tenantId, bearer);
    changes.published(tenantId);
    return activated;
  }

  const cache = createTenantCache<string, Resolved>({
    changes,
    async load(key) {
      const { tenantId, ...bearer } = parse(key);
      const found = await memberStore(db.sql).recognize(tenantId, bearer);
      const member = found?.status === "invited" ? await activate(tenantId, found.id, bearer) : found;
      return { member: member && standingOf(member) };
    },
    tenantOf: (key) => parse(key).tenantId,
  });

  return (tenantId, subject, email, emailVerified) => {
    // An empty subject stands for one that is not known yet; no token may claim it.
    if (subject === "") return undefined;
    const verifiedEmail = emailVerified && email !== "" ? email : undefined;
    const resolved = cache.get(keyOf(tenantId, { subject, verifiedEmail }));
    return resolved instanceof Promise ? resolved.then(({ member }) => member) : resolved.member;
  };
}

// Subjects and addresses may hold any character, so JSON keeps them apart.
function keyOf(tenantId: TenantId, { subject, verifiedEmail }: Bearer): string {
  return JSON.stringify([tenantId, subject, verifiedEmail ?? null]);
}

function parse(key: string): Bearer & { tenantId: TenantId } {
  const [tenantId, subject, verifiedEmail] = JSON.parse(key) as [TenantId, string, string | null];
  return { tenantId, subject, verifiedEmail: verifiedEmail ?? undefined };
}

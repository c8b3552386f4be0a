import type { TenantId } from "../../../platform/access/index.ts";
import { createTenantCache, type TenantChanges } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { activation } from "./accounts.ts";
import { type Bearer, type Member, type MemberRoles, toMemberRoles } from "./domain/member.ts";
import { memberStore } from "./store.ts";

/** Finds the roles of a token's bearer in a tenant; undefined if the bearer was never a member. */
export type MemberResolver = (
  tenantId: TenantId,
  subject: string,
  email: string | undefined,
  emailVerified: boolean,
) => MemberRoles | undefined | Promise<MemberRoles | undefined>;

/** Caches non-members too, so that their calls cost no query either. */
interface Resolved {
  readonly member: MemberRoles | undefined;
}

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly changes: TenantChanges;
  readonly events: Pick<EventRecorder, "recordMany">;
}

/** Creates a resolver with a cache. On a cache miss it reads the member, and binds it to the subject. */
export function createMemberResolver({ db, clock, changes, events }: Dependencies): MemberResolver {
  async function activate(tenantId: TenantId, { id, status }: Member, bearer: Bearer): Promise<Member | undefined> {
    const activated = await db.transaction(async (tx) => {
      const member = await memberStore(tx).activate(tenantId, id, bearer.subject);
      if (member === undefined) return undefined;
      await changes.record(tx, tenantId);
      const updated = { tenantId, type: "member.updated" as const, subject: id, data: activation };
      await events.recordMany(tx, status === "invited" ? [updated] : [], clock.now());
      return member;
    });
    if (activated === undefined) return memberStore(db.sql).findByBearer(tenantId, bearer);
    changes.published(tenantId);
    return activated;
  }

  const cache = createTenantCache<string, Resolved>({
    changes,
    async load(key) {
      const { tenantId, ...bearer } = parse(key);
      const found = await memberStore(db.sql).findByBearer(tenantId, bearer);
      // A member who signed in without a token is active already, but not bound to the subject of tokens.
      const isUnbound = found?.status === "invited" || (found?.status === "active" && found.subject === "");
      const member = isUnbound ? await activate(tenantId, found, bearer) : found;
      return { member: member && toMemberRoles(member) };
    },
    tenantOf: (key) => parse(key).tenantId,
  });

  return (tenantId, subject, email, emailVerified) => {
    // An empty subject marks a member whose subject is not known yet. No token may match it.
    if (subject === "") return undefined;
    const verifiedEmail = emailVerified && email !== "" ? email : undefined;
    const resolved = cache.get(keyOf(tenantId, { subject, verifiedEmail }));
    return resolved instanceof Promise ? resolved.then(({ member }) => member) : resolved.member;
  };
}

// Subjects and email addresses can contain any character, so the key is JSON.
function keyOf(tenantId: TenantId, { subject, verifiedEmail }: Bearer): string {
  return JSON.stringify([tenantId, subject, verifiedEmail ?? null]);
}

function parse(key: string): Bearer & { tenantId: TenantId } {
  const [tenantId, subject, verifiedEmail] = JSON.parse(key) as [TenantId, string, string | null];
  return { tenantId, subject, verifiedEmail: verifiedEmail ?? undefined };
}

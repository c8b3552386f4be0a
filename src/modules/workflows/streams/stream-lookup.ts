import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import { type Principal, requireEnvironmentAccess, type TenantId } from "../../../platform/access/index.ts";
import { BoundedCache } from "../../../platform/cache/bounded-cache.ts";
import { type Database, requireFound } from "../../../platform/db/index.ts";
import { type Access, pinnedCallers, requireRegion } from "./domain/region.ts";
import type { StreamDefinition } from "./domain/stream.ts";
import { streamStore } from "./stream-store.ts";

/** Finds streams and checks access to them, before anything of their data is read. */
export type StreamLookup = ReturnType<typeof createStreamLookup>;

const entriesMax = 10_000;

/** Creates the lookup of this node. Definitions never change, so they are kept in memory; a deleted stream has no head. */
export function createStreamLookup(db: Database, ownRegion: string) {
  const known = new BoundedCache<string, StreamDefinition>(entriesMax);

  async function find(tenantId: TenantId, runId: string, idOrName: string): Promise<StreamDefinition | undefined> {
    const name = `${tenantId}/${runId}/${idOrName}`;
    const cached = known.get(name);
    if (cached !== undefined) return cached;
    const found = await streamStore(db.sql).find(tenantId, runId, idOrName);
    if (found === undefined) return undefined;
    known.set(name, found);
    return found;
  }

  return {
    /** Finds a stream without a caller. */
    find,
    /** Returns a stream that the caller and this node may access in this way; throws otherwise. */
    async require(context: Pick<Context, "tenantId" | "principal">, runId: string, idOrName: string, access: Access) {
      const stream = requireFound(await find(context.tenantId, runId, idOrName), "workflow stream");
      requireEnvironmentAccess(context, stream.environmentKey);
      requireRegion(access, stream.pins, ownRegion);
      requirePinnedAuthorization(context.principal, stream, access);
      return stream;
    },
  };
}

function requirePinnedAuthorization(principal: Principal, { pins }: StreamDefinition, access: Access): void {
  const allowed = pinnedCallers(access, pins);
  if (allowed.length === 0 || isOwnRun(principal)) return;
  const { subject, roles } = principal;
  if (allowed.some((who) => who === `user:${subject}` || roles.some((role) => who === `role:${role}`))) return;
  throw fail("PERMISSION_DENIED", { public: "The pins of the stream do not allow the caller this access." });
}

/** Whether a step of a workflow run makes the call. */
function isOwnRun({ kind, subject }: Principal): boolean {
  return kind === "service" && subject === "service:workflow";
}

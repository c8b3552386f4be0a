import type { Context } from "../../../chain/call.ts";
import { requireEnvironmentAccess, type TenantId } from "../../../platform/access/index.ts";
import { type Database, notFound } from "../../../platform/db/index.ts";

/** An environment that a caller may use. */
export interface UsableEnvironment {
  readonly id: string;
  readonly key: string;
}

/** Finds environments for calls that are too frequent for a read each. */
export interface Environments {
  /** Returns an environment, production for an empty id; throws if there is none or the caller may not use it. */
  require(context: Pick<Context, "tenantId" | "principal">, id: string): Promise<UsableEnvironment>;
  /** Finds an environment for work that no caller asked for; undefined if there is none. */
  find(tenantId: TenantId, id: string): Promise<UsableEnvironment | undefined>;
}

interface Entry {
  readonly found: Promise<UsableEnvironment | undefined>;
  readonly untilMs: number;
}

/** How long an environment is usable after it was deleted. */
const validMs = 2000;
const entriesMax = 10_000;

/** Creates the lookup. The key of an environment never changes, so only its deletion is seen late. */
export function createEnvironments(db: Database, nowMs = () => performance.now()): Environments {
  const entries = new Map<string, Entry>();

  function find(tenantId: TenantId, id: string): Promise<UsableEnvironment | undefined> {
    const name = `${tenantId}/${id}`;
    const known = entries.get(name);
    if (known !== undefined && nowMs() < known.untilMs) return known.found;
    if (entries.size >= entriesMax) entries.clear();
    const found = read(tenantId, id);
    entries.set(name, { found, untilMs: nowMs() + validMs });
    found.catch(() => entries.delete(name));
    return found;
  }

  async function read(tenantId: TenantId, id: string): Promise<UsableEnvironment | undefined> {
    const [row] = await db.sql<UsableEnvironment[]>`
      select id, key from environments
      where tenant_id = ${tenantId} and status <> 'deleted'
        and ${id === "" ? db.sql`key = 'production'` : db.sql`id = ${id}`}`;
    return row;
  }

  return {
    find,
    async require(context, id) {
      const environment = await find(context.tenantId, id);
      if (environment === undefined) throw notFound("environment");
      requireEnvironmentAccess(context, environment.key);
      return environment;
    },
  };
}

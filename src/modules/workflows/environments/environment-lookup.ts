import type { Context } from "../../../chain/call.ts";
import {
  findEnvironment,
  productionKey,
  type ReferredEnvironment,
  requireEnvironmentAccess,
  type TenantId,
} from "../../../platform/access/index.ts";
import { createTenantCache, requireFound } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";

/** An environment that a caller may use. */
export type UsableEnvironment = Pick<ReferredEnvironment, "id" | "key">;

/** Finds environments by id or key for calls that are too frequent for a read each. */
export type Environments = ReturnType<typeof createEnvironments>;

interface Found {
  readonly environment: UsableEnvironment | undefined;
}

/** Creates the lookup. It is read again when an environment of the tenant changes. */
export function createEnvironments({ cacheLoadDb, changes }: Pick<PlatformServices, "cacheLoadDb" | "changes">) {
  const cache = createTenantCache<string, Found>({
    changes,
    async load(name) {
      const [tenantId, idOrKey] = partsOf(name);
      return { environment: await findEnvironment(cacheLoadDb.sql, tenantId, idOrKey || productionKey) };
    },
    tenantOf: (name) => partsOf(name)[0],
  });

  async function find(tenantId: TenantId, idOrKey: string): Promise<UsableEnvironment | undefined> {
    return (await cache.get(`${tenantId} ${idOrKey}`)).environment;
  }

  return {
    /** Finds an environment for work that no caller asked for; undefined if there is none. */
    find,
    /** Returns an environment, production for an empty reference; throws if there is none or the caller may not use it. */
    async require(context: Pick<Context, "tenantId" | "principal">, idOrKey: string) {
      const environment = requireFound(await find(context.tenantId, idOrKey), "environment");
      requireEnvironmentAccess(context, environment.key);
      return environment;
    },
  };
}

/** The tenant and the reference of a name. The reference comes from callers and can contain any character. */
function partsOf(name: string): [TenantId, string] {
  const at = name.indexOf(" ");
  return [name.slice(0, at) as TenantId, name.slice(at + 1)];
}

import { environmentIdOf, type TenantId } from "../../../platform/access/index.ts";
import { createTenantCache } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import { experimentStore } from "../experiments/index.ts";
import { type CompiledExperiment, compileExperiment } from "./eligibility.ts";

/** The experiments of tenants, in memory, ready to assign. */
export type Snapshots = ReturnType<typeof createSnapshots>;

type Dependencies = Pick<PlatformServices, "cacheLoadDb" | "changes">;

interface Found {
  readonly compiled: CompiledExperiment | undefined;
}

/** Creates the snapshots of this node. They are dropped when the tenant changes. */
export function createSnapshots({ cacheLoadDb, changes }: Dependencies) {
  const byId = createTenantCache<string, Found>({
    changes,
    async load(name) {
      const [tenantId, id] = partsOf(name);
      const experiment = await experimentStore(cacheLoadDb.sql).find(tenantId, id);
      return { compiled: experiment && compileExperiment(experiment) };
    },
    tenantOf: (name) => partsOf(name)[0],
  });
  const byKey = createTenantCache<string, Found>({
    changes,
    async load(name) {
      const [tenantId, environment, key] = JSON.parse(name) as [TenantId, string, string];
      const environmentId = await environmentIdOf({ sql: cacheLoadDb.sql, tenantId }, environment);
      const experiment = await experimentStore(cacheLoadDb.sql).findByKey(tenantId, environmentId, key);
      return { compiled: experiment && compileExperiment(experiment) };
    },
    tenantOf: (name) => (JSON.parse(name) as [TenantId])[0],
  });
  const compiledOf = (found: Found | Promise<Found>) =>
    found instanceof Promise ? found.then(({ compiled }) => compiled) : found.compiled;
  return {
    /** An experiment by id; undefined if the tenant has none. A promise while it is read. */
    find: (tenantId: TenantId, id: string) => compiledOf(byId.get(`${tenantId} ${id}`)),
    /** An experiment by its key in an environment, which is named by its id or its key. A promise while it is read. */
    findByKey: (tenantId: TenantId, environment: string, key: string) =>
      // Callers choose the environment and the key, so the name must separate them whatever they contain.
      compiledOf(byKey.get(JSON.stringify([tenantId, environment, key]))),
  };
}

/** The part of a name before its first space, and the rest. The last part comes from callers and can contain any character. */
function partsOf(name: string): [TenantId, string] {
  const at = name.indexOf(" ");
  return [name.slice(0, at) as TenantId, name.slice(at + 1)];
}

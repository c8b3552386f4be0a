import type { TenantId } from "../../../platform/access/index.ts";
import { createTenantCache, type Database, type TenantChanges } from "../../../platform/db/index.ts";
import { experimentStore } from "../experiments/index.ts";
import { type CompiledExperiment, compileExperiment } from "./eligibility.ts";

/** The experiments of tenants, in memory, ready to assign. */
export interface Snapshots {
  /** An experiment by id; undefined if the tenant has none. A promise while it is read. */
  find(tenantId: TenantId, id: string): CompiledExperiment | undefined | Promise<CompiledExperiment | undefined>;
  /** An experiment by its key in an environment. */
  findByKey(tenantId: TenantId, environmentId: string, key: string): Promise<CompiledExperiment | undefined>;
}

interface Parts {
  readonly side: Database;
  readonly changes: TenantChanges;
}

interface Found {
  readonly compiled: CompiledExperiment | undefined;
}

/** Creates the snapshots of this node. They are dropped when the tenant changes. */
export function createSnapshots({ side, changes }: Parts): Snapshots {
  const byId = createTenantCache<string, Found>({
    changes,
    async load(name) {
      const [tenantId, id] = name.split(" ") as [TenantId, string];
      const experiment = await experimentStore(side.sql).find(tenantId, id);
      return { compiled: experiment && compileExperiment(experiment) };
    },
    tenantOf: (name) => name.split(" ")[0],
  });
  const byKey = createTenantCache<string, Found>({
    changes,
    async load(name) {
      const [tenantId, environmentId, key] = name.split(" ") as [TenantId, string, string];
      const experiment = await experimentStore(side.sql).findByKey(tenantId, environmentId, key);
      return { compiled: experiment && compileExperiment(experiment) };
    },
    tenantOf: (name) => name.split(" ")[0],
  });
  return {
    find(tenantId, id) {
      const found = byId.get(`${tenantId} ${id}`);
      return found instanceof Promise ? found.then(({ compiled }) => compiled) : found.compiled;
    },
    async findByKey(tenantId, environmentId, key) {
      return (await byKey.get(`${tenantId} ${environmentId} ${key}`)).compiled;
    },
  };
}

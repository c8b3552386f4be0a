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
      const [tenantId, id] = partsOf(name);
      const experiment = await experimentStore(side.sql).find(tenantId, id);
      return { compiled: experiment && compileExperiment(experiment) };
    },
    tenantOf: (name) => partsOf(name)[0],
  });
  const byKey = createTenantCache<string, Found>({
    changes,
    async load(name) {
      const [tenantId, rest] = partsOf(name);
      const [environmentId, key] = partsOf(rest);
      const experiment = await experimentStore(side.sql).findByKey(tenantId, environmentId, key);
      return { compiled: experiment && compileExperiment(experiment) };
    },
    tenantOf: (name) => partsOf(name)[0],
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

/** The part of a name before its first space, and the rest. The last part comes from callers and can contain any character. */
function partsOf(name: string): [TenantId, string] {
  const at = name.indexOf(" ");
  return [name.slice(0, at) as TenantId, name.slice(at + 1)];
}

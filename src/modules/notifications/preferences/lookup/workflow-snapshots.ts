import type { TenantId } from "../../../../platform/access/index.ts";
import { createTenantCache } from "../../../../platform/db/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { NotificationWorkflow } from "../domain/workflow.ts";
import { workflowStore } from "../workflow-store.ts";

/** Cached workflows for decisions and rendering. */
export type WorkflowSnapshots = ReturnType<typeof createWorkflowSnapshots>;

type Dependencies = Pick<PlatformServices, "db" | "changes">;

/** A cache entry; missing workflows are cached too. */
interface CacheEntry {
  readonly tenantId: TenantId;
  readonly workflow: NotificationWorkflow | undefined;
}

// A workflow has up to 1.3 MB of text, though most have a few kilobytes.
const cacheEntriesMax = 2000;

/** Creates the workflow cache. A tenant's entries are dropped when its configuration changes. */
export function createWorkflowSnapshots({ db, changes }: Dependencies) {
  const cache = createTenantCache<string, CacheEntry>({
    changes,
    async load(key) {
      const tenantId = key.slice(0, key.indexOf("|")) as TenantId;
      return { tenantId, workflow: await workflowStore(db.sql).find(tenantId, key.slice(tenantId.length + 1)) };
    },
    tenantOf: (_key, { tenantId }) => tenantId,
    entriesMax: cacheEntriesMax,
  });
  return {
    /** A cached workflow, or a promise when it must be loaded first. */
    workflow(tenantId: TenantId, workflowKey: string) {
      const found = cache.get(`${tenantId}|${workflowKey}`);
      return found instanceof Promise ? found.then(({ workflow }) => workflow) : found.workflow;
    },
  };
}

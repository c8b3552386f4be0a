import type { TenantId } from "../../../platform/access/index.ts";
import { createTenantCache, type Database, type TenantChanges } from "../../../platform/db/index.ts";
import type { NotificationWorkflow } from "./domain/workflow.ts";
import { workflowStore } from "./workflow-store.ts";

/** Workflows as decisions see them, from memory for most calls. */
export interface WorkflowSnapshots {
  /** A workflow, or the promise of it when it must be read first. */
  workflow(
    tenantId: TenantId,
    workflowKey: string,
  ): NotificationWorkflow | undefined | Promise<NotificationWorkflow | undefined>;
}

interface Parts {
  readonly db: Database;
  readonly changes: TenantChanges;
}

/** What is kept for a key: that there is no such workflow is worth knowing too. */
interface Kept {
  readonly tenantId: TenantId;
  readonly workflow: NotificationWorkflow | undefined;
}

// A workflow has up to 1.3 MB of texts, though few have more than some kilobytes.
const keptMax = 2000;

/** Keeps workflows until their tenant changes. */
export function createWorkflowSnapshots({ db, changes }: Parts): WorkflowSnapshots {
  const cache = createTenantCache<string, Kept>({
    changes,
    async load(key) {
      const tenantId = key.slice(0, key.indexOf("|")) as TenantId;
      return { tenantId, workflow: await workflowStore(db.sql).find(tenantId, key.slice(tenantId.length + 1)) };
    },
    tenantOf: (_key, { tenantId }) => tenantId,
    entriesMax: keptMax,
  });
  return {
    workflow(tenantId, workflowKey) {
      const found = cache.get(`${tenantId}|${workflowKey}`);
      return found instanceof Promise ? found.then(({ workflow }) => workflow) : found.workflow;
    },
  };
}

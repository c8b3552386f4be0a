import type { Context } from "../../../../chain/call.ts";
import { invalid } from "../../../../errors/index.ts";
import type { Database } from "../../../../platform/db/index.ts";
import { nearestName } from "../../../../platform/text/index.ts";
import type { NotificationWorkflow, Preferences } from "../../preferences/index.ts";

interface Parts {
  readonly db: Database;
  readonly preferences: Pick<Preferences, "workflow" | "storedWorkflow" | "workflowKeys">;
  /** Whether triggers may name a workflow that does not exist, if their tenant has not decided it. */
  readonly allowUnknownWorkflows: boolean;
}

/**
 * Finds the workflow of a trigger. A key that no workflow has is refused, unless the tenant or the instance allows it:
 * undefined then, and the content comes from the trigger.
 */
export type WorkflowLookup = (
  context: Pick<Context, "tenantId" | "settingOf">,
  workflowKey: string,
) => Promise<NotificationWorkflow | undefined>;

/** The setting that allows unknown keys. */
const setting = "notification.allow_unknown_workflows";

/** Creates the lookup. */
export function createWorkflowLookup({ db, preferences, allowUnknownWorkflows }: Parts): WorkflowLookup {
  return async (context, workflowKey) => {
    const { tenantId } = context;
    const cached = await preferences.workflow(tenantId, workflowKey);
    if (cached !== undefined) return cached;
    // Another node may have stored it a moment ago.
    const stored = await preferences.storedWorkflow(db.sql, tenantId, workflowKey);
    if (stored !== undefined || (context.settingOf(setting) ?? allowUnknownWorkflows) === true) return stored;
    const near = nearestName(workflowKey, await preferences.workflowKeys(db.sql, tenantId));
    const suggestion = near === undefined ? "" : `; did you mean ${near}?`;
    throw invalid("workflow_key", "exists", `must be the key of a notification workflow${suggestion}`);
  };
}

import type { Context } from "../../../../chain/call.ts";
import { invalid } from "../../../../errors/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { nearestName } from "../../../../platform/text/index.ts";
import type { NotificationWorkflow } from "../domain/workflow.ts";
import { workflowStore } from "../workflow-store.ts";
import type { WorkflowSnapshots } from "./workflow-snapshots.ts";

interface Dependencies {
  readonly workflow: WorkflowSnapshots["workflow"];
  /** Whether requests may name a workflow that does not exist, if their tenant has not decided it. */
  readonly allowUnknownWorkflows: boolean;
}

/**
 * Finds the workflow that a request names. A key that no workflow has is refused, unless the tenant or the instance allows
 * it: undefined then.
 */
export type WorkflowLookup = (
  sql: Sql,
  context: Pick<Context, "tenantId" | "principal" | "settingOf">,
  workflowKey: string,
) => Promise<NotificationWorkflow | undefined>;

/** The setting that allows unknown keys. */
const setting = "notification.allow_unknown_workflows";

/** How many keys are compared with a mistyped one. */
export const comparedKeysMax = 1000;

export function createWorkflowLookup({ workflow, allowUnknownWorkflows }: Dependencies): WorkflowLookup {
  return async (sql, context, workflowKey) => {
    const { tenantId, principal } = context;
    const cached = await workflow(tenantId, workflowKey);
    if (cached !== undefined) return cached;
    const store = workflowStore(sql);
    // Another node may have stored it a moment ago.
    const stored = await store.find(tenantId, workflowKey);
    if (stored !== undefined || (context.settingOf(setting) ?? allowUnknownWorkflows) === true) return stored;
    // A subscriber learns no keys of other workflows.
    const known = principal.subscriberId === undefined ? await store.keys(tenantId, comparedKeysMax) : [];
    const near = nearestName(workflowKey, known);
    const suggestion = near === undefined ? "" : `; did you mean ${near}?`;
    throw invalid("workflow_key", "exists", `must be the key of a notification workflow${suggestion}`);
  };
}

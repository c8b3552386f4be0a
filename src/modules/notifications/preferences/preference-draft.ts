import type { SimulateTriggersRequest } from "../../../../gen/service/api/notification_pb.ts";
import type { Context } from "../../../chain/call.ts";
import { withinField } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { requireFound } from "../../../platform/db/index.ts";
import type { Layers } from "./domain/layers.ts";
import { checkSettings } from "./domain/preference-validation.ts";
import { emptySettings, type PreferenceSettings } from "./domain/settings.ts";
import type { NotificationWorkflow } from "./domain/workflow.ts";
import type { WorkflowSnapshots } from "./lookup/workflow-snapshots.ts";
import { toChannels, toSettings } from "./settings-message.ts";
import { toSteps } from "./step-message.ts";
import { toChannelContent } from "./workflow-handler.ts";
import type { WorkflowService } from "./workflow-service.ts";

/** Workflows and layers as they would be after changes. */
export interface PreferenceDraft {
  readonly workflow: (tenantId: TenantId, key: string) => Promise<NotificationWorkflow | undefined>;
  /** The layers of a trigger for a user of its workflow. */
  readonly layersOf: (layers: Layers, userId: string) => Layers;
}

interface Dependencies {
  readonly workflow: WorkflowSnapshots["workflow"];
  readonly checkContent: WorkflowService["checkContent"];
}

type Changes = Pick<SimulateTriggersRequest, "workflows" | "workflowUsers">;

/** Creates the function that checks changes and applies them to what is stored, without storing them. */
export function createPreferenceDraft({ workflow, checkContent }: Dependencies) {
  return async ({ tenantId }: Context, { workflows, workflowUsers }: Changes): Promise<PreferenceDraft> => {
    const drafts = new Map<string, NotificationWorkflow>();
    const stored = async (key: string) => requireFound(await workflow(tenantId, key), "notification workflow");
    for (const [at, { workflowKey, channels, preferences, steps }] of workflows.entries()) {
      const draft = {
        ...(await stored(workflowKey)),
        ...(channels !== undefined && { channels: toChannels(channels, toChannelContent) }),
        ...(preferences !== undefined && { preferences: toSettings(preferences) }),
        ...(steps.length > 0 && { steps: toSteps(steps) }),
      };
      within(`workflows[${at}]`, () => checkContent(draft));
      drafts.set(workflowKey, draft);
    }
    const users = new Map<string, PreferenceSettings>();
    for (const [at, { workflowKey, userId, preferences }] of workflowUsers.entries()) {
      await stored(workflowKey);
      const settings = preferences === undefined ? emptySettings : toSettings(preferences);
      within(`workflow_users[${at}]`, () => checkSettings("preferences.", settings));
      users.set(`${workflowKey}|${userId}`, settings);
    }
    return {
      workflow: async (id, key) => drafts.get(key) ?? workflow(id, key),
      layersOf(layers, userId) {
        const user = userId === "" ? undefined : users.get(`${layers.workflowKey}|${userId}`);
        return user === undefined ? layers : { ...layers, user };
      },
    };
  };
}

/** Runs a check of a part of a request, and names the part in its refusal. */
function within(path: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw withinField(path, error);
  }
}

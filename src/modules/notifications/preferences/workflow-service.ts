import type { Context } from "../../../chain/call.ts";
import { invalid } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { notFound, type Sql, type TenantChanges, updateRefusal } from "../../../platform/db/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Channel } from "../subscribers/index.ts";
import { checkSettings } from "./domain/check.ts";
import { type CheckTemplate, checkContents } from "./domain/check-content.ts";
import { channels, type PreferenceSettings } from "./domain/settings.ts";
import type { NotificationWorkflow, WorkflowContent, WorkflowUser } from "./domain/workflow.ts";
import { workflowStore } from "./workflow-store.ts";
import { workflowUserStore } from "./workflow-user-store.ts";

/** Whether a tenant has a layout with this id for this channel. It is to stay until the transaction ends. */
export type HasLayout = (sql: Sql, tenantId: TenantId, layoutId: string, channel: Channel) => Promise<boolean>;

/** What the use cases stand on. */
export interface WorkflowParts {
  readonly events: EventRecorder;
  readonly changes: TenantChanges;
  readonly checkTemplate: CheckTemplate;
  readonly hasLayout: HasLayout;
}

/** The use cases of notification workflows. */
export type WorkflowService = ReturnType<typeof createWorkflowService>;

/** Makes the use cases of notification workflows. */
export function createWorkflowService({ events, changes, checkTemplate, hasLayout }: WorkflowParts) {
  async function getWorkflow({ sql, tenantId }: Context, workflowKey: string): Promise<NotificationWorkflow> {
    const workflow = await workflowStore(sql).find(tenantId, workflowKey);
    if (workflow === undefined) throw notFound("notification workflow");
    return workflow;
  }

  async function checkLayouts({ sql, tenantId }: Context, contents: WorkflowContent["channels"]): Promise<void> {
    for (const channel of channels) {
      const layoutId = contents[channel]?.layoutId ?? "";
      if (layoutId === "" || (await hasLayout(sql, tenantId, layoutId, channel))) continue;
      throw invalid(`channels.${channel}.layout_id`, "exists", "is not the id of a layout of this channel");
    }
  }

  /** Notes that what nodes keep of the tenant's workflows has passed. */
  async function changed({ sql, tenantId, afterCommit }: Context): Promise<void> {
    await changes.record(sql, tenantId);
    afterCommit(() => changes.published(tenantId));
  }

  const summary = ({ name, channels: contents }: WorkflowContent) => ({ name, channels: Object.keys(contents) });

  return {
    getWorkflow,

    /** Creates or replaces a workflow. One that is not there is at version 0. */
    async upsertWorkflow(
      context: Context,
      workflowKey: string,
      content: WorkflowContent,
      expectedVersion: number | undefined,
    ): Promise<NotificationWorkflow> {
      const { sql, tenantId, nowMs } = context;
      checkContents("channels", content.channels, checkTemplate);
      if (content.preferences !== undefined) checkSettings("preferences.", content.preferences);
      await checkLayouts(context, content.channels);
      const store = workflowStore(sql);
      const now = new Date(nowMs);
      const created = expectedVersion ? undefined : await store.insert(tenantId, workflowKey, content, now);
      const workflow = created ?? (await store.update(tenantId, workflowKey, content, expectedVersion, now));
      if (workflow === undefined) {
        const current = (await store.find(tenantId, workflowKey)) ?? { recordVersion: 0 };
        throw updateRefusal(current, "notification workflow");
      }
      await changed(context);
      const type = created === undefined ? "notification.workflow.updated" : "notification.workflow.created";
      await events.record(context, type, workflowKey, summary(workflow));
      return workflow;
    },

    async deleteWorkflow(context: Context, workflowKey: string): Promise<NotificationWorkflow> {
      const { sql, tenantId } = context;
      const deleted = await workflowStore(sql).remove(tenantId, workflowKey);
      if (deleted === undefined) throw notFound("notification workflow");
      // In a statement of its own: it sees users that came while the workflow could not be deleted yet.
      await workflowUserStore(sql).removeAll(tenantId, workflowKey);
      await changed(context);
      await events.record(context, "notification.workflow.deleted", workflowKey, summary(deleted));
      return deleted;
    },

    async getUser({ sql, tenantId }: Context, workflowKey: string, userId: string): Promise<WorkflowUser> {
      const user = await workflowUserStore(sql).find(tenantId, workflowKey, userId);
      if (user === undefined) throw notFound("user of the notification workflow");
      return user;
    },

    /** Sets what counts for one user. Nodes keep nothing of it: it is read with what the subscriber wants. */
    async upsertUser(
      context: Context,
      workflowKey: string,
      userId: string,
      preferences: PreferenceSettings,
      expectedVersion: number | undefined,
    ): Promise<WorkflowUser> {
      const { sql, tenantId, nowMs } = context;
      checkSettings("preferences.", preferences);
      if (!(await workflowStore(sql).hold(tenantId, workflowKey))) throw notFound("notification workflow");
      const store = workflowUserStore(sql);
      const now = new Date(nowMs);
      const created = expectedVersion ? undefined : await store.insert(tenantId, workflowKey, userId, preferences, now);
      const user = created ?? (await store.update(tenantId, workflowKey, userId, preferences, expectedVersion, now));
      if (user === undefined) {
        const current = (await store.find(tenantId, workflowKey, userId)) ?? { recordVersion: 0 };
        throw updateRefusal(current, "user of the notification workflow");
      }
      await events.record(context, "notification.workflow.user.set", workflowKey, { user_id: userId });
      return user;
    },

    async deleteUser(context: Context, workflowKey: string, userId: string): Promise<WorkflowUser> {
      const { sql, tenantId } = context;
      const removed = await workflowUserStore(sql).remove(tenantId, workflowKey, userId);
      if (removed === undefined) throw notFound("user of the notification workflow");
      await events.record(context, "notification.workflow.user.removed", workflowKey, { user_id: userId });
      return removed;
    },
  };
}

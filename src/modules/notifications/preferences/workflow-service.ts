import type { Context } from "../../../chain/call.ts";
import { invalid } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import {
  notFound,
  type RowImage,
  requireFound,
  type Sql,
  type TenantChanges,
  updateRefusal,
} from "../../../platform/db/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Partials } from "../partials/index.ts";
import type { Channel } from "../subscribers/index.ts";
import { type CheckTemplate, checkContents } from "./domain/content-validation.ts";
import { checkSettings } from "./domain/preference-validation.ts";
import { channels, type PreferenceSettings } from "./domain/settings.ts";
import { checkSteps } from "./domain/step-validation.ts";
import type { NotificationWorkflow, WorkflowContent, WorkflowUser } from "./domain/workflow.ts";
import { partialsIn } from "./template-check.ts";
import { workflowStore } from "./workflow-store.ts";
import { workflowUserStore } from "./workflow-user-store.ts";

/** Whether a tenant has a layout with this id for this channel. The layout must exist until the transaction ends. */
export type HasLayout = (sql: Sql, tenantId: TenantId, layoutId: string, channel: Channel) => Promise<boolean>;

export interface WorkflowParts {
  readonly events: EventRecorder;
  readonly changes: TenantChanges;
  readonly checkTemplate: CheckTemplate;
  readonly hasLayout: HasLayout;
  readonly partials: Pick<Partials, "libraryOf" | "requirePartials">;
}

/** The rows of a workflow and of its users. */
export interface WorkflowImages {
  readonly workflow: RowImage;
  /** Undefined if the users stay as they are. */
  readonly users?: readonly RowImage[];
}

export type WorkflowService = ReturnType<typeof createWorkflowService>;

export function createWorkflowService({ events, changes, checkTemplate, hasLayout, partials }: WorkflowParts) {
  async function getWorkflow({ sql, tenantId }: Context, workflowKey: string): Promise<NotificationWorkflow> {
    return requireFound(await workflowStore(sql).find(tenantId, workflowKey), "notification workflow");
  }

  async function checkLayouts({ sql, tenantId }: Context, contents: WorkflowContent["channels"]): Promise<void> {
    for (const channel of channels) {
      const layoutId = contents[channel]?.layoutId ?? "";
      if (layoutId === "" || (await hasLayout(sql, tenantId, layoutId, channel))) continue;
      throw invalid(`channels.${channel}.layout_id`, "exists", "must be the id of a layout of this channel");
    }
  }

  async function checkPartials({ sql, tenantId }: Context, contents: WorkflowContent["channels"]): Promise<void> {
    for (const channel of channels) {
      const content = contents[channel];
      if (content === undefined) continue;
      await partials.requirePartials(sql, tenantId, `channels.${channel}`, content.engine, partialsIn(content));
    }
  }

  /** Throws when content is invalid, whatever it refers to. */
  function checkContent(content: WorkflowContent): void {
    checkContents("channels", content.channels, checkTemplate);
    if (content.preferences !== undefined) checkSettings("preferences.", content.preferences);
    checkSteps(content);
  }

  const summary = ({ name, channels: contents }: WorkflowContent) => ({ name, channels: Object.keys(contents) });

  return {
    getWorkflow,
    checkContent,

    /** Creates or replaces a workflow. A workflow that does not exist has version 0. */
    async upsertWorkflow(
      context: Context,
      workflowKey: string,
      content: WorkflowContent,
      expectedVersion: number | undefined,
    ): Promise<NotificationWorkflow> {
      const { sql, tenantId, nowMs } = context;
      checkContent(content);
      await checkLayouts(context, content.channels);
      await checkPartials(context, content.channels);
      const store = workflowStore(sql);
      const now = new Date(nowMs);
      const created = expectedVersion ? undefined : await store.insert(tenantId, workflowKey, content, now);
      const workflow = created ?? (await store.update(tenantId, workflowKey, content, expectedVersion, now));
      if (workflow === undefined) {
        const current = (await store.find(tenantId, workflowKey)) ?? { recordVersion: 0 };
        throw updateRefusal(current, "notification workflow");
      }
      await changes.invalidate(context);
      const type = created === undefined ? "notification.workflow.updated" : "notification.workflow.created";
      await events.record(context, type, workflowKey, summary(workflow));
      return workflow;
    },

    async deleteWorkflow(context: Context, workflowKey: string): Promise<NotificationWorkflow> {
      const { sql, tenantId } = context;
      const deleted = requireFound(await workflowStore(sql).remove(tenantId, workflowKey), "notification workflow");
      // A separate statement, so that it sees users added while the delete waited for its lock.
      await workflowUserStore(sql).removeAll(tenantId, workflowKey);
      await changes.invalidate(context);
      await events.record(context, "notification.workflow.deleted", workflowKey, summary(deleted));
      return deleted;
    },

    /** Restores a workflow and the preferences of its users; undefined deletes them. */
    async restoreWorkflow(context: Context, workflowKey: string, images: WorkflowImages | undefined): Promise<void> {
      const { sql, tenantId } = context;
      await workflowStore(sql).replaceRow(tenantId, workflowKey, images?.workflow);
      const users = images === undefined ? [] : images.users;
      if (users !== undefined) await workflowUserStore(sql).replaceRows(tenantId, workflowKey, users);
      await changes.invalidate(context);
    },

    async getUser({ sql, tenantId }: Context, workflowKey: string, userId: string): Promise<WorkflowUser> {
      return requireFound(
        await workflowUserStore(sql).find(tenantId, workflowKey, userId),
        "user of the notification workflow",
      );
    },

    /** Sets the preferences for one user. They are not cached; they are read together with the subscriber's rows. */
    async upsertUser(
      context: Context,
      workflowKey: string,
      userId: string,
      preferences: PreferenceSettings,
      expectedVersion: number | undefined,
    ): Promise<WorkflowUser> {
      const { sql, tenantId, nowMs } = context;
      checkSettings("preferences.", preferences);
      if (!(await workflowStore(sql).lockShared(tenantId, workflowKey))) throw notFound("notification workflow");
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
      const removed = requireFound(
        await workflowUserStore(sql).remove(tenantId, workflowKey, userId),
        "user of the notification workflow",
      );
      await events.record(context, "notification.workflow.user.removed", workflowKey, { user_id: userId });
      return removed;
    },
  };
}

import { create } from "@bufbuild/protobuf";
import {
  type ChannelContent as ChannelContentMessage,
  type ChannelContents,
  ChannelContentsSchema,
  DeleteNotificationWorkflowResponseSchema,
  DeleteNotificationWorkflowUserResponseSchema,
  GetNotificationWorkflowResponseSchema,
  GetNotificationWorkflowUserResponseSchema,
  ListNotificationWorkflowsResponseSchema,
  ListNotificationWorkflowUsersResponseSchema,
  NotificationWorkflowSchema,
  NotificationWorkflowUserSchema,
  PreviewNotificationContentResponseSchema,
  type NotificationWorkflowService as Rpc,
  type UpsertNotificationWorkflowRequest,
  UpsertNotificationWorkflowResponseSchema,
  UpsertNotificationWorkflowUserResponseSchema,
} from "../../../../gen/service/api/notification_workflow_pb.ts";
import { PreferenceSettingsSchema } from "../../../../gen/service/api/preference_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { expectedVersion, stampFields } from "../../../platform/records/index.ts";
import type { Partials } from "../partials/index.ts";
import type { Channel } from "../subscribers/index.ts";
import { previewContent } from "./content-preview.ts";
import { channels, emptySettings, type PreferenceSettings } from "./domain/settings.ts";
import type { ChannelContent, Engine, NotificationWorkflow, WorkflowContent, WorkflowUser } from "./domain/workflow.ts";
import { fieldNames, fromSettings, toSettings } from "./settings-message.ts";
import { fromSteps, toSteps } from "./step-message.ts";
import type { WorkflowService } from "./workflow-service.ts";
import { workflowStore } from "./workflow-store.ts";
import { workflowUserStore } from "./workflow-user-store.ts";

/** The operations of NotificationWorkflowService. */
export function workflowHandlers(
  service: WorkflowService,
  partials: Pick<Partials, "libraryOf">,
  cursors: Cursors,
): Handlers<typeof Rpc> {
  return {
    async upsertNotificationWorkflow(context, request) {
      const version = expectedVersion(request.recordVersion);
      const workflow = await service.upsertWorkflow(context, request.workflowKey, toContent(request), version);
      return create(UpsertNotificationWorkflowResponseSchema, { workflow: fromWorkflow(workflow) });
    },

    async getNotificationWorkflow(context, { workflowKey }) {
      const workflow = await service.getWorkflow(context, workflowKey);
      return create(GetNotificationWorkflowResponseSchema, { workflow: fromWorkflow(workflow) });
    },

    async listNotificationWorkflows(context, request) {
      const { tenantId, operation, sql } = context;
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id },
        (workflow: NotificationWorkflow) => workflow.workflowKey,
        (wanted) => workflowStore(sql).list(tenantId, wanted),
      );
      const workflows = page.items.map(fromWorkflow);
      return create(ListNotificationWorkflowsResponseSchema, { ...page, workflows });
    },

    async deleteNotificationWorkflow(context, { workflowKey }) {
      const workflow = await service.deleteWorkflow(context, workflowKey);
      return create(DeleteNotificationWorkflowResponseSchema, { workflow: fromWorkflow(workflow) });
    },

    async upsertNotificationWorkflowUser(context, { workflowKey, userId, preferences, recordVersion }) {
      const settings = preferences === undefined ? emptySettings : toSettings(preferences);
      const version = expectedVersion(recordVersion);
      const user = await service.upsertUser(context, workflowKey, userId, settings, version);
      return create(UpsertNotificationWorkflowUserResponseSchema, { user: fromUser(user) });
    },

    async getNotificationWorkflowUser(context, { workflowKey, userId }) {
      const user = await service.getUser(context, workflowKey, userId);
      return create(GetNotificationWorkflowUserResponseSchema, { user: fromUser(user) });
    },

    async listNotificationWorkflowUsers(context, request) {
      const { tenantId, operation, sql } = context;
      const { workflowKey } = await service.getWorkflow(context, request.workflowKey);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [workflowKey] },
        (user: WorkflowUser) => user.userId,
        (wanted) => workflowUserStore(sql).list(tenantId, workflowKey, wanted),
      );
      return create(ListNotificationWorkflowUsersResponseSchema, { ...page, users: page.items.map(fromUser) });
    },

    async deleteNotificationWorkflowUser(context, { workflowKey, userId }) {
      const user = await service.deleteUser(context, workflowKey, userId);
      return create(DeleteNotificationWorkflowUserResponseSchema, { user: fromUser(user) });
    },

    async previewNotificationContent({ tenantId, nowMs }, { channel, content: given, payload = {}, subscriber = {} }) {
      const content = toChannelContent(given!);
      const library = await partials.libraryOf(tenantId);
      const shown = previewContent(
        channel as Channel,
        content,
        { payload, subscriber },
        nowMs,
        library[content.engine],
      );
      const { subject, title, body, textBody, unresolved } = shown;
      const texts = { subject, title, body, textBody };
      return create(PreviewNotificationContentResponseSchema, { ...texts, unresolvedVariables: [...unresolved] });
    },
  };
}

/** Converts the replaceable fields of a request. */
export function toContent(request: UpsertNotificationWorkflowRequest): WorkflowContent {
  return {
    name: request.name || request.workflowKey,
    description: request.description,
    channels: toContents(request.channels),
    preferences: request.preferences && toSettings(request.preferences),
    steps: toSteps(request.steps),
  };
}

/** Converts the replaceable fields to those of a message. */
export function fromContent({ name, description, channels: contents, preferences, steps }: WorkflowContent) {
  return {
    name,
    description,
    channels: fromContents(contents),
    preferences: preferences && settingsMessage(preferences),
    steps: fromSteps(steps),
  };
}

function toContents(message: ChannelContents | undefined): WorkflowContent["channels"] {
  const contents: { [C in Channel]?: ChannelContent } = {};
  for (const channel of channels) {
    const content = message?.[fieldNames[channel]];
    if (content !== undefined) contents[channel] = toChannelContent(content);
  }
  return contents;
}

function toChannelContent(message: ChannelContentMessage): ChannelContent {
  const { engine, data = {}, subject, title, body, textBody, layoutId, strictVariables } = message;
  const texts = { subject, title, body, textBody, layoutId, strictVariables };
  return { ...texts, engine: (engine || "handlebars") as Engine, data };
}

function fromContents(contents: WorkflowContent["channels"]): ChannelContents {
  const shown = channels.flatMap((channel) => {
    const content = contents[channel];
    return content === undefined ? [] : [[fieldNames[channel], { ...content, data: content.data as never }] as const];
  });
  return create(ChannelContentsSchema, Object.fromEntries(shown));
}

function settingsMessage(settings: PreferenceSettings) {
  return create(PreferenceSettingsSchema, fromSettings(settings));
}

function fromWorkflow(workflow: NotificationWorkflow) {
  return create(NotificationWorkflowSchema, {
    tenantId: workflow.tenantId,
    workflowKey: workflow.workflowKey,
    ...fromContent(workflow),
    ...stampFields(workflow),
  });
}

function fromUser(user: WorkflowUser) {
  return create(NotificationWorkflowUserSchema, {
    tenantId: user.tenantId,
    workflowKey: user.workflowKey,
    userId: user.userId,
    preferences: settingsMessage(user.preferences),
    ...stampFields(user),
  });
}

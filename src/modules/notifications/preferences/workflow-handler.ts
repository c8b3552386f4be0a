import type {
  ChannelContent as ChannelContentMessage,
  MailAttachment as MailAttachmentMessage,
  NotificationWorkflowService as Rpc,
  UpsertNotificationWorkflowRequest,
} from "../../../../gen/service/api/notification_workflow_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { expectedVersion } from "../../../platform/records/index.ts";
import type { Partials } from "../partials/index.ts";
import type { Channel } from "../subscribers/index.ts";
import { previewContent } from "./content-preview.ts";
import { emptySettings } from "./domain/settings.ts";
import type {
  ChannelContent,
  Engine,
  MailAttachment,
  NotificationWorkflow,
  WorkflowContent,
  WorkflowUser,
} from "./domain/workflow.ts";
import { fromChannels, fromSettings, toChannels, toSettings } from "./settings-message.ts";
import { fromSteps, toSteps } from "./step-message.ts";
import type { WorkflowService } from "./workflow-service.ts";
import { workflowStore } from "./workflow-store.ts";
import { workflowUserStore } from "./workflow-user-store.ts";

export function workflowHandlers(
  service: WorkflowService,
  partials: Pick<Partials, "libraryOf">,
): Handlers<typeof Rpc> {
  return {
    async upsertNotificationWorkflow(context, request) {
      const version = expectedVersion(request.recordVersion);
      const workflow = await service.upsertWorkflow(context, request.workflowKey, toContent(request), version);
      return { workflow: fromWorkflow(workflow) };
    },

    async getNotificationWorkflow(context, { workflowKey }) {
      return { workflow: fromWorkflow(await service.getWorkflow(context, workflowKey)) };
    },

    async listNotificationWorkflows(context, request) {
      const page = await context.page(
        "workflows",
        request,
        [],
        (wanted) => workflowStore(context.sql).list(context.tenantId, wanted),
        (workflow) => workflow.workflowKey,
      );
      return { ...page, workflows: page.workflows.map(fromWorkflow) };
    },

    async deleteNotificationWorkflow(context, { workflowKey }) {
      return { workflow: fromWorkflow(await service.deleteWorkflow(context, workflowKey)) };
    },

    async upsertNotificationWorkflowUser(context, { workflowKey, userId, preferences, recordVersion }) {
      const settings = preferences === undefined ? emptySettings : toSettings(preferences);
      const version = expectedVersion(recordVersion);
      return { user: fromUser(await service.upsertUser(context, workflowKey, userId, settings, version)) };
    },

    async getNotificationWorkflowUser(context, { workflowKey, userId }) {
      return { user: fromUser(await service.getUser(context, workflowKey, userId)) };
    },

    async listNotificationWorkflowUsers(context, request) {
      const { workflowKey } = await service.getWorkflow(context, request.workflowKey);
      const page = await context.page(
        "users",
        request,
        [workflowKey],
        (wanted) => workflowUserStore(context.sql).list(context.tenantId, workflowKey, wanted),
        (user) => user.userId,
      );
      return { ...page, users: page.users.map(fromUser) };
    },

    async deleteNotificationWorkflowUser(context, { workflowKey, userId }) {
      return { user: fromUser(await service.deleteUser(context, workflowKey, userId)) };
    },

    async previewNotificationContent({ tenantId, nowMs }, { channel, content: given, payload = {}, subscriber = {} }) {
      const content = toChannelContent(given!);
      const library = (await partials.libraryOf(tenantId))[content.engine];
      const sample = { payload, subscriber };
      const { unresolved, ...rendered } = previewContent(channel as Channel, content, sample, nowMs, library);
      return { ...rendered, unresolvedVariables: unresolved };
    },
  };
}

/** Converts the replaceable fields of a request. */
export function toContent(request: UpsertNotificationWorkflowRequest): WorkflowContent {
  return {
    name: request.name || request.workflowKey,
    description: request.description,
    channels: toChannels(request.channels, toChannelContent),
    preferences: request.preferences && toSettings(request.preferences),
    steps: toSteps(request.steps),
  };
}

/** Converts the replaceable fields to those of a message. */
export function fromContent({ name, description, channels: contents, preferences, steps }: WorkflowContent) {
  return {
    name,
    description,
    channels: fromChannels(contents),
    preferences: preferences && fromSettings(preferences),
    steps: fromSteps(steps),
  };
}

/** Converts the content of a channel. */
export function toChannelContent(message: ChannelContentMessage): ChannelContent {
  const { engine, data = {}, subject, title, body, textBody, layoutId, strictVariables } = message;
  const texts = { subject, title, body, textBody, layoutId, strictVariables };
  const attachments = toAttachments(message.attachments);
  const locales = Object.fromEntries(
    Object.entries(message.locales).map(([tag, { $typeName: _, $unknown: __, ...localized }]) => [tag, localized]),
  );
  return { ...texts, engine: (engine || "handlebars") as Engine, data, attachments, locales };
}

/** Converts attachments. */
export function toAttachments(messages: readonly MailAttachmentMessage[]): readonly MailAttachment[] {
  return messages.map(({ filename, contentType, content }) => ({ filename, contentType, content }));
}

const fromWorkflow = (workflow: NotificationWorkflow) => ({ ...workflow, ...fromContent(workflow) });

const fromUser = (user: WorkflowUser) => ({ ...user, preferences: fromSettings(user.preferences) });

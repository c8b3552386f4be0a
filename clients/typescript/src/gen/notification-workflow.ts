// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject } from "../json.ts";
import type { PreferenceSettings, PreferenceSettingsInput } from "./preference.ts";

/** Notification workflows: the content of one kind of notification on each channel, and the author's preferences for everybody and for single users. */
export interface NotificationWorkflowService {
  /** Creates or replaces the workflow with this key: absent fields are cleared. Templates and conditions are checked. */
  upsert(request: UpsertNotificationWorkflowRequest, options?: CallOptions): Promise<NotificationWorkflow>;

  /** Returns one workflow. */
  get(request: GetNotificationWorkflowRequest, options?: CallOptions): Promise<NotificationWorkflow>;

  /** Lists the workflows of the caller's tenant. */
  list(request?: ListNotificationWorkflowsRequest, options?: CallOptions): List<NotificationWorkflow>;

  /** Deletes a workflow and its preferences for single users. The preferences of subscribers are kept. */
  delete(request: DeleteNotificationWorkflowRequest, options?: CallOptions): Promise<NotificationWorkflow>;

  /** Sets the author's preferences of a workflow for one user: layer 2. They apply when a trigger names the user. */
  upsertUser(request: UpsertNotificationWorkflowUserRequest, options?: CallOptions): Promise<NotificationWorkflowUser>;

  /** Returns the author's preferences of a workflow for one user. */
  getUser(request: GetNotificationWorkflowUserRequest, options?: CallOptions): Promise<NotificationWorkflowUser>;

  /** Lists the users for whom a workflow has preferences. */
  listUsers(request: ListNotificationWorkflowUsersRequest, options?: CallOptions): List<NotificationWorkflowUser>;

  /** Deletes the author's preferences of a workflow for one user. */
  deleteUser(request: DeleteNotificationWorkflowUserRequest, options?: CallOptions): Promise<NotificationWorkflowUser>;

  /** Renders content with sample data, without a layout. Nothing is stored and nothing is sent. */
  previewNotificationContent(request: PreviewNotificationContentRequest, options?: CallOptions): Promise<PreviewNotificationContentResponse>;
}

const notificationWorkflowServiceOperations = {
  upsert: { verb: "PUT", path: "/api/v2/notification/workflows/{workflow_key}", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/notification/workflows/{workflow_key}" },
  list: { verb: "GET", path: "/api/v2/notification/workflows", result: "cursor" },
  delete: { verb: "DELETE", path: "/api/v2/notification/workflows/{workflow_key}", keyed: true },
  upsertUser: { verb: "PUT", path: "/api/v2/notification/workflows/{workflow_key}/users/{user_id}", body: "*", keyed: true },
  getUser: { verb: "GET", path: "/api/v2/notification/workflows/{workflow_key}/users/{user_id}" },
  listUsers: { verb: "GET", path: "/api/v2/notification/workflows/{workflow_key}/users", result: "cursor" },
  deleteUser: { verb: "DELETE", path: "/api/v2/notification/workflows/{workflow_key}/users/{user_id}", keyed: true },
  previewNotificationContent: { verb: "POST", path: "/api/v2/notification/workflows:preview", body: "*" },
} as const satisfies Record<keyof NotificationWorkflowService, Operation>;

/** Creates the service over a transport. */
export function createNotificationWorkflowService(transport: Transport): NotificationWorkflowService {
  return bindOperations<NotificationWorkflowService>(transport, notificationWorkflowServiceOperations);
}

/** A file that is attached to a mail. The attachments of a mail may take 1 MiB together. */
export type MailAttachmentInput = {
  /** The name of the file, as a template. */
  readonly filename: string;
  /** The media type, such as application/pdf; application/octet-stream when empty. */
  readonly content_type?: string;
  /** The bytes in base64, as a template, such as {{payload.invoice}}. If it renders as empty, nothing is attached. */
  readonly content: string;
};

/** The content of each channel; nothing is sent on absent channels. */
export type ChannelContentsInput = {
  /** The channel email. */
  readonly email?: ChannelContentInput;
  /** The channel sms. */
  readonly sms?: ChannelContentInput;
  /** The channel push. */
  readonly push?: ChannelContentInput;
  /** The channel chat. */
  readonly chat?: ChannelContentInput;
  /** The channel in_app. */
  readonly in_app?: ChannelContentInput;
};

/** The content on one channel. The texts are templates over payload, subscriber and more. */
export type ChannelContentInput = {
  /** The template language: handlebars or liquid; handlebars when empty. */
  readonly engine?: "handlebars" | "liquid";
  /** The subject line, if the channel has one. */
  readonly subject?: string;
  /** The title, if the channel has one. */
  readonly title?: string;
  /** The text; HTML on email. */
  readonly body: string;
  /** The text without markup, if the channel has both. */
  readonly text_body?: string;
  /** The layout; the channel's default when empty. */
  readonly layout_id?: string;
  /** Additional data for programs, at most 16 KiB as JSON. Every string in it is a template, names are not; the rendered data may take 64 KiB. */
  readonly data?: object;
  /** Whether a missing template variable is a failure; otherwise it is rendered as empty. */
  readonly strict_variables?: boolean;
  /** On email: the files to attach. */
  readonly attachments?: readonly MailAttachmentInput[];
  /** The texts in other languages, by BCP 47 tag, such as de or pt-BR. Each text is that of the subscriber's locale, or else of its language, or else of the content itself. */
  readonly locales?: Readonly<Record<string, LocalizedContentInput>>;
};

/** The texts of a channel in one language. An empty text is that of a shorter tag, or of the content itself. */
export type LocalizedContentInput = {
  /** The subject line, if the channel has one. */
  readonly subject?: string;
  /** The title, if the channel has one. */
  readonly title?: string;
  /** The text; HTML on email. */
  readonly body?: string;
  /** The text without markup, if the channel has both. */
  readonly text_body?: string;
};

/** One step of a workflow: exactly one of send, delay, digest, throttle and await_inbox. */
export type NotificationStepInput = {
  /** The key, unique in the workflow: a lower-case letter, then letters and digits, separated by single underscores (for example: reminder_mail). */
  readonly key: string;
  /** A CEL condition over payload, subscriber, preferences, steps, digest, workflow_key, topic_key, context_keys and user_id. If it is false or fails to evaluate, the step is skipped and the next one follows. */
  readonly condition?: string;
  /** Sends messages. */
  readonly send?: SendStepInput;
  /** Waits. */
  readonly delay?: StepWaitInput;
  /** Collects triggers into one notification. */
  readonly digest?: DigestStepInput;
  /** Limits how often a subscriber is notified. */
  readonly throttle?: ThrottleStepInput;
  /** Waits for an inbox message to be seen or read. */
  readonly await_inbox?: AwaitInboxStepInput;
};

/** Sends messages. Preferences are checked when the step is reached and again when a message is sent. */
export type SendStepInput = {
  /** The channels; the workflow must have content for each of them. */
  readonly channels: readonly ("email" | "sms" | "push" | "chat" | "in_app")[];
};

/** When a wait ends: exactly one of for_s, until and at. */
export type StepWaitInput = {
  /** After this many seconds, at most 366 days. */
  readonly for_s?: number;
  /** At the time that this CEL expression returns, as a timestamp or as RFC 3339 text, such as "timestamp(payload.starts_at) - duration('24h')". At once if it is in the past; at most 366 days away. The run stops if the expression fails. */
  readonly until?: string;
  /** At the next time of day, such as 09:00. */
  readonly at?: string;
  /** With at: only on these days: mon, tue, wed, thu, fri, sat, sun; on all when empty. */
  readonly days?: readonly ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[];
  /** With at: the time zone as an IANA name; when empty, the subscriber's, or UTC if that is not known. */
  readonly timezone?: string;
};

/** Collects triggers of the workflow for the same subscriber and key into one notification. The first trigger opens the digest, and the following steps run once when its window ends. Templates read digest.count and digest.events. */
export type DigestStepInput = {
  /** A CEL expression whose result separates digests, such as payload.project_id; one digest per subscriber when empty. */
  readonly key?: string;
  /** When the window ends, counted from the first trigger. */
  readonly window: StepWaitInput;
  /** How many payloads are kept for templates, 100 when 0. Later ones, and those beyond 1 MiB, are only counted. */
  readonly events_max?: number;
};

/** Ends the run when the subscriber has passed this step too often within the window. */
export type ThrottleStepInput = {
  /** How many runs may pass within the window. */
  readonly limit: number;
  /** The length of the sliding window in seconds, at most 30 days. */
  readonly window_s: number;
  /** A CEL expression whose result is counted separately, such as payload.project_id; one count per subscriber when empty. */
  readonly key?: string;
};

/** Waits until the subscriber has seen or read the inbox message of an earlier step, but no longer than for_s. Whether it was seen is in steps.<key>.seen and steps.<key>.read for conditions of later steps. */
export type AwaitInboxStepInput = {
  /** The key of an earlier step that sends to in_app. */
  readonly step: string;
  /** "seen" or "read"; a message that was read was also seen. */
  readonly state: "seen" | "read";
  /** The longest wait in seconds, at most 366 days. */
  readonly for_s: number;
};

/** A whole workflow. Absent fields are cleared. */
export type UpsertNotificationWorkflowRequest = {
  /** The key: letters and digits, separated by single dots, underscores or hyphens (for example: order.shipped). */
  readonly workflow_key: string;
  /** The display name; the key when empty. */
  readonly name?: string;
  /** The description. */
  readonly description?: string;
  /** The content of each channel. */
  readonly channels?: ChannelContentsInput;
  /** Layer 1: preferences that apply unless a stronger layer decides. */
  readonly preferences?: PreferenceSettingsInput;
  /** Makes the change conditional on this version; 0 requires that there is no such workflow. */
  readonly record_version?: number;
  /** What happens before and between messages, in order. Without steps all channels are sent at once. */
  readonly steps?: readonly NotificationStepInput[];
};

/** The content of one kind of notification, and the author's preferences for everybody. */
export type NotificationWorkflow = {
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The key, unique in the tenant. */
  readonly workflow_key: string;
  /** The display name. */
  readonly name: string;
  /** The description. */
  readonly description: string;
  /** The content of each channel. */
  readonly channels?: ChannelContents;
  /** Layer 1: preferences that apply unless a stronger layer decides. */
  readonly preferences?: PreferenceSettings;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
  /** What happens to a notification before and between its messages, in order. Without steps all channels are sent at once. */
  readonly steps: readonly NotificationStep[];
};

/** The content of each channel; nothing is sent on absent channels. */
export type ChannelContents = {
  /** The channel email. */
  readonly email?: ChannelContent;
  /** The channel sms. */
  readonly sms?: ChannelContent;
  /** The channel push. */
  readonly push?: ChannelContent;
  /** The channel chat. */
  readonly chat?: ChannelContent;
  /** The channel in_app. */
  readonly in_app?: ChannelContent;
};

/** The content on one channel. The texts are templates over payload, subscriber and more. */
export type ChannelContent = {
  /** The template language: handlebars or liquid; handlebars when empty. */
  readonly engine: string;
  /** The subject line, if the channel has one. */
  readonly subject: string;
  /** The title, if the channel has one. */
  readonly title: string;
  /** The text; HTML on email. */
  readonly body: string;
  /** The text without markup, if the channel has both. */
  readonly text_body: string;
  /** The layout; the channel's default when empty. */
  readonly layout_id: string;
  /** Additional data for programs, at most 16 KiB as JSON. Every string in it is a template, names are not; the rendered data may take 64 KiB. */
  readonly data?: JsonObject;
  /** Whether a missing template variable is a failure; otherwise it is rendered as empty. */
  readonly strict_variables: boolean;
  /** On email: the files to attach. */
  readonly attachments: readonly MailAttachment[];
  /** The texts in other languages, by BCP 47 tag, such as de or pt-BR. Each text is that of the subscriber's locale, or else of its language, or else of the content itself. */
  readonly locales: Readonly<Record<string, LocalizedContent>>;
};

/** A file that is attached to a mail. The attachments of a mail may take 1 MiB together. */
export type MailAttachment = {
  /** The name of the file, as a template. */
  readonly filename: string;
  /** The media type, such as application/pdf; application/octet-stream when empty. */
  readonly content_type: string;
  /** The bytes in base64, as a template, such as {{payload.invoice}}. If it renders as empty, nothing is attached. */
  readonly content: string;
};

/** The texts of a channel in one language. An empty text is that of a shorter tag, or of the content itself. */
export type LocalizedContent = {
  /** The subject line, if the channel has one. */
  readonly subject: string;
  /** The title, if the channel has one. */
  readonly title: string;
  /** The text; HTML on email. */
  readonly body: string;
  /** The text without markup, if the channel has both. */
  readonly text_body: string;
};

/** One step of a workflow: exactly one of send, delay, digest, throttle and await_inbox. */
export type NotificationStep = {
  /** The key, unique in the workflow: a lower-case letter, then letters and digits, separated by single underscores (for example: reminder_mail). */
  readonly key: string;
  /** A CEL condition over payload, subscriber, preferences, steps, digest, workflow_key, topic_key, context_keys and user_id. If it is false or fails to evaluate, the step is skipped and the next one follows. */
  readonly condition: string;
  /** Sends messages. */
  readonly send?: SendStep;
  /** Waits. */
  readonly delay?: StepWait;
  /** Collects triggers into one notification. */
  readonly digest?: DigestStep;
  /** Limits how often a subscriber is notified. */
  readonly throttle?: ThrottleStep;
  /** Waits for an inbox message to be seen or read. */
  readonly await_inbox?: AwaitInboxStep;
};

/** Sends messages. Preferences are checked when the step is reached and again when a message is sent. */
export type SendStep = {
  /** The channels; the workflow must have content for each of them. */
  readonly channels: readonly string[];
};

/** When a wait ends: exactly one of for_s, until and at. */
export type StepWait = {
  /** After this many seconds, at most 366 days. */
  readonly for_s: number;
  /** At the time that this CEL expression returns, as a timestamp or as RFC 3339 text, such as "timestamp(payload.starts_at) - duration('24h')". At once if it is in the past; at most 366 days away. The run stops if the expression fails. */
  readonly until: string;
  /** At the next time of day, such as 09:00. */
  readonly at: string;
  /** With at: only on these days: mon, tue, wed, thu, fri, sat, sun; on all when empty. */
  readonly days: readonly string[];
  /** With at: the time zone as an IANA name; when empty, the subscriber's, or UTC if that is not known. */
  readonly timezone: string;
};

/** Collects triggers of the workflow for the same subscriber and key into one notification. The first trigger opens the digest, and the following steps run once when its window ends. Templates read digest.count and digest.events. */
export type DigestStep = {
  /** A CEL expression whose result separates digests, such as payload.project_id; one digest per subscriber when empty. */
  readonly key: string;
  /** When the window ends, counted from the first trigger. */
  readonly window?: StepWait;
  /** How many payloads are kept for templates, 100 when 0. Later ones, and those beyond 1 MiB, are only counted. */
  readonly events_max: number;
};

/** Ends the run when the subscriber has passed this step too often within the window. */
export type ThrottleStep = {
  /** How many runs may pass within the window. */
  readonly limit: number;
  /** The length of the sliding window in seconds, at most 30 days. */
  readonly window_s: number;
  /** A CEL expression whose result is counted separately, such as payload.project_id; one count per subscriber when empty. */
  readonly key: string;
};

/** Waits until the subscriber has seen or read the inbox message of an earlier step, but no longer than for_s. Whether it was seen is in steps.<key>.seen and steps.<key>.read for conditions of later steps. */
export type AwaitInboxStep = {
  /** The key of an earlier step that sends to in_app. */
  readonly step: string;
  /** "seen" or "read"; a message that was read was also seen. */
  readonly state: string;
  /** The longest wait in seconds, at most 366 days. */
  readonly for_s: number;
};

/** Identifies a workflow. */
export type GetNotificationWorkflowRequest = {
  /** The workflow's key. */
  readonly workflow_key: string;
};

/** Request for a page of workflows. */
export type ListNotificationWorkflowsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Selects the workflow to delete. */
export type DeleteNotificationWorkflowRequest = {
  /** The workflow's key. */
  readonly workflow_key: string;
};

/** The author's preferences of a workflow for one user. */
export type UpsertNotificationWorkflowUserRequest = {
  /** The workflow's key. */
  readonly workflow_key: string;
  /** The user's id, any text that the tenant chooses. */
  readonly user_id: string;
  /** The preferences for the user; they replace the previous ones. */
  readonly preferences?: PreferenceSettingsInput;
  /** Makes the change conditional on this version; 0 requires that there are none for the user. */
  readonly record_version?: number;
};

/** The author's preferences of a workflow for one user: layer 2. */
export type NotificationWorkflowUser = {
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The workflow's key. */
  readonly workflow_key: string;
  /** The user. */
  readonly user_id: string;
  /** The preferences for the user. */
  readonly preferences?: PreferenceSettings;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
};

/** Identifies a user of a workflow. */
export type GetNotificationWorkflowUserRequest = {
  /** The workflow's key. */
  readonly workflow_key: string;
  /** The user's id, any text that the tenant chooses. */
  readonly user_id: string;
};

/** Request for a page of a workflow's users. */
export type ListNotificationWorkflowUsersRequest = {
  /** The workflow's key. */
  readonly workflow_key: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Selects the user whose preferences to delete. */
export type DeleteNotificationWorkflowUserRequest = {
  /** The workflow's key. */
  readonly workflow_key: string;
  /** The user's id, any text that the tenant chooses. */
  readonly user_id: string;
};

/** Content to render. */
export type PreviewNotificationContentRequest = {
  /** The channel: email, sms, push, chat or in_app. */
  readonly channel: "email" | "sms" | "push" | "chat" | "in_app";
  /** The templates. */
  readonly content: ChannelContentInput;
  /** The sample payload, at most 64 KiB as JSON. */
  readonly payload?: object;
  /** The sample subscriber; locale chooses the texts, and locale and timezone are used for formats. */
  readonly subscriber?: object;
};

/** The rendered content. */
export type PreviewNotificationContentResponse = {
  /** The subject line. */
  readonly subject: string;
  /** The title. */
  readonly title: string;
  /** The text; HTML on email. */
  readonly body: string;
  /** The text without markup. */
  readonly text_body: string;
  /** Variables of the templates that the sample does not have, sorted. */
  readonly unresolved_variables: readonly string[];
  /** The attached files, without their content. */
  readonly attachments: readonly PreviewedAttachment[];
  /** The locale whose texts were used; empty for those of the content itself. */
  readonly locale: string;
};

/** An attached file of a preview. */
export type PreviewedAttachment = {
  /** The name of the file. */
  readonly filename: string;
  /** The media type. */
  readonly content_type: string;
  /** The number of bytes. */
  readonly size_bytes: number;
};

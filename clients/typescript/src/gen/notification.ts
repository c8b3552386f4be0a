// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject } from "../json.ts";
import type { ChannelContentsInput, MailAttachmentInput, NotificationStepInput } from "./notification-workflow.ts";
import type { PreferenceSettingsInput } from "./preference.ts";

/** Notifications: triggers, deliveries and their results. */
export interface NotificationService {
  /** Notifies a subscriber, or all members of a topic. For a subscriber it is sent immediately, and the response has the outcome of each message; for a topic it is accepted and sent later. */
  trigger(request: TriggerNotificationRequest, options?: CallOptions): Promise<TriggerNotificationResponse>;

  /** Accepts up to 100 different triggers at once. They are stored together and sent by the queue: the response has what was decided for each message, not yet what its provider said. A trigger that is refused is reported in its result and does not affect the others. */
  triggerBatch(request: TriggerNotificationBatchRequest, options?: CallOptions): Promise<TriggerNotificationBatchResponse>;

  /** Lists deliveries, newest first: all of them, or those to one subscriber. Those of one trigger come oldest first. */
  listDeliveries(request?: ListDeliveriesRequest, options?: CallOptions): List<Delivery>;

  /** Returns one delivery. */
  getDelivery(request: GetDeliveryRequest, options?: CallOptions): Promise<Delivery>;

  /** Lists the observations of a delivery after it was sent, oldest first. Observations are never changed or deleted. */
  listObservations(request: ListObservationsRequest, options?: CallOptions): List<Observation>;

  /** Returns the progress of a broadcast to a topic. */
  getBroadcast(request: GetBroadcastRequest, options?: CallOptions): Promise<Broadcast>;

  /** Cancels a broadcast: no further member is notified, and messages that wait are skipped. Messages that were handed to a provider are not recalled. */
  cancelBroadcast(request: CancelBroadcastRequest, options?: CallOptions): Promise<Broadcast>;

  /** Lists dead letters, newest first. */
  listDeadLetters(request?: ListNotificationDeadLettersRequest, options?: CallOptions): List<NotificationDeadLetter>;

  /** Retries a dead letter. The subscriber's preferences are checked again. */
  redriveDeadLetter(request: RedriveNotificationDeadLetterRequest, options?: CallOptions): Promise<NotificationDeadLetter>;

  /** Lists runs, newest first, or those of one trigger, oldest first: the way of each recipient through the steps of a workflow. */
  listRuns(request?: ListNotificationRunsRequest, options?: CallOptions): List<NotificationRun>;

  /** Returns one run with the outcome of each step. */
  getRun(request: GetNotificationRunRequest, options?: CallOptions): Promise<NotificationRun>;

  /** Cancels what a trigger has not sent yet: its waiting runs and its messages that wait in the queue. Its events leave open digests. What has been handed over to a provider is not recalled. */
  cancel(request: CancelNotificationRequest, options?: CallOptions): Promise<CancelNotificationResponse>;

  /** Retries the open dead letters that match a filter, oldest first, at most 1,000 at a time. With preview, they are only counted. The subscribers' preferences are checked again. */
  redriveDeadLetters(request?: RedriveNotificationDeadLettersRequest, options?: CallOptions): Promise<RedriveNotificationDeadLettersResponse>;

  /** Resolves recorded triggers again, as notifications are configured now and as they would be after some changes, and counts what would have been sent, not sent, or sent otherwise. Nothing is stored, sent, enqueued or metered. */
  simulateTriggers(request?: SimulateTriggersRequest, options?: CallOptions): Promise<TriggerSimulation>;
}

const notificationServiceOperations = {
  trigger: { verb: "POST", path: "/api/v2/notifications/trigger", body: "*", keyed: true },
  triggerBatch: { verb: "POST", path: "/api/v2/notifications/trigger:batch", body: "*", keyed: true },
  listDeliveries: { verb: "GET", path: "/api/v2/notifications/deliveries", result: "cursor" },
  getDelivery: { verb: "GET", path: "/api/v2/notifications/deliveries/{delivery_id}" },
  listObservations: { verb: "GET", path: "/api/v2/notifications/deliveries/{delivery_id}/observations", result: "cursor" },
  getBroadcast: { verb: "GET", path: "/api/v2/notifications/broadcasts/{transaction_id}" },
  cancelBroadcast: { verb: "POST", path: "/api/v2/notifications/broadcasts/{transaction_id}:cancel", body: "*", keyed: true },
  listDeadLetters: { verb: "GET", path: "/api/v2/notifications/dead-letters", result: "cursor" },
  redriveDeadLetter: { verb: "POST", path: "/api/v2/notifications/dead-letters/{dead_letter_id}:redrive", body: "*", keyed: true },
  listRuns: { verb: "GET", path: "/api/v2/notifications/runs", result: "cursor" },
  getRun: { verb: "GET", path: "/api/v2/notifications/runs/{run_id}" },
  cancel: { verb: "POST", path: "/api/v2/notifications/triggers/{transaction_id}:cancel", body: "*", keyed: true },
  redriveDeadLetters: { verb: "POST", path: "/api/v2/notifications/dead-letters:redrive", body: "*", keyed: true },
  simulateTriggers: { verb: "POST", path: "/api/v2/notifications/triggers:simulate", body: "*" },
} as const satisfies Record<keyof NotificationService, Operation>;

/** Creates the service over a transport. */
export function createNotificationService(transport: Transport): NotificationService {
  return bindOperations<NotificationService>(transport, notificationServiceOperations);
}

/** The profile of a subscriber that may not exist yet; absent fields stay unchanged. */
export type InlineSubscriber = {
  /** The given name. */
  readonly first_name?: string;
  /** The family name. */
  readonly last_name?: string;
  /** The email address. */
  readonly email?: string;
  /** The phone number, such as +4930901820. */
  readonly phone?: string;
  /** The URL of a picture. */
  readonly avatar?: string;
  /** The language as a BCP 47 tag, such as de-CH. */
  readonly locale?: string;
  /** The time zone as an IANA name, such as Europe/Berlin. */
  readonly timezone?: string;
  /** Free-form data. */
  readonly data?: object;
};

/** Overrides by channel. */
export type ContentOverrides = {
  /** For mail. */
  readonly email?: ContentOverride;
  /** For text messages. */
  readonly sms?: ContentOverride;
  /** For push. */
  readonly push?: ContentOverride;
  /** For chat. */
  readonly chat?: ContentOverride;
  /** For the inbox. */
  readonly in_app?: ContentOverride;
};

/** The content of a channel that overrides that of the workflow; absent fields come from the workflow. */
export type ContentOverride = {
  /** The template language, "handlebars" or "liquid". */
  readonly engine?: "handlebars" | "liquid";
  /** The subject of a mail, as a template. */
  readonly subject?: string;
  /** The title of a push, chat or inbox message, as a template. */
  readonly title?: string;
  /** The text, as a template; HTML on the channel email. */
  readonly body?: string;
  /** The text of a mail for readers without HTML, as a template. */
  readonly text_body?: string;
  /** The layout. */
  readonly layout_id?: string;
  /** Additional data, such as a link; every string in it is a template. */
  readonly data?: object;
  /** Whether a missing template variable is a failure. */
  readonly strict_variables?: boolean;
  /** On email: the files to attach, instead of those of the workflow; those of the workflow when empty. */
  readonly attachments?: readonly MailAttachmentInput[];
};

/** Notifies a subscriber or a topic. Exactly one of subscriber_external_id, subscriber_id and topic is required. */
export type TriggerNotificationRequest = {
  /** The notification workflow. */
  readonly workflow_key: string;
  /** The subscriber, by the tenant's own id. */
  readonly subscriber_external_id?: string;
  /** The profile to store before the subscriber is notified; only with subscriber_external_id. */
  readonly subscriber?: InlineSubscriber;
  /** The subscriber, by its id. */
  readonly subscriber_id?: string;
  /** The key of the topic. */
  readonly topic?: string;
  /** Only on these channels; when empty, on all that preferences allow. */
  readonly channels?: readonly ("email" | "sms" | "push" | "chat" | "in_app")[];
  /** Content that overrides that of the workflow, at most 256 KiB as JSON together with the payload. */
  readonly overrides?: ContentOverrides;
  /** The user whose layer 2 preferences of the workflow apply. */
  readonly user_id?: string;
  /** The data for templates and conditions, at most 256 KiB as JSON together with the overrides. */
  readonly payload?: object;
};

/** The result of a trigger. */
export type TriggerNotificationResponse = {
  /** The trigger's id, by which its deliveries can be listed. */
  readonly transaction_id: string;
  /** The outcome of each message; empty for a topic, whose messages are sent later. */
  readonly outcomes: readonly TriggerOutcome[];
  /** The broadcast, if a topic was notified. */
  readonly broadcast?: Broadcast;
  /** The run, if the workflow has steps; there are no outcomes then. */
  readonly run_id: string;
};

/** The outcome of one message of a trigger. */
export type TriggerOutcome = {
  /** The channel. */
  readonly channel: string;
  /** The endpoint; empty for the inbox and for an address of the subscriber's profile. */
  readonly endpoint_id: string;
  /** "sent", "failed", "skipped" or "held". A message that waits for another attempt is "failed" and retryable; one that waits for the end of quiet hours is "held". */
  readonly outcome: string;
  /** The delivery, which has the later states of the message. */
  readonly delivery_id: string;
  /** The phase in which it failed. */
  readonly failure_phase: string;
  /** The failure code. */
  readonly failure_code: string;
  /** The failure in words. */
  readonly failure_detail: string;
  /** Whether it will be retried automatically. */
  readonly retryable: boolean;
  /** When it will be retried or sent, if it will. */
  readonly next_attempt_at?: string;
  /** The reason code of the preference decision. */
  readonly preference_reason_code: string;
  /** Whether it is unknown if the message arrived. */
  readonly reconciliation_required: boolean;
};

/** A notification to everyone who was in a topic when it was accepted. */
export type Broadcast = {
  /** The trigger. */
  readonly transaction_id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The notification workflow. */
  readonly workflow_key: string;
  /** The topic. */
  readonly topic_key: string;
  /** The point in the database's transaction order at which membership is evaluated. */
  readonly cutoff: string;
  /** "accepted", "expanding", "completed", "failed", "cancelling" (waiting messages are being skipped) or "cancelled". */
  readonly status: string;
  /** The number of members processed so far. */
  readonly expanded: number;
  /** The number of members; 0 until they are counted. */
  readonly total: number;
  /** SHA-256 of the payload, in hexadecimal. */
  readonly payload_digest: string;
  /** The failure code. */
  readonly failure_code: string;
  /** When it was accepted. */
  readonly created_at?: string;
  /** When it last made progress. */
  readonly updated_at?: string;
  /** What became of its messages so far; absent in the response of a trigger. */
  readonly progress?: BroadcastProgress;
  /** Who cancelled it. */
  readonly cancelled_by: string;
};

/** The messages of a broadcast by status. A member has one message for each channel and address. */
export type BroadcastProgress = {
  /** Those that wait to be sent. */
  readonly queued: number;
  /** Those that are being sent. */
  readonly running: number;
  /** Those that a provider accepted. */
  readonly sent: number;
  /** Those that failed permanently. */
  readonly failed: number;
  /** Those that preferences, a missing address or a cancellation prevented. */
  readonly skipped: number;
  /** Whether counting stopped at 100,000 messages. */
  readonly capped: boolean;
};

/** Triggers many notifications. */
export type TriggerNotificationBatchRequest = {
  /** The triggers, each for its own recipient and workflow. */
  readonly triggers: readonly TriggerNotificationRequest[];
};

/** The results, in the order of the request. */
export type TriggerNotificationBatchResponse = {
  /** One result for each trigger. */
  readonly results: readonly TriggerBatchResult[];
  /** The number of accepted triggers. */
  readonly accepted: number;
  /** The number of refused triggers. */
  readonly refused: number;
};

/** The result of one trigger of a batch. */
export type TriggerBatchResult = {
  /** The trigger's id, by which its deliveries can be listed; empty if it was refused. */
  readonly transaction_id: string;
  /** What was decided for each message: "queued", "sent" (the inbox has it), "skipped" or "failed". Empty for a topic. */
  readonly outcomes: readonly TriggerOutcome[];
  /** The broadcast, if a topic was notified. */
  readonly broadcast?: Broadcast;
  /** The error code, if it was refused. */
  readonly error_code: string;
  /** The field that was refused, such as triggers[3].workflow_key. */
  readonly error_field: string;
  /** The error in words. */
  readonly error_message: string;
  /** The run, if the workflow has steps; there are no outcomes then. */
  readonly run_id: string;
};

/** Lists deliveries. */
export type ListDeliveriesRequest = {
  /** Only deliveries of this trigger. Not together with subscriber_id. */
  readonly transaction_id?: string;
  /** Only deliveries to this subscriber. */
  readonly subscriber_id?: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** One message to one address. */
export type Delivery = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The trigger that it comes from. */
  readonly transaction_id: string;
  /** The broadcast that it is part of; empty for a single send. */
  readonly broadcast_id: string;
  /** The notification workflow. */
  readonly workflow_key: string;
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The topic through which the subscriber was reached. */
  readonly topic_key: string;
  /** The subscriber's context keys in the topic. */
  readonly context_keys: readonly string[];
  /** The user whose layer 2 preferences of the workflow applied. */
  readonly user_id: string;
  /** The channel. */
  readonly channel: string;
  /** The endpoint; empty for the inbox and for an address of the subscriber's profile. */
  readonly endpoint_id: string;
  /** The integration that sent it. */
  readonly integration_id: string;
  /** Its provider. */
  readonly provider_key: string;
  /** Its connection. */
  readonly connection_id: string;
  /** The layout. */
  readonly layout_id: string;
  /** The version of the layout. */
  readonly layout_version: number;
  /** "queued", "running", "sent" (accepted by the provider), "failed" or "skipped". */
  readonly status: string;
  /** The provider's id of the message. */
  readonly provider_message_id: string;
  /** The phase in which it failed. */
  readonly failure_phase: string;
  /** The failure code. */
  readonly failure_code: string;
  /** The failure in words. */
  readonly failure_detail: string;
  /** Whether it will be retried automatically. */
  readonly retryable: boolean;
  /** The reason code of the preference decision. */
  readonly preference_reason_code: string;
  /** The deciding layer, from 1 to 5; 0 when none decided. */
  readonly preference_winning_layer?: number;
  /** The version of the resolver. */
  readonly resolver_version: string;
  /** The number of executions. */
  readonly execution_attempt: number;
  /** The number of provider calls. */
  readonly provider_attempt: number;
  /** The maximum number of executions. */
  readonly max_attempts: number;
  /** When the next attempt is due. */
  readonly next_attempt_at?: string;
  /** "not_expected", "awaiting", "delivered", "engaged", "undelivered", "complained" or "unknown". */
  readonly observation_state: string;
  /** Whether it is unknown if the message arrived: someone must check before it is sent again. */
  readonly reconciliation_required: boolean;
  /** Its dead letter, if any. */
  readonly dead_letter_id: string;
  /** When it was stored. */
  readonly queued_at?: string;
  /** When its first execution started. */
  readonly started_at?: string;
  /** When the provider accepted it. */
  readonly sent_at?: string;
  /** When it ended. */
  readonly completed_at?: string;
  /** The step of the workflow that sent it; empty if the workflow has no steps. */
  readonly step_key: string;
};

/** Returns one delivery. */
export type GetDeliveryRequest = {
  /** The delivery. */
  readonly delivery_id: string;
};

/** Lists the observations of a delivery. */
export type ListObservationsRequest = {
  /** The delivery. */
  readonly delivery_id: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** A report about a delivery after it was sent. */
export type Observation = {
  /** The delivery. */
  readonly delivery_id: string;
  /** Its position among the observations of the delivery. */
  readonly sequence: number;
  /** What was observed, such as "delivered" or "bounced". */
  readonly kind: string;
  /** "delivery" or "engagement". */
  readonly category: string;
  /** When it happened. */
  readonly occurred_at?: string;
  /** When it was received. */
  readonly received_at?: string;
  /** The adapter that reported it. */
  readonly adapter_key: string;
  /** The version of the adapter. */
  readonly adapter_version: string;
  /** The connection. */
  readonly connection_id: string;
  /** How the report was verified: "signature", "poll" or "sdk". */
  readonly verification: string;
  /** The provider's id of the report. */
  readonly provider_event_id: string;
  /** "hard" or "soft", for a message that was not delivered. */
  readonly severity: string;
  /** Whether a machine caused it, not the recipient. */
  readonly machine_generated: boolean;
  /** SHA-256 of the report, in hexadecimal. */
  readonly evidence_digest: string;
  /** Additional data of the report. */
  readonly attributes?: JsonObject;
};

/** Selects a broadcast. */
export type GetBroadcastRequest = {
  /** The trigger. */
  readonly transaction_id: string;
};

/** Selects the broadcast to cancel. */
export type CancelBroadcastRequest = {
  /** The trigger. */
  readonly transaction_id: string;
};

/** Lists dead letters. */
export type ListNotificationDeadLettersRequest = {
  /** Only those with this status. */
  readonly status?: "" | "open" | "redriving" | "redriven" | "discarded" | "expired";
  /** Only those of this channel. */
  readonly channel?: "" | "email" | "sms" | "push" | "chat" | "in_app";
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** A message that could not be sent. Its payload is never shown. */
export type NotificationDeadLetter = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** "delivery" or "fanout_page". */
  readonly kind: string;
  /** The delivery. */
  readonly delivery_id: string;
  /** The broadcast. */
  readonly broadcast_id: string;
  /** The trigger. */
  readonly transaction_id: string;
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The channel. */
  readonly channel: string;
  /** The phase in which it failed. */
  readonly failure_phase: string;
  /** The failure code. */
  readonly failure_code: string;
  /** The failure in words. */
  readonly failure_detail: string;
  /** The number of attempts. */
  readonly attempts: number;
  /** When it failed first. */
  readonly first_failed_at?: string;
  /** When it failed last. */
  readonly last_failed_at?: string;
  /** SHA-256 of the payload, in hexadecimal. */
  readonly payload_digest: string;
  /** When the payload is deleted. */
  readonly payload_expires_at?: string;
  /** "open", "redriving", "redriven", "discarded" or "expired". */
  readonly status: string;
  /** The number of redrives. */
  readonly redrive_count: number;
  /** The maximum number of redrives. */
  readonly max_redrives: number;
  /** Who redrove it last. */
  readonly redriven_by: string;
  /** The reason. */
  readonly redrive_reason: string;
};

/** Redrives a dead letter. */
export type RedriveNotificationDeadLetterRequest = {
  /** The dead letter. */
  readonly dead_letter_id: string;
  /** The reason. */
  readonly reason?: string;
};

/** Lists runs. */
export type ListNotificationRunsRequest = {
  /** Only runs of this trigger. */
  readonly transaction_id?: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** The way of one recipient through the steps of a workflow. */
export type NotificationRun = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The trigger. */
  readonly transaction_id: string;
  /** The notification workflow. */
  readonly workflow_key: string;
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The topic through which the subscriber was reached; empty for a single trigger. */
  readonly topic_key: string;
  /** "waiting" (for a time or a node), "running", "collected" (in a digest that another run leads), "completed", "stopped" (before its last step) or "cancelled". */
  readonly status: string;
  /** Why it ended, if not by its last step: digested, throttled, subscriber_not_found, subscriber_inactive, payload_expired, step_removed, expression_error, cancelled or failed. */
  readonly reason: string;
  /** The step that it waits in; empty before the first step and after the last. */
  readonly step_key: string;
  /** When it continues. */
  readonly wake_at?: string;
  /** The run that leads the digest that it was collected into. */
  readonly leader_run_id: string;
  /** What happened, in order. */
  readonly outcomes: readonly StepOutcome[];
  /** How many triggers its digest collected; 0 without a digest. */
  readonly digest_count: number;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
};

/** The outcome of one step of a run. */
export type StepOutcome = {
  /** The step. */
  readonly step_key: string;
  /** "send", "delay", "digest", "throttle" or "await_inbox". */
  readonly kind: string;
  /** "sent" (handed over to the queue), "skipped", "waiting", "waited", "collected", "passed", "throttled", "seen", "read" or "timed_out". */
  readonly outcome: string;
  /** Why it was skipped: condition_false, condition_error, not_requested, not_allowed, no_address or no_message. */
  readonly reason: string;
  /** The outcome in words. */
  readonly detail: string;
  /** Until when it waits or waited. */
  readonly until?: string;
  /** The deliveries that it created. */
  readonly delivery_ids: readonly string[];
  /** When it happened. */
  readonly at?: string;
};

/** Identifies a run. */
export type GetNotificationRunRequest = {
  /** The run. */
  readonly run_id: string;
};

/** Names the trigger to cancel. */
export type CancelNotificationRequest = {
  /** The trigger. */
  readonly transaction_id: string;
};

/** What was cancelled. */
export type CancelNotificationResponse = {
  /** The trigger. */
  readonly transaction_id: string;
  /** How many runs were cancelled, at most 10,000. The others of a larger broadcast are cancelled when they wake. */
  readonly cancelled_runs: number;
  /** How many queued messages were cancelled, at most 10,000. */
  readonly cancelled_deliveries: number;
};

/** Selects dead letters; an empty field matches all. */
export type NotificationDeadLetterFilter = {
  /** Only those of this channel. */
  readonly channel?: "" | "email" | "sms" | "push" | "chat" | "in_app";
  /** Only those that failed in this phase, such as provider. */
  readonly failure_phase?: string;
  /** Only those with this failure code, such as unavailable. */
  readonly failure_code?: string;
  /** Only those of this subscriber. */
  readonly subscriber_id?: string;
  /** Only those of this trigger or broadcast. */
  readonly transaction_id?: string;
  /** Only those that failed last at this time or later. */
  readonly failed_after?: string | Date;
  /** Only those that failed last before this time. */
  readonly failed_before?: string | Date;
};

/** Redrives dead letters. */
export type RedriveNotificationDeadLettersRequest = {
  /** Which ones; all that are open when absent. */
  readonly filter?: NotificationDeadLetterFilter;
  /** Only counts them. */
  readonly preview?: boolean;
  /** The maximum number to redrive; 1,000 when absent. */
  readonly limit?: number;
  /** The reason. */
  readonly reason?: string;
};

/** The result of a redrive. */
export type RedriveNotificationDeadLettersResponse = {
  /** The number of open dead letters that match and can be redriven, before the redrive; counted up to 10,000. */
  readonly matched: number;
  /** Whether counting stopped early: there are at least as many as matched. */
  readonly matched_capped: boolean;
  /** The number that were redriven; 0 for a preview. */
  readonly redriven: number;
  /** The number that match but cannot be redriven, because their payload expired or they reached their limit of redrives; counted up to 10,000. */
  readonly refused: number;
};

/** A notification workflow with changes. Absent fields stay as they are. */
export type NotificationWorkflowDraft = {
  /** The key of the workflow. */
  readonly workflow_key: string;
  /** The content of each channel; a channel without content is not used. */
  readonly channels?: ChannelContentsInput;
  /** Layer 1: preferences that apply unless a stronger layer decides. */
  readonly preferences?: PreferenceSettingsInput;
  /** The steps. Only the channels of steps that sent are simulated. */
  readonly steps?: readonly NotificationStepInput[];
};

/** The preferences of a notification workflow for one user: layer 2. */
export type NotificationWorkflowUserDraft = {
  /** The key of the workflow. */
  readonly workflow_key: string;
  /** The user. */
  readonly user_id: string;
  /** The preferences. */
  readonly preferences?: PreferenceSettingsInput;
};

/** A layout with changes. Absent fields stay as they are. */
export type LayoutDraft = {
  /** The id of the layout. */
  readonly id: string;
  /** The template language, handlebars or liquid. */
  readonly engine?: "handlebars" | "liquid";
  /** The template around the content, with {{ content }} in its place; HTML on email. */
  readonly body?: string;
  /** The template around the content without markup, also with {{ content }}; empty for none. */
  readonly text_body?: string;
};

/** A new integration, or one with changes. Absent fields stay as they are, or have the defaults of a new one. */
export type IntegrationDraft = {
  /** The id of the integration; empty for a new one. */
  readonly id?: string;
  /** The channel that a new one serves: email, sms, push, chat or in_app. */
  readonly channel?: "email" | "sms" | "push" | "chat" | "in_app";
  /** The name of a new one. */
  readonly name?: string;
  /** The provider that sends; it must serve the channel. */
  readonly provider_key?: string;
  /** The connection that holds the provider's credentials; empty for in_app and development, which need none. */
  readonly connection_id?: string;
  /** The lowest priority is used first; the oldest among equals. Default 100. */
  readonly priority?: number;
  /** Whether it is used; default true. */
  readonly active?: boolean;
  /** The messages for which it is used, as a CEL condition over subscriber, payload, workflow_key and channel; all when empty. */
  readonly condition?: string;
  /** The letter case of the messages: upper, lower, title or sentence; unchanged when empty. */
  readonly casing_override?: "" | "upper" | "lower" | "title" | "sentence";
};

/** Request to resolve recorded triggers with changes. */
export type SimulateTriggersRequest = {
  /** The oldest time of a trigger; by default seven days before `until`. */
  readonly from?: string | Date;
  /** Triggers before this time; by default now. */
  readonly until?: string | Date;
  /** How many recorded messages at most, the newest ones; default 10,000. */
  readonly messages_max?: number;
  /** Only triggers of this notification workflow. */
  readonly workflow_key?: string;
  /** Notification workflows with other contents, preferences or steps. */
  readonly workflows?: readonly NotificationWorkflowDraft[];
  /** Users of notification workflows with other preferences. */
  readonly workflow_users?: readonly NotificationWorkflowUserDraft[];
  /** Layouts with other templates. */
  readonly layouts?: readonly LayoutDraft[];
  /** New integrations, and integrations with other values. */
  readonly integrations?: readonly IntegrationDraft[];
  /** The ids of integrations to leave out. */
  readonly without_integration_ids?: readonly string[];
};

/** What changes would have changed about recorded triggers. */
export type TriggerSimulation = {
  /** The triggers that were resolved again: one for each recipient, and for each step that sent. */
  readonly triggers: number;
  /** Those of which a message changes. */
  readonly changed: number;
  /** Those for which the configuration of now gives the recorded messages. The rest changed since then. */
  readonly reproduced: number;
  /** Those without a stored payload, because it has expired or all their messages ended at once. Conditions and templates see an empty payload. */
  readonly without_payload: number;
  /** The time of the first trigger. */
  readonly first_at?: string;
  /** The time of the last trigger. */
  readonly last_at?: string;
  /** Whether more was recorded in the time range: earlier triggers are left out. */
  readonly is_cut: boolean;
  /** What changes, most frequent first. */
  readonly changes: readonly TriggerSimulationChange[];
  /** The channels. */
  readonly channels: readonly TriggerSimulationChannelShift[];
  /** The integrations whose number of messages changes most, at most 50. */
  readonly integrations: readonly TriggerSimulationIntegrationShift[];
  /** The outcomes that change, at most 50. */
  readonly outcomes: readonly TriggerSimulationShift[];
  /** Some messages that change, at most 20. */
  readonly examples: readonly TriggerSimulationExample[];
  /** The oldest time of a trigger. */
  readonly from?: string;
  /** Triggers are before this time. */
  readonly until?: string;
};

/** Messages that change. */
export type TriggerSimulationChange = {
  /** started (only sent with the changes), stopped (not sent any more), channel (sent on another channel instead), integration (sent by another one), content, or time (held until quiet hours end, or not held any more). */
  readonly change: string;
  /** The number of messages. */
  readonly messages: number;
};

/** The messages of a channel. */
export type TriggerSimulationChannelShift = {
  /** The channel. */
  readonly channel: string;
  /** The messages that were really sent. */
  readonly recorded: number;
  /** The messages without the changes. */
  readonly before: number;
  /** The messages with the changes. */
  readonly after: number;
};

/** The messages of an integration. */
export type TriggerSimulationIntegrationShift = {
  /** The integration; empty for a new one, and for the inbox and the outbox. */
  readonly integration_id: string;
  /** Its name, or in_app or development. */
  readonly name: string;
  /** The messages that it really sent. */
  readonly recorded: number;
  /** The messages without the changes. */
  readonly before: number;
  /** The messages with the changes. */
  readonly after: number;
};

/** Messages whose outcome changes. */
export type TriggerSimulationShift = {
  /** The outcome without the changes: sent, the reason code of the preference decision, or the failure code. */
  readonly before: string;
  /** The outcome with the changes. */
  readonly after: string;
  /** The number of messages. */
  readonly messages: number;
};

/** A message that changes. */
export type TriggerSimulationExample = {
  /** A delivery of the trigger: that of the message, if it has one. */
  readonly delivery_id: string;
  /** The trigger. */
  readonly transaction_id: string;
  /** The notification workflow. */
  readonly workflow_key: string;
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The channel. */
  readonly channel: string;
  /** What changes, as in `changes`. */
  readonly change: string;
  /** The outcome without the changes, or the part of the content that changes. */
  readonly before: string;
  /** The outcome with the changes, or the part of the content that changes. */
  readonly after: string;
};

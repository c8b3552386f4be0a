// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject, JsonValue } from "../json.ts";

/** Trigger subscriptions: what happens in a connected account starts a workflow run, routes an item, or is only recorded. */
export interface TriggerSubscriptionService {
  /** Creates a subscription to a trigger of a provider. A webhook is registered at the provider, or the first poll is made, right after the response; ready_at is set when events are received. */
  create(request: CreateTriggerSubscriptionRequest, options?: CallOptions): Promise<TriggerSubscription>;

  /** Returns one subscription, never its secret. */
  get(request: GetTriggerSubscriptionRequest, options?: CallOptions): Promise<TriggerSubscription>;

  /** Lists the subscriptions of the caller's tenant, oldest first. */
  list(request?: ListTriggerSubscriptionsRequest, options?: CallOptions): List<TriggerSubscription>;

  /** Changes the fields that are present. A new input is registered at the provider again, and events count from then on. */
  update(request: UpdateTriggerSubscriptionRequest, options?: CallOptions): Promise<TriggerSubscription>;

  /** Pauses a subscription: its webhook is removed at the provider and polls stop. What happens meanwhile is not received. A paused subscription stays unchanged. */
  pause(request: PauseTriggerSubscriptionRequest, options?: CallOptions): Promise<TriggerSubscription>;

  /** Resumes a paused subscription: events count from then on. Any other subscription stays unchanged. */
  resume(request: ResumeTriggerSubscriptionRequest, options?: CallOptions): Promise<TriggerSubscription>;

  /** Deletes a subscription and removes its webhook at the provider. Its events stay until their retention ends. */
  delete(request: DeleteTriggerSubscriptionRequest, options?: CallOptions): Promise<TriggerSubscription>;

  /** Lists received events, newest first, without their payloads. */
  listTriggerEvents(request?: ListTriggerEventsRequest, options?: CallOptions): List<TriggerEvent>;

  /** Returns one event with its payload. Credentials in the payload are redacted. */
  getTriggerEvent(request: GetTriggerEventRequest, options?: CallOptions): Promise<TriggerEvent>;

  /** Delivers an ended event to the target of its subscription again, as a new effect. An event that is still being delivered is refused. */
  replayTriggerEvent(request: ReplayTriggerEventRequest, options?: CallOptions): Promise<TriggerEvent>;

  /** Delivers the ended events of a subscription in a time range again, oldest first, at most 1,000 per call. */
  replayTriggerEvents(request: ReplayTriggerEventsRequest, options?: CallOptions): Promise<ReplayTriggerEventsResponse>;
}

const triggerSubscriptionServiceOperations = {
  create: { verb: "POST", path: "/api/v2/connector/trigger-subscriptions", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/connector/trigger-subscriptions/{subscription_id}" },
  list: { verb: "GET", path: "/api/v2/connector/trigger-subscriptions", result: "cursor" },
  update: { verb: "PATCH", path: "/api/v2/connector/trigger-subscriptions/{subscription_id}", body: "*", keyed: true },
  pause: { verb: "POST", path: "/api/v2/connector/trigger-subscriptions/{subscription_id}:pause", body: "*", keyed: true },
  resume: { verb: "POST", path: "/api/v2/connector/trigger-subscriptions/{subscription_id}:resume", body: "*", keyed: true },
  delete: { verb: "DELETE", path: "/api/v2/connector/trigger-subscriptions/{subscription_id}", keyed: true },
  listTriggerEvents: { verb: "GET", path: "/api/v2/connector/trigger-events", result: "cursor" },
  getTriggerEvent: { verb: "GET", path: "/api/v2/connector/trigger-events/{event_id}" },
  replayTriggerEvent: { verb: "POST", path: "/api/v2/connector/trigger-events/{event_id}:replay", body: "*", keyed: true },
  replayTriggerEvents: { verb: "POST", path: "/api/v2/connector/trigger-subscriptions/{subscription_id}:replay", body: "*", keyed: true },
} as const satisfies Record<keyof TriggerSubscriptionService, Operation>;

/** Creates the service over a transport. */
export function createTriggerSubscriptionService(transport: Transport): TriggerSubscriptionService {
  return bindOperations<TriggerSubscriptionService>(transport, triggerSubscriptionServiceOperations);
}

/** What receives events: exactly one field is present. */
export type TriggerTargetInput = {
  /** Starts a workflow run per event. */
  readonly workflow?: TriggerWorkflowTargetInput;
  /** Routes an item per event: the fields of a route request with pool (a name or id) instead of pool_id. Values can be expressions, such as "=event.data.priority". */
  readonly route?: object;
  /** Only records events. */
  readonly record?: TriggerRecordTargetInput;
};

/** Starts a workflow run per event. */
export type TriggerWorkflowTargetInput = {
  /** The key or the id of the definition. It need not be published yet. */
  readonly definition: string;
  /** The version; 0 for the version that is active when a run starts. */
  readonly version?: number;
  /** The input of the runs: a template that may use event; the event itself when absent. */
  readonly input?: unknown;
  /** The run key: a template like the input. At most one run per key is in progress. */
  readonly run_key?: string;
};

/** Only records events. */
export type TriggerRecordTargetInput = Record<never, never>;

/** Request to create a subscription. */
export type CreateTriggerSubscriptionRequest = {
  /** The name. */
  readonly name: string;
  /** The key of the trigger, such as github.issue.changed. */
  readonly trigger_key: string;
  /** The connection whose account is observed. */
  readonly connection_id: string;
  /** The id or the key of the environment of the target; production when empty. */
  readonly environment_id?: string;
  /** The parameters of the trigger, as its schema defines them. */
  readonly input?: object;
  /** CEL over event (id, type, subject, time, data); always true when empty. An error counts as false. */
  readonly condition?: string;
  /** What receives the events; they are only recorded when absent. */
  readonly target?: TriggerTargetInput;
  /** What the provider signs deliveries with, or its public key. Required for webhooks that the service does not register; not allowed otherwise. Never returned. */
  readonly signing_secret?: string;
};

/** Receives the events of a trigger for one connection and passes them to a target. */
export type TriggerSubscription = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The environment of the target. */
  readonly environment_id: string;
  /** The name. */
  readonly name: string;
  /** The key of the trigger, such as github.issue.changed. */
  readonly trigger_key: string;
  /** The provider of the trigger. */
  readonly provider_key: string;
  /** The connection whose account is observed. */
  readonly connection_id: string;
  /** How events arrive: webhook or poll. */
  readonly kind: string;
  /** The parameters of the trigger. */
  readonly input?: JsonObject;
  /** CEL over event; events for which it is false are ignored. */
  readonly condition: string;
  /** What receives the events. */
  readonly target?: TriggerTarget;
  /** active, paused, failing (something fails, and the service keeps trying) or expired (the provider ended the registration). */
  readonly status: string;
  /** Since when events are received; absent until the webhook is registered or the first poll is complete. */
  readonly ready_at?: string;
  /** When the last event was received, if ever. */
  readonly last_event_at?: string;
  /** What fails, without credentials; empty if nothing does. */
  readonly last_error: string;
  /** The registration at the provider; absent if the trigger has none. */
  readonly registration?: TriggerRegistration;
  /** The polls of the provider; absent for webhooks. */
  readonly polling?: TriggerPolling;
  /** The URL for the provider's deliveries, without its secret part; empty for polls. */
  readonly callback_url: string;
  /** The URL with its secret part, for triggers that are protected by it and are registered by hand. Only the response that creates the subscription contains it. */
  readonly secret_callback_url?: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
};

/** What receives events: exactly one field is present. */
export type TriggerTarget = {
  /** Starts a workflow run per event. */
  readonly workflow?: TriggerWorkflowTarget;
  /** Routes an item per event: the fields of a route request with pool (a name or id) instead of pool_id. Values can be expressions, such as "=event.data.priority". */
  readonly route?: JsonObject;
  /** Only records events. */
  readonly record?: TriggerRecordTarget;
};

/** Starts a workflow run per event. */
export type TriggerWorkflowTarget = {
  /** The key or the id of the definition. It need not be published yet. */
  readonly definition: string;
  /** The version; 0 for the version that is active when a run starts. */
  readonly version: number;
  /** The input of the runs: a template that may use event; the event itself when absent. */
  readonly input?: JsonValue;
  /** The run key: a template like the input. At most one run per key is in progress. */
  readonly run_key: string;
};

/** Only records events. */
export type TriggerRecordTarget = Record<never, never>;

/** A webhook that the service registered at the provider. */
export type TriggerRegistration = {
  /** pending, active or expired. */
  readonly state: string;
  /** The provider's id of the registration; empty until it is known. */
  readonly external_id: string;
  /** When it expires, if ever. The service renews it before. */
  readonly expires_at?: string;
  /** The number of failed attempts in a row to register or renew. */
  readonly failures: number;
  /** When the service registers or renews next, if it does. */
  readonly next_attempt_at?: string;
};

/** The polls of a provider. */
export type TriggerPolling = {
  /** When the provider was last read completely, if ever. */
  readonly last_completed_at?: string;
  /** The number of failed polls in a row. */
  readonly failures: number;
  /** When the next poll is due, if any. */
  readonly next_poll_at?: string;
};

/** Identifies a subscription. */
export type GetTriggerSubscriptionRequest = {
  /** The subscription's id. */
  readonly subscription_id: string;
};

/** Request for a page of subscriptions. */
export type ListTriggerSubscriptionsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only subscriptions of this connection. */
  readonly connection_id?: string;
  /** Only subscriptions of this trigger. */
  readonly trigger_key?: string;
  /** Only subscriptions with this status. */
  readonly status?: "" | "active" | "paused" | "failing" | "expired";
};

/** Changes the fields that are present. */
export type UpdateTriggerSubscriptionRequest = {
  /** The subscription's id. */
  readonly subscription_id: string;
  /** The name. */
  readonly name?: string;
  /** The parameters of the trigger. */
  readonly input?: object;
  /** CEL over event; always true when empty. */
  readonly condition?: string;
  /** What receives the events. */
  readonly target?: TriggerTargetInput;
  /** What the provider signs deliveries with. The previous secret is no longer accepted. */
  readonly signing_secret?: string;
  /** Only if the record still has this version. */
  readonly record_version?: number;
};

/** Identifies a subscription. */
export type PauseTriggerSubscriptionRequest = {
  /** The subscription's id. */
  readonly subscription_id: string;
};

/** Identifies a subscription. */
export type ResumeTriggerSubscriptionRequest = {
  /** The subscription's id. */
  readonly subscription_id: string;
};

/** Identifies a subscription. */
export type DeleteTriggerSubscriptionRequest = {
  /** The subscription's id. */
  readonly subscription_id: string;
};

/** Request for a page of events. */
export type ListTriggerEventsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only events of this subscription. */
  readonly subscription_id?: string;
  /** Only events with this status. */
  readonly status?: "" | "pending" | "delivered" | "ignored" | "recorded" | "dead";
};

/** Something that happened in a connected account. */
export type TriggerEvent = {
  /** The id, a ULID. It is the idempotency key of what the event starts. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The subscription that received it. */
  readonly subscription_id: string;
  /** The type, as the manifest of the provider names it. */
  readonly type: string;
  /** The provider's key of the event; empty if it has none. */
  readonly dedup_key: string;
  /** pending, delivered, ignored (the condition is false), recorded or dead (all attempts failed). */
  readonly status: string;
  /** The payload. Lists do not contain it. */
  readonly payload?: JsonValue;
  /** The number of attempts to deliver it. */
  readonly attempts: number;
  /** When the next attempt is due, if any. */
  readonly next_attempt_at?: string;
  /** Why the last attempt failed; empty if it did not. */
  readonly last_error: string;
  /** What it started: run_id, or decision_id, outcome and queue_item_id. */
  readonly result?: JsonObject;
  /** The number of replays. */
  readonly replays: number;
  /** When it was received. */
  readonly received_at?: string;
  /** When its delivery ended, if it has. */
  readonly ended_at?: string;
};

/** Identifies an event. */
export type GetTriggerEventRequest = {
  /** The event's id. */
  readonly event_id: string;
};

/** Identifies an event. */
export type ReplayTriggerEventRequest = {
  /** The event's id. */
  readonly event_id: string;
};

/** Request to replay the events of a time range. */
export type ReplayTriggerEventsRequest = {
  /** The subscription's id. */
  readonly subscription_id: string;
  /** Events received at this time or later. */
  readonly from: string | Date;
  /** Events received before this time. */
  readonly to: string | Date;
  /** Only events with this status: dead (default), delivered, ignored or recorded. */
  readonly status?: "" | "dead" | "delivered" | "ignored" | "recorded";
};

/** The result of a replay. */
export type ReplayTriggerEventsResponse = {
  /** The number of events that are pending again. */
  readonly replayed: number;
  /** Whether the range has more such events: call again. */
  readonly has_more: boolean;
};

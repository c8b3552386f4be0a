// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject } from "../json.ts";
import type { ChannelDecision, ChannelPreferencesInput, Preference, QuietHoursInput } from "./preference.ts";
import type { Subscription } from "./topic.ts";

/** Subscribers: people who receive notifications, with their addresses, topics and preferences. */
export interface SubscriberService {
  /** Creates the subscriber with this external id, or changes the present fields of an existing one. A deleted subscriber becomes active again. */
  upsert(request: UpsertSubscriberRequest, options?: CallOptions): Promise<Subscriber>;

  /** Creates or changes up to 1,000 subscribers, each like UpsertSubscriber. An invalid one is reported in its result and does not affect the others. */
  upsertBatch(request: UpsertSubscriberBatchRequest, options?: CallOptions): Promise<UpsertSubscriberBatchResponse>;

  /** Returns one subscriber, active or not. */
  get(request: GetSubscriberRequest, options?: CallOptions): Promise<Subscriber>;

  /** Lists the subscribers of the caller's tenant, active or not, newest first. */
  list(request?: ListSubscribersRequest, options?: CallOptions): List<Subscriber>;

  /** Replaces the profile of a subscriber: absent fields are cleared. The external id cannot change. */
  update(request: UpdateSubscriberRequest, options?: CallOptions): Promise<Subscriber>;

  /** Deactivates a subscriber: nothing is sent to it. Its endpoints and subscriptions are kept. */
  delete(request: DeleteSubscriberRequest, options?: CallOptions): Promise<Subscriber>;

  /** Adds an endpoint to a subscriber, or confirms that it is in use. An address belongs to one subscriber only: a push token moves here by itself, any other address only with take_over. */
  upsertEndpoint(request: UpsertEndpointRequest, options?: CallOptions): Promise<ChannelEndpoint>;

  /** Removes an endpoint of a subscriber. */
  deleteEndpoint(request: DeleteEndpointRequest, options?: CallOptions): Promise<ChannelEndpoint>;

  /** Lists the endpoints of a subscriber. */
  listEndpoints(request: ListEndpointsRequest, options?: CallOptions): List<ChannelEndpoint>;

  /** Adds a subscriber to a topic. A member's context keys are replaced. */
  upsertSubscription(request: UpsertSubscriptionRequest, options?: CallOptions): Promise<Subscription>;

  /** Removes a subscriber from a topic. */
  deleteSubscription(request: DeleteSubscriptionRequest, options?: CallOptions): Promise<Subscription>;

  /** Lists the topics of a subscriber. */
  listSubscriptions(request: ListSubscriptionsRequest, options?: CallOptions): List<Subscription>;

  /** Lists the preferences of a subscriber: its rows of layers 3 to 5. */
  listPreferences(request: ListPreferencesRequest, options?: CallOptions): List<Preference>;

  /** Replaces one row of a subscriber's preferences: absent fields are cleared. A channel that a weaker layer made read-only can be set, but has no effect while it is read-only. */
  upsertPreference(request: UpsertPreferenceRequest, options?: CallOptions): Promise<Preference>;

  /** Previews on which channels a notification would reach a subscriber, and why, with the resolver that triggers use. Nothing is sent or stored. */
  previewPreferences(request: PreviewPreferencesRequest, options?: CallOptions): Promise<PreviewPreferencesResponse>;

  /** Explains whether a notification workflow would reach a subscriber now, channel by channel, and why the last messages did or did not arrive. The first line of the response is a sentence for people. Nothing is sent or stored. */
  explain(request: ExplainSubscriberRequest, options?: CallOptions): Promise<ExplainSubscriberResponse>;

  /** Returns everything that is stored about a subscriber, by kind of record: the profile, addresses, preferences, messages and their reports, memberships, events and connected accounts. Up to 5,000 records and 4 MiB of each kind, newest first where they have ids. */
  export(request: ExportSubscriberRequest, options?: CallOptions): Promise<ExportSubscriberResponse>;

  /** Erases a subscriber and all that ExportSubscriber returns. Nothing is sent to it from now on, and its records are removed in the background. Events and stored responses of calls stay without what they say about the person. The event subscriber.erased tells when everything is gone. */
  erase(request: EraseSubscriberRequest, options?: CallOptions): Promise<EraseSubscriberResponse>;
}

const subscriberServiceOperations = {
  upsert: { verb: "POST", path: "/api/v2/notification/subscribers", body: "*", keyed: true },
  upsertBatch: { verb: "POST", path: "/api/v2/notification/subscribers:batch", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/notification/subscribers/{id}" },
  list: { verb: "GET", path: "/api/v2/notification/subscribers", result: "cursor" },
  update: { verb: "PUT", path: "/api/v2/notification/subscribers/{id}", body: "*", keyed: true },
  delete: { verb: "DELETE", path: "/api/v2/notification/subscribers/{id}", keyed: true },
  upsertEndpoint: { verb: "POST", path: "/api/v2/notification/subscribers/{subscriber_id}/endpoints", body: "*", keyed: true },
  deleteEndpoint: { verb: "DELETE", path: "/api/v2/notification/subscribers/{subscriber_id}/endpoints/{endpoint_id}", keyed: true },
  listEndpoints: { verb: "GET", path: "/api/v2/notification/subscribers/{subscriber_id}/endpoints", result: "cursor" },
  upsertSubscription: { verb: "POST", path: "/api/v2/notification/subscribers/{subscriber_id}/subscriptions", body: "*", keyed: true },
  deleteSubscription: { verb: "DELETE", path: "/api/v2/notification/subscribers/{subscriber_id}/subscriptions/{topic_key}", keyed: true },
  listSubscriptions: { verb: "GET", path: "/api/v2/notification/subscribers/{subscriber_id}/subscriptions", result: "cursor" },
  listPreferences: { verb: "GET", path: "/api/v2/notification/subscribers/{subscriber_id}/preferences", result: "cursor" },
  upsertPreference: { verb: "POST", path: "/api/v2/notification/subscribers/{subscriber_id}/preferences", body: "*", keyed: true },
  previewPreferences: { verb: "POST", path: "/api/v2/notification/subscribers/{subscriber_id}/preferences:preview", body: "*" },
  explain: { verb: "GET", path: "/api/v2/notification/subscribers/{id}:explain" },
  export: { verb: "GET", path: "/api/v2/notification/subscribers/{id}:export" },
  erase: { verb: "POST", path: "/api/v2/notification/subscribers/{id}:erase", body: "*", keyed: true },
} as const satisfies Record<keyof SubscriberService, Operation>;

/** Creates the service over a transport. */
export function createSubscriberService(transport: Transport): SubscriberService {
  return bindOperations<SubscriberService>(transport, subscriberServiceOperations);
}

/** The profile of a subscriber. Absent fields stay unchanged; an empty string clears a field. */
export type UpsertSubscriberRequest = {
  /** The tenant's own id, any text. */
  readonly external_id: string;
  /** The given name. */
  readonly first_name?: string;
  /** The family name. */
  readonly last_name?: string;
  /** The email address. */
  readonly email?: string;
  /** The phone number in E.164 format, such as +4930901820. */
  readonly phone?: string;
  /** The URL of a picture. */
  readonly avatar?: string;
  /** The language as a BCP 47 tag, such as de-CH. */
  readonly locale?: string;
  /** The time zone as an IANA name, such as Europe/Berlin. */
  readonly timezone?: string;
  /** Free-form data of the tenant, at most 64 KiB as JSON; it replaces the previous data. */
  readonly data?: object;
};

/** A person who receives notifications. */
export type Subscriber = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The tenant's own id, unique in the tenant. */
  readonly external_id: string;
  /** The given name. */
  readonly first_name: string;
  /** The family name. */
  readonly last_name: string;
  /** The email address. */
  readonly email: string;
  /** The phone number, such as +4930901820. */
  readonly phone: string;
  /** The URL of a picture. */
  readonly avatar: string;
  /** The language, such as de-CH. */
  readonly locale: string;
  /** The time zone, such as Europe/Berlin. */
  readonly timezone: string;
  /** Free-form data of the tenant. */
  readonly data?: JsonObject;
  /** Whether notifications are sent to it; false after it was deleted. */
  readonly active: boolean;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
  /** Since when the email address is suppressed: a provider reported that it no longer exists, or that its owner unsubscribed or complained, or a caller suppressed it. It ends when the suppression is deleted. */
  readonly email_suppressed_at?: string;
  /** Since when the phone number is suppressed. */
  readonly phone_suppressed_at?: string;
};

/** One subscriber of a batch. Absent fields stay unchanged; an empty string clears a field. */
export type SubscriberProfile = {
  /** The tenant's own id, any text of 1 to 255 characters. */
  readonly external_id?: string;
  /** The given name, at most 200 characters. */
  readonly first_name?: string;
  /** The family name, at most 200 characters. */
  readonly last_name?: string;
  /** The email address, at most 320 characters. */
  readonly email?: string;
  /** The phone number in E.164 format, such as +4930901820. */
  readonly phone?: string;
  /** The URL of a picture, at most 2,048 characters. */
  readonly avatar?: string;
  /** The language as a BCP 47 tag, such as de-CH. */
  readonly locale?: string;
  /** The time zone as an IANA name, such as Europe/Berlin. */
  readonly timezone?: string;
  /** Free-form data of the tenant, at most 64 KiB as JSON; it replaces the previous data. */
  readonly data?: object;
};

/** Creates or changes many subscribers. */
export type UpsertSubscriberBatchRequest = {
  /** The subscribers. An external id that is given twice is an error of its second item. */
  readonly subscribers: readonly SubscriberProfile[];
};

/** The results, in the order of the request. */
export type UpsertSubscriberBatchResponse = {
  /** One result for each item. */
  readonly results: readonly SubscriberResult[];
  /** The number of new subscribers. */
  readonly created: number;
  /** The number of changed subscribers, including those that became active again. */
  readonly updated: number;
  /** The number of subscribers that already had these values. */
  readonly unchanged: number;
  /** The number of items that were refused. */
  readonly failed: number;
};

/** The result of one item of a batch. */
export type SubscriberResult = {
  /** The external id of the item. */
  readonly external_id: string;
  /** "created", "updated", "reactivated" (it was deleted and is active again), "unchanged" or "failed". */
  readonly outcome: string;
  /** The subscriber's id; empty if the item was refused. */
  readonly id: string;
  /** The error code, if the item was refused. */
  readonly error_code: string;
  /** The field that was refused, such as subscribers[3].email. */
  readonly error_field: string;
  /** The error in words. */
  readonly error_message: string;
};

/** Identifies a subscriber. */
export type GetSubscriberRequest = {
  /** The subscriber's id. */
  readonly id: string;
};

/** Request for a page of subscribers. */
export type ListSubscribersRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only the subscriber with this external id. */
  readonly external_id?: string;
  /** Only those with this email address, ignoring case. */
  readonly email?: string;
  /** Only active ones, or only inactive ones. */
  readonly active?: boolean;
};

/** Replaces the profile of a subscriber. Absent fields are cleared. */
export type UpdateSubscriberRequest = {
  /** The subscriber's id. */
  readonly id: string;
  /** The given name. */
  readonly first_name?: string;
  /** The family name. */
  readonly last_name?: string;
  /** The email address. */
  readonly email?: string;
  /** The phone number in E.164 format, such as +4930901820. */
  readonly phone?: string;
  /** The URL of a picture. */
  readonly avatar?: string;
  /** The language as a BCP 47 tag, such as de-CH. */
  readonly locale?: string;
  /** The time zone as an IANA name, such as Europe/Berlin. */
  readonly timezone?: string;
  /** Free-form data of the tenant, at most 64 KiB as JSON. */
  readonly data?: object;
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
};

/** Selects the subscriber to deactivate. */
export type DeleteSubscriberRequest = {
  /** The subscriber's id. */
  readonly id: string;
};

/** An endpoint of a subscriber. When it is added again, absent fields stay unchanged. */
export type UpsertEndpointRequest = {
  /** The subscriber's id. */
  readonly subscriber_id: string;
  /** The channel: email, sms, push, chat or in_app. */
  readonly channel: "email" | "sms" | "push" | "chat" | "in_app";
  /** The provider that the address was registered with; "default" when empty. On push and chat, only this provider uses it. Email addresses and phone numbers are served by any integration. */
  readonly provider_key?: string;
  /** The address or token: an email address, a phone number such as +4930901820, or the provider's id of a device, chat or inbox. At most 2,048 bytes. */
  readonly identity: string;
  /** The connection to pin the address to, of a provider that serves the channel; an empty string removes the pin. A pinned address is only served by this connection, through an integration of its provider. */
  readonly connection_id?: string;
  /** Whether the subscriber confirmed it; default false. */
  readonly verified?: boolean;
  /** Free-form data of the tenant, at most 16 KiB as JSON; it replaces the previous data. */
  readonly metadata?: object;
  /** Takes the address over from another subscriber, which loses it. Without it, the address of another subscriber is refused. Push tokens always move: a device has one user at a time. */
  readonly take_over?: boolean;
};

/** An address of a subscriber on one channel. */
export type ChannelEndpoint = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The channel: email, sms, push, chat or in_app. */
  readonly channel: string;
  /** The provider that the address was registered with; default "default". On push and chat, only this provider uses it. Email addresses and phone numbers are served by any integration. */
  readonly provider_key: string;
  /** The address or token. */
  readonly identity: string;
  /** The connection that the address is pinned to; empty if any integration may serve it. A pinned address is only served by this connection, through an integration of its provider. */
  readonly connection_id: string;
  /** Whether the subscriber confirmed it. */
  readonly verified: boolean;
  /** Free-form data of the tenant. */
  readonly metadata?: JsonObject;
  /** When it was last added. */
  readonly last_used_at?: string;
  /** Since when it is suppressed: the provider reported that it no longer exists, or that its owner unsubscribed or complained, or a caller suppressed it. It ends when the suppression is deleted; a push token that is added again is used again. */
  readonly suppressed_at?: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record. */
  readonly record_version: number;
};

/** Selects the endpoint to remove. */
export type DeleteEndpointRequest = {
  /** The subscriber's id. */
  readonly subscriber_id: string;
  /** The endpoint's id. */
  readonly endpoint_id: string;
};

/** Request for a page of a subscriber's endpoints. */
export type ListEndpointsRequest = {
  /** The subscriber's id. */
  readonly subscriber_id: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only those of this channel. */
  readonly channel?: "email" | "sms" | "push" | "chat" | "in_app";
};

/** Adds a subscriber to a topic. */
export type UpsertSubscriptionRequest = {
  /** The subscriber's id. */
  readonly subscriber_id: string;
  /** The topic's key. */
  readonly topic_key: string;
  /** The context keys; default none. They replace the previous ones. */
  readonly context_keys?: readonly string[];
};

/** Removes a subscriber from a topic. */
export type DeleteSubscriptionRequest = {
  /** The subscriber's id. */
  readonly subscriber_id: string;
  /** The topic's key. */
  readonly topic_key: string;
};

/** Request for a page of a subscriber's subscriptions. */
export type ListSubscriptionsRequest = {
  /** The subscriber's id. */
  readonly subscriber_id: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Request for a page of a subscriber's preferences. */
export type ListPreferencesRequest = {
  /** The subscriber's id. */
  readonly subscriber_id: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** One row of a subscriber's preferences, identified by its layer and keys. Absent fields are cleared. */
export type UpsertPreferenceRequest = {
  /** The subscriber's id. */
  readonly subscriber_id: string;
  /** 3, 4 or 5; derived from the keys when absent. Layers 1 and 2 belong to the author of the workflow. */
  readonly layer?: number;
  /** The workflow, which must exist unless notification.allow_unknown_workflows allows others; layers 4 and 5 only. */
  readonly workflow_key?: string;
  /** The topic; layer 5 only. */
  readonly topic_key?: string;
  /** The context keys; layer 5 only. */
  readonly context_keys?: readonly string[];
  /** The value for channels without a preference of their own; undecided when absent. */
  readonly all?: boolean;
  /** The preferences by channel. */
  readonly channels?: ChannelPreferencesInput;
  /** The quiet hours, in which nothing is sent. */
  readonly schedule?: QuietHoursInput;
  /** Whether stronger layers cannot change any channel. */
  readonly read_only?: boolean;
  /** A CEL condition; if it is false, the row does not apply. If it fails to evaluate, only denials apply. */
  readonly condition?: string;
};

/** Describes a notification to preview. */
export type PreviewPreferencesRequest = {
  /** The subscriber's id. */
  readonly subscriber_id: string;
  /** The workflow's key; the workflow need not exist. */
  readonly workflow_key: string;
  /** The user that the trigger would name; no layer 2 when empty. */
  readonly user_id?: string;
  /** The topic that it would be sent to; no layer 5 when empty. */
  readonly topic_key?: string;
  /** The subscriber's context keys in the topic. */
  readonly context_keys?: readonly string[];
  /** The channels that the trigger would request; all when empty. */
  readonly channels?: readonly ("email" | "sms" | "push" | "chat" | "in_app")[];
  /** The payload for conditions, at most 64 KiB as JSON. It is neither stored nor logged. */
  readonly payload_context?: object;
  /** The time of the decision, for example to try quiet hours; now when absent. */
  readonly at?: string | Date;
};

/** The result of a preview. */
export type PreviewPreferencesResponse = {
  /** The version of the resolver. */
  readonly resolver_version: string;
  /** The decisions for the five channels. */
  readonly channels: readonly ChannelDecision[];
};

/** Asks why a notification reaches a subscriber or not. */
export type ExplainSubscriberRequest = {
  /** The subscriber's id. */
  readonly id: string;
  /** The notification workflow. */
  readonly workflow_key: string;
  /** The topic through which the subscriber would be reached; none when empty. */
  readonly topic_key?: string;
  /** The user whose layer 2 preferences of the workflow apply. */
  readonly user_id?: string;
};

/** Why a notification reaches a subscriber or not. */
export type ExplainSubscriberResponse = {
  /** The answer in plain words. */
  readonly summary: string;
  /** "reachable" (on at least one channel), "unreachable", or "unknown_workflow". */
  readonly verdict: string;
  /** All reasons in the order in which they are decided: the workflow, the subscriber, then channel by channel. */
  readonly reasons: readonly ReachReason[];
  /** The newest messages of this workflow to this subscriber, at most 20, newest first. */
  readonly past_deliveries: readonly PastDelivery[];
  /** The subscriber. */
  readonly subscriber_id: string;
  /** The notification workflow. */
  readonly workflow_key: string;
};

/** One reason why a message is sent or not. */
export type ReachReason = {
  /** The channel; empty for a reason that concerns all channels. */
  readonly channel: string;
  /** What was looked at: "workflow", "subscriber", "preference", "content", "endpoint", "suppression", "integration" or "delivery". */
  readonly source: string;
  /** A stable code, such as denied_by_layer, suppressed or none_active. */
  readonly code: string;
  /** Whether it lets the message pass. */
  readonly passes: boolean;
  /** Whether it decides its channel: the first reason that stops the message, or the last one if nothing stops it. */
  readonly deciding: boolean;
  /** The reason in words. */
  readonly message: string;
  /** What would change it; empty if nothing has to. */
  readonly remedy: string;
};

/** A message that was sent or skipped earlier. */
export type PastDelivery = {
  /** The delivery. */
  readonly delivery_id: string;
  /** The channel. */
  readonly channel: string;
  /** "queued", "running", "sent", "failed" or "skipped". */
  readonly status: string;
  /** What became of it, in words. */
  readonly message: string;
  /** When it was stored. */
  readonly queued_at?: string;
};

/** The subscriber to export. */
export type ExportSubscriberRequest = {
  /** The subscriber's id. */
  readonly id: string;
};

/** Everything that is stored about a subscriber. */
export type ExportSubscriberResponse = {
  /** The kinds with at least one record. */
  readonly kinds: readonly ExportSubscriberResponseKind[];
};

/** The records of one kind. */
export type ExportSubscriberResponseKind = {
  /** The kind of record, such as notification_deliveries. */
  readonly name: string;
  /** The records, with the names of their columns. */
  readonly records: readonly JsonObject[];
  /** Whether there are more records than returned. */
  readonly truncated: boolean;
};

/** The subscriber to erase. */
export type EraseSubscriberRequest = {
  /** The subscriber's id. */
  readonly id: string;
};

/** An erasure that was accepted. */
export type EraseSubscriberResponse = {
  /** The id of the erasure: the subject of the event subscriber.erased. */
  readonly erasure_id: string;
};

// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonValue } from "../json.ts";

/** Webhooks: events of the log, sent to HTTP endpoints of the tenant and signed as Standard Webhooks. */
export interface WebhookService {
  /** Creates an endpoint for events from now on. Only this response contains its secret. */
  createEndpoint(request: CreateWebhookEndpointRequest, options?: CallOptions): Promise<WebhookEndpoint>;

  /** Returns one endpoint, never its secret. */
  getEndpoint(request: GetWebhookEndpointRequest, options?: CallOptions): Promise<WebhookEndpoint>;

  /** Lists the endpoints of the caller's tenant. */
  listEndpoints(request?: ListWebhookEndpointsRequest, options?: CallOptions): List<WebhookEndpoint>;

  /** Changes the fields that are present. An enabled endpoint gets events from then on. */
  updateEndpoint(request: UpdateWebhookEndpointRequest, options?: CallOptions): Promise<WebhookEndpoint>;

  /** Deletes an endpoint, its secrets and its deliveries. */
  deleteEndpoint(request: DeleteWebhookEndpointRequest, options?: CallOptions): Promise<WebhookEndpoint>;

  /** Creates a new secret; only this response contains it. The previous secret also signs for another 24 hours. */
  rotateSecret(request: RotateWebhookSecretRequest, options?: CallOptions): Promise<WebhookEndpoint>;

  /** Sends an event of the type webhook.endpoint.test to one endpoint, whatever its event types are. */
  testEndpoint(request: TestWebhookEndpointRequest, options?: CallOptions): Promise<WebhookDelivery>;

  /** Replays the events of a time range in the background. */
  replayEndpoint(request: ReplayWebhookEndpointRequest, options?: CallOptions): Promise<WebhookReplay>;

  /** Returns the progress of a replay. */
  getReplay(request: GetWebhookReplayRequest, options?: CallOptions): Promise<WebhookReplay>;

  /** Lists the deliveries of an endpoint, newest event first. */
  listDeliveries(request: ListWebhookDeliveriesRequest, options?: CallOptions): List<WebhookDelivery>;

  /** Lists the deliveries of one event to all endpoints. */
  listEventDeliveries(request: ListEventDeliveriesRequest, options?: CallOptions): List<WebhookDelivery>;

  /** Returns one delivery with its attempts. */
  getDelivery(request: GetWebhookDeliveryRequest, options?: CallOptions): Promise<WebhookDelivery>;

  /** Replays one delivery now, with a new series of attempts. */
  replayDelivery(request: ReplayWebhookDeliveryRequest, options?: CallOptions): Promise<WebhookDelivery>;
}

const webhookServiceOperations = {
  createEndpoint: { verb: "POST", path: "/api/v2/webhooks/endpoints", body: "*", keyed: true },
  getEndpoint: { verb: "GET", path: "/api/v2/webhooks/endpoints/{endpoint_id}" },
  listEndpoints: { verb: "GET", path: "/api/v2/webhooks/endpoints", result: "cursor" },
  updateEndpoint: { verb: "PATCH", path: "/api/v2/webhooks/endpoints/{endpoint_id}", body: "*", keyed: true },
  deleteEndpoint: { verb: "DELETE", path: "/api/v2/webhooks/endpoints/{endpoint_id}", keyed: true },
  rotateSecret: { verb: "POST", path: "/api/v2/webhooks/endpoints/{endpoint_id}:rotate_secret", body: "*", keyed: true },
  testEndpoint: { verb: "POST", path: "/api/v2/webhooks/endpoints/{endpoint_id}:send-test", body: "*", keyed: true },
  replayEndpoint: { verb: "POST", path: "/api/v2/webhooks/endpoints/{endpoint_id}:replay", body: "*", keyed: true },
  getReplay: { verb: "GET", path: "/api/v2/webhooks/endpoints/{endpoint_id}/replays/{replay_id}" },
  listDeliveries: { verb: "GET", path: "/api/v2/webhooks/endpoints/{endpoint_id}/deliveries", result: "cursor" },
  listEventDeliveries: { verb: "GET", path: "/api/events/{event_id}/deliveries", result: "cursor" },
  getDelivery: { verb: "GET", path: "/api/v2/webhooks/endpoints/{endpoint_id}/deliveries/{delivery_id}" },
  replayDelivery: { verb: "POST", path: "/api/v2/webhooks/endpoints/{endpoint_id}/deliveries/{delivery_id}:replay", body: "*", keyed: true },
} as const satisfies Record<keyof WebhookService, Operation>;

/** Creates the service over a transport. */
export function createWebhookService(transport: Transport): WebhookService {
  return bindOperations<WebhookService>(transport, webhookServiceOperations);
}

/** Request to create an endpoint. */
export type CreateWebhookEndpointRequest = {
  /** The URL to post events to, https or http, without credentials. */
  readonly url: string;
  /** The description. */
  readonly description?: string;
  /** The event types, exact or with a prefix such as "order.*"; all when empty or "*". */
  readonly event_types?: readonly string[];
  /** The environments whose events are sent: any, production_only or non_production_only; the caller's mode when empty. */
  readonly environment_mode?: "" | "any" | "production_only" | "non_production_only";
  /** Headers that are sent with every message, such as an authorization that the receiver needs. Sealed and never returned. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends events one after the other, in the order of the log. An event that fails blocks the next ones until its attempts end. */
  readonly ordered?: boolean;
  /** The delays between attempts, in seconds; the default schedule when empty. */
  readonly retry_delays_s?: readonly number[];
  /** A template of the body: JSON in which texts that start with "=" are CEL expressions over the variable event. Without one, the body is the event in the CloudEvents format. */
  readonly transform?: unknown;
};

/** An HTTP endpoint that receives events. */
export type WebhookEndpoint = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The URL that events are posted to. */
  readonly url: string;
  /** The description. */
  readonly description: string;
  /** The event types, exact or with a prefix such as "order.*"; all when empty or "*". */
  readonly event_types: readonly string[];
  /** Whether it gets events. */
  readonly status: WebhookEndpointStatus;
  /** Why it is disabled, if it is. */
  readonly disabled_reason: WebhookEndpointDisabledReason;
  /** Since when every attempt has failed; absent when the last one succeeded. */
  readonly failing_since?: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
  /** The signing secret (whsec_…). Only the response that creates the endpoint or rotates the secret contains it. */
  readonly secret?: string;
  /** Until when the previous secret also signs. Only the response that rotates the secret contains it. */
  readonly previous_secret_valid_until?: string;
  /** The environments whose events are sent: any, production_only or non_production_only. Events without an environment are always sent. */
  readonly environment_mode: string;
  /** The names of the additional headers. Their values are never returned. */
  readonly header_names: readonly string[];
  /** Whether events are sent one after the other, in the order of the log. */
  readonly ordered: boolean;
  /** The delays between attempts, in seconds; the default schedule when empty. */
  readonly retry_delays_s: readonly number[];
  /** The template of the body, if it has one. */
  readonly transform?: JsonValue;
};

/** The status of an endpoint. */
export type WebhookEndpointStatus = "STATUS_UNSPECIFIED" | "STATUS_ACTIVE" | "STATUS_DISABLED";

/** Why an endpoint is disabled. */
export type WebhookEndpointDisabledReason = "DISABLED_REASON_UNSPECIFIED" | "DISABLED_REASON_MANUAL" | "DISABLED_REASON_GONE" | "DISABLED_REASON_FAILING";

/** Identifies an endpoint. */
export type GetWebhookEndpointRequest = {
  /** The endpoint's id. */
  readonly endpoint_id: string;
};

/** Request for a page of endpoints. */
export type ListWebhookEndpointsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Event types. */
export type WebhookEventTypes = {
  /** Exact types and prefixes such as "order.*"; all when empty or "*". */
  readonly types?: readonly string[];
};

/** Additional headers. */
export type WebhookHeaders = {
  /** Values by name; none when empty. */
  readonly values?: Readonly<Record<string, string>>;
};

/** The delays between attempts. */
export type WebhookRetryDelays = {
  /** In seconds; the default schedule when empty. */
  readonly seconds?: readonly number[];
};

/** Changes the fields that are present. */
export type UpdateWebhookEndpointRequest = {
  /** The endpoint's id. */
  readonly endpoint_id: string;
  /** The URL to post events to. */
  readonly url?: string;
  /** The description. */
  readonly description?: string;
  /** Replaces the types of events, like event_types, and can be empty. */
  readonly event_type_set?: WebhookEventTypes;
  /** Enables or disables it. */
  readonly status?: WebhookEndpointStatus;
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
  /** Replaces the types of events unless empty; ["*"] selects all. */
  readonly event_types?: readonly string[];
  /** Replaces the additional headers, like headers, and can be empty. */
  readonly header_set?: WebhookHeaders;
  /** Sends events one after the other, or not. */
  readonly ordered?: boolean;
  /** Replaces the delays between attempts, like retry_delays_s, and can be empty. */
  readonly retry_delay_set?: WebhookRetryDelays;
  /** Replaces the template of the body; null removes it. */
  readonly transform?: unknown;
  /** Replaces the additional headers unless empty. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the delays between attempts unless empty, in seconds. */
  readonly retry_delays_s?: readonly number[];
};

/** Selects the endpoint to delete. */
export type DeleteWebhookEndpointRequest = {
  /** The endpoint's id. */
  readonly endpoint_id: string;
};

/** Selects the endpoint that gets a new secret. */
export type RotateWebhookSecretRequest = {
  /** The endpoint's id. */
  readonly endpoint_id: string;
};

/** Selects the endpoint to test. */
export type TestWebhookEndpointRequest = {
  /** The endpoint's id. */
  readonly endpoint_id: string;
  /** The data of the event, for example to try the endpoint's template. */
  readonly data?: object;
};

/** The delivery of an event to an endpoint. */
export type WebhookDelivery = {
  /** The id; the same as that of the event. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The endpoint. */
  readonly endpoint_id: string;
  /** The event's type. */
  readonly event_type: string;
  /** The webhook-id header, the same for every attempt. */
  readonly message_id: string;
  /** The status. */
  readonly status: WebhookDeliveryStatus;
  /** The number of attempts, including those before a replay. */
  readonly attempt_count: number;
  /** When the next attempt is due, while it is pending. */
  readonly next_attempt_at?: string;
  /** The latest attempts, oldest first, up to 20. */
  readonly attempts: readonly WebhookDeliveryAttempt[];
  /** When it was created. */
  readonly created_at?: string;
  /** When it ended, if it has. */
  readonly ended_at?: string;
};

/** The status of a delivery. */
export type WebhookDeliveryStatus = "STATUS_UNSPECIFIED" | "STATUS_PENDING" | "STATUS_SUCCEEDED" | "STATUS_FAILED" | "STATUS_CANCELLED";

/** One attempt. */
export type WebhookDeliveryAttempt = {
  /** When it began. */
  readonly at?: string;
  /** How long it took, in milliseconds. */
  readonly duration_ms: number;
  /** The status of the response; 0 if there was none. */
  readonly response_status: number;
  /** Why it failed, if it did. */
  readonly failure: WebhookDeliveryFailure;
};

/** Why an attempt failed. */
export type WebhookDeliveryFailure = "FAILURE_UNSPECIFIED" | "FAILURE_STATUS" | "FAILURE_DENIED" | "FAILURE_INVALID_URL" | "FAILURE_DNS" | "FAILURE_CONNECT" | "FAILURE_TLS" | "FAILURE_TIMEOUT" | "FAILURE_CONNECTION_LOST" | "FAILURE_EVENT_FORGOTTEN" | "FAILURE_SECRET_UNREADABLE" | "FAILURE_TRANSFORM";

/** The events of the range to send. */
export type WebhookReplaySelection = "SELECTION_UNSPECIFIED" | "SELECTION_FAILED" | "SELECTION_MISSING" | "SELECTION_ALL";

/** Replays a time range. */
export type ReplayWebhookEndpointRequest = {
  /** The endpoint's id. */
  readonly endpoint_id: string;
  /** Events that were recorded at or after this time. */
  readonly since: string | Date;
  /** Events that were recorded before this time; now when absent. */
  readonly until?: string | Date;
  /** The events to send; default: those whose delivery failed. */
  readonly selection?: WebhookReplaySelection;
};

/** A replay of the events of a time range. */
export type WebhookReplay = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The endpoint. */
  readonly endpoint_id: string;
  /** Events that were recorded at or after this time. */
  readonly since?: string;
  /** Events that were recorded before this time. */
  readonly until?: string;
  /** The events to send. */
  readonly selection: WebhookReplaySelection;
  /** The status. */
  readonly status: WebhookReplayStatus;
  /** The number of deliveries started so far. */
  readonly replayed: number;
  /** When it was requested. */
  readonly created_at?: string;
  /** When it ended, if it has. */
  readonly completed_at?: string;
};

/** The status of a replay. */
export type WebhookReplayStatus = "STATUS_UNSPECIFIED" | "STATUS_RUNNING" | "STATUS_COMPLETED" | "STATUS_CANCELLED";

/** Identifies a replay. */
export type GetWebhookReplayRequest = {
  /** The endpoint's id. */
  readonly endpoint_id: string;
  /** The replay's id. */
  readonly replay_id: string;
};

/** Request for a page of deliveries. */
export type ListWebhookDeliveriesRequest = {
  /** The endpoint's id. */
  readonly endpoint_id: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only deliveries in this status. */
  readonly status?: WebhookDeliveryStatus;
  /** Only deliveries of these event types, exact or with a prefix such as "order.*". */
  readonly event_types?: readonly string[];
  /** Only events that were recorded at or after this time. */
  readonly since?: string | Date;
  /** Only events that were recorded before this time. */
  readonly until?: string | Date;
};

/** Selects the event. */
export type ListEventDeliveriesRequest = {
  /** The event's id. */
  readonly event_id: string;
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
};

/** Identifies a delivery. */
export type GetWebhookDeliveryRequest = {
  /** The endpoint's id. */
  readonly endpoint_id: string;
  /** The delivery's id. */
  readonly delivery_id: string;
};

/** Selects the delivery to replay. */
export type ReplayWebhookDeliveryRequest = {
  /** The endpoint's id. */
  readonly endpoint_id: string;
  /** The delivery's id. */
  readonly delivery_id: string;
};

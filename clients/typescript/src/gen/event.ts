// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { EventStream } from "../streams/event-stream.ts";
import type { JsonObject } from "../json.ts";

/** The event log: what happened in a tenant, in order, as CloudEvents. */
export interface EventService {
  /** Adds a custom event to the log. */
  publish(request: PublishEventRequest, options?: CallOptions): Promise<Event>;

  /** Returns one event. */
  get(request: GetEventRequest, options?: CallOptions): Promise<Event>;

  /** Lists events, newest first. */
  list(request?: ListEventsRequest, options?: CallOptions): List<Event>;

  /** Follows the log: first the events after the cursor, then new events as they arrive. */
  subscribe(request?: SubscribeEventsRequest, options?: CallOptions): EventStream<Event>;
}

const eventServiceOperations = {
  publish: { verb: "POST", path: "/api/events", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/events/{event_id}" },
  list: { verb: "GET", path: "/api/events", result: "cursor" },
  subscribe: { verb: "GET", path: "/api/events/subscribe", result: "stream" },
} as const satisfies Record<keyof EventService, Operation>;

/** Creates the service over a transport. */
export function createEventService(transport: Transport): EventService {
  return bindOperations<EventService>(transport, eventServiceOperations);
}

/** Adds an event. */
export type PublishEventRequest = {
  /** The event type: lower case, at least two parts separated by dots, and a first part that the service does not use itself (for example: order.paid). */
  readonly type: string;
  /** The source, a URI reference; "/custom" when empty. */
  readonly source?: string;
  /** The id of the record that the event is about. */
  readonly subject?: string;
  /** When it happened; the current time when absent. */
  readonly time?: string | Date;
  /** The details of the event, at most 64 KiB. */
  readonly data?: object;
};

/** An event (CloudEvents 1.0). */
export type Event = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The CloudEvents version, "1.0". */
  readonly specversion: string;
  /** The event type, such as "tenant.created". */
  readonly type: string;
  /** The source, a URI reference. */
  readonly source: string;
  /** The id of the record that the event is about. */
  readonly subject: string;
  /** When it happened. */
  readonly time?: string;
  /** The media type of the data. */
  readonly datacontenttype: string;
  /** The details of the event. */
  readonly data?: JsonObject;
  /** The environment of the record; empty if it belongs to none. Callers see events of their environments, and events without an environment. */
  readonly environment_id: string;
  /** The caller that caused the change; empty for what the service did by itself, and for custom events. */
  readonly actor: string;
};

/** Identifies an event. */
export type GetEventRequest = {
  /** The event's id. */
  readonly event_id: string;
};

/** Request for a page of events. */
export type ListEventsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only events of these types; "tenant.*" matches all types with this prefix. */
  readonly types?: readonly string[];
  /** Only events about this subject. */
  readonly subject?: string;
  /** Only events at or after this time. */
  readonly since?: string | Date;
  /** Only events before this time. */
  readonly until?: string | Date;
  /** Only those of this environment: its id or its key. */
  readonly environment_id?: string;
};

/** Follows the log. */
export type SubscribeEventsRequest = {
  /** The id of the last received event; only new events when empty. REST also accepts it in Last-Event-ID. */
  readonly cursor?: string;
  /** Only events of these types; "tenant.*" matches all types with this prefix. */
  readonly types?: readonly string[];
  /** Only events about this subject. */
  readonly subject?: string;
};

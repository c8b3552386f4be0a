import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Event as EventMessage,
  EventSchema,
  type PublishEventRequest,
  PublishEventResponseSchema,
  type EventService as Rpc,
  type SubscribeEventsResponse,
  SubscribeEventsResponseSchema,
} from "../../../../gen/service/api/event_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import { environmentIdOf, modeAllows } from "../../../platform/access/index.ts";
import { notFound } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { dateOf } from "../../../platform/records/index.ts";
import { dataBytesMax, type Event, type NewEvent } from "./domain/event.ts";
import { reservedFamilies } from "./domain/event-types.ts";
import type { EventLog } from "./log.ts";
import { eventStore } from "./store.ts";

export function eventHandlers(log: EventLog): Handlers<typeof Rpc> {
  return {
    publishEvent: {
      async ownCommit(context: Context, request: PublishEventRequest, keyed) {
        const event = toEvent(context, request);
        const response = create(PublishEventResponseSchema, { event: fromEvent({ ...event, environmentId: null }) });
        return (await log.append(event, keyed?.record(response))) === "committed" ? response : "duplicate";
      },
    },

    async getEvent({ tenantId, principal }, request) {
      const event = await log.find(tenantId, request.eventId);
      if (event === undefined || !modeAllows(principal.environmentMode, event.inProduction)) throw notFound("event");
      return { event: fromEvent(event) };
    },

    async listEvents(context, request) {
      const { sql, tenantId, principal } = context;
      const { environmentMode } = principal;
      const filter = {
        environmentMode,
        types: request.types,
        subject: request.subject,
        environmentId: await environmentIdOf(context, request.environmentId),
        since: request.since && dateOf(request.since),
        until: request.until && dateOf(request.until),
      };
      const bound = Object.values({ ...filter, since: filter.since?.getTime(), until: filter.until?.getTime() });
      const page = await context.page("events", request, bound, (wanted) =>
        eventStore(sql).list(tenantId, filter, wanted),
      );
      return { ...page, events: page.events.map(fromEvent) };
    },

    async subscribeEvents({ sql, tenantId, principal, signal }, { cursor, types, subject }) {
      const { environmentMode } = principal;
      const store = eventStore(sql);
      const from =
        cursor === "" ? await store.endPosition(tenantId) : await store.positionOf(tenantId, cursor, environmentMode);
      if (from === undefined)
        throw invalid("cursor", "cursor", "must be the id of an event in the log, or empty to start at the end");
      return fromEvents(log.follow(tenantId, from, { types, subject, environmentMode }, signal));
    },
  };
}

async function* fromEvents(events: AsyncIterable<Event>): AsyncGenerator<SubscribeEventsResponse> {
  for await (const event of events) yield create(SubscribeEventsResponseSchema, { event: fromEvent(event) });
}

function toEvent({ tenantId, nowMs }: Context, request: PublishEventRequest): NewEvent {
  const family = request.type.slice(0, request.type.indexOf("."));
  if (reservedFamilies.has(family)) {
    throw invalid(
      "type",
      "reserved",
      `must not start with "${family}.", which is reserved for the service's own events (for example: order.paid)`,
    );
  }
  const data = request.data ?? {};
  if (Buffer.byteLength(JSON.stringify(data)) > dataBytesMax)
    throw invalid("data", "max_bytes", "must be at most 64 KiB as JSON");
  return {
    tenantId,
    id: ulid(nowMs),
    type: request.type,
    source: request.source === "" ? "/custom" : request.source,
    subject: request.subject,
    time: request.time === undefined ? new Date(nowMs) : dateOf(request.time),
    data,
  };
}

function fromEvent(event: Omit<Event, "inProduction">): EventMessage {
  return create(EventSchema, {
    id: event.id,
    tenantId: event.tenantId,
    specversion: "1.0",
    type: event.type,
    source: event.source,
    subject: event.subject,
    actor: event.actor ?? "",
    time: timestampFromDate(event.time),
    datacontenttype: "application/json",
    data: event.data as never,
    environmentId: event.environmentId ?? "",
  });
}

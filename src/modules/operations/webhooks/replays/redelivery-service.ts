import type { Context } from "../../../../chain/call.ts";
import { fail, invalid } from "../../../../errors/index.ts";
import { notFound, requireFound } from "../../../../platform/db/index.ts";
import type { JsonObject } from "../../../../platform/document/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { enqueueJobs } from "../../../../platform/jobs/index.ts";
import type { EventReader, EventRecorder } from "../../events/index.ts";
import { deliveryStore } from "../deliveries/delivery-store.ts";
import type { Delivery } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { testType } from "../domain/fan-out.ts";
import { type NewReplay, type Replay, rangeMsMax } from "../domain/replay.ts";
import { requireAccess } from "../endpoints/endpoint-service.ts";
import { endpointStore } from "../endpoints/endpoint-store.ts";
import { replayKind } from "../jobs.ts";
import { replayStore } from "./replay-store.ts";

export interface RedeliveryParts {
  readonly events: EventRecorder;
  readonly reader: EventReader;
  readonly wakeSenders: () => void;
  readonly wakeJobs: () => void;
}

/** The operations on deliveries: tests and replays. */
export type RedeliveryService = ReturnType<typeof createRedeliveryService>;

export function createRedeliveryService({ events, reader, wakeSenders, wakeJobs }: RedeliveryParts) {
  return {
    async testEndpoint(context: Context, endpointId: string, data: JsonObject): Promise<Delivery> {
      const { sql, tenantId, nowMs, afterCommit } = context;
      await lockActiveEndpoint(context, endpointId);
      const eventId = ulid(nowMs);
      await events.record(context, testType, endpointId, data, tenantId, eventId);
      const store = deliveryStore(sql);
      await store.insert(tenantId, [{ endpointId, eventId, eventType: testType }], "first");
      afterCommit(wakeSenders);
      return (await store.find({ tenantId, endpointId }, eventId))!;
    },

    /** Throws NOT_FOUND if the log does not contain an event. */
    async requireEvent({ sql, tenantId }: Context, eventId: string): Promise<void> {
      const [event] = await reader.findMany(sql, [{ tenantId, id: eventId }]);
      if (event === undefined) throw notFound("event");
    },

    async getDelivery(context: Context, endpointId: string, eventId: string): Promise<Delivery> {
      const { sql, tenantId } = context;
      requireAccess(context, await endpointStore(sql).find(tenantId, endpointId));
      return requireFound(await deliveryStore(sql).find({ tenantId, endpointId }, eventId), "webhook delivery");
    },

    async replayDelivery(context: Context, endpointId: string, eventId: string): Promise<Delivery> {
      const { sql, tenantId, afterCommit } = context;
      const ref = { tenantId, endpointId };
      const store = deliveryStore(sql);
      if ((await store.find(ref, eventId)) === undefined) throw notFound("webhook delivery");
      await lockActiveEndpoint(context, endpointId);
      const [event] = await reader.findMany(sql, [{ tenantId, id: eventId }]);
      if (event === undefined) {
        throw fail("FAILED_PRECONDITION", {
          public: "The event is no longer in the log, because its retention has expired.",
        });
      }
      const delivery = await store.replay(ref, eventId);
      if (delivery === undefined)
        throw fail("CONFLICT", { public: "The delivery is being sent right now. Try again in a minute." });
      await events.record(context, "webhook.delivery.replayed", endpointId, { event_id: eventId });
      afterCommit(wakeSenders);
      return delivery;
    },

    async replayEndpoint(context: Context, endpointId: string, input: NewReplay): Promise<Replay> {
      const { sql, tenantId, nowMs, afterCommit } = context;
      requireValidRange(input);
      const endpoint = await lockActiveEndpoint(context, endpointId);
      const store = replayStore(sql);
      if ((await store.findRunning(tenantId, endpoint.id)) !== undefined) {
        throw fail("FAILED_PRECONDITION", {
          public: "A replay to this webhook endpoint is still running. Wait until its status is completed.",
        });
      }
      const replay = await store.insert({
        ...input,
        tenantId,
        id: ulid(nowMs),
        endpointId,
        status: "running",
        position: "",
        replayed: 0,
        createdAt: new Date(nowMs),
        completedAt: null,
      });
      const job = { tenantId, kind: replayKind, payload: { replayId: replay.id }, runAt: new Date(nowMs) };
      await enqueueJobs(sql, [job], nowMs);
      await events.record(context, "webhook.endpoint.replayed", endpointId, {
        replay_id: replay.id,
        since: input.since.toISOString(),
        until: input.until.toISOString(),
        selection: input.selection,
      });
      afterCommit(wakeJobs);
      return replay;
    },

    async getReplay(context: Context, endpointId: string, id: string): Promise<Replay> {
      const { sql, tenantId } = context;
      requireAccess(context, await endpointStore(sql).find(tenantId, endpointId));
      return requireFound(await replayStore(sql).find(tenantId, endpointId, id), "webhook replay");
    },
  };
}

/** Finds an active endpoint and locks it until the transaction ends. */
async function lockActiveEndpoint(context: Context, id: string): Promise<Endpoint> {
  const { sql, tenantId } = context;
  const endpoint = requireAccess(context, await endpointStore(sql).lock(tenantId, id));
  if (endpoint.status === "active") return endpoint;
  throw fail("FAILED_PRECONDITION", { public: "The webhook endpoint is disabled. Set its status to active first." });
}

function requireValidRange({ since, until }: NewReplay): void {
  if (since >= until) throw invalid("since", "range", "must be before until");
  if (until.getTime() - since.getTime() > rangeMsMax)
    throw invalid("since", "range", "must be at most 31 days before until");
}

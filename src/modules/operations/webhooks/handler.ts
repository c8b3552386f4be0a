import { toJson } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { WebhookService as Rpc } from "../../../../gen/service/api/webhook_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { EnvironmentMode } from "../../../platform/access/index.ts";
import type { Json, JsonObject } from "../../../platform/document/index.ts";
import { dateOf, expectedVersion, nameOf } from "../../../platform/records/index.ts";
import { deliveryStore } from "./deliveries/delivery-store.ts";
import type { EndpointService } from "./endpoints/endpoint-service.ts";
import { endpointStore } from "./endpoints/endpoint-store.ts";
import {
  deliveryStatuses,
  endpointStatuses,
  fromDelivery,
  fromEndpoint,
  fromReplay,
  replaySelections,
} from "./messages.ts";
import type { RedeliveryService } from "./replays/redelivery-service.ts";

export function webhookHandlers(endpoints: EndpointService, redelivery: RedeliveryService): Handlers<typeof Rpc> {
  return {
    async createWebhookEndpoint(context, { environmentMode, transform, ...request }) {
      const { endpoint, secret } = await endpoints.createEndpoint(context, {
        ...request,
        transform: jsonOf(transform) ?? null,
        environmentMode: (environmentMode || undefined) as EnvironmentMode | undefined,
      });
      return { endpoint: { ...fromEndpoint(endpoint), secret } };
    },

    async getWebhookEndpoint(context, request) {
      return { endpoint: fromEndpoint(await endpoints.getEndpoint(context, request.endpointId)) };
    },

    async listWebhookEndpoints(context, request) {
      const { tenantId, sql } = context;
      const { environmentMode } = context.principal;
      const page = await context.page("endpoints", request, [environmentMode], (wanted) =>
        endpointStore(sql).list(tenantId, environmentMode, wanted),
      );
      return { ...page, endpoints: page.endpoints.map(fromEndpoint) };
    },

    async updateWebhookEndpoint(context, { endpointId, url, description, status, recordVersion, ...sets }) {
      const change = {
        url,
        description,
        eventTypes: sets.eventTypeSet?.types ?? unlessEmpty(sets.eventTypes),
        headers: sets.headerSet?.values ?? (Object.keys(sets.headers).length === 0 ? undefined : sets.headers),
        ordered: sets.ordered,
        retryDelaysS: sets.retryDelaySet?.seconds ?? unlessEmpty(sets.retryDelaysS),
        transform: jsonOf(sets.transform),
        status: status === undefined ? undefined : nameOf(endpointStatuses, status),
      };
      const endpoint = await endpoints.updateEndpoint(context, endpointId, change, expectedVersion(recordVersion));
      return { endpoint: fromEndpoint(endpoint) };
    },

    async deleteWebhookEndpoint(context, request) {
      return { endpoint: fromEndpoint(await endpoints.deleteEndpoint(context, request.endpointId)) };
    },

    async rotateWebhookSecret(context, request) {
      const { endpoint, secret, previousValidUntil } = await endpoints.rotateSecret(context, request.endpointId);
      return { endpoint: { ...fromEndpoint(endpoint), secret, previousSecretValidUntil: previousValidUntil } };
    },

    async testWebhookEndpoint(context, request) {
      const delivery = await redelivery.testEndpoint(context, request.endpointId, (request.data ?? {}) as JsonObject);
      return { delivery: fromDelivery(delivery) };
    },

    async replayWebhookEndpoint(context, { endpointId, since, until, selection }) {
      const replay = await redelivery.replayEndpoint(context, endpointId, {
        since: dateOf(since!),
        until: until === undefined ? new Date(context.nowMs) : dateOf(until),
        selection: nameOf(replaySelections, selection) ?? "failed",
      });
      return { replay: fromReplay(replay) };
    },

    async getWebhookReplay(context, { endpointId, replayId }) {
      return { replay: fromReplay(await redelivery.getReplay(context, endpointId, replayId)) };
    },

    async listWebhookDeliveries(context, request) {
      const { tenantId, sql } = context;
      const { id: endpointId } = await endpoints.getEndpoint(context, request.endpointId);
      const filter = {
        status: nameOf(deliveryStatuses, request.status),
        eventTypes: request.eventTypes,
        since: request.since && dateOf(request.since),
        until: request.until && dateOf(request.until),
      };
      const page = await context.page(
        "deliveries",
        request,
        [endpointId, ...Object.values(filter)],
        (wanted) => deliveryStore(sql).list({ tenantId, endpointId }, filter, wanted),
        (delivery) => delivery.eventId,
      );
      return { ...page, deliveries: page.deliveries.map(fromDelivery) };
    },

    async listEventDeliveries(context, request) {
      const { tenantId, sql } = context;
      const { environmentMode } = context.principal;
      const endpointIds = await endpointStore(sql).listIds(tenantId, environmentMode);
      const page = await context.page(
        "deliveries",
        request,
        [request.eventId, environmentMode],
        (wanted) => deliveryStore(sql).listForEvent(tenantId, request.eventId, endpointIds, wanted),
        (delivery) => delivery.endpointId,
      );
      // Deliveries may be kept longer than their event.
      if (page.deliveries.length === 0) await redelivery.requireEvent(context, request.eventId);
      return { ...page, deliveries: page.deliveries.map(fromDelivery) };
    },

    async getWebhookDelivery(context, { endpointId, deliveryId }) {
      return { delivery: fromDelivery(await redelivery.getDelivery(context, endpointId, deliveryId)) };
    },

    async replayWebhookDelivery(context, { endpointId, deliveryId }) {
      return { delivery: fromDelivery(await redelivery.replayDelivery(context, endpointId, deliveryId)) };
    },
  };
}

/** A list that replaces another one. An empty list cannot be told from an absent one. */
function unlessEmpty<Item>(list: readonly Item[]): readonly Item[] | undefined {
  return list.length === 0 ? undefined : list;
}

function jsonOf(value: Value | undefined): Json | undefined {
  return value && (toJson(ValueSchema, value) as Json);
}

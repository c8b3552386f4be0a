import { create, toJson } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  CreateWebhookEndpointResponseSchema,
  DeleteWebhookEndpointResponseSchema,
  GetWebhookDeliveryResponseSchema,
  GetWebhookEndpointResponseSchema,
  GetWebhookReplayResponseSchema,
  ListEventDeliveriesResponseSchema,
  ListWebhookDeliveriesResponseSchema,
  ListWebhookEndpointsResponseSchema,
  ReplayWebhookDeliveryResponseSchema,
  ReplayWebhookEndpointResponseSchema,
  RotateWebhookSecretResponseSchema,
  type WebhookService as Rpc,
  TestWebhookEndpointResponseSchema,
  UpdateWebhookEndpointResponseSchema,
} from "../../../../gen/service/api/webhook_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { EnvironmentMode } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Json, JsonObject } from "../../../platform/document/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { dateOf, expectedVersion, nameOf } from "../../../platform/records/index.ts";
import { deliveryStore } from "./deliveries/delivery-store.ts";
import type { Delivery } from "./domain/delivery.ts";
import type { Endpoint } from "./domain/endpoint.ts";
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

export function webhookHandlers(
  endpoints: EndpointService,
  redelivery: RedeliveryService,
  cursors: Cursors,
): Handlers<typeof Rpc> {
  return {
    async createWebhookEndpoint(context, { url, description, eventTypes, environmentMode, ...options }) {
      const { endpoint, secret } = await endpoints.createEndpoint(context, {
        url,
        description,
        eventTypes,
        headers: options.headers,
        ordered: options.ordered,
        retryDelaysS: options.retryDelaysS,
        transform: jsonOf(options.transform) ?? null,
        environmentMode: (environmentMode || undefined) as EnvironmentMode | undefined,
      });
      return create(CreateWebhookEndpointResponseSchema, { endpoint: fromEndpoint(endpoint, { secret }) });
    },

    async getWebhookEndpoint(context, request) {
      const endpoint = await endpoints.getEndpoint(context, request.endpointId);
      return create(GetWebhookEndpointResponseSchema, { endpoint: fromEndpoint(endpoint) });
    },

    async listWebhookEndpoints({ tenantId, principal, sql, operation }, request) {
      const { environmentMode } = principal;
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [environmentMode] },
        (endpoint: Endpoint) => endpoint.id,
        (wanted) => endpointStore(sql).list(tenantId, environmentMode, wanted),
      );
      return create(ListWebhookEndpointsResponseSchema, {
        ...page,
        endpoints: page.items.map((endpoint) => fromEndpoint(endpoint)),
      });
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
      return create(UpdateWebhookEndpointResponseSchema, { endpoint: fromEndpoint(endpoint) });
    },

    async deleteWebhookEndpoint(context, request) {
      const endpoint = await endpoints.deleteEndpoint(context, request.endpointId);
      return create(DeleteWebhookEndpointResponseSchema, { endpoint: fromEndpoint(endpoint) });
    },

    async rotateWebhookSecret(context, request) {
      const { endpoint, ...revealed } = await endpoints.rotateSecret(context, request.endpointId);
      return create(RotateWebhookSecretResponseSchema, { endpoint: fromEndpoint(endpoint, revealed) });
    },

    async testWebhookEndpoint(context, request) {
      const delivery = await redelivery.testEndpoint(context, request.endpointId, (request.data ?? {}) as JsonObject);
      return create(TestWebhookEndpointResponseSchema, { delivery: fromDelivery(delivery) });
    },

    async replayWebhookEndpoint(context, { endpointId, since, until, selection }) {
      const now = new Date(context.nowMs);
      const replay = await redelivery.replayEndpoint(context, endpointId, {
        since: dateOf(since!),
        until: until === undefined ? now : dateOf(until),
        selection: nameOf(replaySelections, selection) ?? "failed",
      });
      return create(ReplayWebhookEndpointResponseSchema, { replay: fromReplay(replay) });
    },

    async getWebhookReplay(context, { endpointId, replayId }) {
      const replay = await redelivery.getReplay(context, endpointId, replayId);
      return create(GetWebhookReplayResponseSchema, { replay: fromReplay(replay) });
    },

    async listWebhookDeliveries(context, request) {
      const { tenantId, sql, operation } = context;
      const { id: endpointId } = await endpoints.getEndpoint(context, request.endpointId);
      const filter = {
        status: nameOf(deliveryStatuses, request.status),
        eventTypes: request.eventTypes,
        since: request.since && dateOf(request.since),
        until: request.until && dateOf(request.until),
      };
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [endpointId, ...Object.values(filter)] },
        (delivery: Delivery) => delivery.eventId,
        (wanted) => deliveryStore(sql).list({ tenantId, endpointId }, filter, wanted),
      );
      return create(ListWebhookDeliveriesResponseSchema, { ...page, deliveries: page.items.map(fromDelivery) });
    },

    async listEventDeliveries(context, request) {
      const { tenantId, principal, sql, operation } = context;
      const { environmentMode } = principal;
      const endpointIds = await endpointStore(sql).listIds(tenantId, environmentMode);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [request.eventId, environmentMode] },
        (delivery: Delivery) => delivery.endpointId,
        (wanted) => deliveryStore(sql).listForEvent(tenantId, request.eventId, endpointIds, wanted),
      );
      // Deliveries may be kept longer than their event.
      if (page.items.length === 0) await redelivery.requireEvent(context, request.eventId);
      return create(ListEventDeliveriesResponseSchema, { ...page, deliveries: page.items.map(fromDelivery) });
    },

    async getWebhookDelivery(context, { endpointId, deliveryId }) {
      const delivery = await redelivery.getDelivery(context, endpointId, deliveryId);
      return create(GetWebhookDeliveryResponseSchema, { delivery: fromDelivery(delivery) });
    },

    async replayWebhookDelivery(context, { endpointId, deliveryId }) {
      const delivery = await redelivery.replayDelivery(context, endpointId, deliveryId);
      return create(ReplayWebhookDeliveryResponseSchema, { delivery: fromDelivery(delivery) });
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

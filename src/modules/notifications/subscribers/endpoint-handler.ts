import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ChannelEndpoint,
  ChannelEndpointSchema,
  DeleteEndpointResponseSchema,
  ListEndpointsResponseSchema,
  type SubscriberService as Rpc,
  UpsertEndpointResponseSchema,
} from "../../../../gen/service/api/subscriber_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { optionalTime, stampFields } from "../../../platform/records/index.ts";
import { type Channel, type Endpoint, providerKeyDefault } from "./domain/endpoint.ts";
import type { EndpointService } from "./endpoint-service.ts";
import { endpointStore } from "./endpoint-store.ts";
import type { SubscriberService } from "./subscriber-service.ts";

/** The operations of SubscriberService on endpoints. */
type EndpointHandlers = Pick<Handlers<typeof Rpc>, "upsertEndpoint" | "deleteEndpoint" | "listEndpoints">;

export function endpointHandlers(
  service: EndpointService,
  subscribers: SubscriberService,
  cursors: Cursors,
): EndpointHandlers {
  return {
    async upsertEndpoint(context, { subscriberId, channel, providerKey, identity, ...request }) {
      const { connectionId, verified, metadata, takeOver } = request;
      const address = { channel: channel as Channel, providerKey: providerKey || providerKeyDefault, identity };
      const change = { connectionId, verified, metadata };
      const endpoint = await service.upsertEndpoint(context, subscriberId, address, change, takeOver);
      return create(UpsertEndpointResponseSchema, { endpoint: fromEndpoint(endpoint) });
    },

    async deleteEndpoint(context, { subscriberId, endpointId }) {
      const endpoint = await service.deleteEndpoint(context, subscriberId, endpointId);
      return create(DeleteEndpointResponseSchema, { endpoint: fromEndpoint(endpoint) });
    },

    async listEndpoints(context, request) {
      const { tenantId, operation, sql } = context;
      const { id } = await subscribers.getSubscriber(context, request.subscriberId);
      const channel = request.channel || undefined;
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [id, channel] },
        (endpoint: Endpoint) => endpoint.id,
        (wanted) => endpointStore(sql).list(tenantId, id, channel, wanted),
      );
      return create(ListEndpointsResponseSchema, { ...page, endpoints: page.items.map(fromEndpoint) });
    },
  };
}

function fromEndpoint(endpoint: Endpoint): ChannelEndpoint {
  return create(ChannelEndpointSchema, {
    id: endpoint.id,
    tenantId: endpoint.tenantId,
    subscriberId: endpoint.subscriberId,
    channel: endpoint.channel,
    providerKey: endpoint.providerKey,
    identity: endpoint.identity,
    connectionId: endpoint.connectionId,
    verified: endpoint.verified,
    metadata: endpoint.metadata as never,
    lastUsedAt: timestampFromDate(endpoint.lastUsedAt),
    suppressedAt: optionalTime(endpoint.suppressedAt),
    ...stampFields(endpoint),
  });
}

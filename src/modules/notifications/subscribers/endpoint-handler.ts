import type { SubscriberService as Rpc } from "../../../../gen/service/api/subscriber_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { type Channel, providerKeyDefault } from "./domain/endpoint.ts";
import type { EndpointService } from "./endpoint-service.ts";
import { endpointStore } from "./endpoint-store.ts";
import type { SubscriberService } from "./subscriber-service.ts";

type EndpointHandlers = Pick<Handlers<typeof Rpc>, "upsertEndpoint" | "deleteEndpoint" | "listEndpoints">;

export function endpointHandlers(service: EndpointService, subscribers: SubscriberService): EndpointHandlers {
  return {
    async upsertEndpoint(context, { subscriberId, channel, providerKey, identity, ...request }) {
      const { connectionId, verified, metadata, takeOver } = request;
      const address = { channel: channel as Channel, providerKey: providerKey || providerKeyDefault, identity };
      const change = { connectionId, verified, metadata };
      return { endpoint: await service.upsertEndpoint(context, subscriberId, address, change, takeOver) };
    },

    async deleteEndpoint(context, { subscriberId, endpointId }) {
      return { endpoint: await service.deleteEndpoint(context, subscriberId, endpointId) };
    },

    async listEndpoints(context, request) {
      const { id } = await subscribers.getSubscriber(context, request.subscriberId);
      const channel = request.channel || undefined;
      return context.page("endpoints", request, [id, channel], (page) =>
        endpointStore(context.sql).list(context.tenantId, id, channel, page),
      );
    },
  };
}

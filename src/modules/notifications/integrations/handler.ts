import type {
  CreateIntegrationRequest,
  IntegrationService as Rpc,
  UpdateIntegrationRequest,
} from "../../../../gen/service/api/integration_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { expectedVersion } from "../../../platform/records/index.ts";
import type { Channel } from "../subscribers/index.ts";
import { type Casing, type IntegrationDetails, priorityDefault } from "./domain/integration.ts";
import type { IntegrationService } from "./service.ts";
import { integrationStore } from "./store.ts";

export function integrationHandlers(service: IntegrationService): Handlers<typeof Rpc> {
  return {
    async createIntegration(context, request) {
      return { integration: await service.createIntegration(context, request.channel as Channel, toDetails(request)) };
    },

    getIntegration: async (context, { id }) => ({ integration: await service.getIntegration(context, id) }),

    async updateIntegration(context, request) {
      const channel = (request.channel as Channel) || undefined;
      const version = expectedVersion(request.recordVersion);
      return {
        integration: await service.updateIntegration(context, request.id, channel, toDetails(request), version),
      };
    },

    deleteIntegration: async (context, { id }) => ({ integration: await service.deleteIntegration(context, id) }),

    listIntegrations(context, request) {
      const channel = request.channel || undefined;
      return context.page("integrations", request, [channel], (page) =>
        integrationStore(context.sql).list(context.tenantId, channel, page),
      );
    },
  };
}

function toDetails(request: CreateIntegrationRequest | UpdateIntegrationRequest): IntegrationDetails {
  return {
    name: request.name,
    providerKey: request.providerKey,
    connectionId: request.connectionId,
    priority: request.priority ?? priorityDefault,
    active: request.active ?? true,
    condition: request.condition,
    casingOverride: request.casingOverride as Casing,
    metadata: request.metadata ?? {},
  };
}

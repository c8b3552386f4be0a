import { create } from "@bufbuild/protobuf";
import {
  type CreateIntegrationRequest,
  CreateIntegrationResponseSchema,
  DeleteIntegrationResponseSchema,
  GetIntegrationResponseSchema,
  type Integration as IntegrationMessage,
  IntegrationSchema,
  ListIntegrationsResponseSchema,
  type IntegrationService as Rpc,
  type UpdateIntegrationRequest,
  UpdateIntegrationResponseSchema,
} from "../../../../gen/service/api/integration_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { expectedVersion, stampFields } from "../../../platform/records/index.ts";
import type { Channel } from "../subscribers/index.ts";
import { type Casing, type Integration, type IntegrationDetails, priorityDefault } from "./domain/integration.ts";
import type { IntegrationService } from "./service.ts";
import { integrationStore } from "./store.ts";

/** The operations of IntegrationService. */
export function integrationHandlers(service: IntegrationService, cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async createIntegration(context, request) {
      const integration = await service.createIntegration(context, request.channel as Channel, toDetails(request));
      return create(CreateIntegrationResponseSchema, { integration: fromIntegration(integration) });
    },

    async getIntegration(context, { id }) {
      const integration = await service.getIntegration(context, id);
      return create(GetIntegrationResponseSchema, { integration: fromIntegration(integration) });
    },

    async updateIntegration(context, request) {
      const integration = await service.updateIntegration(
        context,
        request.id,
        (request.channel as Channel) || undefined,
        toDetails(request),
        expectedVersion(request.recordVersion),
      );
      return create(UpdateIntegrationResponseSchema, { integration: fromIntegration(integration) });
    },

    async deleteIntegration(context, { id }) {
      const integration = await service.deleteIntegration(context, id);
      return create(DeleteIntegrationResponseSchema, { integration: fromIntegration(integration) });
    },

    async listIntegrations(context, request) {
      const { tenantId, sql, operation } = context;
      const channel = request.channel || undefined;
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [channel] },
        (integration: Integration) => integration.id,
        (wanted) => integrationStore(sql).list(tenantId, channel, wanted),
      );
      return create(ListIntegrationsResponseSchema, { ...page, integrations: page.items.map(fromIntegration) });
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

function fromIntegration(integration: Integration): IntegrationMessage {
  return create(IntegrationSchema, {
    id: integration.id,
    tenantId: integration.tenantId,
    channel: integration.channel,
    name: integration.name,
    providerKey: integration.providerKey,
    connectionId: integration.connectionId,
    priority: integration.priority,
    active: integration.active,
    condition: integration.condition,
    casingOverride: integration.casingOverride,
    metadata: integration.metadata as never,
    ...stampFields(integration),
  });
}

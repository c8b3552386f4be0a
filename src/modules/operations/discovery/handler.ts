import { create, type DescService } from "@bufbuild/protobuf";
import {
  type Capability as CapabilityMessage,
  CapabilitySchema,
  GetCapabilityResponseSchema,
  GetServicesReportResponseSchema,
  ListCapabilitiesResponseSchema,
  ListCapabilityPosturesResponseSchema,
  type MethodReport,
  MethodReportSchema,
  type DiscoveryService as Rpc,
  type ServiceReport,
  ServiceReportSchema,
} from "../../../../gen/service/api/discovery_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { commentOf } from "../../../definitions/comments.ts";
import type { Operation } from "../../../definitions/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { pageOf, readPage } from "../../../platform/paging/index.ts";
import { type Capability, type CapabilityFilter, visibleModes } from "./domain/capability.ts";
import type { DiscoveryService } from "./service.ts";

const capabilityId = (capability: Capability) => capability.id;

export function discoveryHandlers(
  service: DiscoveryService,
  cursors: Cursors,
  apiVersion: string,
): Handlers<typeof Rpc> {
  return {
    async getServicesReport({ plane }) {
      const services = [...service.servicesOf(plane)].map(fromService);
      return create(GetServicesReportResponseSchema, { report: { plane, apiVersion, services } });
    },

    async listCapabilityPostures() {
      const capabilities = await service.listCapabilityPostures();
      return create(ListCapabilityPosturesResponseSchema, { capabilities: capabilities.map(fromCapability) });
    },

    async listCapabilities({ tenantId, operation }, request) {
      const filter: CapabilityFilter = {
        includeDisabled: request.includeDisabled,
        includeDegraded: request.includeDegraded ?? true,
        includeMissingDependency: request.includeMissingDependency,
        modes: request.modes,
        query: request.query,
      };
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [[...visibleModes(filter)].sort(), filter.query] },
        capabilityId,
        async (wanted) => pageOf(await service.listCapabilities(filter), capabilityId, wanted),
      );
      return create(ListCapabilitiesResponseSchema, { ...page, capabilities: page.items.map(fromCapability) });
    },

    async getCapability(_context, request) {
      const capability = await service.getCapability(request.id);
      return create(GetCapabilityResponseSchema, { capability: fromCapability(capability) });
    },
  };
}

function fromService([service, operations]: readonly [DescService, readonly Operation[]]): ServiceReport {
  return create(ServiceReportSchema, {
    name: service.typeName,
    description: commentOf(service),
    methods: operations.map(fromOperation),
  });
}

function fromOperation(operation: Operation): MethodReport {
  const { method, governance } = operation;
  const [binding] = operation.bindings;
  return create(MethodReportSchema, {
    name: method.name,
    description: commentOf(method),
    connectPath: `/${operation.id}`,
    httpMethod: binding!.verb,
    httpPath: binding!.path,
    scopes: [...operation.scopes],
    roles: governance.roles,
    authenticationRequired: governance.authenticationRequired,
    mutating: governance.mutating,
    streaming: operation.streaming,
    deprecated: governance.deprecation !== undefined,
    tokenCost: operation.tokenCost,
  });
}

function fromCapability({ reason = "", ...capability }: Capability): CapabilityMessage {
  return create(CapabilitySchema, {
    id: capability.id,
    name: capability.name,
    description: capability.description,
    mode: capability.mode,
    reason,
    settings: [...capability.settings],
    dependencies: [...capability.dependencies],
    services: [...capability.services],
  });
}

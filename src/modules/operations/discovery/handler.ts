import type { DescService } from "@bufbuild/protobuf";
import type { DiscoveryService as Rpc } from "../../../../gen/service/api/discovery_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { commentOf } from "../../../definitions/comments.ts";
import type { Operation } from "../../../definitions/index.ts";
import { pageOf } from "../../../platform/paging/index.ts";
import { type Capability, type CapabilityFilter, visibleModes } from "./domain/capability.ts";
import type { DiscoveryService } from "./service.ts";

export function discoveryHandlers(service: DiscoveryService, apiVersion: string): Handlers<typeof Rpc> {
  return {
    async getServicesReport({ plane }) {
      const services = [...service.servicesOf(plane)].map(fromService);
      return { report: { plane, apiVersion, services } };
    },

    listCapabilityPostures: async () => ({
      capabilities: (await service.listCapabilityPostures()).map(fromCapability),
    }),

    listCapabilities(context, request) {
      const filter: CapabilityFilter = {
        includeDisabled: request.includeDisabled,
        includeDegraded: request.includeDegraded ?? true,
        includeMissingDependency: request.includeMissingDependency,
        modes: request.modes,
        query: request.query,
      };
      const chosen = [[...visibleModes(filter)].sort(), filter.query];
      return context.page("capabilities", request, chosen, async (wanted) => {
        const capabilities = (await service.listCapabilities(filter)).map(fromCapability);
        return pageOf(capabilities, ({ id }) => id, wanted);
      });
    },

    getCapability: async (_context, { id }) => ({ capability: fromCapability(await service.getCapability(id)) }),
  };
}

function fromService([service, operations]: readonly [DescService, readonly Operation[]]) {
  return { name: service.typeName, description: commentOf(service), methods: operations.map(fromOperation) };
}

function fromOperation(operation: Operation) {
  const { method, governance } = operation;
  const [binding] = operation.bindings;
  return {
    name: method.name,
    description: commentOf(method),
    connectPath: `/${operation.id}`,
    httpMethod: binding!.verb,
    httpPath: binding!.path,
    scopes: operation.scopes,
    roles: governance.roles,
    authenticationRequired: governance.authenticationRequired,
    mutating: governance.mutating,
    streaming: operation.streaming,
    deprecated: governance.deprecation !== undefined,
    tokenCost: operation.tokenCost,
  };
}

const fromCapability = ({ reason = "", ...capability }: Capability) => ({ ...capability, reason });

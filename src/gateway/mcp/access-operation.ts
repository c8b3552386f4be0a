import { create, type DescMethod, type DescService } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import {
  Governance_Audience,
  Governance_Lifecycle,
  GovernanceSchema,
} from "../../../gen/service/options/governance_pb.ts";
import type { ServiceHandlers } from "../../chain/call.ts";
import type { Operation } from "../../definitions/index.ts";

const service = { kind: "service", typeName: "mcp", name: "mcp", methods: [] } as unknown as DescService;
const method = {
  ...{ kind: "rpc", name: "Request", localName: "request", parent: service, methodKind: "unary" },
  ...{ input: EmptySchema, output: EmptySchema },
} as unknown as DescMethod;

/**
 * The operation of every request to the endpoint, before it is known what the request is about. It passes the chain, so
 * that callers are authenticated and limited before their body is read. It is no operation of the API.
 */
export const accessOperation: Operation = {
  id: "mcp/Request",
  method,
  service,
  governance: create(GovernanceSchema, {
    lifecycle: Governance_Lifecycle.SUPPORTED,
    audience: Governance_Audience.TENANT,
    authenticationRequired: true,
    tokenCost: 1,
  }),
  command: "",
  bindings: [],
  scopes: [],
  paging: undefined,
  streaming: false,
  streamsBytes: false,
  acceptsIdempotencyKey: false,
  tokenCost: 1,
  toolName: undefined,
  rawBodyBytesMax: undefined,
};

/** The handlers of the operation: whoever passes the chain has access. */
export const accessHandlers: Readonly<Record<string, ServiceHandlers>> = {
  [service.typeName]: { [method.localName]: async () => create(EmptySchema) },
};

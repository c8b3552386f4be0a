import { create, type DescMessage, type DescMethod, type DescService, type MessageInitShape } from "@bufbuild/protobuf";
import { GovernanceSchema } from "../../gen/service/options/governance_pb.ts";
import type { Operation } from "./operation.ts";

interface Options {
  /** The endpoint, whose name is also the name of the service that handles the operation. */
  readonly endpoint: string;
  readonly name: string;
  readonly input: DescMessage;
  readonly output: DescMessage;
  readonly scopes?: readonly string[];
  readonly governance?: MessageInitShape<typeof GovernanceSchema>;
}

/**
 * Creates the operation of an endpoint with a protocol of its own. With it, requests pass the chain, although they are no
 * operation of the API.
 */
export function createEndpointOperation({
  endpoint,
  name,
  input,
  output,
  scopes = [],
  governance,
}: Options): Operation {
  const service = { kind: "service", typeName: endpoint, name: endpoint, methods: [] } as unknown as DescService;
  const localName = name.toLowerCase();
  const method = { kind: "rpc", name, localName, parent: service, methodKind: "unary", input, output };
  return {
    id: `${endpoint}/${name}`,
    method: method as unknown as DescMethod,
    service,
    governance: create(GovernanceSchema, {
      authorizationRequired: false,
      ...(governance as object),
    }),
    command: "",
    bindings: [],
    scopes,
    paging: undefined,
    streaming: false,
    streamsBytes: false,
    acceptsIdempotencyKey: false,
    tokenCost: 1,
    toolName: undefined,
    rawBodyBytesMax: undefined,
  };
}

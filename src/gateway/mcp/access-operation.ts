import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { ServiceHandlers } from "../../chain/call.ts";
import { createEndpointOperation } from "../../definitions/index.ts";

/**
 * The operation of every request to the endpoint, before it is known what the request is about. It passes the chain, so
 * that callers are authenticated and limited before their body is read.
 */
export const accessOperation = createEndpointOperation({
  ...{ endpoint: "mcp", name: "Request", input: EmptySchema, output: EmptySchema },
});

/** The handlers of the operation: whoever passes the chain has access. */
export const accessHandlers: Readonly<Record<string, ServiceHandlers>> = {
  mcp: { request: async () => create(EmptySchema) },
};

import { createEventStream } from "../streams/event-stream.ts";
import { createList } from "./list.ts";
import type { CallOptions, Operation } from "./operation.ts";
import type { Transport } from "./transport.ts";

type Method = (request?: object, options?: CallOptions) => unknown;

/** Creates the methods of a service from its operations. */
export function bindOperations<Service>(
  transport: Transport,
  operations: Readonly<Record<keyof Service, Operation>>,
): Service {
  const methods: Record<string, Method> = {};
  for (const [name, operation] of Object.entries<Operation>(operations)) {
    methods[name] = (request = {}, options) => invoke(transport, operation, request, options);
  }
  return methods as Service;
}

function invoke(transport: Transport, operation: Operation, request: object, options?: CallOptions): unknown {
  switch (operation.result) {
    case "cursor":
    case "numbered":
      return createList(transport, operation, request, options);
    case "stream":
      return createEventStream(transport, operation, request, options);
    case "raw":
      return transport.open(operation, request, options);
    case undefined:
      return transport.call<{ data: unknown }>(operation, request, options).then(({ data }) => data);
  }
}

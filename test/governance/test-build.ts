import { createAreas } from "../../src/app/areas.ts";
import type { Context, Handler, ServiceHandlers } from "../../src/chain/call.ts";
import type { KeyedCall } from "../../src/platform/idempotency/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: faults change messages of every type.
export type AnyMessage = any;

/** Misbehaves in place of an operation; `original` is what the operation does. */
export type Fault = (request: AnyMessage, original: () => Promise<AnyMessage>) => Promise<AnyMessage>;

/** Finds the fault of an operation, such as `WorkService/completeItem`, for the calls of a tenant. */
export type FindFailure = (operation: string, tenantId: string) => Fault | undefined;

/** Creates the areas of a build whose operations can be broken while it runs. */
export function createBreakableAreas(findFault: FindFailure): typeof createAreas {
  return async (parts) => {
    const areas = await createAreas(parts);
    const breakable = (service: string, handlers: ServiceHandlers): ServiceHandlers =>
      Object.fromEntries(
        Object.entries(handlers).map(([method, handler]) => {
          const operation = `${service.replace("service.api.", "")}/${method}`;
          return [method, wrap(handler, ({ tenantId }) => findFault(operation, tenantId))];
        }),
      );
    const all = areas.all.map((area) => ({
      ...area,
      handlers: Object.fromEntries(
        Object.entries(area.handlers).map(([service, handlers]) => [
          service,
          breakable(service, handlers as ServiceHandlers),
        ]),
      ),
    }));
    return { ...areas, all } as unknown as typeof areas;
  };
}

function wrap(
  handler: ServiceHandlers[string],
  findFault: (context: Context) => Fault | undefined,
): ServiceHandlers[string] {
  const broken = (context: Context, request: AnyMessage, original: () => Promise<AnyMessage>) =>
    findFault(context)?.(request, original) ?? original();
  if (typeof handler === "function") {
    return ((context, request) => broken(context, request, () => handler(context, request))) as Handler;
  }
  if ("prepare" in handler) {
    return {
      ...handler,
      run: (context: Context, request: AnyMessage, prepared: AnyMessage) =>
        broken(context, request, () => handler.run(context, request, prepared)),
    };
  }
  return {
    ...handler,
    ownCommit: (context: Context, request: AnyMessage, keyed: KeyedCall | undefined) =>
      broken(context, request, () => handler.ownCommit(context, request, keyed)),
  };
}

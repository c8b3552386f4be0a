import { createAreas } from "../../src/app/areas.ts";
import type { Context, Handler, KeyedCall, ServiceHandlers } from "../../src/chain/call.ts";

// biome-ignore lint/suspicious/noExplicitAny: faults change messages of every type.
type AnyMessage = any;

/** Misbehaves in place of an operation; `original` is what the operation does. */
export type Fault = (request: AnyMessage, original: () => Promise<AnyMessage>) => Promise<AnyMessage>;

/** The faults of a test build by operation, such as `WorkService/completeItem`. Tests add and remove them. */
export type Faults = Map<string, Fault>;

/** Creates the areas of a build whose operations can be broken while it runs. */
export function createBreakableAreas(faults: Faults): typeof createAreas {
  return async (parts) => {
    const areas = await createAreas(parts);
    const breakable = (service: string, handlers: ServiceHandlers): ServiceHandlers =>
      Object.fromEntries(
        Object.entries(handlers).map(([method, handler]) => {
          const name = `${service.replace("service.api.", "")}/${method}`;
          return [name.split("/")[1]!, wrap(handler, () => faults.get(name))];
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

function wrap(handler: ServiceHandlers[string], findFault: () => Fault | undefined): ServiceHandlers[string] {
  if (typeof handler === "function") {
    const broken: Handler = (context, request) => {
      const original = () => handler(context, request);
      return findFault()?.(request, original) ?? original();
    };
    return broken;
  }
  if ("prepare" in handler) return handler;
  return {
    ...handler,
    grouped(context: Context, request: AnyMessage, keyed: KeyedCall | undefined) {
      const original = () => handler.grouped(context, request, keyed);
      return findFault()?.(request, original) ?? original();
    },
  };
}

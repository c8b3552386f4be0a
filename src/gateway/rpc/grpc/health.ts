import { create, type Message } from "@bufbuild/protobuf";
import {
  Health,
  type HealthCheckRequest,
  HealthCheckResponse_ServingStatus,
  HealthCheckResponseSchema,
} from "../../../../gen/grpc/health/v1/health_pb.ts";
import { fail } from "../../../errors/index.ts";
import { createProtocolProcedure, type Procedure } from "../procedure.ts";

/** The serving status behind the health protocol. */
export interface HealthSource {
  /** Whether a service, given by its full name, accepts calls; "" means the whole server. */
  isServing(service: string): boolean;
  /** Calls the listener after every change. Returns the function that removes it. */
  onChange(listener: () => void): () => void;
}

const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = HealthCheckResponse_ServingStatus;

/** Creates the gRPC health protocol. Load balancers call it, so it needs no credentials. */
export function createHealthProcedures(source: HealthSource, services: ReadonlySet<string>): Procedure[] {
  const statusOf = (service: string) => {
    if (service !== "" && !services.has(service)) return SERVICE_UNKNOWN;
    return source.isServing(service) ? SERVING : NOT_SERVING;
  };

  async function* watch(service: string, signal: AbortSignal): AsyncGenerator<Message> {
    let wake = () => {};
    const removeListener = source.onChange(() => wake());
    signal.addEventListener("abort", () => wake(), { once: true });
    try {
      for (let last: number | undefined; !signal.aborted; ) {
        // Created before the status is read, so that no change is missed.
        const changed = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const status = statusOf(service);
        if (status !== last) yield create(HealthCheckResponseSchema, { status });
        else await changed;
        last = status;
      }
    } finally {
      removeListener();
    }
  }

  return [
    createProtocolProcedure(Health.method.check, async (call) => {
      const { service } = (await call.decode()) as HealthCheckRequest;
      const status = statusOf(service);
      if (status === SERVICE_UNKNOWN)
        throw fail("NOT_FOUND", {
          public:
            "No such service. Use the full name (for example: service.api.TenantService), or an empty name for the whole server.",
        });
      return create(HealthCheckResponseSchema, { status });
    }),
    createProtocolProcedure(Health.method.watch, async (call) => {
      const { service } = (await call.decode()) as HealthCheckRequest;
      return watch(service, call.signal);
    }),
  ];
}

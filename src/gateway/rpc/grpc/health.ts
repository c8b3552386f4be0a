import { create, type Message } from "@bufbuild/protobuf";
import {
  Health,
  type HealthCheckRequest,
  HealthCheckResponse_ServingStatus,
  HealthCheckResponseSchema,
} from "../../../../gen/grpc/health/v1/health_pb.ts";
import { fail } from "../../../errors/index.ts";
import { type Procedure, protocolProcedure } from "../procedure.ts";

/** Where the health protocol learns how the services stand. */
export interface HealthSource {
  /** Whether a service, by its full name, takes calls; "" stands for the whole server. */
  isServing(service: string): boolean;
  /** Tells of changes from now on; answers with what ends that. */
  onChange(listener: () => void): () => void;
}

const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = HealthCheckResponse_ServingStatus;

/** The gRPC health protocol: its callers are balancers, so it asks for no credentials. */
export function healthProcedures(source: HealthSource, services: ReadonlySet<string>): Procedure[] {
  const statusOf = (service: string) => {
    if (service !== "" && !services.has(service)) return SERVICE_UNKNOWN;
    return source.isServing(service) ? SERVING : NOT_SERVING;
  };

  async function* watch(service: string, signal: AbortSignal): AsyncGenerator<Message> {
    let wake = () => {};
    const forget = source.onChange(() => wake());
    signal.addEventListener("abort", () => wake(), { once: true });
    try {
      for (let last: number | undefined; !signal.aborted; ) {
        // Before the status is read, so that no change falls between.
        const changed = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const status = statusOf(service);
        if (status !== last) yield create(HealthCheckResponseSchema, { status });
        else await changed;
        last = status;
      }
    } finally {
      forget();
    }
  }

  return [
    protocolProcedure(Health.method.check, async (call) => {
      const { service } = (await call.decode()) as HealthCheckRequest;
      const status = statusOf(service);
      if (status === SERVICE_UNKNOWN) throw fail("NOT_FOUND", { public: "No such service." });
      return create(HealthCheckResponseSchema, { status });
    }),
    protocolProcedure(Health.method.watch, async (call) => {
      const { service } = (await call.decode()) as HealthCheckRequest;
      return watch(service, call.signal);
    }),
  ];
}

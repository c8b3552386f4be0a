import { batchServices } from "./batching/batch-services.ts";
import type { BatchingOptions } from "./batching/batcher.ts";
import { createServices, type Services } from "./gen/services.ts";
import { createTransport, type Transport, type TransportOptions } from "./transport/transport.ts";

/** All services of the API, and the transport that they share. */
export interface Client extends Services {
  readonly transport: Transport;
}

/** How a client reaches the service, and whether it sends calls in batches. */
export interface ClientOptions extends TransportOptions {
  /** Sends calls that are made at the same time, or while another is in flight, as one request; default false. */
  readonly batching?: boolean | BatchingOptions;
}

/**
 * Creates a client. With a key or a token it calls the service from anywhere; without, it uses the session of the browser
 * and must run in a page of the service.
 */
export function createClient({ batching = false, ...options }: ClientOptions = {}): Client {
  const transport = createTransport(options);
  const services = createServices(transport);
  if (batching === false) return { transport, ...services };
  return { transport, ...batchServices(services, transport, batching === true ? {} : batching) };
}

import { createServices, type Services } from "./gen/services.ts";
import { createTransport, type Transport, type TransportOptions } from "./transport/transport.ts";

/** All services of the API, and the transport that they share. */
export interface Client extends Services {
  readonly transport: Transport;
}

/**
 * Creates a client. With a key or a token it calls the service from anywhere; without, it uses the session of the browser
 * and must run in a page of the service.
 */
export function createClient(options: TransportOptions = {}): Client {
  const transport = createTransport(options);
  return { transport, ...createServices(transport) };
}

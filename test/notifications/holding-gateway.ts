import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterFile } from "../harness/after-file.ts";

/** A gateway that accepts messages and does not respond until released. */
export interface HoldingGateway {
  readonly url: string;
  /** Resolves when the first message arrives. */
  readonly reached: Promise<void>;
  count(): number;
  /** The Idempotency-Key of each message, in arrival order. */
  keys(): readonly (string | undefined)[];
  /** Responds to every message from now on with 200. */
  answer(): void;
}

/** Starts a gateway that does not respond; it is closed after the file. */
export async function startHoldingGateway(): Promise<HoldingGateway> {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const keys: (string | undefined)[] = [];
  let responses = false;
  const server = http.createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      keys.push(request.headers["idempotency-key"] as string | undefined);
      resolve();
      if (responses) response.writeHead(200).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reached,
    count: () => keys.length,
    keys: () => keys,
    answer() {
      responses = true;
    },
  };
}

import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterFile } from "../harness/after-file.ts";

/** A received request. */
export interface Received {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly atMs: number;
}

/** The response to a request. */
export interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
}

/** A real HTTP server that records its requests. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** The maximum number of concurrent requests. */
  readonly openMax: number;
}

/** Starts a receiver that is closed after the last test of the file. */
export async function startReceiver(
  answer: (request: Received, nth: number) => Reply | Promise<Reply>,
): Promise<Receiver> {
  const received: Received[] = [];
  let open = 0;
  let openMax = 0;
  const server = http.createServer(async (request, response) => {
    openMax = Math.max(openMax, ++open);
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const headers = request.headers as Record<string, string>;
    const got = { path: request.url!, headers, body, atMs: Date.now() };
    const { status, headers: told = {} } = await answer(got, received.push(got) - 1);
    open--;
    response.writeHead(status, told).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    get openMax() {
      return openMax;
    },
  };
}

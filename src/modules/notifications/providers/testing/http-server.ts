import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { startReceiver } from "../../../../platform/egress/testing/receivers.ts";

/** A request as it came. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What a server does with a request. */
export type Answer =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown }
  | "hang up"
  | "say nothing";

/** A server of a provider's on loopback that answers as it is told. */
export async function httpServer(answer: (request: Received) => Answer = () => ({ status: 200 })) {
  const received: Received[] = [];
  const { port } = await startReceiver(async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray());
    const seen = { path: request.url!, headers: request.headers, body };
    received.push(seen);
    const given = answer(seen);
    if (given === "hang up") request.socket.destroy();
    else if (given !== "say nothing") {
      response.writeHead(given.status, { "content-type": "application/json", ...given.headers });
      response.end(typeof given.body === "string" ? given.body : JSON.stringify(given.body ?? {}));
    }
  });
  return { received, url: `http://127.0.0.1:${port}` };
}

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { startReceiver } from "../../../../platform/egress/testing/receivers.ts";

export interface RecordedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The server's response to a request. */
export type StubResponse =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown }
  | "disconnect"
  | "no response";

/** Starts a provider's HTTP server on loopback with configurable responses. */
export async function httpServer(answer: (request: RecordedRequest) => StubResponse = () => ({ status: 200 })) {
  const received: RecordedRequest[] = [];
  const { port } = await startReceiver(async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray());
    const seen = { path: request.url!, headers: request.headers, body };
    received.push(seen);
    const given = answer(seen);
    if (given === "disconnect") request.socket.destroy();
    else if (given !== "no response") {
      response.writeHead(given.status, { "content-type": "application/json", ...given.headers });
      response.end(typeof given.body === "string" ? given.body : JSON.stringify(given.body ?? {}));
    }
  });
  return { received, url: `http://127.0.0.1:${port}` };
}

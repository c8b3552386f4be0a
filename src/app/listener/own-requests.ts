import http from "node:http";
import { duplexPair } from "node:stream";
import type { Edge } from "../../gateway/edge.ts";

/** A request that the service sends to itself. */
export interface OwnRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  /** Whether the text so far is enough: the rest of an endless response is not read. */
  readonly isEnough?: ((text: string) => boolean) | undefined;
}

/** The response to a request of the service itself. */
export interface OwnResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** Sends requests of the service to its own external plane. */
export type OwnRequests = ReturnType<typeof createOwnRequests>;

/**
 * Creates the requests of a node to itself. They are HTTP/1.1 over a connection in memory, so that they pass everything that
 * requests of callers pass, on every node, whatever its addresses, proxies and certificates are.
 */
export function createOwnRequests() {
  const { promise: plane, resolve } = Promise.withResolvers<http.Server>();
  return {
    /** Tells where requests go. */
    connect(edge: Edge) {
      resolve(http.createServer({ requireHostHeader: false }, edge));
    },
    /** Sends a request. It waits until the plane exists. */
    async send({ method, path, headers, body, signal, isEnough = () => false }: OwnRequest): Promise<OwnResponse> {
      const server = await plane;
      const [own, remote] = duplexPair();
      server.emit("connection", remote);
      const { promise: received, resolve: receive, reject } = Promise.withResolvers<http.IncomingMessage>();
      const request = http.request({
        method,
        path,
        headers: { connection: "close", ...headers },
        signal,
        createConnection: () => own,
      });
      request.on("response", receive).on("error", reject).end(body);
      try {
        const response = await received;
        let text = "";
        for await (const chunk of response.setEncoding("utf8")) {
          text += chunk;
          if (isEnough(text)) break;
        }
        return { status: response.statusCode!, headers: response.headers, text };
      } finally {
        own.destroy();
        remote.destroy();
      }
    },
  };
}

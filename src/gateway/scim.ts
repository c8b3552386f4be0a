import { retryLater } from "./callbacks/callback-guard.ts";
import type { PathHandler } from "./edge.ts";
import { type Exchange, headerOf, readBody, writeHead } from "./exchange.ts";

interface Options {
  /** Answers a request of a directory. */
  readonly handle: (request: {
    readonly method: string;
    readonly path: string;
    readonly query: URLSearchParams;
    readonly header: (name: string) => string | undefined;
    readonly address: string;
    readonly readBody: () => Promise<Buffer>;
  }) => Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }>;
}

const prefix = "/scim/v2";
/** Directories send requests one after another, or few at a time. */
const runningMax = 64;

/**
 * Creates the SCIM endpoint, `/scim/v2`. SCIM defines its own paths, errors and pages, so that it bypasses the chain: the
 * handler authenticates and limits the requests.
 */
export function createScimEndpoint({ handle }: Options): PathHandler {
  let running = 0;

  return (exchange) => {
    const { path } = exchange;
    if (path !== prefix && !path.startsWith(`${prefix}/`)) return false;
    if (running >= runningMax) throw retryLater("UNAVAILABLE", "Too many concurrent requests.", 1);
    running++;
    return serve(exchange).finally(() => {
      running--;
    });
  };

  async function serve(exchange: Exchange): Promise<true> {
    const { request, path, query } = exchange;
    const response = await handle({
      method: request.method === "HEAD" ? "GET" : (request.method ?? ""),
      path: decoded(path.slice(prefix.length)),
      query: new URLSearchParams(query),
      header: (name) => headerOf(request, name),
      address: exchange.clientAddress,
      readBody: () => readBody(exchange),
    });
    const body = Buffer.from(response.body);
    writeHead(exchange, response.status, {
      ...response.headers,
      ...(response.status !== 204 && response.status !== 304 && { "content-length": String(body.length) }),
    });
    exchange.response.end(request.method === "HEAD" ? "" : body);
    return true;
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Plane } from "../chain/call.ts";
import { Failure, fail, invalid } from "../errors/index.ts";
import { createDiscardPace } from "./discard-pace.ts";
import { type Exchange, headerOf, writeHead } from "./exchange.ts";
import type { RestHandler } from "./rest/index.ts";
import { boundUnreadAnswer, discardUnreadBody } from "./unread.ts";

/** Something that answers some paths; false passes the request on. */
export type PathHandler = (exchange: Exchange) => boolean | Promise<boolean>;

interface Options {
  readonly plane: Plane;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly bodyBytesMax: number;
  readonly bodyTimeoutMs: number;
  /** Aborted when the instance stops. */
  readonly stopping: AbortSignal;
  /** Asked in order, before REST. */
  readonly handlers: readonly PathHandler[];
  readonly rest: RestHandler;
  /** Called when an exchange breaks in a way that no handler answered. */
  readonly onError: (error: unknown) => void;
}

/** Takes every HTTP request of a plane. */
export type Edge = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => void;

/** Headers that every answer carries. */
const secureHeaders = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
} as const;

const exposedHeaders =
  "ETag, X-Request-ID, Api-Version, Idempotency-Replayed, Deprecation, Sunset, Link, Retry-After, WWW-Authenticate, X-RateLimit-Limit, X-RateLimit-Remaining";

/** What stands before all protocols: the Host and other origins; then the path decides who answers. */
export function createEdge(options: Options): Edge {
  const hosts = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
  const anyHost = hosts.has("*");

  async function answer(exchange: Exchange): Promise<void> {
    const { request } = exchange;
    const host = hostOf(request);
    if (!anyHost && !hosts.has(host)) {
      throw fail("HOST_NOT_ALLOWED", { public: "This instance does not answer to that Host." });
    }
    if (allowOrigin(exchange, options.allowedOrigins)) return;
    for (const handle of options.handlers) {
      const handled = handle(exchange);
      if (handled === true || (handled !== false && (await handled))) return;
    }
    if (!(await options.rest.handle(exchange))) {
      throw fail("ROUTE_NOT_FOUND", { public: "No operation answers at this path." });
    }
  }

  const pace = createDiscardPace(discardLimits);
  return (request, response) => {
    // A proxy may send the whole address; only what follows the host is the path.
    const url = (request.url ?? "/").replace(absoluteTarget, "");
    const at = url.indexOf("?");
    const exchange: Exchange = {
      request,
      response,
      plane: options.plane,
      path: at < 0 ? url : url.slice(0, at),
      query: at < 0 ? "" : url.slice(at + 1),
      bodyBytesMax: options.bodyBytesMax,
      bodyTimeoutMs: options.bodyTimeoutMs,
      stopping: options.stopping,
      headers: { ...secureHeaders },
    };
    answer(exchange)
      .catch((error: unknown) => {
        if (!(error instanceof Failure)) options.onError(error);
        if (response.headersSent) response.end();
        else options.rest.refuse(exchange, error instanceof Failure ? error : fail("INTERNAL", { cause: error }));
      })
      .then(() => {
        discardUnreadBody(exchange, pace);
        boundUnreadAnswer(exchange);
      });
  };
}

const discardLimits = {
  burstBytes: 256 * 1024,
  bytesPerSecond: 16 * 1024 * 1024,
  totalBytesPerSecond: 32 * 1024 * 1024,
};

const absoluteTarget = /^(https?):\/\/([^/?]*)/i;

/** The host that a request is for, without its port. A request that names two of them is refused. */
function hostOf(request: Exchange["request"]): string {
  const header = headerOf(request, "host");
  const [, scheme, named] = absoluteTarget.exec(request.url ?? "") ?? [];
  const authority = headerOf(request, ":authority") ?? named;
  if (hasTwoHosts(request)) throw invalid("Host", "host", "must be sent once");
  if (authority === undefined) return withoutPort(header ?? "");
  if (header !== undefined && withoutDefaultPort(header, scheme) !== withoutDefaultPort(authority, scheme)) {
    throw invalid("Host", "host", "must name the host of the request's target");
  }
  return withoutPort(authority);
}

function hasTwoHosts({ rawHeaders }: Exchange["request"]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts > 1;
}

function withoutPort(authority: string): string {
  return authority.toLowerCase().replace(/:\d+$/, "");
}

function withoutDefaultPort(authority: string, scheme = "http"): string {
  return authority.toLowerCase().replace(scheme.toLowerCase() === "https" ? /:443$/ : /:80$/, "");
}

/** Lets browsers of listed origins call; true when the request was a preflight and is answered. */
function allowOrigin(exchange: Exchange, allowed: readonly string[]): boolean {
  const { request, response, headers } = exchange;
  const origin = headerOf(request, "origin");
  if (origin === undefined || allowed.length === 0) return false;
  const listed = allowed.includes("*") || allowed.includes(origin);
  headers.vary = "Origin";
  if (listed) {
    headers["access-control-allow-origin"] = origin;
    headers["access-control-expose-headers"] = exposedHeaders;
    headers["cross-origin-resource-policy"] = "cross-origin";
  }
  if (request.method !== "OPTIONS" || headerOf(request, "access-control-request-method") === undefined) return false;
  if (listed) {
    headers["access-control-allow-methods"] = "GET, POST, PUT, PATCH, DELETE";
    headers["access-control-allow-headers"] = headerOf(request, "access-control-request-headers") ?? "";
    headers["access-control-max-age"] = "600";
  }
  writeHead(exchange, 204);
  response.end();
  return true;
}

import { fail, invalid, unreachable } from "../errors/index.ts";
import { type Clock, systemClock } from "../platform/clock/clock.ts";
import { createCallbackGuard, retryLater } from "./callback-guard.ts";
import type { PathHandler } from "./edge.ts";
import { type Exchange, headerOf, readBody, writeHead } from "./exchange.ts";

/** A provider's callback, unchanged. */
interface Callback {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: Buffer;
  readonly url: string;
}

interface Options {
  /**
   * Processes a callback. Returns "refused" if its signature is not valid, "malformed" if it cannot be parsed, and
   * "early" if it refers to a message that may be stored soon.
   */
  readonly receive: (
    tenantId: string,
    integrationId: string,
    callback: Callback,
  ) => Promise<"taken" | "refused" | "malformed" | "early">;
  /** The public URL that providers were configured with. */
  readonly baseUrl: () => string;
  readonly clock?: Clock;
  /** How long a body may take to arrive. A slower callback counts as refused. */
  readonly bodyMsMax?: number;
}

const pattern = /^\/callbacks\/notifications\/([0-9A-Z]{26})\/([0-9A-Z]{26})$/;
const bytesMax = 1024 * 1024;
/** The Retry-After of an early callback. */
const earlyS = 5;

/**
 * Creates the endpoint for providers' delivery reports: `POST /callbacks/notifications/{tenant_id}/{integration_id}`.
 * A callback has no credentials of this service but the provider's signature over its raw bytes. It therefore bypasses the
 * chain: the provider's adapter verifies it, and every unverified callback gets the same refusal.
 */
export function createCallbacks({ receive, baseUrl, clock = systemClock, bodyMsMax = 10_000 }: Options): PathHandler {
  const guard = createCallbackGuard(clock);

  return (exchange) => {
    const match = pattern.exec(exchange.path);
    if (match === null) return false;
    if (exchange.request.method !== "POST") {
      throw fail("METHOD_NOT_ALLOWED", { public: "This path accepts only POST.", headers: { allow: "POST" } });
    }
    const address = exchange.request.socket.remoteAddress ?? "";
    return guard.run({ address, path: exchange.path }, () => process(exchange, address, match[1]!, match[2]!));
  };

  async function process(exchange: Exchange, address: string, tenantId: string, integrationId: string): Promise<true> {
    const rawBody = await bodyOf(exchange, address);
    const { request, path, query } = exchange;
    const headers = Object.fromEntries(Object.keys(request.headers).map((name) => [name, headerOf(request, name)]));
    const url = `${baseUrl()}${path}${query === "" ? "" : `?${query}`}`;
    const received = await receive(tenantId, integrationId, { headers, rawBody, url });
    if (received === "refused") {
      guard.countRefusal(address);
      throw fail("UNAUTHENTICATED", {
        public: "The callback's signature is missing or not valid.",
        headers: { "www-authenticate": 'Signature realm="callbacks"' },
      });
    }
    guard.markVerified(path);
    switch (received) {
      case "taken":
        writeHead(exchange, 204);
        exchange.response.end();
        return true;
      case "malformed":
        throw invalid("events", "malformed", "must have the format that the provider documents for its callbacks");
      case "early":
        throw retryLater("UNAVAILABLE", "The callback refers to a message that is not stored yet.", earlyS);
      default:
        return unreachable(received);
    }
  }

  /** Reads a body within the time limit, so that a slow sender does not block other callbacks. */
  async function bodyOf(exchange: Exchange, address: string): Promise<Buffer> {
    const timer = setTimeout(() => {
      guard.countRefusal(address);
      exchange.request.destroy();
    }, bodyMsMax);
    try {
      return await readBody({ ...exchange, bodyBytesMax: Math.min(exchange.bodyBytesMax, bytesMax) });
    } finally {
      clearTimeout(timer);
    }
  }
}

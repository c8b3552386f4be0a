import { fail, invalid, unreachable } from "../errors/index.ts";
import { type Clock, systemClock } from "../platform/clock/clock.ts";
import { createCallbackGuard, wait } from "./callback-guard.ts";
import type { PathHandler } from "./edge.ts";
import { type Exchange, headerOf, readBody, writeHead } from "./exchange.ts";

/** What a provider sent, as it came. */
interface Callback {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: Buffer;
  readonly url: string;
}

interface Options {
  /**
   * Takes in what a provider tells; "refused" when it cannot prove to be the provider, "malformed" when it is not
   * understood, "early" when some of it is about messages that may be known soon.
   */
  readonly receive: (
    tenantId: string,
    integrationId: string,
    callback: Callback,
  ) => Promise<"taken" | "refused" | "malformed" | "early">;
  /** The address that providers call, as they were told it. */
  readonly baseUrl: () => string;
  readonly clock?: Clock;
  /** How long a body may take to come; whoever takes longer counts as refused. */
  readonly bodyMsMax?: number;
}

const pattern = /^\/callbacks\/notifications\/([0-9A-Z]{26})\/([0-9A-Z]{26})$/;
const bytesMax = 1024 * 1024;
/** When a message that is not known yet may be asked for again. */
const earlyS = 5;

/**
 * Where providers tell what became of messages: `POST /callbacks/notifications/{tenant_id}/{integration_id}`. These calls
 * carry no credentials of ours but a signature of the provider's over their very bytes, so that they do not go through
 * the chain: the adapter of the provider decides, and everybody else gets the same refusal.
 */
export function createCallbacks({ receive, baseUrl, clock = systemClock, bodyMsMax = 10_000 }: Options): PathHandler {
  const guard = createCallbackGuard(clock);

  return (exchange) => {
    const match = pattern.exec(exchange.path);
    if (match === null) return false;
    if (exchange.request.method !== "POST") {
      throw fail("METHOD_NOT_ALLOWED", { public: "This path takes POST.", headers: { allow: "POST" } });
    }
    const address = exchange.request.socket.remoteAddress ?? "";
    return guard.run({ address, path: exchange.path }, () => take(exchange, address, match[1]!, match[2]!));
  };

  async function take(exchange: Exchange, address: string, tenantId: string, integrationId: string): Promise<true> {
    const rawBody = await bodyOf(exchange, address);
    const { request, path, query } = exchange;
    const headers = Object.fromEntries(Object.keys(request.headers).map((name) => [name, headerOf(request, name)]));
    const url = `${baseUrl()}${path}${query === "" ? "" : `?${query}`}`;
    const received = await receive(tenantId, integrationId, { headers, rawBody, url });
    if (received === "refused") {
      guard.refused(address);
      throw fail("UNAUTHENTICATED", {
        public: "The callback does not prove to come from the provider.",
        headers: { "www-authenticate": 'Signature realm="callbacks"' },
      });
    }
    guard.proven(path);
    switch (received) {
      case "taken":
        writeHead(exchange, 204);
        exchange.response.end();
        return true;
      case "malformed":
        throw invalid("events", "malformed", "must be what the provider is documented to send");
      case "early":
        throw wait("UNAVAILABLE", "A message that the callback tells of is not known yet.", earlyS);
      default:
        return unreachable(received);
    }
  }

  /** Reads a body while it comes fast enough: a slow one must not hold the place of others. */
  async function bodyOf(exchange: Exchange, address: string): Promise<Buffer> {
    const timer = setTimeout(() => {
      guard.refused(address);
      exchange.request.destroy();
    }, bodyMsMax);
    try {
      return await readBody({ ...exchange, bodyBytesMax: Math.min(exchange.bodyBytesMax, bytesMax) });
    } finally {
      clearTimeout(timer);
    }
  }
}

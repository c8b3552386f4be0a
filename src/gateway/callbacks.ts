import { fail, invalid, unreachable } from "../errors/index.ts";
import { type Clock, systemClock } from "../platform/clock/clock.ts";
import { createCallbackGuard, retryLater, unverified } from "./callback-guard.ts";
import { addressOf, type CallbackRequest, readCallback } from "./callback-request.ts";
import type { PathHandler } from "./edge.ts";
import { type Exchange, writeHead } from "./exchange.ts";

interface Options {
  /**
   * Processes a callback. Returns "refused" if its signature is not valid, "malformed" if it cannot be parsed, and
   * "early" if it refers to a message that may be stored soon.
   */
  readonly receive: (
    tenantId: string,
    integrationId: string,
    callback: CallbackRequest,
  ) => Promise<"taken" | "refused" | "malformed" | "early">;
  /** The public URL that providers were configured with. */
  readonly baseUrl: () => string;
  readonly clock?: Clock;
  /** How long a body may take to arrive. A slower callback counts as refused. */
  readonly bodyMsMax?: number;
}

const pattern = /^\/callbacks\/notifications\/([0-9A-Z]{26})\/([0-9A-Z]{26})$/;
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
    const address = addressOf(exchange);
    return guard.run({ address, path: exchange.path }, () => process(exchange, match[1]!, match[2]!));
  };

  async function process(exchange: Exchange, tenantId: string, integrationId: string): Promise<true> {
    const callback = await readCallback(exchange, baseUrl(), { bodyMsMax, guard });
    const received = await receive(tenantId, integrationId, callback);
    if (received === "refused") {
      guard.countRefusal(addressOf(exchange));
      throw unverified();
    }
    guard.markVerified(exchange.path);
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
}

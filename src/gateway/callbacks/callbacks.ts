import { fail, invalid, unreachable } from "../../errors/index.ts";
import { type Clock, systemClock } from "../../platform/clock/clock.ts";
import type { PathHandler } from "../edge.ts";
import { type Exchange, writeHead } from "../exchange.ts";
import { createCallbackGuard, retryLater, unverified } from "./callback-guard.ts";
import { type CallbackRequest, readCallback, writeReply } from "./callback-request.ts";

interface Options {
  /**
   * Processes a callback. Returns "refused" if its signature is not valid, "malformed" if it cannot be parsed, "early" if it
   * refers to a message that may be stored soon, and the reply if it is a check of the URL.
   */
  readonly receive: (
    tenantId: string,
    integrationId: string,
    callback: CallbackRequest & { readonly method: "GET" | "POST" },
  ) => Promise<
    | "taken"
    | "refused"
    | "malformed"
    | "early"
    | { readonly reply: { readonly contentType: string; readonly body: string } }
  >;
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
 * Creates the endpoint for providers' delivery reports: `/callbacks/notifications/{tenant_id}/{integration_id}`. POST delivers
 * events, GET answers a provider that checks the URL.
 * A callback has no credentials of this service but the provider's signature over its raw bytes. It therefore bypasses the
 * chain: the provider's adapter verifies it, and every unverified callback gets the same refusal.
 */
export function createCallbacks({ receive, baseUrl, clock = systemClock, bodyMsMax = 10_000 }: Options): PathHandler {
  const guard = createCallbackGuard(clock);

  return (exchange) => {
    const match = pattern.exec(exchange.path);
    if (match === null) return false;
    const { method } = exchange.request;
    if (method !== "POST" && method !== "GET") {
      throw fail("METHOD_NOT_ALLOWED", {
        public: "This path accepts only POST and GET.",
        headers: { allow: "GET, POST" },
      });
    }
    return receiveCallback(exchange, method, match[1]!, match[2]!);
  };

  async function receiveCallback(
    exchange: Exchange,
    method: "GET" | "POST",
    tenantId: string,
    integrationId: string,
  ): Promise<true> {
    const source = { address: exchange.clientAddress, target: integrationId };
    const callback = await readCallback(exchange, baseUrl(), { bodyMsMax, guard, source });
    const received = await guard.run(source, () => receive(tenantId, integrationId, { ...callback, method }));
    if (received === "refused") throw guard.countRefusal(source) ?? unverified();
    if (typeof received === "object") return writeReply(exchange, received.reply);
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

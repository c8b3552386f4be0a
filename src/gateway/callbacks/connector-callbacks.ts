import { fail, invalid } from "../../errors/index.ts";
import { type Clock, systemClock } from "../../platform/clock/clock.ts";
import type { PathHandler } from "../edge.ts";
import { type Exchange, writeHead } from "../exchange.ts";
import { createCallbackGuard, unverified } from "./callback-guard.ts";
import { type CallbackRequest, readCallback, writeReply } from "./callback-request.ts";

interface Options {
  /**
   * Receives a delivery of a provider. Returns "taken" when its events are committed, "refused" if it cannot be verified,
   * "malformed" if it is verified but cannot be read, "unavailable" if it cannot be stored now, and the reply if it is a challenge.
   */
  readonly receive: (
    tenantId: string,
    subscriptionId: string,
    delivery: CallbackRequest & { readonly method: "GET" | "POST" },
  ) => Promise<
    | "taken"
    | "refused"
    | "malformed"
    | "unavailable"
    | { readonly reply: { readonly contentType: string; readonly body: string } }
  >;
  /** The public URL that deliveries are sent to. */
  readonly baseUrl: () => string;
  readonly clock?: Clock;
  /** How long a body may take to arrive. A slower delivery counts as refused. */
  readonly bodyMsMax?: number;
}

const pattern = /^\/callbacks\/connectors\/([0-9A-Z]{26})\/([0-9A-Z]{26})$/;

/**
 * Creates the endpoint for webhooks of connected accounts: `/callbacks/connectors/{tenant_id}/{subscription_id}`. POST delivers
 * events, GET answers challenges. A delivery has no credentials of this service, so it bypasses the chain: the trigger's manifest
 * says how it is verified, and every unverified delivery gets the same refusal, also for subscriptions that do not exist.
 */
export function createConnectorCallbacks(options: Options): PathHandler {
  const { receive, baseUrl, clock = systemClock, bodyMsMax = 10_000 } = options;
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
    subscriptionId: string,
  ): Promise<true> {
    const source = { address: exchange.clientAddress, target: subscriptionId };
    const callback = await readCallback(exchange, baseUrl(), { bodyMsMax, guard, source });
    const received = await guard.run(source, () => receive(tenantId, subscriptionId, { ...callback, method }));
    if (received === "refused") throw guard.countRefusal(source) ?? unverified();
    if (received === "malformed") {
      throw invalid("body", "malformed", "must have the format that the provider documents for its webhooks");
    }
    if (received === "unavailable") {
      throw fail("UNAVAILABLE", { public: "The delivery cannot be stored now. Send it again later." });
    }
    if (received !== "taken") return writeReply(exchange, received.reply);
    writeHead(exchange, 204);
    exchange.response.end();
    return true;
  }
}

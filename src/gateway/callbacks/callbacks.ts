import { fail, invalid } from "../../errors/index.ts";
import { type Clock, systemClock } from "../../platform/clock/clock.ts";
import type { PathHandler } from "../edge.ts";
import { type Exchange, writeHead } from "../exchange.ts";
import { createCallbackGuard, retryLater, unverified } from "./callback-guard.ts";
import { type CallbackRequest, readCallback, writeReply } from "./callback-request.ts";

interface Options {
  /**
   * Processes a callback. Returns "taken" when its events are committed, "refused" if it cannot be verified, "malformed" if it
   * is verified but cannot be read, "early" if it refers to a message that may be stored soon, "unavailable" if it cannot be
   * stored now, and the reply if it is a challenge or a check of the URL.
   */
  readonly receive: (
    tenantId: string,
    targetId: string,
    callback: CallbackRequest & { readonly method: "GET" | "POST" },
  ) => Promise<
    | "taken"
    | "refused"
    | keyof typeof failures
    | { readonly reply: { readonly contentType: string; readonly body: string } }
  >;
  /** The public URL that providers were configured with. */
  readonly baseUrl: () => string;
  readonly clock?: Clock;
  /** How long a body may take to arrive. A slower callback counts as refused. */
  readonly bodyMsMax?: number;
}

/** What callbacks contain, by the part of the service that receives them. */
const contents = {
  notifications: { field: "events", name: "callbacks" },
  connectors: { field: "body", name: "webhooks" },
} as const;
type Receiver = keyof typeof contents;

/** The Retry-After of an early callback. */
const earlyS = 5;

const failures = {
  malformed: (receiver: Receiver) => {
    const { field, name } = contents[receiver];
    return invalid(field, "malformed", `must have the format that the provider documents for its ${name}`);
  },
  early: () => retryLater("UNAVAILABLE", "The callback refers to a message that is not stored yet.", earlyS),
  unavailable: () => fail("UNAVAILABLE", { public: "The delivery cannot be stored now. Send it again later." }),
};

/**
 * Creates the endpoint for delivery reports of providers, `/callbacks/notifications/{tenant_id}/{integration_id}`, or the one for
 * webhooks of connected accounts, `/callbacks/connectors/{tenant_id}/{subscription_id}`. POST delivers events, GET answers a
 * provider that checks the URL.
 * A callback has no credentials of this service but the provider's signature over its raw bytes. It therefore bypasses the
 * chain: the provider's adapter or the trigger's manifest says how it is verified, and every unverified callback gets the same
 * refusal, also for targets that do not exist.
 */
export function createCallbacks(receiver: Receiver, options: Options): PathHandler {
  const { receive, baseUrl, clock = systemClock, bodyMsMax = 10_000 } = options;
  const pattern = new RegExp(`^/callbacks/${receiver}/([0-9A-Z]{26})/([0-9A-Z]{26})$`);
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

  async function receiveCallback(exchange: Exchange, method: "GET" | "POST", tenantId: string, targetId: string) {
    const source = { address: exchange.clientAddress, target: targetId };
    const callback = await readCallback(exchange, baseUrl(), { bodyMsMax, guard, source });
    const received = await guard.run(source, () => receive(tenantId, targetId, { ...callback, method }));
    if (received === "refused") throw guard.countRefusal(source) ?? unverified();
    if (typeof received === "object") return writeReply(exchange, received.reply);
    if (received !== "taken") throw failures[received](receiver);
    writeHead(exchange, 204);
    exchange.response.end();
    return true;
  }
}

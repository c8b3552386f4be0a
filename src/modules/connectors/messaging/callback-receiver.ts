import type { Clock } from "../../../platform/clock/clock.ts";
import { EgressError } from "../../../platform/egress/index.ts";
import type { OpenConnection } from "../connections/index.ts";
import type { GuardedHttp, Provider } from "../manifests/index.ts";
import { challengeReply, isSameText, isVerified, type ReadDelivery, readDelivery } from "../triggers/index.ts";
import { eventsIn } from "./callback-events.ts";
import { secretOf } from "./callback-secret.ts";
import type { CallbackResult, MessageCallback } from "./domain/message.ts";
import type { FindProvider } from "./pinned-provider.ts";
import { createSnsNotifications } from "./sns-notifications.ts";

interface Dependencies {
  readonly clock: Clock;
  readonly findProvider: FindProvider;
  readonly http: GuardedHttp;
}

/** Verifies and reads a callback as the manifest of the connection's provider describes. */
export type ReceiveCallback = (connection: OpenConnection, callback: MessageCallback) => Promise<CallbackResult>;

export function createCallbackReceiver({ clock, findProvider, http }: Dependencies): ReceiveCallback {
  const sns = createSnsNotifications({ clock, http });

  /** Whether a callback is authentic. handled: it is, and there is nothing to read. */
  async function verify(
    provider: Provider,
    secret: string,
    delivery: ReadDelivery,
  ): Promise<"event" | "handled" | "refused"> {
    const { verify: spec } = provider.messages!.callbacks!;
    if (spec.kind !== "aws_sns") return isVerified(spec, secret, delivery, clock.now()) ? "event" : "refused";
    try {
      return await sns.verify(provider, secret, delivery.body);
    } catch (error) {
      // The egress policy does not allow the address of the certificate, so nothing can be verified.
      if (error instanceof EgressError) return "refused";
      throw error;
    }
  }

  return async (connection, callback) => {
    const provider = await findProvider(connection);
    const spec = provider?.messages?.callbacks;
    const secret = spec && secretOf(spec, connection);
    if (provider === undefined || spec === undefined || secret === undefined) return "refused";
    const delivery = readDelivery(callback);
    const result = await verify(provider, secret, delivery);
    if (result !== "refused" || knowsSecret(secret, delivery)) {
      const reply = challengeReply(spec, delivery, {});
      if (reply !== undefined) return { reply };
    }
    if (result === "refused" || delivery.method === "GET") return "refused";
    return result === "handled" ? [] : (eventsIn(spec, delivery, clock.now()) ?? "malformed");
  };
}

/** Providers cannot sign a check of the URL. They send the secret as a parameter, such as `hub.verify_token`. */
function knowsSecret(secret: string, { query }: ReadDelivery): boolean {
  return Object.values(query).some((each) => isSameText(each, secret));
}

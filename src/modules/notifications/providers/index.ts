/**
 * Providers: what carries messages out of the house.
 *
 * connection: the settings and credentials that a provider is used with. failover: nothing was sent, and another
 * provider may be tried. outcome unknown: nobody can tell whether the message was taken. callback: what a provider
 * tells later about a message that it took.
 */

import type { Violation } from "../../../errors/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { EgressGuard } from "../../../platform/egress/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { OpenConnection } from "../../connectors/index.ts";
import type { Channel } from "../subscribers/index.ts";
import { chatWebhook } from "./chat-webhook.ts";
import { type FailureCode, type FailurePhase, failed } from "./domain/failure.ts";
import { fieldViolations } from "./domain/fields.ts";
import type {
  CallbackReading,
  OutgoingMessage,
  Provider,
  ProviderCallback,
  ProviderEvent,
  ProviderEventKind,
  ProviderMarkup,
  SendResult,
} from "./domain/provider.ts";
import { fcm } from "./fcm.ts";
import { httpSms } from "./http-sms.ts";
import { slack } from "./slack.ts";
import { smtp } from "./smtp/smtp.ts";
import { twilio } from "./twilio.ts";
import { webPushProvider } from "./web-push.ts";

export type {
  FailureCode,
  FailurePhase,
  OutgoingMessage,
  ProviderCallback,
  ProviderEvent,
  ProviderEventKind,
  ProviderMarkup,
  SendResult,
};

/** The door of the module. */
export interface Providers {
  /** The providers that serve each channel. */
  readonly keys: Readonly<Record<Channel, readonly string[]>>;
  /** Whether a provider can be given an address. */
  acceptsAddress(providerKey: string, address: ProviderAddress): boolean;
  /** The providers that recognise a repeat by its key, so that a message may be sent to them twice. */
  readonly deduplicating: readonly string[];
  /** The markup that a provider reads texts as; undefined where they are plain, or HTML on email. */
  markupOf(providerKey: string): ProviderMarkup | undefined;
  /** Whether a provider is used with a connection; those of the house are not. */
  needsConnection(providerKey: string): boolean;
  /** What is wrong with what a connection is to hold; of a channel that is given, whether the provider serves it. */
  check(
    providerKey: string,
    channel: Channel | undefined,
    settings: Readonly<Record<string, unknown>>,
    credentials: Readonly<Record<string, string>>,
  ): Violation[];
  /** Sends a message; whatever happens is told in the result. */
  send(
    connection: OpenConnection | undefined,
    providerKey: string,
    message: OutgoingMessage,
    signal: AbortSignal,
  ): Promise<SendResult>;
  /** What a provider tells about messages, when the callback proves to come from it. */
  callback(providerKey: string, connection: OpenConnection | undefined, request: ProviderCallback): CallbackReading;
  /** Lets go of connections that were kept for later. */
  close(): void;
}

/** An address, and the provider that it was registered with; "" for one that names none. */
export interface ProviderAddress {
  readonly providerKey: string;
  readonly identity: string;
}

interface Parts {
  readonly egress: EgressGuard;
  readonly clock: Clock;
  readonly log: Log;
  /** Certificates of the authorities that mail servers are trusted by instead of the usual ones (PEM). */
  readonly ca?: string;
}

/** Providers that the house itself is: what goes through them is kept here and needs no connection. */
const ownProviders: Readonly<Record<string, readonly Channel[]>> = {
  in_app: ["in_app"],
  development: ["email", "sms", "push", "chat"],
};

const channels: readonly Channel[] = ["email", "sms", "push", "chat", "in_app"];

/** Makes the module. */
export function createProviders({ egress, clock, log, ca }: Parts): Providers {
  const now = () => clock.now();
  const parts = { egress, now };
  const { urlRefusal } = egress;
  const outside: ReadonlyMap<string, Provider> = new Map([
    ["smtp", smtp({ ...parts, ca }, urlRefusal)],
    ["http_sms", httpSms(parts, urlRefusal)],
    ["twilio", twilio(parts, urlRefusal)],
    ["web_push", webPushProvider(parts)],
    ["fcm", fcm(parts, urlRefusal)],
    ["slack", slack(parts, urlRefusal)],
    ["chat_webhook", chatWebhook(parts, urlRefusal)],
  ]);

  const channelsOf = (key: string): readonly Channel[] =>
    outside.get(key)?.channels ?? (Object.hasOwn(ownProviders, key) ? ownProviders[key]! : []);
  const allKeys = [...outside.keys(), ...Object.keys(ownProviders)];
  const keys = Object.fromEntries(
    channels.map((channel) => [channel, allKeys.filter((key) => channelsOf(key).includes(channel))]),
  ) as Record<Channel, string[]>;

  return {
    keys,
    deduplicating: [...outside].filter(([, { deduplicates }]) => deduplicates).map(([key]) => key),
    acceptsAddress(providerKey, { providerKey: registeredWith, identity }) {
      const provider = outside.get(providerKey);
      // What the house keeps itself goes to no address.
      if (provider === undefined || provider.addresses === "shared" || registeredWith === providerKey) return true;
      return registeredWith === "" && provider.addresses(identity);
    },
    markupOf: (providerKey) => outside.get(providerKey)?.markup,
    needsConnection: (providerKey) => outside.has(providerKey),

    check(providerKey, channel, settings, credentials) {
      const about = (rule: string, message: string): Violation[] => [{ field: "provider_key", rule, message }];
      if (!allKeys.includes(providerKey)) return about("unknown", `must be one of ${allKeys.join(", ")}`);
      if (channel !== undefined && !channelsOf(providerKey).includes(channel)) {
        return about("channel", `does not serve ${channel}; ${keys[channel].join(", ")} do`);
      }
      const provider = outside.get(providerKey);
      if (provider === undefined) return about("connection", "needs no connection");
      const violations = [
        ...fieldViolations("settings", provider.settings, settings),
        ...fieldViolations("credentials", provider.credentials, credentials),
      ];
      return violations.length > 0 ? violations : [...(provider.check?.(settings, credentials) ?? [])];
    },

    async send(connection, providerKey, message, signal) {
      const provider = outside.get(providerKey);
      if (provider === undefined)
        return failed("internal", "The provider is not one that sends.", { retryable: false });
      if (connection === undefined) return failed("connection_missing", "The provider needs a connection.");
      try {
        return await provider.send(connection, message, signal);
      } catch (err) {
        log.error({ err, provider: providerKey }, "a provider failed within");
        // It may have failed after the message was on its way.
        return failed("outcome_unknown", "Sending failed within, and nobody can tell how far it came.");
      }
    },

    callback(providerKey, connection, request) {
      const callback = outside.get(providerKey)?.callback;
      if (callback === undefined || connection?.providerKey !== providerKey) return "refused";
      return callback(connection, request, clock.now());
    },

    close() {
      for (const provider of outside.values()) provider.close?.();
    },
  };
}

/**
 * Providers: the systems that send messages.
 *
 * connection: the settings and credentials of a provider. failover: nothing was sent, and another provider may be tried.
 * outcome unknown: it is not known whether the provider accepted the message. callback: a provider's later report about
 * a message that it accepted. built-in provider: a provider that stores messages in this service.
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
  CallbackEvents,
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

export { credentialCode } from "./domain/failure.ts";
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

/** The module's public API. */
export interface Providers {
  /** The providers that serve each channel. */
  readonly keys: Readonly<Record<Channel, readonly string[]>>;
  /** Whether a provider can send to an address. */
  acceptsAddress(providerKey: string, address: ProviderAddress): boolean;
  /** The providers that deduplicate by idempotency key. */
  readonly deduplicating: readonly string[];
  /** The markup in which a provider interprets texts; undefined when they are plain, or HTML on email. */
  markupOf(providerKey: string): ProviderMarkup | undefined;
  /** Whether a provider needs a connection; built-in providers do not. */
  needsConnection(providerKey: string): boolean;
  /** The violations of a connection's settings and credentials, and of the channel if one is given. */
  check(
    providerKey: string,
    channel: Channel | undefined,
    settings: Readonly<Record<string, unknown>>,
    credentials: Readonly<Record<string, string>>,
  ): Violation[];
  /** Sends a message. Failures are returned, never thrown. */
  send(
    connection: OpenConnection | undefined,
    providerKey: string,
    message: OutgoingMessage,
    signal: AbortSignal,
  ): Promise<SendResult>;
  /** Authenticates and parses a provider's callback. */
  callback(providerKey: string, connection: OpenConnection | undefined, request: ProviderCallback): CallbackEvents;
  /** Closes idle connections. */
  close(): void;
}

/** An address and the provider that it was registered with; "" for none. */
export interface ProviderAddress {
  readonly providerKey: string;
  readonly identity: string;
}

interface Parts {
  readonly egress: EgressGuard;
  readonly clock: Clock;
  readonly log: Log;
  /** CA certificates (PEM) for mail servers, instead of the default ones. */
  readonly ca?: string;
}

/** Built-in providers. They store messages in this service and need no connection. */
const builtInProviders: Readonly<Record<string, readonly Channel[]>> = {
  in_app: ["in_app"],
  development: ["email", "sms", "push", "chat"],
};

const channels: readonly Channel[] = ["email", "sms", "push", "chat", "in_app"];

/** Creates the module. */
export function createProviders({ egress, clock, log, ca }: Parts): Providers {
  const now = () => clock.now();
  const parts = { egress, now };
  const { urlRefusal } = egress;
  const external: ReadonlyMap<string, Provider> = new Map([
    ["smtp", smtp({ ...parts, ca }, urlRefusal)],
    ["http_sms", httpSms(parts, urlRefusal)],
    ["twilio", twilio(parts, urlRefusal)],
    ["web_push", webPushProvider(parts)],
    ["fcm", fcm(parts, urlRefusal)],
    ["slack", slack(parts, urlRefusal)],
    ["chat_webhook", chatWebhook(parts, urlRefusal)],
  ]);

  const channelsOf = (key: string): readonly Channel[] =>
    external.get(key)?.channels ?? (Object.hasOwn(builtInProviders, key) ? builtInProviders[key]! : []);
  const allKeys = [...external.keys(), ...Object.keys(builtInProviders)];
  const keys = Object.fromEntries(
    channels.map((channel) => [channel, allKeys.filter((key) => channelsOf(key).includes(channel))]),
  ) as Record<Channel, string[]>;

  return {
    keys,
    deduplicating: [...external].filter(([, { deduplicates }]) => deduplicates).map(([key]) => key),
    acceptsAddress(providerKey, { providerKey: registeredWith, identity }) {
      const provider = external.get(providerKey);
      // Built-in providers send to no address.
      if (provider === undefined || provider.addresses === "shared" || registeredWith === providerKey) return true;
      return registeredWith === "" && provider.addresses(identity);
    },
    markupOf: (providerKey) => external.get(providerKey)?.markup,
    needsConnection: (providerKey) => external.has(providerKey),

    check(providerKey, channel, settings, credentials) {
      const about = (rule: string, message: string): Violation[] => [{ field: "provider_key", rule, message }];
      if (!allKeys.includes(providerKey)) return about("unknown", `must be one of ${allKeys.join(", ")}`);
      if (channel !== undefined && !channelsOf(providerKey).includes(channel)) {
        return about("channel", `must be a provider that serves ${channel}: ${keys[channel].join(", ")}`);
      }
      const provider = external.get(providerKey);
      if (provider === undefined)
        return about("connection", "must be an external provider; built-in providers need no connection");
      const violations = [
        ...fieldViolations("settings", provider.settings, settings),
        ...fieldViolations("credentials", provider.credentials, credentials),
      ];
      return violations.length > 0 ? violations : [...(provider.check?.(settings, credentials) ?? [])];
    },

    async send(connection, providerKey, message, signal) {
      const provider = external.get(providerKey);
      if (provider === undefined) return failed("internal", "The provider cannot send messages.", { retryable: false });
      if (connection === undefined) return failed("connection_missing", "The provider needs a connection.");
      try {
        return await provider.send(connection, message, signal);
      } catch (err) {
        log.error({ err, provider: providerKey }, "a provider threw an error");
        // The message may already have been sent when it failed.
        return failed("outcome_unknown", "Sending failed inside the service; the message may have been sent.");
      }
    },

    callback(providerKey, connection, request) {
      const callback = external.get(providerKey)?.callback;
      if (callback === undefined || connection?.providerKey !== providerKey) return "refused";
      return callback(connection, request, clock.now());
    },

    close() {
      for (const provider of external.values()) provider.close?.();
    },
  };
}

/**
 * Providers: the systems that send messages.
 *
 * connection: the settings and credentials of a provider. failover: nothing was sent, and another provider may be tried.
 * outcome unknown: it is not known whether the provider accepted the message. callback: a provider's later report about
 * a message that it accepted. built-in provider: a provider that stores messages in this service. native provider: one with
 * code of its own. All others are manifests of the connector catalogue.
 */

import type { Violation } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { MessageProvider, Messaging, OpenConnection } from "../../connectors/index.ts";
import type { Channel } from "../subscribers/index.ts";
import { chatWebhook } from "./chat-webhook.ts";
import { type FailureCode, type FailurePhase, failed } from "./domain/failure.ts";
import { fieldViolations } from "./domain/fields.ts";
import type {
  CallbackEvents,
  CallbackReply,
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
import { sendThroughManifest } from "./manifest-sends.ts";
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
export type Providers = ReturnType<typeof createProviders>;

/** Facts about a provider before a message is sent through it. */
export interface ProviderTraits {
  readonly channels: readonly Channel[];
  /** Whether it needs a connection; built-in providers do not. */
  readonly needsConnection: boolean;
  /** The markup in which it interprets texts; undefined when they are plain, or HTML on email. */
  readonly markup: ProviderMarkup | undefined;
  /** The settings that messages of a channel need and a connection lacks. */
  missingSettings(channel: Channel, settings: Readonly<Record<string, unknown>>): readonly string[];
  /** Whether it can send to an address. */
  acceptsAddress(channel: Channel, address: ProviderAddress): boolean;
}

/** An address and the provider that it was registered with; "" for none. */
export interface ProviderAddress {
  readonly providerKey: string;
  readonly identity: string;
}

interface Dependencies extends Pick<PlatformServices, "egress" | "clock" | "log"> {
  readonly messaging: Messaging;
  /** CA certificates (PEM) for mail servers, instead of the default ones. */
  readonly ca?: string;
}

/** Built-in providers. They store messages in this service and need no connection. */
const builtInProviders: Readonly<Record<string, readonly Channel[]>> = {
  in_app: ["in_app"],
  development: ["email", "sms", "push", "chat"],
};

export function createProviders({ egress, clock, log, ca, messaging }: Dependencies) {
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
  const ownKeys = [...external.keys(), ...Object.keys(builtInProviders)];
  const traits = new Map(ownKeys.map((key) => [key, traitsOf(key, channelsOf(key), external.get(key))]));

  return {
    /** The traits of a provider; undefined if the tenant has none with this key. */
    async find(tenantId: TenantId, providerKey: string): Promise<ProviderTraits | undefined> {
      const own = traits.get(providerKey);
      if (own !== undefined) return own;
      const provider = await messaging.find(tenantId, providerKey);
      return provider && manifestTraits(provider);
    },
    /** The providers of all tenants that serve a channel. */
    async keysOf(channel: Channel): Promise<readonly string[]> {
      const listed = (await messaging.builtin()).filter(({ channels }) => (channels as Channel[]).includes(channel));
      return [...ownKeys.filter((key) => channelsOf(key).includes(channel)), ...listed.map(({ key }) => key)];
    },
    /** The providers that deduplicate by idempotency key. */
    async deduplicating(): Promise<readonly string[]> {
      const own = [...external].filter(([, { deduplicates }]) => deduplicates).map(([key]) => key);
      const listed = (await messaging.builtin()).filter(({ deduplicates }) => deduplicates).map(({ key }) => key);
      return [...own, ...listed];
    },

    /** The violations of the settings and credentials of a native provider's connection. */
    check(
      providerKey: string,
      settings: Readonly<Record<string, unknown>>,
      credentials: Readonly<Record<string, string>>,
    ): Violation[] {
      const about = (rule: string, message: string): Violation[] => [{ field: "provider_key", rule, message }];
      if (!ownKeys.includes(providerKey)) {
        return about("unknown", `must be a provider of the catalogue, or one of ${ownKeys.join(", ")}`);
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

    /** Sends a message. Failures are returned, never thrown. */
    async send(
      connection: OpenConnection | undefined,
      providerKey: string,
      message: OutgoingMessage,
      signal: AbortSignal,
    ): Promise<SendResult> {
      const provider = external.get(providerKey);
      if (connection === undefined) {
        return provider === undefined
          ? failed("internal", "The provider cannot send messages.", { retryable: false })
          : failed("connection_missing", "The provider needs a connection.");
      }
      try {
        return provider === undefined
          ? await sendThroughManifest(messaging, connection, message, signal)
          : await provider.send(connection, message, signal);
      } catch (err) {
        log.error({ err, provider: providerKey }, "a provider threw an error");
        // The message may already have been sent when it failed.
        return failed("outcome_unknown", "Sending failed inside the service; the message may have been sent.");
      }
    },

    /** Authenticates and parses a provider's callback. */
    async callback(
      providerKey: string,
      connection: OpenConnection | undefined,
      request: ProviderCallback,
    ): Promise<CallbackEvents | { readonly reply: CallbackReply }> {
      if (connection?.providerKey !== providerKey) return "refused";
      const provider = external.get(providerKey);
      if (provider === undefined) return messaging.receive(connection, request);
      if (provider.callback === undefined || request.method === "GET") return "refused";
      return provider.callback(connection, request, clock.now());
    },

    /** Closes idle connections. */
    close() {
      for (const provider of external.values()) provider.close?.();
    },
  };
}

function traitsOf(key: string, channels: readonly Channel[], provider: Provider | undefined): ProviderTraits {
  return {
    channels,
    needsConnection: provider !== undefined,
    markup: provider?.markup,
    // Connections of native providers were checked when they were created.
    missingSettings: () => [],
    acceptsAddress(_channel, { providerKey: registeredWith, identity }) {
      // Built-in providers send to no address.
      if (provider === undefined || provider.addresses === "shared" || registeredWith === key) return true;
      return registeredWith === "" && provider.addresses(identity);
    },
  };
}

function manifestTraits(provider: MessageProvider): ProviderTraits {
  const { key, channels, isShared, acceptsAddress, missingSettings } = provider;
  return {
    channels,
    needsConnection: true,
    markup: undefined,
    missingSettings: (channel, settings) => (channel === "in_app" ? [] : missingSettings(channel, settings)),
    acceptsAddress(channel, { providerKey: registeredWith, identity }) {
      if (channel === "in_app") return false;
      if (isShared(channel) || registeredWith === key) return true;
      return registeredWith === "" && acceptsAddress(channel, identity);
    },
  };
}

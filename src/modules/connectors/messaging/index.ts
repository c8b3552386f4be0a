/**
 * Messaging: notifications that are sent through the actions of manifests.
 *
 * Channel: email, sms, push or chat. Message: a notification to one address. Send: how a manifest turns a message into the input
 * of an action. Callback: what a provider reports later about a message that it accepted. Observed: callbacks are expected.
 */
import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { PerformAction } from "../actions/index.ts";
import type { Connections } from "../connections/index.ts";
import type {
  Action,
  Catalogue,
  GuardedHttp,
  MessageChannel,
  Provider,
  SendSpec,
  ValueTemplate,
} from "../manifests/index.ts";
import { createCallbackReceiver, type ReceiveCallback } from "./callback-receiver.ts";
import type {
  CallbackResult,
  ChannelMessage,
  MessageCallback,
  MessageEvent,
  MessageOutcome,
} from "./domain/message.ts";
import { createMessageSender, type SendMessage } from "./message-sender.ts";
import { createProviderFinder } from "./pinned-provider.ts";

export type { CallbackResult, ChannelMessage, MessageCallback, MessageEvent, MessageOutcome };

/** A provider of the catalogue that sends notifications. */
export interface MessageProvider {
  readonly key: string;
  readonly channels: readonly MessageChannel[];
  /** Whether it deduplicates messages on all its channels, so that one can safely be sent twice. */
  readonly deduplicates: boolean;
  /** Whether it accepts an address of a channel that was registered with no provider. */
  acceptsAddress(channel: MessageChannel, identity: string): boolean;
  /** The settings that messages of a channel need and a connection lacks. */
  missingSettings(channel: MessageChannel, settings: Readonly<Record<string, unknown>>): readonly string[];
  /** Whether it accepts all addresses of a channel, also those that were registered with another provider. */
  isShared(channel: MessageChannel): boolean;
}

/** The module's public API. */
export interface Messaging {
  /** A provider that sends notifications; undefined if there is none with this key. */
  find(tenantId: TenantId, providerKey: string): Promise<MessageProvider | undefined>;
  /** The built-in providers that send notifications, sorted by key. */
  builtin(): Promise<readonly MessageProvider[]>;
  readonly send: SendMessage;
  readonly receive: ReceiveCallback;
}

interface Dependencies {
  readonly clock: Clock;
  readonly catalogue: Pick<Catalogue, "provider" | "messageProviders">;
  readonly connections: Pick<Connections, "actionVersion">;
  readonly http: GuardedHttp;
  readonly perform: PerformAction;
}

export function createMessaging(dependencies: Dependencies): Messaging {
  const { catalogue } = dependencies;
  const views = new WeakMap<Provider, MessageProvider>();

  const findProvider = createProviderFinder(dependencies);

  function viewOf(provider: Provider): MessageProvider {
    const known = views.get(provider) ?? toMessageProvider(provider);
    views.set(provider, known);
    return known;
  }

  return {
    async find(tenantId, providerKey) {
      const provider = await catalogue.provider(tenantId, providerKey);
      return provider?.messages && viewOf(provider);
    },
    builtin: async () => (await catalogue.messageProviders()).map(viewOf),
    send: createMessageSender({ ...dependencies, findProvider }),
    receive: createCallbackReceiver({ ...dependencies, findProvider }),
  };
}

function toMessageProvider({ key, messages, actions }: Provider): MessageProvider {
  const { channels } = messages!;
  const sends = [...channels.values()].flatMap(({ send }) => send);
  return {
    key,
    channels: [...channels.keys()],
    deduplicates: sends.every(({ action }) => actions.get(action)?.mutation.idempotency !== "none"),
    acceptsAddress(channel, identity) {
      const addresses = channels.get(channel)?.addresses;
      return addresses === "shared" || addresses?.accepts(identity) === true;
    },
    missingSettings(channel, settings) {
      const needed = (channels.get(channel)?.send ?? []).flatMap((send) => neededSettings(send, actions));
      return [...new Set(needed)].filter((name) => (settings[name] ?? "") === "");
    },
    isShared: (channel) => channels.get(channel)?.addresses === "shared",
  };
}

/** The settings in the required inputs of an action. */
function neededSettings({ action, input }: SendSpec, actions: ReadonlyMap<string, Action>): readonly string[] {
  const required = (actions.get(action)?.inputSchema.required ?? []) as readonly string[];
  if (input.kind !== "object") return [];
  return input.members.flatMap(([name, template]) => (required.includes(name) ? settingsIn(template) : []));
}

function settingsIn(template: ValueTemplate): readonly string[] {
  switch (template.kind) {
    case "placeholder":
      return template.placeholder.root === "settings" ? template.placeholder.path.slice(0, 1) : [];
    case "text":
      return template.template.parts.flatMap((part) =>
        typeof part !== "string" && part.root === "settings" ? part.path.slice(0, 1) : [],
      );
    case "list":
      return template.elements.flatMap(settingsIn);
    case "object":
      return template.members.flatMap(([, member]) => settingsIn(member));
    case "encoded":
    case "repeat":
    case "entries":
      return settingsIn(template.value);
    case "constant":
      return [];
  }
}

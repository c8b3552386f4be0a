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
import {
  type Action,
  type Catalogue,
  type GuardedHttp,
  type MessageChannel,
  type Provider,
  placeholdersIn,
  type SendSpec,
} from "../manifests/index.ts";
import { createCallbackReceiver } from "./callback-receiver.ts";
import type { ChannelMessage, MessageCallback, MessageEvent, MessageOutcome } from "./domain/message.ts";
import { createMessageSender } from "./message-sender.ts";
import { createProviderFinder } from "./pinned-provider.ts";

export type { ChannelMessage, MessageCallback, MessageEvent, MessageOutcome };

/** A provider of the catalogue that sends notifications. */
export type MessageProvider = ReturnType<typeof toMessageProvider>;

export type Messaging = ReturnType<typeof createMessaging>;

interface Dependencies {
  readonly clock: Clock;
  readonly catalogue: Pick<Catalogue, "provider" | "messageProviders">;
  readonly connections: Pick<Connections, "actionVersion">;
  readonly http: GuardedHttp;
  readonly perform: PerformAction;
}

export function createMessaging(dependencies: Dependencies) {
  const { catalogue } = dependencies;
  const views = new WeakMap<Provider, MessageProvider>();

  const findProvider = createProviderFinder(dependencies);

  function viewOf(provider: Provider): MessageProvider {
    const known = views.get(provider) ?? toMessageProvider(provider);
    views.set(provider, known);
    return known;
  }

  return {
    /** A provider that sends notifications; undefined if there is none with this key. */
    async find(tenantId: TenantId, providerKey: string) {
      const provider = await catalogue.provider(tenantId, providerKey);
      return provider?.messages && viewOf(provider);
    },
    /** The built-in providers that send notifications, sorted by key. */
    builtin: async () => (await catalogue.messageProviders()).map(viewOf),
    send: createMessageSender({ ...dependencies, findProvider }),
    receive: createCallbackReceiver({ ...dependencies, findProvider }),
  };
}

function toMessageProvider({ key, messages, actions }: Provider) {
  const { channels } = messages!;
  const sends = [...channels.values()].flatMap(({ send }) => send);
  return {
    key,
    channels: [...channels.keys()],
    /** Whether it deduplicates messages on all its channels, so that one can safely be sent twice. */
    deduplicates: sends.every(({ action }) => actions.get(action)?.mutation.idempotency !== "none"),
    /** Whether it accepts an address of a channel that was registered with no provider. */
    acceptsAddress(channel: MessageChannel, identity: string) {
      const addresses = channels.get(channel)?.addresses;
      return addresses === "shared" || addresses?.accepts(identity) === true;
    },
    /** The settings that messages of a channel need and a connection lacks. */
    missingSettings(channel: MessageChannel, settings: Readonly<Record<string, unknown>>) {
      const needed = (channels.get(channel)?.send ?? []).flatMap((send) => neededSettings(send, actions));
      return [...new Set(needed)].filter((name) => (settings[name] ?? "") === "");
    },
    /** Whether it accepts all addresses of a channel, also those that were registered with another provider. */
    isShared: (channel: MessageChannel) => channels.get(channel)?.addresses === "shared",
  };
}

/** The settings in the required inputs of an action. */
function neededSettings({ action, input }: SendSpec, actions: ReadonlyMap<string, Action>): readonly string[] {
  const required = (actions.get(action)?.inputSchema.required ?? []) as readonly string[];
  if (input.kind !== "object") return [];
  const settings = input.members
    .flatMap(([name, template]) => (required.includes(name) ? placeholdersIn(template) : []))
    .filter(({ root }) => root === "settings");
  return settings.flatMap(({ path }) => path.slice(0, 1));
}

import type { ChannelContent, NotificationWorkflow, ReasonCode, Resolution } from "../../preferences/index.ts";
import type { Channel, Endpoint, Subscriber } from "../../subscribers/index.ts";
import type { DeliveryFailure } from "./delivery.ts";

/** A trigger's replacement for parts of a channel's workflow content. */
export type ContentOverride = { readonly [Field in keyof ChannelContent]?: ChannelContent[Field] | undefined };

/** The overrides of a trigger, by channel. */
export type Overrides = Readonly<Partial<Record<Channel, ContentOverride>>>;

/** All channels, in the order in which outcomes are reported. */
export const channels: readonly Channel[] = ["in_app", "email", "sms", "push", "chat"];

/** The channels in sentences. */
export const channelNames: Readonly<Record<Channel, string>> = {
  ...{ in_app: "in-app", email: "email", sms: "SMS", push: "push", chat: "chat" },
};

/** The address of a message. */
export interface Target {
  /** "" for an inbox and for an address that is only in the profile. */
  readonly endpointId: string;
  readonly identity: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The provider that the address was registered with; "" when it names none. */
  readonly providerKey: string;
  /** The connection that the address is pinned to; "" when any integration may serve it. */
  readonly connectionId: string;
}

/** One message to send, or the reason why it is skipped. */
export interface PlannedDelivery {
  readonly channel: Channel;
  readonly target: Target;
  readonly reasonCode: ReasonCode;
  readonly winningLayer: number;
  /** When quiet hours end that hold it; undefined when it is not held. */
  readonly heldUntilMs: number | undefined;
  /** The reason why it is not sent; undefined when it is. */
  readonly skipped: "preference" | DeliveryFailure | undefined;
}

export interface PlanInput {
  readonly workflow: NotificationWorkflow | undefined;
  readonly overrides: Overrides;
  /** The channels that the trigger names; undefined for all. */
  readonly requestedChannels: readonly Channel[] | undefined;
  readonly subscriber: Subscriber;
  readonly endpoints: readonly Endpoint[];
  readonly resolutions: ReadonlyMap<Channel, Resolution>;
  /** Whether messages are sent to verified addresses only. */
  readonly verifiedOnly: boolean;
  /** Whether messages can be held until quiet hours end, which needs a queue. Otherwise they are skipped. */
  readonly holds: boolean;
}

/**
 * The channels of a trigger: the requested ones, or else those that have content. A trigger without a stored workflow
 * uses all channels, so that missing content is reported.
 */
function channelsOf({
  workflow,
  overrides,
  requestedChannels,
}: Pick<PlanInput, "workflow" | "overrides" | "requestedChannels">): readonly Channel[] {
  if (requestedChannels !== undefined) return channels.filter((channel) => requestedChannels.includes(channel));
  const withContent = channels.filter((channel) => hasContent(workflow, overrides, channel));
  return withContent.length === 0 && workflow === undefined ? channels : withContent;
}

function hasContent(workflow: NotificationWorkflow | undefined, overrides: Overrides, channel: Channel): boolean {
  return workflow?.channels[channel] !== undefined || overrides[channel]?.body !== undefined;
}

/** The content of a channel with a trigger's override applied; undefined if there is none to send. */
export function contentOf(
  base: ChannelContent | undefined,
  override: ContentOverride | undefined,
): ChannelContent | undefined {
  if (override === undefined) return base;
  if (base === undefined && override.body === undefined) return undefined;
  const given = Object.entries(override).filter(([, value]) => value !== undefined);
  return { ...(base ?? emptyContent), ...Object.fromEntries(given) };
}

/** The content of the channels that a trigger overrides. */
export function overriddenContents(
  workflow: NotificationWorkflow | undefined,
  overrides: Overrides,
): NotificationWorkflow["channels"] {
  const entries = channels.flatMap((channel) => {
    const content = overrides[channel] && contentOf(workflow?.channels[channel], overrides[channel]);
    return content === undefined ? [] : [[channel, content] as const];
  });
  return Object.fromEntries(entries);
}

const emptyContent: ChannelContent = {
  engine: "handlebars",
  subject: "",
  title: "",
  body: "",
  textBody: "",
  strictVariables: false,
  layoutId: "",
  data: {},
  attachments: [],
  locales: {},
};

/** Plans the deliveries to one subscriber: one for each channel and address. */
export function planDeliveries(input: PlanInput): PlannedDelivery[] {
  return channelsOf(input).flatMap((channel) => planChannel(input, channel, input.resolutions.get(channel)!));
}

function planChannel(
  { subscriber, endpoints, verifiedOnly, holds }: PlanInput,
  channel: Channel,
  resolution: Resolution,
): PlannedDelivery[] {
  const { winningLayer, heldUntilMs } = resolution;
  const isHeld = holds && heldUntilMs !== undefined;
  const reasonCode = heldUntilMs === undefined || isHeld ? resolution.reasonCode : "denied_quiet_hours";
  const decided = { channel, reasonCode, winningLayer, heldUntilMs: isHeld ? heldUntilMs : undefined };
  if (!resolution.allowed && !isHeld) return [{ ...decided, target: emptyTarget, skipped: "preference" }];
  if (channel === "in_app") return [{ ...decided, target: emptyTarget, skipped: undefined }];
  const own = endpoints.filter((endpoint) => endpoint.channel === channel);
  if (own.length > 0) {
    return own.map((endpoint) => ({
      ...decided,
      target: targetAt(endpoint),
      skipped: endpointProblem(endpoint, verifiedOnly),
    }));
  }
  const target = profileTarget(subscriber, channel, verifiedOnly);
  return "code" in target
    ? [{ ...decided, target: emptyTarget, skipped: target }]
    : [{ ...decided, target, skipped: undefined }];
}

const emptyTarget: Target = { endpointId: "", identity: "", metadata: {}, providerKey: "", connectionId: "" };

/** The provider_key of endpoints that name no provider. */
const noProvider = "default";

function targetAt({ id, identity, metadata, connectionId, providerKey: named }: Endpoint): Target {
  const providerKey = named === noProvider ? "" : named;
  return { endpointId: id, identity, metadata, providerKey, connectionId };
}

function endpointProblem(endpoint: Endpoint, verifiedOnly: boolean): DeliveryFailure | undefined {
  if (endpoint.suppressedAt !== null) return suppressed;
  if (verifiedOnly && !endpoint.verified) {
    return { phase: "endpoint", code: "unverified", detail: "The address is not verified." };
  }
  return undefined;
}

const suppressed: DeliveryFailure = {
  phase: "endpoint",
  code: "suppressed",
  detail: "The provider reported that the address no longer exists, or that its owner unsubscribed or complained.",
};

/** The profile's address for a channel, or the reason why it cannot be used. */
function profileTarget(subscriber: Subscriber, channel: Channel, verifiedOnly: boolean): Target | DeliveryFailure {
  const { email, emailSuppressedAt, phone, phoneSuppressedAt } = subscriber;
  const addresses: Partial<Record<Channel, readonly [string, Date | null]>> = {
    email: [email, emailSuppressedAt],
    sms: [phone, phoneSuppressedAt],
  };
  const [identity, suppressedAt] = addresses[channel] ?? ["", null];
  if (identity === "" || verifiedOnly) {
    const detail = `The subscriber has no ${verifiedOnly ? "verified " : ""}address on this channel.`;
    return { phase: "endpoint", code: "no_endpoint", detail };
  }
  return suppressedAt === null ? { ...emptyTarget, identity } : suppressed;
}

/** The current target of a queued delivery; a failure when its address can no longer be used. */
export function targetOf(
  { subscriber, endpoints, verifiedOnly }: Pick<PlanInput, "subscriber" | "endpoints" | "verifiedOnly">,
  channel: Channel,
  endpointId: string,
): Target | DeliveryFailure {
  if (channel === "in_app") return emptyTarget;
  if (endpointId === "") return profileTarget(subscriber, channel, verifiedOnly);
  const endpoint = endpoints.find(({ id }) => id === endpointId);
  if (endpoint === undefined) return { phase: "endpoint", code: "removed", detail: "The address was removed." };
  return endpointProblem(endpoint, verifiedOnly) ?? targetAt(endpoint);
}

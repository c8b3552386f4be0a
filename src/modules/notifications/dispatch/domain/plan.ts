import type { ChannelContent, NotificationWorkflow, ReasonCode, Resolution } from "../../preferences/index.ts";
import type { Channel, Endpoint, Subscriber } from "../../subscribers/index.ts";
import type { DeliveryFailure } from "./delivery.ts";

/** What a trigger says for a channel instead of its workflow. */
export type ContentOverride = { readonly [Field in keyof ChannelContent]?: ChannelContent[Field] | undefined };

/** The overrides of a trigger, by channel. */
export type Overrides = Readonly<Partial<Record<Channel, ContentOverride>>>;

/** All channels, in the order in which outcomes are told. */
export const channels: readonly Channel[] = ["in_app", "email", "sms", "push", "chat"];

/** Where a message goes. */
export interface Target {
  /** "" for an inbox, and for an address that only the profile has. */
  readonly endpointId: string;
  readonly identity: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The provider that the address was registered with; "" when it names none. */
  readonly providerKey: string;
  /** The connection that the address is pinned to; "" when any integration may serve it. */
  readonly connectionId: string;
}

/** One message that is to be sent, or that is not, and why. */
export interface PlannedDelivery {
  readonly channel: Channel;
  readonly target: Target;
  readonly reasonCode: ReasonCode;
  readonly winningLayer: number;
  /** Why there is nothing to send; undefined when there is. */
  readonly skipped: "preference" | DeliveryFailure | undefined;
}

/** What a plan is made of. */
export interface PlanInput {
  readonly workflow: NotificationWorkflow | undefined;
  readonly overrides: Overrides;
  /** The channels that the trigger asks for; undefined for all. */
  readonly asked: readonly Channel[] | undefined;
  readonly subscriber: Subscriber;
  readonly endpoints: readonly Endpoint[];
  readonly resolutions: ReadonlyMap<Channel, Resolution>;
  /** Whether only addresses that were confirmed are written to. */
  readonly verifiedOnly: boolean;
}

/**
 * The channels that a trigger is about: those it asks for, or else those that something is said for. A workflow that
 * nobody wrote down is about all of them, so that what is missing shows.
 */
function channelsOf({
  workflow,
  overrides,
  asked,
}: Pick<PlanInput, "workflow" | "overrides" | "asked">): readonly Channel[] {
  if (asked !== undefined) return channels.filter((channel) => asked.includes(channel));
  const said = channels.filter((channel) => hasContent(workflow, overrides, channel));
  return said.length === 0 && workflow === undefined ? channels : said;
}

function hasContent(workflow: NotificationWorkflow | undefined, overrides: Overrides, channel: Channel): boolean {
  return workflow?.channels[channel] !== undefined || overrides[channel]?.body !== undefined;
}

/** What is said on a channel: the workflow's words, and the trigger's where it has others. */
export function contentOf(
  workflow: NotificationWorkflow | undefined,
  overrides: Overrides,
  channel: Channel,
): ChannelContent | undefined {
  const base = workflow?.channels[channel];
  const override = overrides[channel];
  if (override === undefined) return base;
  if (base === undefined && override.body === undefined) return undefined;
  const given = Object.entries(override).filter(([, value]) => value !== undefined);
  return { ...(base ?? emptyContent), ...Object.fromEntries(given) };
}

/** What is said on the channels that a trigger has other words for. */
export function overriddenContents(
  workflow: NotificationWorkflow | undefined,
  overrides: Overrides,
): NotificationWorkflow["channels"] {
  const said = channels.flatMap((channel) => {
    const content = overrides[channel] && contentOf(workflow, overrides, channel);
    return content === undefined ? [] : [[channel, content] as const];
  });
  return Object.fromEntries(said);
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
};

/** What is to be sent to one subscriber: one delivery for each channel and address. */
export function planDeliveries(input: PlanInput): PlannedDelivery[] {
  return channelsOf(input).flatMap((channel) => planChannel(input, channel, input.resolutions.get(channel)!));
}

function planChannel(
  { subscriber, endpoints, verifiedOnly }: PlanInput,
  channel: Channel,
  { allowed, reasonCode, winningLayer }: Resolution,
): PlannedDelivery[] {
  const decided = { channel, reasonCode, winningLayer };
  if (!allowed) return [{ ...decided, target: nowhere, skipped: "preference" }];
  if (channel === "in_app") return [{ ...decided, target: nowhere, skipped: undefined }];
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
    ? [{ ...decided, target: nowhere, skipped: target }]
    : [{ ...decided, target, skipped: undefined }];
}

const nowhere: Target = { endpointId: "", identity: "", metadata: {}, providerKey: "", connectionId: "" };

/** The provider_key of endpoints that name no provider. */
const noProvider = "default";

function targetAt({ id, identity, metadata, connectionId, providerKey: named }: Endpoint): Target {
  const providerKey = named === noProvider ? "" : named;
  return { endpointId: id, identity, metadata, providerKey, connectionId };
}

function endpointProblem(endpoint: Endpoint, verifiedOnly: boolean): DeliveryFailure | undefined {
  if (endpoint.suppressedAt !== null) return suppressed;
  if (verifiedOnly && !endpoint.verified) {
    return { phase: "endpoint", code: "unverified", detail: "The address was never confirmed." };
  }
  return undefined;
}

const suppressed: DeliveryFailure = {
  phase: "endpoint",
  code: "suppressed",
  detail: "The provider said that the address is gone, or that its owner unsubscribed or complained.",
};

/** The address that a profile has for a channel, or why there is none to be used. */
function profileTarget(subscriber: Subscriber, channel: Channel, verifiedOnly: boolean): Target | DeliveryFailure {
  const { email, emailSuppressedAt, phone, phoneSuppressedAt } = subscriber;
  const addresses: Partial<Record<Channel, readonly [string, Date | null]>> = {
    email: [email, emailSuppressedAt],
    sms: [phone, phoneSuppressedAt],
  };
  const [identity, suppressedAt] = addresses[channel] ?? ["", null];
  if (identity === "" || verifiedOnly) {
    const detail = `The subscriber has no ${verifiedOnly ? "confirmed " : ""}address on this channel.`;
    return { phase: "endpoint", code: "no_endpoint", detail };
  }
  return suppressedAt === null ? { ...nowhere, identity } : suppressed;
}

/** Where a delivery that waited goes now; a failure when its address is not to be used any more. */
export function targetOf(
  { subscriber, endpoints, verifiedOnly }: Pick<PlanInput, "subscriber" | "endpoints" | "verifiedOnly">,
  channel: Channel,
  endpointId: string,
): Target | DeliveryFailure {
  if (channel === "in_app") return nowhere;
  if (endpointId === "") return profileTarget(subscriber, channel, verifiedOnly);
  const endpoint = endpoints.find(({ id }) => id === endpointId);
  if (endpoint === undefined) return { phase: "endpoint", code: "removed", detail: "The address was removed." };
  return endpointProblem(endpoint, verifiedOnly) ?? targetAt(endpoint);
}

import type { NotificationWorkflow, Resolution } from "../../preferences/index.ts";
import type { Channel, Subscriber } from "../../subscribers/index.ts";
import type { DeliveryFailure } from "./delivery.ts";
import { channelNames, channels, type PlannedDelivery } from "./plan.ts";
import { describePreference } from "./preference-text.ts";

/** One reason why a message is sent or not. */
export interface ReachReason {
  /** "" for a reason that concerns all channels. */
  readonly channel: Channel | "";
  readonly source:
    | "workflow"
    | "subscriber"
    | "content"
    | "preference"
    | "endpoint"
    | "suppression"
    | "integration"
    | "delivery";
  readonly code: string;
  /** Whether it lets the message pass. */
  readonly passes: boolean;
  /** Whether it decides its channel. */
  readonly deciding: boolean;
  readonly message: string;
  /** How to change it; "" if no change is needed. */
  readonly remedy: string;
}

/** Whether a notification reaches a subscriber, and why. */
export interface Reach {
  readonly verdict: "reachable" | "unreachable" | "unknown_workflow";
  readonly summary: string;
  readonly reasons: readonly ReachReason[];
}

/** A planned delivery, and the provider that would send it. */
export interface ChosenRoute {
  readonly plan: PlannedDelivery;
  /** The provider, or why none would; undefined for a message that is skipped earlier. */
  readonly route: { readonly providerKey: string } | DeliveryFailure | undefined;
}

/** The last message of a channel. */
export interface LastMessage {
  readonly channel: Channel;
  readonly status: string;
  readonly message: string;
}

/** Facts about a subscriber and a workflow. */
export interface ReachFacts {
  readonly workflowKey: string;
  readonly workflow: NotificationWorkflow | undefined;
  /** The key that a mistyped one comes closest to. */
  readonly nearestKey: string | undefined;
  readonly subscriber: Subscriber;
  readonly resolutions: ReadonlyMap<Channel, Resolution>;
  readonly routes: ReadonlyMap<Channel, readonly ChosenRoute[]>;
  /** The newest message of each channel. */
  readonly lastMessages: readonly LastMessage[];
}

type Finding = Omit<ReachReason, "channel" | "deciding">;

/** Explains whether a workflow would reach a subscriber now: the checks of a trigger, in their order. */
export function explainReach(facts: ReachFacts): Reach {
  const { workflow, workflowKey, nearestKey, subscriber } = facts;
  const person = nameOf(subscriber);
  if (workflow === undefined) {
    const near = nearestKey === undefined ? "" : ` Did you mean ${nearestKey}?`;
    const message = `No notification workflow has the key ${workflowKey}.${near}`;
    const remedy = "Correct the key, or store the workflow: PUT /api/v2/notification/workflows/{workflow_key}.";
    const reason = { source: "workflow", code: "workflow_unknown", passes: false, message, remedy } as const;
    return {
      verdict: "unknown_workflow",
      summary: `${person} gets nothing: ${message}`,
      reasons: [{ ...reason, channel: "", deciding: true }],
    };
  }
  const shared: Finding[] = [workflowFinding(workflow), subscriberFinding(subscriber)];
  const byChannel = channels.map((channel) => decided(channel, findingsOf(facts, workflow, channel)));
  const reached = byChannel.filter((reasons) => reasons.every(({ passes, source }) => passes || source === "delivery"));
  const verdict = subscriber.active && reached.length > 0 ? "reachable" : "unreachable";
  return {
    verdict,
    summary: summaryOf(facts, person, verdict, byChannel, reached),
    reasons: [
      ...shared.map((finding) => ({ ...finding, channel: "" as const, deciding: !finding.passes })),
      ...byChannel.flat(),
    ],
  };
}

function nameOf({ firstName, lastName, externalId }: Subscriber): string {
  return [firstName, lastName].filter((part) => part !== "").join(" ") || externalId;
}

function workflowFinding({ name, workflowKey }: NotificationWorkflow): Finding {
  const message = `The notification workflow ${name || workflowKey} exists.`;
  return { source: "workflow", code: "workflow_found", passes: true, message, remedy: "" };
}

function subscriberFinding({ active, externalId }: Subscriber): Finding {
  if (active) {
    const message = "The subscriber is active.";
    return { source: "subscriber", code: "subscriber_active", passes: true, message, remedy: "" };
  }
  return {
    ...{ source: "subscriber", code: "subscriber_inactive", passes: false },
    message: "The subscriber was deleted, so nothing is sent to it.",
    remedy: `Make it active again: POST /api/v2/notification/subscribers with the external_id ${externalId}.`,
  };
}

/** Returns the findings about a message on one channel, in the order of a trigger's checks. */
function findingsOf(
  { subscriber, resolutions, routes, lastMessages }: ReachFacts,
  workflow: NotificationWorkflow,
  channel: Channel,
): Finding[] {
  const findings: Finding[] = [];
  if (workflow.channels[channel] === undefined) {
    findings.push({
      ...{ source: "content", code: "template_missing", passes: false },
      message: "The workflow has no content for the channel.",
      remedy: `Add channels.${channel} to the workflow ${workflow.workflowKey}.`,
    });
  } else {
    const message = "The workflow has content for the channel.";
    findings.push({ source: "content", code: "content_found", passes: true, message, remedy: "" });
    findings.push(preferenceFinding(resolutions.get(channel)!, subscriber));
    if (resolutions.get(channel)!.allowed) findings.push(...addressFindings(routes.get(channel) ?? [], subscriber));
  }
  const last = lastMessages.find((each) => each.channel === channel);
  if (last === undefined) return findings;
  const passes = last.status !== "failed" && last.status !== "skipped";
  return [...findings, { source: "delivery", code: `last_${last.status}`, passes, message: last.message, remedy: "" }];
}

function preferenceFinding({ allowed, reasonCode, winningLayer }: Resolution, { id }: Subscriber): Finding {
  return {
    ...{ source: "preference", code: reasonCode, passes: allowed },
    message: describePreference(reasonCode, winningLayer),
    remedy: allowed ? "" : `See POST /api/v2/notification/subscribers/${id}/preferences:preview for every layer.`,
  };
}

/** One usable address is enough. */
function addressFindings(routes: readonly ChosenRoute[], { id }: Subscriber): Finding[] {
  const usable = routes.filter(({ plan }) => plan.skipped === undefined);
  if (usable.length === 0) {
    const skipped = routes[0]?.plan.skipped;
    const { code, detail } = typeof skipped === "object" ? skipped : noAddress;
    const source = code === "suppressed" ? "suppression" : "endpoint";
    const remedy = `Add an address: POST /api/v2/notification/subscribers/${id}/endpoints.`;
    return [{ source, code, passes: false, message: detail, remedy }];
  }
  const addresses = usable.length === 1 ? "one address" : `${usable.length} addresses`;
  const found: Finding = {
    ...{ source: "endpoint", code: "address_found", passes: true, remedy: "" },
    message: usable[0]!.plan.channel === "in_app" ? "The inbox needs no address." : `There is ${addresses} to send to.`,
  };
  return [found, integrationFinding(usable.map(({ route }) => route))];
}

const noAddress = { code: "no_endpoint", detail: "The subscriber has no address on this channel." } as const;

function integrationFinding(routes: readonly ChosenRoute["route"][]): Finding {
  const serving = routes.find((route) => route !== undefined && !("code" in route));
  if (serving !== undefined) {
    const { providerKey } = serving as { readonly providerKey: string };
    const message = `It would be sent through ${providerKey}.`;
    return { source: "integration", code: "integration_found", passes: true, message, remedy: "" };
  }
  const failure = routes[0] as DeliveryFailure;
  return {
    ...{ source: "integration", code: failure.code, passes: false },
    message: failure.detail,
    remedy: "See GET /api/v2/notification/integrations, and the connection that the integration uses.",
  };
}

/** Marks the reason that decides a channel: the first that stops the message, or else the last check. */
function decided(channel: Channel, findings: readonly Finding[]): ReachReason[] {
  const checks = findings.filter(({ source }) => source !== "delivery");
  const deciding = checks.find(({ passes }) => !passes) ?? checks.at(-1);
  return findings.map((finding) => ({ ...finding, channel, deciding: finding === deciding }));
}

function summaryOf(
  { workflowKey, workflow, subscriber, lastMessages }: ReachFacts,
  person: string,
  verdict: Reach["verdict"],
  byChannel: readonly (readonly ReachReason[])[],
  reached: readonly (readonly ReachReason[])[],
): string {
  const last = lastMessages.length === 0 ? "" : ` ${lastMessages[0]!.message}`;
  if (!subscriber.active) return `${person} gets nothing: the subscriber was deleted.${last}`;
  const notification = workflow!.name || workflowKey;
  const stopped = byChannel
    .filter((reasons) => !reached.includes(reasons) && workflow!.channels[reasons[0]!.channel as Channel] !== undefined)
    .map(
      (reasons) =>
        `Not on ${channelNames[reasons[0]!.channel as Channel]}: ${reasons.find(({ deciding }) => deciding)!.message}`,
    );
  if (verdict === "reachable") {
    const names = reached.map((reasons) => channelNames[reasons[0]!.channel as Channel]).join(", ");
    return [`${person} would get ${notification} now on ${names}.`, ...stopped].join(" ") + last;
  }
  const why = stopped.length === 0 ? ["The workflow has no content."] : stopped;
  return [`${person} would not get ${notification} now.`, ...why].join(" ") + last;
}

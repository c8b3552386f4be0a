import type { TenantId } from "../../../../platform/access/index.ts";
import type { Layers, NotificationWorkflow, Preferences } from "../../preferences/index.ts";
import type { Channel } from "../../subscribers/index.ts";
import { channels, planDeliveries } from "../domain/plan.ts";
import type { Trigger } from "../domain/trigger.ts";
import type { MessagePreparer, PreparedMessage } from "../message/message-preparation.ts";
import type { Recipient } from "../message/recipients.ts";
import type { RecordedTrigger } from "./recorded-trigger-store.ts";

/** A configuration of notifications: the one that is stored, or one with changes. */
export interface Configuration {
  readonly workflow: (
    tenantId: TenantId,
    key: string,
  ) => NotificationWorkflow | undefined | Promise<NotificationWorkflow | undefined>;
  readonly layersOf: (layers: Layers, userId: string) => Layers;
  readonly prepare: MessagePreparer;
}

/** What became of a message. */
export interface MessageFate {
  readonly channel: Channel;
  /** sent, the reason code of the preference decision, or the failure code. */
  readonly outcome: string;
  /** The integration, or the built-in provider, that sends it; "" if none does. */
  readonly sender: string;
  /** When quiet hours end that hold it; undefined if it is not held. */
  readonly heldUntilMs: number | undefined;
  /** The rendered parts by name. */
  readonly content: Readonly<Record<string, string>>;
}

/** A trigger to resolve, with what it was about. */
export interface TriggerQuestion extends Pick<Trigger, "payload" | "overrides"> {
  readonly trigger: RecordedTrigger;
  readonly recipient: Recipient;
  /** The channels that it requested; undefined for all. */
  readonly requestedChannels: readonly Channel[] | undefined;
}

export interface SimulationRules {
  readonly preferences: Pick<Preferences, "resolve">;
  readonly verifiedOnly: boolean;
  readonly holds: boolean;
}

/** The channels that a trigger requested: all, if it has a message on every channel that its workflow uses. */
export function requestedChannels(
  { stepKey, messages }: RecordedTrigger,
  workflow: NotificationWorkflow | undefined,
): readonly Channel[] | undefined {
  const recorded = new Set(messages.map(({ channel }) => channel));
  const used =
    stepChannels(workflow, stepKey) ?? channels.filter((channel) => workflow?.channels[channel] !== undefined);
  return used.every((channel) => recorded.has(channel)) ? undefined : [...recorded];
}

/** The channels of a step that sends; undefined without a step. */
function stepChannels(workflow: NotificationWorkflow | undefined, stepKey: string): readonly Channel[] | undefined {
  if (stepKey === "") return undefined;
  const step = workflow?.steps.find(({ key }) => key === stepKey);
  return step?.kind === "send" ? step.channels : [];
}

/** Resolves a trigger with a configuration; returns its messages by channel and address. Nothing is stored or sent. */
export async function simulateTrigger(
  { preferences, verifiedOnly, holds }: SimulationRules,
  { workflow: findWorkflow, layersOf, prepare }: Configuration,
  { trigger, recipient, payload, overrides, requestedChannels: requested }: TriggerQuestion,
): Promise<ReadonlyMap<string, MessageFate>> {
  const { tenantId, workflowKey, userId, topicKey, contextKeys, stepKey, transactionId, atMs: nowMs } = trigger;
  const workflow = await findWorkflow(tenantId, workflowKey);
  const { subscriber, endpoints } = recipient;
  const layers = layersOf(recipient.layers, userId);
  const own = stepChannels(workflow, stepKey);
  const wanted = requested === undefined ? own : (own ?? channels).filter((channel) => requested.includes(channel));
  const about = { workflow, layers, subscriber, userId, topicKey, contextKeys, payload, nowMs };
  const resolutions = preferences.resolve({ ...about, channels: wanted });
  const rules = { requestedChannels: wanted, resolutions, verifiedOnly, holds };
  const fates = new Map<string, MessageFate>();
  for (const plan of planDeliveries({ workflow, overrides, subscriber, endpoints, ...rules })) {
    const { channel, target, heldUntilMs, skipped } = plan;
    const key = `${channel} ${target.endpointId}`;
    if (skipped !== undefined) {
      const outcome = skipped === "preference" ? plan.reasonCode : skipped.code;
      fates.set(key, { channel, outcome, sender: "", heldUntilMs: undefined, content: {} });
      continue;
    }
    const delivery = { tenantId, id: "", transactionId, workflowKey, channel, keyGeneration: 0, stepKey };
    const digest = trigger.digest ?? undefined;
    const message = { delivery, target, subscriber, workflow, overrides, payload, digest, onlyIntegrationId: "" };
    fates.set(key, { channel, heldUntilMs, ...outcomeOf(await prepare(message)) });
  }
  return fates;
}

function outcomeOf(prepared: PreparedMessage): Pick<MessageFate, "outcome" | "sender" | "content"> {
  if (prepared.kind === "failed") return { outcome: prepared.failure.code, sender: "", content: {} };
  const { integrationId, providerKey } = prepared.kind === "outgoing" ? prepared.route : prepared;
  const { subject, title, text, html, data, attachments } = prepared.message;
  const content = { subject, title, text, html, data: JSON.stringify(data), attachments: JSON.stringify(attachments) };
  return { outcome: "sent", sender: integrationId || providerKey, content };
}

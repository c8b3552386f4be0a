import type { Sql } from "../../../../platform/db/index.ts";
import type { InboxState, NotificationWorkflow, Preferences } from "../../preferences/index.ts";
import type { StoredPayload } from "../delivery/dispatch-store.ts";
import type { Delivery } from "../domain/delivery.ts";
import { channels } from "../domain/plan.ts";
import type { DigestValues, NotificationRun, StepOutcome } from "../domain/run.ts";
import { subscriberFacts } from "../message/message-renderer.ts";
import type { Recipient } from "../message/recipients.ts";
import type { StepValues } from "./step-expressions.ts";

/** Facts about a message that an earlier step of the run created. */
export interface RunMessage extends Pick<Delivery, "id" | "stepKey" | "channel" | "status"> {
  readonly seen: boolean;
  readonly read: boolean;
}

/** Decision inputs of a run's steps. */
export interface RunFacts {
  readonly workflow: NotificationWorkflow;
  readonly recipient: Recipient;
  readonly stored: StoredPayload;
  readonly messages: readonly RunMessage[];
}

/** Reads the messages that a run has created. */
export async function readMessages(
  sql: Sql,
  { tenantId, id, transactionId, subscriberId }: NotificationRun,
): Promise<RunMessage[]> {
  return sql<RunMessage[]>`
    select delivery.id, delivery.step_key, delivery.channel, delivery.status,
      inbox.seen_at is not null as seen, inbox.read_at is not null as read
    from notification_deliveries delivery
    left join notification_inbox inbox on inbox.tenant_id = delivery.tenant_id
      and inbox.subscriber_id = delivery.subscriber_id and inbox.id = delivery.id
    where delivery.tenant_id = ${tenantId} and delivery.transaction_id = ${transactionId}
      and delivery.subscriber_id = ${subscriberId} and delivery.run_id = ${id}`;
}

/** The inbox message that a step created; undefined when it created none. */
export function inboxMessage({ messages }: Pick<RunFacts, "messages">, stepKey: string): RunMessage | undefined {
  return messages.find(
    ({ stepKey: by, channel, status }) => by === stepKey && channel === "in_app" && status !== "skipped",
  );
}

/** Whether a message is in a state. */
export function hasState(message: RunMessage | undefined, state: InboxState): boolean {
  return message?.[state] === true;
}

/** The values of the variables that a step can read. */
export function stepValues(
  preferences: Pick<Preferences, "resolve">,
  run: NotificationRun,
  facts: RunFacts,
  outcomes: readonly StepOutcome[],
  digest: DigestValues | null,
  nowMs: number,
): StepValues {
  const { workflow, recipient, stored, messages } = facts;
  const { subscriber, layers } = recipient;
  const { userId, topicKey, contextKeys } = run;
  const { payload } = stored.body;
  const about = { workflow, layers, subscriber, userId, topicKey, contextKeys, payload, nowMs };
  const decided = preferences.resolve({ ...about, channels: undefined });
  return {
    payload,
    subscriber: subscriberFacts(subscriber),
    preferences: Object.fromEntries(channels.map((channel) => [channel, decided.get(channel)!.allowed])),
    steps: Object.fromEntries(workflow.steps.map(({ key }) => [key, stepFacts(key, outcomes, messages)])),
    digest: { count: digest?.count ?? 0 },
    workflow_key: run.workflowKey,
    topic_key: topicKey,
    context_keys: contextKeys,
    user_id: userId,
  };
}

/** Returns the facts of an earlier step for conditions. A step that has not run has an empty outcome. */
function stepFacts(key: string, outcomes: readonly StepOutcome[], messages: readonly RunMessage[]) {
  const own = messages.filter(({ stepKey }) => stepKey === key);
  const outcome = outcomes.findLast(({ stepKey }) => stepKey === key);
  return {
    outcome: outcome?.outcome ?? "",
    reason: outcome?.reason ?? "",
    sent: own.some(({ status }) => status === "sent"),
    failed: own.some(({ status }) => status === "failed"),
    seen: own.some(({ seen }) => seen),
    read: own.some(({ read }) => read),
  };
}

import type { Context } from "../../../../chain/call.ts";
import { notFound } from "../../../../platform/db/index.ts";
import { nearestName } from "../../../../platform/text/index.ts";
import type { NotificationWorkflow, Preferences, Resolution } from "../../preferences/index.ts";
import type { Channel, Subscribers } from "../../subscribers/index.ts";
import { describeDelivery } from "../delivery/delivery-explainer.ts";
import { deliveryStore } from "../delivery/delivery-store.ts";
import type { Delivery } from "../domain/delivery.ts";
import { type ChosenRoute, explainReach, type Reach } from "../domain/delivery-eligibility.ts";
import { channels, planDeliveries } from "../domain/plan.ts";
import { createIntegrationChooser, type IntegrationChooserParts } from "../message/integration-choice.ts";
import { subscriberFacts } from "../message/message-renderer.ts";
import { type Recipient, readRecipient } from "../message/recipients.ts";

/** How many earlier messages are shown, and how many of the subscriber's newest are searched for them. */
const shownMax = 20;
const searchedMax = 500;

interface Dependencies extends IntegrationChooserParts {
  readonly subscribers: Pick<Subscribers, "find" | "findMany" | "endpointsOf">;
  readonly preferences: Pick<Preferences, "storedWorkflow" | "workflowKeys" | "readLayers" | "resolve">;
  readonly verifiedOnly: boolean;
}

/** The notification in question. */
export interface ReachQuestion {
  readonly workflowKey: string;
  readonly topicKey: string;
  readonly userId: string;
}

/** The answer, with the subscriber's earlier messages of the workflow, newest first. */
export interface ExplainedReach extends Reach {
  readonly pastDeliveries: readonly Delivery[];
}

/** Explains why notifications reach subscribers or not. */
export type ReachService = ReturnType<typeof createReachService>;

/** Creates the service. It decides with the code that triggers use; nothing is sent or stored. */
export function createReachService(dependencies: Dependencies) {
  const { subscribers, preferences, verifiedOnly } = dependencies;
  const choose = createIntegrationChooser(dependencies);

  /** The addresses of every channel, and what would send to them. */
  async function routesOf(
    { tenantId }: Context,
    workflow: NotificationWorkflow,
    { subscriber, endpoints }: Recipient,
    resolutions: ReadonlyMap<Channel, Resolution>,
  ): Promise<ReadonlyMap<Channel, readonly ChosenRoute[]>> {
    const requestedChannels = channels.filter((channel) => workflow.channels[channel] !== undefined);
    // The question is what reaches the subscriber now, so what would be held has no route.
    const rules = { resolutions, verifiedOnly, holds: false };
    const about = { workflow, overrides: {}, requestedChannels, subscriber, endpoints, ...rules };
    const { workflowKey: workflow_key } = workflow;
    const values = { subscriber: subscriberFacts(subscriber), payload: {}, workflow_key, transaction_id: "explain" };
    const routes = await Promise.all(
      planDeliveries(about).map(async (plan): Promise<ChosenRoute> => {
        if (plan.skipped !== undefined) return { plan, route: undefined };
        const delivery = { tenantId, channel: plan.channel };
        return {
          plan,
          route: await choose({ delivery, target: plan.target, onlyIntegrationId: "" }, values, new Set()),
        };
      }),
    );
    return Map.groupBy(routes, ({ plan }) => plan.channel);
  }

  return {
    async explainSubscriber(context: Context, id: string, question: ReachQuestion): Promise<ExplainedReach> {
      const { sql, tenantId, nowMs } = context;
      const { workflowKey, topicKey, userId } = question;
      const [subscriber, workflow] = await Promise.all([
        subscribers.find(sql, tenantId, id),
        preferences.storedWorkflow(sql, tenantId, workflowKey),
      ]);
      if (subscriber === undefined) throw notFound("subscriber");
      const [recipient, past] = await Promise.all([
        readRecipient(dependencies, sql, { workflowKey, userId }, subscriber),
        deliveryStore(sql).recentOf(tenantId, subscriber.id, workflowKey, searchedMax, shownMax),
      ]);
      const about = { workflow, layers: recipient.layers, subscriber, userId, topicKey, contextKeys: [], payload: {} };
      const resolutions = preferences.resolve({ ...about, channels: undefined, nowMs });
      const newest = channels.flatMap((channel) => past.find((delivery) => delivery.channel === channel) ?? []);
      const lastMessages = newest
        .sort((one, other) => (one.id < other.id ? 1 : -1))
        .map((delivery) => ({ ...delivery, message: `Last message: ${describeDelivery(delivery)}` }));
      const known = workflow === undefined ? await preferences.workflowKeys(sql, tenantId) : [];
      const reach = explainReach({
        ...{
          workflowKey,
          workflow,
          nearestKey: nearestName(workflowKey, known),
          subscriber,
          resolutions,
          lastMessages,
        },
        routes: workflow === undefined ? new Map() : await routesOf(context, workflow, recipient, resolutions),
      });
      return { ...reach, pastDeliveries: past };
    },
  };
}

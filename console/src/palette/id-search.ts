import { createEventService } from "@client/gen/event";
import { createExperimentService } from "@client/gen/experiment";
import { createExplainService } from "@client/gen/explain";
import { createPoolService } from "@client/gen/pool";
import { createPromotionService } from "@client/gen/promotion";
import { createScheduleService } from "@client/gen/schedule";
import { createSubscriberService } from "@client/gen/subscriber";
import { createWebhookService } from "@client/gen/webhook";
import { createWorkflowDefinitionService } from "@client/gen/workflow-definition";
import { href } from "../core/router";
import { can } from "../core/session";
import { unlistedTransport as transport } from "../core/transport";
import type { IconName } from "../ui/icon";
import type { Found } from "./found";

/** Finds the records with an id. */
export async function findById(id: string): Promise<Found[]> {
  // Most ids belong to explainable records. For other ids, each remaining kind is queried, and all but one refuse.
  const explained = await byExplanation(id).catch(() => []);
  if (explained.length > 0) return explained;
  const found = await Promise.all(byRecord(id).map((find) => find.catch(() => [])));
  return found.flat();
}

function byRecord(id: string): Promise<Found[]>[] {
  const one = (scope: string, read: () => Promise<unknown>, title: string, icon: IconName, to: string) =>
    can(scope) ? read().then(() => [{ title: `${title} ${id}`, kind: title, icon, href: to }]) : Promise.resolve([]);
  const pools = () => createPoolService(transport).get({ pool_id: id });
  const schedules = () => createScheduleService(transport).get({ schedule_id: id });
  const definitions = () => createWorkflowDefinitionService(transport).get({ id });
  const experiments = () => createExperimentService(transport).get({ experiment_id: id });
  const candidates = () => createPromotionService(transport).getCandidate({ candidate_id: id });
  const endpoints = () => createWebhookService(transport).getEndpoint({ endpoint_id: id });
  const subscribers = () => createSubscriberService(transport).get({ id });
  const events = () => createEventService(transport).get({ event_id: id });
  return [
    one("pool:read", pools, "Pool", "pools", href(`pools/${id}`)),
    one("schedule:read", schedules, "Schedule", "schedules", href(`schedules/${id}`)),
    one("workflow_definition:read", definitions, "Workflow", "workflows", href(`workflows/definitions/${id}`)),
    one("experiment:read", experiments, "Experiment", "experiments", href(`experiments/${id}`)),
    one("promotion:read", candidates, "Promotion", "promotions", href(`promotions/${id}`)),
    one("webhook:read", endpoints, "Webhook", "webhooks", href(`webhooks/${id}`)),
    one("notification:read", subscribers, "Subscriber", "notifications", href(`notifications/subscribers/${id}`)),
    one("event:read", events, "Event", "events", href("events", { open: id })),
  ];
}

/** Finds explainable records: decisions, items, messages, runs and executions. */
async function byExplanation(id: string): Promise<Found[]> {
  if (!can("explanation:read")) return [];
  const { kinds, links } = await createExplainService(transport).explain({ id });
  const poolId = links.find(({ relation }) => relation === "pool")?.id;
  const places: Readonly<Record<string, Omit<Found, "title"> | undefined>> = {
    decision: { kind: "Decision", icon: "decisions", href: href(`decisions/${id}`) },
    queue_item:
      poolId === undefined ? undefined : { kind: "Item", icon: "queues", href: href(`queues/${poolId}`, { open: id }) },
    workflow_run: { kind: "Run", icon: "workflows", href: href(`workflows/runs/${id}`) },
    notification_delivery: { kind: "Delivery", icon: "notifications", href: href("notifications", { open: id }) },
    notification_run: {
      kind: "Notification run",
      icon: "notifications",
      href: href("notifications", { tab: "runs", open: id }),
    },
    connector_execution: {
      kind: "Execution",
      icon: "connectors",
      href: href("connectors", { tab: "executions", open: id }),
    },
  };
  return kinds.flatMap((kind) => {
    const place = places[kind];
    return place === undefined ? [] : [{ title: `${place.kind} ${id}`, ...place }];
  });
}

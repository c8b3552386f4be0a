import { createApiKeyService } from "@client/gen/api-key";
import { createConnectorCatalogService } from "@client/gen/connector-catalog";
import { createEventService } from "@client/gen/event";
import { createExperimentService } from "@client/gen/experiment";
import { createExplainService } from "@client/gen/explain";
import { createMemberService } from "@client/gen/member";
import { createNotificationWorkflowService } from "@client/gen/notification-workflow";
import { createPoolService } from "@client/gen/pool";
import { createPromotionService } from "@client/gen/promotion";
import { createScheduleService } from "@client/gen/schedule";
import { createSubscriberService } from "@client/gen/subscriber";
import { createTopicService } from "@client/gen/topic";
import { createWebhookService } from "@client/gen/webhook";
import { createWorkflowDefinitionService } from "@client/gen/workflow-definition";
import type { List } from "@client/transport/list";
import { href } from "./core/router";
import { can } from "./core/session";
import { transport } from "./core/transport";
import type { IconName } from "./ui/icon";

/** A place that the search found. */
export interface Found {
  readonly title: string;
  readonly kind: string;
  readonly icon: IconName;
  readonly href: string;
}

const ulid = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const readMax = 200;
const foundMax = 12;

/** Finds records by a part of their name, or by their whole id. */
export async function findRecords(text: string): Promise<readonly Found[]> {
  const id = text.toUpperCase();
  if (!ulid.test(id)) return allOf(byName(text.toLowerCase()));
  // Most ids are those of something that happened. The other kinds are asked one by one, and all but one refuse.
  const explained = await allOf([byExplanation(id)]);
  return explained.length > 0 ? explained : allOf(byId(id));
}

async function allOf(finders: readonly Promise<Found[]>[]): Promise<Found[]> {
  const found = await Promise.all(finders.map((find) => find.catch(() => [])));
  return found.flat().slice(0, foundMax);
}

/** A kind of records that are found by their names. */
interface NamedKind<Row> {
  readonly scope: string;
  readonly kind: string;
  readonly icon: IconName;
  readonly list: () => List<Row>;
  /** The names to look at; the first one that is not empty is shown. */
  readonly namesOf: (row: Row) => readonly string[];
  readonly pathOf: (row: Row) => string;
  /** What opens the record on a page of many. */
  readonly queryOf?: (row: Row) => Readonly<Record<string, string>>;
}

const page = { limit: readMax };

function byName(text: string): Promise<Found[]>[] {
  return [
    find(text, {
      scope: "pool:read",
      kind: "Pool",
      icon: "pools",
      list: () => createPoolService(transport).list(page),
      namesOf: ({ name }) => [name],
      pathOf: ({ id }) => `pools/${id}`,
    }),
    find(text, {
      scope: "schedule:read",
      kind: "Schedule",
      icon: "schedules",
      list: () => createScheduleService(transport).list(page),
      namesOf: ({ name }) => [name],
      pathOf: ({ id }) => `schedules/${id}`,
    }),
    find(text, {
      scope: "workflow_definition:read",
      kind: "Workflow",
      icon: "workflows",
      list: () => createWorkflowDefinitionService(transport).list(page),
      namesOf: ({ name, key }) => [name, key],
      pathOf: ({ id }) => `workflows/definitions/${id}`,
    }),
    find(text, {
      scope: "experiment:read",
      kind: "Experiment",
      icon: "experiments",
      list: () => createExperimentService(transport).list(page),
      namesOf: ({ name, key }) => [name, key],
      pathOf: ({ id }) => `experiments/${id}`,
    }),
    find(text, {
      scope: "promotion:read",
      kind: "Promotion",
      icon: "promotions",
      list: () => createPromotionService(transport).listCandidates(page),
      namesOf: ({ name }) => [name],
      pathOf: ({ id }) => `promotions/${id}`,
    }),
    find(text, {
      scope: "webhook:read",
      kind: "Webhook",
      icon: "webhooks",
      list: () => createWebhookService(transport).listEndpoints(page),
      namesOf: ({ description, url }) => [description, url],
      pathOf: ({ id }) => `webhooks/${id}`,
    }),
    find(text, {
      scope: "connector:read",
      kind: "Provider",
      icon: "connectors",
      list: () => createConnectorCatalogService(transport).listProviders(page),
      namesOf: ({ name, key }) => [name, key],
      pathOf: () => "connectors",
      queryOf: ({ key }) => ({ open: key }),
    }),
    find(text, {
      scope: "notification:read",
      kind: "Topic",
      icon: "notifications",
      list: () => createTopicService(transport).list(page),
      namesOf: ({ name, key }) => [name, key],
      pathOf: ({ key }) => `notifications/topics/${key}`,
    }),
    find(text, {
      scope: "member:read",
      kind: "Member",
      icon: "members",
      list: () => createMemberService(transport).list(page),
      namesOf: ({ display_name, email }) => [display_name, email],
      pathOf: () => "members",
    }),
    find(text, {
      scope: "api_key:read",
      kind: "API key",
      icon: "keys",
      list: () => createApiKeyService(transport).list(page),
      namesOf: ({ name }) => [name],
      pathOf: () => "keys",
    }),
    find(text, {
      scope: "notification:read",
      kind: "Subscriber",
      icon: "notifications",
      list: () => createSubscriberService(transport).list(page),
      namesOf: (each) => [`${each.first_name} ${each.last_name}`.trim(), each.external_id, each.email],
      pathOf: ({ id }) => `notifications/subscribers/${id}`,
    }),
    find(text, {
      scope: "notification:read",
      kind: "Notification",
      icon: "notifications",
      list: () => createNotificationWorkflowService(transport).list(page),
      namesOf: ({ name, workflow_key }) => [name, workflow_key],
      pathOf: ({ workflow_key }) => `notifications/workflows/${workflow_key}`,
    }),
  ];
}

async function find<Row>(text: string, { scope, kind, icon, list, ...of }: NamedKind<Row>): Promise<Found[]> {
  if (!can(scope)) return [];
  const { items } = await list().page();
  return items
    .filter((row) => of.namesOf(row).some((name) => name.toLowerCase().includes(text)))
    .map((row) => ({
      title: of.namesOf(row).find((name) => name !== "") ?? "",
      kind,
      icon,
      href: href(of.pathOf(row), of.queryOf?.(row)),
    }));
}

function byId(id: string): Promise<Found[]>[] {
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

/** What can be explained: decisions, items, messages, runs and executions. */
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

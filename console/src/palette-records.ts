import { createExperimentService } from "@client/gen/experiment";
import { createNotificationWorkflowService } from "@client/gen/notification-workflow";
import { createPoolService } from "@client/gen/pool";
import { createRoutingService } from "@client/gen/routing";
import { createScheduleService } from "@client/gen/schedule";
import { createSubscriberService } from "@client/gen/subscriber";
import { createWorkflowDefinitionService } from "@client/gen/workflow-definition";
import { createWorkflowRunService } from "@client/gen/workflow-run";
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
  const finders = ulid.test(text.toUpperCase()) ? byId(text.toUpperCase()) : byName(text.toLowerCase());
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

async function find<Row>(text: string, { scope, kind, icon, list, namesOf, pathOf }: NamedKind<Row>): Promise<Found[]> {
  if (!can(scope)) return [];
  const { items } = await list().page();
  return items
    .filter((row) => namesOf(row).some((name) => name.toLowerCase().includes(text)))
    .map((row) => ({ title: namesOf(row).find((name) => name !== "") ?? "", kind, icon, href: href(pathOf(row)) }));
}

function byId(id: string): Promise<Found[]>[] {
  const one = (read: Promise<unknown>, title: string, icon: IconName, path: string): Promise<Found[]> =>
    read.then(() => [{ title: `${title} ${id}`, kind: title, icon, href: href(path) }]);
  return [
    one(createPoolService(transport).get({ pool_id: id }), "Pool", "pools", `pools/${id}`),
    one(createScheduleService(transport).get({ schedule_id: id }), "Schedule", "schedules", `schedules/${id}`),
    one(createRoutingService(transport).getDecision({ decision_id: id }), "Decision", "decisions", `decisions/${id}`),
    one(createWorkflowRunService(transport).get({ run_id: id }), "Run", "workflows", `workflows/runs/${id}`),
    one(
      createExperimentService(transport).get({ experiment_id: id }),
      "Experiment",
      "experiments",
      `experiments/${id}`,
    ),
    one(
      createSubscriberService(transport).get({ id }),
      "Subscriber",
      "notifications",
      `notifications/subscribers/${id}`,
    ),
  ];
}

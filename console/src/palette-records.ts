import { createExperimentService } from "@client/gen/experiment";
import { createNotificationWorkflowService } from "@client/gen/notification-workflow";
import { createPoolService } from "@client/gen/pool";
import { createRoutingService } from "@client/gen/routing";
import { createSubscriberService } from "@client/gen/subscriber";
import { createWorkflowDefinitionService } from "@client/gen/workflow-definition";
import { createWorkflowRunService } from "@client/gen/workflow-run";
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

function byName(text: string): Promise<Found[]>[] {
  const matches = (...names: readonly string[]) => names.some((name) => name.toLowerCase().includes(text));
  const finders: Promise<Found[]>[] = [];
  if (can("pool:read")) {
    finders.push(
      createPoolService(transport)
        .list({ limit: readMax })
        .page()
        .then(({ items }) =>
          items
            .filter(({ name }) => matches(name))
            .map(({ id, name }) => ({ title: name, kind: "Pool", icon: "pools", href: href(`pools/${id}`) })),
        ),
    );
  }
  if (can("workflow_definition:read")) {
    finders.push(
      createWorkflowDefinitionService(transport)
        .list({ limit: readMax })
        .page()
        .then(({ items }) =>
          items
            .filter(({ name, key }) => matches(name, key))
            .map(({ id, name, key }) => ({
              title: name || key,
              kind: "Workflow",
              icon: "workflows",
              href: href(`workflows/definitions/${id}`),
            })),
        ),
    );
  }
  if (can("experiment:read")) {
    finders.push(
      createExperimentService(transport)
        .list({ limit: readMax })
        .page()
        .then(({ items }) =>
          items
            .filter(({ name, key }) => matches(name, key))
            .map(({ id, name, key }) => ({
              title: name || key,
              kind: "Experiment",
              icon: "experiments",
              href: href(`experiments/${id}`),
            })),
        ),
    );
  }
  if (can("notification:read")) {
    finders.push(
      createSubscriberService(transport)
        .list({ limit: readMax })
        .page()
        .then(({ items }) =>
          items
            .filter((each) => matches(each.external_id, each.email, each.first_name, each.last_name))
            .map(({ id, external_id, first_name, last_name }) => ({
              title: `${first_name} ${last_name}`.trim() || external_id,
              kind: "Subscriber",
              icon: "notifications",
              href: href(`notifications/subscribers/${id}`),
            })),
        ),
      createNotificationWorkflowService(transport)
        .list({ limit: readMax })
        .page()
        .then(({ items }) =>
          items
            .filter(({ name, workflow_key }) => matches(name, workflow_key))
            .map(({ name, workflow_key }) => ({
              title: name || workflow_key,
              kind: "Notification",
              icon: "notifications",
              href: href(`notifications/workflows/${workflow_key}`),
            })),
        ),
    );
  }
  return finders;
}

function byId(id: string): Promise<Found[]>[] {
  const one = (read: Promise<unknown>, title: string, icon: IconName, path: string): Promise<Found[]> =>
    read.then(() => [{ title: `${title} ${id}`, kind: title, icon, href: href(path) }]);
  return [
    one(createPoolService(transport).get({ pool_id: id }), "Pool", "pools", `pools/${id}`),
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

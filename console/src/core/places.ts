import type { ResolvedName } from "@client/gen/discovery";
import { href } from "./router";

type Place = (name: Pick<ResolvedName, "record_id" | "parent_id">) => string;

/** Where the records of each kind are shown. */
const places: Readonly<Record<string, Place>> = {
  pool: ({ record_id }) => href(`pools/${record_id}`),
  recipient: ({ parent_id }) => href(`pools/${parent_id}`, { tab: "recipients" }),
  rule: ({ parent_id }) => href(`pools/${parent_id}`, { tab: "rules" }),
  schedule: ({ record_id }) => href(`schedules/${record_id}`),
  queue_item: ({ record_id, parent_id }) => href(`queues/${parent_id}`, { open: record_id }),
  decision: ({ record_id }) => href(`decisions/${record_id}`),
  bulk_operation: ({ record_id, parent_id }) => href(`queues/${parent_id}`, { tab: "bulk", open: record_id }),
  workflow_definition: ({ record_id }) => href(`workflows/definitions/${record_id}`),
  workflow_run: ({ record_id }) => href(`workflows/runs/${record_id}`),
  workflow_approval: ({ parent_id }) => href(`workflows/runs/${parent_id}`),
  workflow_stream: ({ parent_id }) => href(`workflows/runs/${parent_id}`),
  subscriber: ({ record_id }) => href(`notifications/subscribers/${record_id}`),
  topic: ({ parent_id }) => href(`notifications/topics/${parent_id}`),
  notification_delivery: ({ record_id }) => href("notifications", { open: record_id }),
  notification_run: ({ record_id }) => href("notifications", { tab: "runs", open: record_id }),
  connection: () => href("connectors", { tab: "connections" }),
  provider_config: () => href("connectors", { tab: "apps" }),
  connector_trigger: () => href("connectors", { tab: "triggers" }),
  connector_execution: ({ record_id }) => href("connectors", { tab: "executions", open: record_id }),
  experiment: ({ record_id }) => href(`experiments/${record_id}`),
  promotion: ({ record_id }) => href(`promotions/${record_id}`),
  webhook_endpoint: ({ record_id }) => href(`webhooks/${record_id}`),
  event: ({ record_id }) => href("events", { open: record_id }),
  environment: () => href("settings", { tab: "environments" }),
  member: () => href("members"),
  api_key: () => href("keys"),
  browser_session: () => href("sessions"),
  secret: () => href("secrets"),
  sso_connection: () => href("sso"),
  scim_group: () => href("sso", { tab: "groups" }),
};

/** The page that shows a record; undefined for a kind without one. */
export function placeOf(name: Pick<ResolvedName, "kind" | "record_id" | "parent_id">): string | undefined {
  return places[name.kind]?.(name);
}

import { nameSource } from "../name-source.ts";

const subscriber = "coalesce(nullif(trim(first_name || ' ' || last_name), ''), external_id)";

/** A notification to a subscriber, as people speak of it. */
const toSubscriber = `
  coalesce((select nullif(w.name, '') from notification_workflows w
    where w.tenant_id = t.tenant_id and w.workflow_key = t.workflow_key), t.workflow_key)
  || coalesce((select ' to ' || ${subscriber} from notification_subscribers s
    where s.tenant_id = t.tenant_id and s.id = t.subscriber_id), '')`;

const scope = "notification:read";

/** The names of what notifications are made of. */
export const notificationNames = [
  nameSource("subscriber", scope, "notification_subscribers", {
    name: subscriber,
    key: { column: "external_id" },
  }),
  nameSource("topic", scope, "notification_topics", {
    name: "coalesce(nullif(name, ''), key)",
    parent: "key",
    alias: "key",
    key: { column: "key" },
  }),
  nameSource("integration", scope, "notification_integrations", {
    key: { column: "name", exists: "removed_at is null" },
  }),
  nameSource("layout", "layout:read", "notification_layouts", { key: { column: "name" } }),
  nameSource("notification_delivery", scope, "notification_deliveries", {
    name: `${toSubscriber} || ' · ' || channel`,
    isAmbiguous: "true",
  }),
  nameSource("notification_run", scope, "notification_runs", { name: toSubscriber, isAmbiguous: "true" }),
];

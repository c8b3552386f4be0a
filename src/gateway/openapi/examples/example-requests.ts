import { exampleId } from "./example-values.ts";

type Json = Readonly<Record<string, unknown>>;

const layout = {
  name: "Letter",
  description: "The layout of all letters.",
  engine: "handlebars",
  body: "<main>{{ content }}</main>",
  text_body: "{{ content }}",
};

const integration = {
  name: "Order room",
  provider_key: "slack",
  connection_id: exampleId("connection"),
  priority: 10,
  active: true,
  condition: 'workflow_key.startsWith("order.")',
};

const rule = {
  name: "German speakers for German leads",
  priority: 10,
  condition: 'item.attributes.language != "de" || (has(recipient.skills.german) && recipient.skills.german >= 3)',
  enabled: true,
  action: { type: "require" },
};

const preferences = {
  all: true,
  channels: { sms: { enabled: true, condition: 'payload.kind == "security"' } },
  schedule: { timezone: "Europe/London", ranges: [{ days: ["mon", "tue"], start: "09:00", end: "17:30" }] },
};

const poolConfig = {
  queue: { max_depth: 10_000, ttl_s: 86_400 },
  lease: { duration_s: 60, heartbeat_s: 20 },
  retry: { max_attempts: 5, initial_ms: 1000, factor: 2, max_ms: 60_000 },
};

/**
 * Example requests whose fields depend on each other, by message. Fields that are not listed are omitted; other required
 * fields come from the definition.
 */
export const exampleRequests: Readonly<Record<string, Json>> = {
  AddTopicSubscribersRequest: { subscriber_ids: [exampleId("subscriber")] },
  CreateConnectionRequest: {
    name: "Team chat",
    provider_key: "slack",
    credentials: { webhook_url: "https://hooks.example.com/services/T0/B0/correct-horse-battery-staple" },
  },
  CreateIntegrationRequest: { channel: "chat", ...integration },
  UpdateIntegrationRequest: { ...integration, name: "Order room at night" },
  CreateLayoutRequest: { ...layout, channel: "email", is_default: true },
  UpdateLayoutRequest: { ...layout, name: "Letter with address", version: 1 },
  ListDeliveriesRequest: { subscriber_id: exampleId("subscriber") },
  UpdateMemberRequest: { display_name: "Ada Lovelace", role_set: { roles: ["operator"] } },
  CreatePoolRequest: {
    name: "Support",
    description: "Questions of customers.",
    strategy: "least_loaded",
    environment_id: exampleId("environment"),
    config: poolConfig,
  },
  UpdatePoolRequest: { description: "Questions of customers.", strategy: "round_robin", config: poolConfig },
  CreateRuleRequest: rule,
  UpdateRuleRequest: rule,
  PreviewAdmissionRequest: { item: { type: "order.created", key: "A-1001", attributes: { language: "de" } } },
  TriggerNotificationRequest: {
    workflow_key: "order.shipped",
    subscriber_id: exampleId("subscriber"),
    payload: { order_id: "A-1001", carrier: "Royal Mail" },
  },
  UpsertEndpointRequest: { channel: "email", identity: "ada@example.com", verified: true },
  UpsertNotificationWorkflowRequest: {
    name: "Order shipped",
    channels: {
      email: {
        subject: "Order {{ payload.order_id }} is on its way",
        body: "<p>It comes with {{ payload.carrier }}.</p>",
      },
      in_app: { title: "On its way", body: "Order {{ payload.order_id }} comes with {{ payload.carrier }}." },
    },
    preferences,
  },
  UpsertNotificationWorkflowUserRequest: { preferences },
  UpsertPreferenceRequest: { layer: 4, workflow_key: "order.shipped", ...preferences },
  UpsertSubscriptionRequest: { topic_key: "order.updates" },
};

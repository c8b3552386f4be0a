import { createHash } from "node:crypto";

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The id of a kind of record in all examples, so that examples are consistent. */
export function exampleId(kind: string): string {
  const digest = createHash("sha256").update(kind).digest();
  // The first ten characters encode the time of the example records, 2024-05-01.
  return `01HWS6KRG0${Array.from(digest.subarray(0, 16), (byte) => alphabet[byte & 31]).join("")}`;
}

/** Realistic strings, by `Message.field` or by field name. A string that violates the field's rules is skipped. */
export const exampleStrings: Readonly<Record<string, string>> = {
  "Tenant.name": "Acme Logistics",
  "CreateTenantRequest.name": "Acme Logistics",
  "UpdateTenantRequest.name": "Acme Logistics",
  "ApiKey.name": "Build pipeline",
  "CreateApiKeyRequest.name": "Build pipeline",
  "Environment.key": "production",
  "Environment.name": "Production",
  "CreateEnvironmentRequest.key": "load-test",
  "CreateEnvironmentRequest.name": "Load test",
  "UpdateEnvironmentRequest.name": "Load test",
  "Plan.key": "starter",
  "Plan.name": "Starter",
  "Meter.key": "tokens",
  "Meter.name": "Tokens",
  "CreateMeterRequest.key": "tokens",
  "CreateMeterRequest.name": "Tokens",
  "CreateMeterRequest.value_path": "tokens",
  "CreateMeterRequest.group_by": "model",
  "EntitlementEvidence.operation": "service.api.WorkflowRunService/StartWorkflowRun",
  "Secret.name": "payments/api_token",
  "CreateSecretRequest.name": "payments/api_token",
  "CreateSecretRequest.value": "correct-horse-battery-staple",
  "UpdateSecretRequest.value": "correct-horse-battery-staple",
  "Capability.name": "API keys",
  "Capability.description": "API keys for programs.",
  "ConfigSetting.type": "integer",
  "ConfigSetting.description": "Requests per second that the tenant may send.",
  "Event.type": "order.created",
  "Event.subject": "order/A-1001",
  "ListEventsRequest.subject": "order/A-1001",
  "PublishEventRequest.subject": "order/A-1001",
  "WebhookEndpoint.secret": "whsec_c2hvd24gdGhpcyBvbmNl",
  "ServiceReport.name": "service.api.TenantService",
  "ServiceReport.description": "Tenants: the units of isolation.",
  "MethodReport.name": "GetTenant",
  "MethodReport.description": "Reads one tenant.",
  action: "read",
  plan_key: "starter",
  meter_key: "tokens",
  currency: "EUR",
  allow: "routing.route",
  deny: "connector.execute",
  items: "workflow.run",
  item: "workflow.run",
  admin_key: "sk_production_01HWS6KRG0EXAMPLEKEY000000_shown-this-once",
  allowed_values: "",
  api_version: "2024-01-01",
  connect_path: "/service.api.TenantService/GetTenant",
  connection_id: exampleId("connection"),
  created_by: "user-ada",
  cursor: exampleId("event"),
  datacontenttype: "application/json",
  dependencies: "postgresql",
  description: "What it is for.",
  display_name: "Ada Lovelace",
  email: "ada@example.com",
  encryption_key_id: "primary",
  first_name: "Ada",
  granted_scopes: "tenant:read",
  http_method: "GET",
  http_path: "/api/tenants/{tenant_id}",
  key: "ratelimit.tenant_rps",
  last_name: "Lovelace",
  locale: "en-GB",
  name: "Example",
  operation: "route",
  phone: "+442071838750",
  plan: "standard",
  prefix: "sk_production_01HWS6KRG0",
  query: "keys",
  reason: "",
  roles: "operator",
  scopes: "tenant:read",
  secret: "sk_production_01HWS6KRG0EXAMPLEKEY000000_shown-this-once",
  services: "service.api.ApiKeyService",
  settings: "auth.api_key_enabled",
  slug: "acme-logistics",
  source: "/orders",
  specversion: "1.0",
  subject: "user-ada",
  timezone: "Europe/London",
  type: "order.created",
  types: "order.*",
  updated_by: "user-ada",
  url: "https://hooks.example.com/switchyard",
};

/** Realistic numbers, by field name. */
export const exampleNumbers: Readonly<Record<string, number>> = {
  limit: 10_000,
  limit_per_day: 10_000,
  maximum: 10_000,
  record_version: 3,
  remaining: 9_880,
  used: 120,
};

/** Free-form values, by field name. */
export const exampleObjects: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  data: { order_id: "A-1001", total: 125.5 },
  metadata: { owner: "payments" },
  settings: { locale: "en-GB" },
};

/** Times, by field name. Every other time is the creation time. */
export const exampleTimes: Readonly<Record<string, string>> = {
  created_at: "2024-05-01T09:30:00Z",
  expires_at: "2099-05-01T09:30:00Z",
  resets_at: "2024-05-04T00:00:00Z",
  until: "2024-05-03T00:00:00Z",
  updated_at: "2024-05-02T16:45:00Z",
  last_used_at: "2024-05-03T11:15:00Z",
};

/** Booleans that are true in example responses. */
export const exampleSwitchesOn: ReadonlySet<string> = new Set([
  "active",
  "authentication_required",
  "enabled",
  "overridden",
  "valid",
  "verified",
]);

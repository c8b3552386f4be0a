import type { Config } from "../config/index.ts";
import type { CapabilitySource } from "../modules/operations/index.ts";
import type { Keyring } from "../platform/crypto/index.ts";
import { discoverJwksUri } from "../platform/tokens/index.ts";

interface Parts {
  readonly config: Config;
  readonly keyring: Keyring | undefined;
  /** Whether the shared cache responds; undefined if none is configured. */
  readonly isCacheReachable: (() => Promise<boolean>) | undefined;
  /** Whether traces were lost recently. */
  readonly areTracesLost: () => boolean;
}

type Posture = Awaited<ReturnType<CapabilitySource["mode"]>>;
const active: Posture = { mode: "active" };

/** Creates the capabilities of this instance. Each reports its current mode when queried. */
export function createCapabilitySources({
  config,
  keyring,
  isCacheReachable,
  areTracesLost,
}: Parts): CapabilitySource[] {
  const simple = (id: string, name: string, description: string, service: string): CapabilitySource => ({
    id,
    name,
    description,
    settings: [],
    dependencies: ["database"],
    services: [`service.api.${service}`],
    mode: () => active,
  });
  return [
    simple("tenants", "Tenants", "Tenants with daily quotas.", "TenantService"),
    simple("environments", "Environments", "A tenant's environments.", "EnvironmentService"),
    simple("members", "Members", "A tenant's members and their roles.", "MemberService"),
    simple("events", "Event log", "The tenant's event log, to list and to stream.", "EventService"),
    {
      ...simple("pools", "Pools", "Pools of recipients, with routing strategies and rules.", "PoolService"),
      services: ["service.api.PoolService", "service.api.RecipientService", "service.api.RuleService"],
    },
    {
      ...simple("routing", "Routing", "Routing decisions and their outcomes.", "RoutingService"),
      services: ["service.api.RoutingService", "service.api.OutcomeService"],
      settings: ["routing.retention_days"],
    },
    {
      ...simple("queues", "Queues", "Work queues with leases, admission control and dead letters.", "QueueService"),
      services: [
        "service.api.QueueService",
        "service.api.WorkService",
        "service.api.AdmissionService",
        "service.api.DeadLetterService",
      ],
      settings: ["routing.retention_days"],
    },
    {
      ...simple(
        "workflows",
        "Workflows",
        "Durable processes of many steps, with waits, approvals, workers and retries.",
        "WorkflowRunService",
      ),
      services: [
        "service.api.WorkflowDefinitionService",
        "service.api.WorkflowRunService",
        "service.api.WorkflowTaskService",
      ],
      settings: ["workflow.retention_days"],
    },
    simple("anomalies", "Anomalies", "Anomalies detected in pools.", "AnomalyService"),
    {
      ...simple(
        "notifications",
        "Notifications",
        "Messages on five channels, to a subscriber or a topic.",
        "NotificationService",
      ),
      services: [
        "service.api.NotificationService",
        "service.api.NotificationWorkflowService",
        "service.api.IntegrationService",
        "service.api.SuppressionService",
        "service.api.LayoutService",
        "service.api.InboxService",
        "service.api.OutboxService",
      ],
      settings: ["notification.dispatch.enabled", "notification.dispatch.queue", "notification.outbox.enabled"],
      mode: () => notificationPosture(config),
    },
    {
      ...simple(
        "connectors",
        "Connectors",
        "Providers with their actions and triggers, and manifests of your own.",
        "ConnectorCatalogService",
      ),
      services: ["service.api.ConnectorCatalogService", "service.api.ConnectorManifestService"],
    },
    {
      ...simple(
        "connector_triggers",
        "Connector triggers",
        "Workflow runs and routed items for what happens in connected accounts.",
        "TriggerSubscriptionService",
      ),
      settings: ["connector.trigger_event_retention_days", "api.public_url"],
    },
    {
      ...simple("connections", "Connections", "Credentials for external services.", "ConnectionService"),
      settings: ["connector.encryption_key", "connector.encryption_key_id", "connector.rotation_keys"],
      dependencies: ["database", "master_key"],
      mode: () => (keyring === undefined ? { mode: "unwired", reason: "connector.encryption_key is not set" } : active),
    },
    {
      ...simple(
        "subscribers",
        "Subscribers",
        "Recipients of notifications, their addresses and topics.",
        "SubscriberService",
      ),
      services: ["service.api.SubscriberService", "service.api.TopicService"],
    },
    {
      ...simple("webhooks", "Webhooks", "Events delivered to HTTP endpoints, signed and retried.", "WebhookService"),
      settings: ["egress.mode", "egress.allowed_domains", "egress.allowed_ip_nets", "webhooks.retention_days"],
      dependencies: ["database", "master_key"],
      mode: () => (keyring === undefined ? { mode: "unwired", reason: "connector.encryption_key is not set" } : active),
    },
    {
      ...simple(
        "rollout_evidence",
        "Rollout evidence",
        "Signed receipts of checks, and the gates that promotions depend on.",
        "RolloutEvidenceService",
      ),
      settings: ["connector.encryption_key"],
      dependencies: ["database", "master_key"],
      mode: () => (keyring === undefined ? { mode: "unwired", reason: "connector.encryption_key is not set" } : active),
    },
    {
      ...simple("billing", "Billing", "Plans, subscriptions, meters, usage and invoices as records.", "PlanService"),
      services: [
        "service.api.PlanService",
        "service.api.BillingSubscriptionService",
        "service.api.MeterService",
        "service.api.InvoiceService",
      ],
    },
    {
      ...simple("entitlements", "Entitlements", "What tenants may use, checked on every call.", "EntitlementService"),
      settings: ["entitlement.enforcement", "entitlement.grace_unprovisioned"],
      mode: () => entitlementPosture(config),
    },
    {
      ...simple(
        "conformance",
        "Runtime conformance",
        "Suites that check the guarantees of this instance.",
        "ConformanceService",
      ),
      settings: ["conformance.run_timeout_s", "conformance.max_open_runs_per_tenant", "conformance.max_running_runs"],
    },
    {
      ...simple("api_keys", "API keys", "API keys for programs.", "ApiKeyService"),
      settings: ["auth.api_key_enabled"],
      mode: () =>
        config["auth.api_key_enabled"] ? active : { mode: "disabled", reason: "auth.api_key_enabled is false" },
    },
    {
      ...simple("oidc", "OpenID Connect", "Authentication with tokens of an OpenID Connect issuer.", "MemberService"),
      settings: ["api.oidc_issuer", "api.oidc_audience"],
      dependencies: ["oidc_issuer"],
      services: [],
      mode: () => issuerPosture(config["api.oidc_issuer"]),
    },
    {
      ...simple(
        "secrets",
        "Secrets",
        "Write-only values that the service uses on the tenant's behalf.",
        "SecretService",
      ),
      settings: ["connector.encryption_key", "connector.encryption_key_id", "connector.rotation_keys"],
      dependencies: ["database", "master_key"],
      mode: () => (keyring === undefined ? { mode: "unwired", reason: "connector.encryption_key is not set" } : active),
    },
    {
      ...simple("dynamic_config", "Dynamic configuration", "Settings that a tenant may change.", "ConfigService"),
      settings: ["dynamic_config.enabled"],
      mode: () =>
        config["dynamic_config.enabled"] ? active : { mode: "disabled", reason: "dynamic_config.enabled is false" },
    },
    {
      ...simple("analytics", "Analytics", "The metrics of a tenant over time.", "AnalyticsService"),
      settings: ["analytics.enabled", "analytics.prometheus_url", "analytics.allow_unscoped_metrics"],
      dependencies: ["prometheus"],
      mode: () => (config["analytics.enabled"] ? active : { mode: "disabled", reason: "analytics.enabled is false" }),
    },
    simple("explanations", "Explanations", "What happened to a record, why, and what it waits for.", "ExplainService"),
    {
      ...simple("mcp", "Model Context Protocol", "Operations as tools for language models.", ""),
      settings: ["mcp.enabled", "mcp.path", "mcp.oauth_scopes"],
      dependencies: [],
      services: [],
      mode: () => (config["mcp.enabled"] ? active : { mode: "disabled", reason: "mcp.enabled is false" }),
    },
    {
      ...simple("rate_limits", "Rate limits", "Token buckets for the instance and for each tenant.", ""),
      settings: ["ratelimit.global_rps", "ratelimit.tenant_rps", "cache.backend"],
      dependencies: ["cache"],
      services: [],
      mode: () => rateLimitPosture(config, isCacheReachable),
    },
    {
      ...simple("audit", "Audit log", "A hash-chained record of every change and denied call.", ""),
      settings: ["audit.sink", "audit.hash_chain", "audit.redact_pii"],
      dependencies: [],
      services: [],
      mode: () => {
        if (config["audit.sink"] === "") return { mode: "disabled", reason: "audit.sink is not set" };
        return config["audit.hash_chain"]
          ? active
          : { mode: "degraded", reason: "audit.hash_chain is false: tampering cannot be detected" };
      },
    },
    {
      ...simple("traces", "Traces", "OpenTelemetry traces.", ""),
      settings: ["telemetry.otlp_endpoint"],
      dependencies: ["otlp_collector"],
      services: [],
      mode: () =>
        config["telemetry.otlp_endpoint"] === ""
          ? { mode: "disabled", reason: "telemetry.otlp_endpoint is not set" }
          : areTracesLost()
            ? { mode: "degraded", reason: "the collector did not accept the latest traces" }
            : active,
    },
  ];
}

function notificationPosture(config: Config): Posture {
  if (!config["notification.dispatch.enabled"]) {
    return { mode: "disabled", reason: "notification.dispatch.enabled is false" };
  }
  if (config["notification.dispatch.queue"] === "none") {
    return { mode: "degraded", reason: "notification.dispatch.queue is none: no topics and no retries" };
  }
  return active;
}

function entitlementPosture(config: Config): Posture {
  switch (config["entitlement.enforcement"]) {
    case "off":
      return { mode: "disabled", reason: "entitlement.enforcement is off: only an explicit deny denies" };
    case "report":
      return { mode: "degraded", reason: "entitlement.enforcement is report: missing entitlements are only recorded" };
    case "strict":
      return active;
  }
}

async function issuerPosture(issuer: string): Promise<Posture> {
  if (issuer === "") return { mode: "disabled", reason: "api.oidc_issuer is not set" };
  const isIssuerReachable = await discoverJwksUri(issuer, 1000).then(
    () => true,
    () => false,
  );
  return isIssuerReachable
    ? active
    : { mode: "degraded", reason: "the issuer does not respond: only tokens signed with cached keys are accepted" };
}

async function rateLimitPosture(
  config: Config,
  isCacheReachable: (() => Promise<boolean>) | undefined,
): Promise<Posture> {
  if (config["cache.backend"] === "none")
    return { mode: "unwired", reason: "cache.backend is none: requests are not counted" };
  if (config["ratelimit.global_rps"] === 0 && config["ratelimit.tenant_rps"] === 0) {
    return { mode: "disabled", reason: "ratelimit.global_rps and ratelimit.tenant_rps are 0" };
  }
  if (isCacheReachable === undefined)
    return {
      mode: "degraded",
      reason: "each node counts its own requests; set cache.backend=redis to share the limits",
    };
  return (await isCacheReachable()) ? active : { mode: "degraded", reason: "the cache does not respond" };
}

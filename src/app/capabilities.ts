import { type Config, ConfigError, type SettingKey } from "../config/index.ts";
import { type CapabilitySource, isPrometheusReachable } from "../modules/operations/index.ts";
import type { Keyring } from "../platform/crypto/index.ts";
import { discoverJwksUri } from "../platform/tokens/index.ts";

interface Dependencies {
  readonly config: Config;
  readonly keyring: Keyring | undefined;
  /** Whether the shared cache responds; undefined if none is configured. */
  readonly isCacheReachable: (() => Promise<boolean>) | undefined;
  /** Whether traces were lost recently. */
  readonly areTracesLost: () => boolean;
}

type Posture = Awaited<ReturnType<CapabilitySource["mode"]>>;
const active: Posture = { mode: "active" };

/** The properties that only some capabilities have. */
interface Details {
  readonly settings?: readonly SettingKey[];
  /** Requirements besides the database. */
  readonly dependencies?: readonly string[];
  /** Its current mode; active without a function. */
  readonly mode?: () => Posture | Promise<Posture>;
}

/**
 * Creates the capabilities of this instance. Each reports its current mode when queried. Every service of the definitions belongs
 * to one of them.
 */
export function createCapabilitySources(dependencies: Dependencies): CapabilitySource[] {
  const hidden = new Set(dependencies.config["discovery.hidden_capabilities"]);
  const sources = describeCapabilities(dependencies).map((source) => ({ ...source, hidden: hidden.delete(source.id) }));
  if (hidden.size > 0) {
    const known = sources.map(({ id }) => id).join(", ");
    const unknown = [...hidden].map((id) => `discovery.hidden_capabilities: ${id} is unknown: use ids of ${known}`);
    throw new ConfigError(unknown);
  }
  return sources;
}

function describeCapabilities({ config, keyring, isCacheReachable, areTracesLost }: Dependencies) {
  const whenSet = (key: BooleanSetting, mode: () => Posture | Promise<Posture> = () => active) => ({
    settings: [key],
    mode: () => (config[key] ? mode() : ({ mode: "disabled", reason: `${key} is false` } as const)),
  });
  const withMasterKey = {
    settings: ["connector.encryption_key", "connector.encryption_key_id", "connector.rotation_keys"],
    dependencies: ["master_key"],
    mode: () =>
      keyring === undefined ? ({ mode: "unwired", reason: "connector.encryption_key is not set" } as const) : active,
  } satisfies Details;
  return [
    capability("tenants", "Tenants", "Tenants with daily quotas.", ["TenantService"]),
    capability("environments", "Environments", "A tenant's environments.", ["EnvironmentService"]),
    capability("members", "Members", "A tenant's members and their roles.", ["MemberService"]),
    capability("api_keys", "API keys", "API keys for programs.", ["ApiKeyService"], whenSet("auth.api_key_enabled")),
    capability("sessions", "Browser sessions", "Sign-in of people with links and identity providers.", [
      "BrowserSessionService",
      "SsoService",
    ]),
    capability("oidc", "OpenID Connect", "Authentication with tokens of OpenID Connect issuers.", [], {
      settings: ["api.oidc_issuer", "api.oidc_audience"],
      dependencies: ["oidc_issuer"],
      mode: () => issuerPosture(config["api.oidc_issuer"]),
    }),
    capability("saml", "SAML", "Sign-in of people with SAML identity providers.", [], whenSet("identity.saml.enabled")),
    capability(
      "scim",
      "SCIM",
      "Provisioning of members and groups with SCIM 2.0.",
      [],
      whenSet("identity.scim.enabled"),
    ),
    capability(
      "secrets",
      "Secrets",
      "Write-only values that the service uses on the tenant's behalf.",
      ["SecretService"],
      withMasterKey,
    ),
    capability(
      "dynamic_config",
      "Dynamic configuration",
      "Settings that a tenant may change.",
      ["ConfigService"],
      whenSet("dynamic_config.enabled"),
    ),
    capability("pools", "Pools", "Pools of recipients, with routing strategies, rules and versions.", [
      "PoolService",
      "RecipientService",
      "RuleService",
      "PoolVersionService",
    ]),
    capability("routing", "Routing", "Routing decisions and their outcomes.", ["RoutingService", "OutcomeService"], {
      settings: ["routing.retention_days"],
    }),
    capability(
      "queues",
      "Queues",
      "Work queues with leases, pauses and bulk operations.",
      ["QueueService", "WorkService", "BulkOperationService"],
      {
        settings: ["routing.retention_days"],
      },
    ),
    capability("admission", "Admission control", "Singleton, debounce, throttle and concurrency limits.", [
      "AdmissionService",
    ]),
    capability("dead_letters", "Dead letters", "Items that failed for good, to retry, quarantine or purge.", [
      "DeadLetterService",
    ]),
    capability("reservations", "Reservations", "Offers that a recipient accepts or declines in time.", [
      "OfferService",
    ]),
    capability("schedules", "Schedules", "Items at the times of cron expressions.", ["ScheduleService"]),
    capability("anomalies", "Anomalies", "Anomalies detected in pools.", ["AnomalyService"]),
    capability(
      "notifications",
      "Notifications",
      "Messages on five channels, to a subscriber or a topic.",
      [
        "NotificationService",
        "NotificationWorkflowService",
        "IntegrationService",
        "SuppressionService",
        "InboxService",
        "OutboxService",
      ],
      {
        settings: ["notification.dispatch.enabled", "notification.dispatch.queue", "notification.outbox.enabled"],
        mode: () => notificationPosture(config),
      },
    ),
    capability("layouts", "Layouts", "Envelopes and dependencies that templates of notifications share.", [
      "LayoutService",
      "PartialService",
    ]),
    capability("subscribers", "Subscribers", "Recipients of notifications, their addresses, topics and tokens.", [
      "SubscriberService",
      "SubscriberTokenService",
      "TopicService",
    ]),
    capability(
      "workflows",
      "Workflows",
      "Durable processes of many steps, with waits, approvals, workers and retries.",
      [
        "WorkflowDefinitionService",
        "WorkflowRunService",
        "WorkflowTaskService",
        "WorkflowApprovalService",
        "WorkflowDeadLetterService",
        "WorkflowTriggerService",
      ],
      {
        settings: ["workflow.retention_days"],
      },
    ),
    capability(
      "workflow_streams",
      "Workflow data streams",
      "Ordered records of runs, and large objects.",
      ["WorkflowStreamService", "WorkflowObjectService"],
      {
        settings: ["objects.backend"],
        dependencies: ["objects"],
      },
    ),
    capability("connectors", "Connectors", "Providers with their actions and triggers, and manifests of your own.", [
      "ConnectorCatalogService",
      "ConnectorManifestService",
    ]),
    capability(
      "connector_actions",
      "Connector actions",
      "Calls of other systems on behalf of connected accounts.",
      ["ConnectorActionService"],
      {
        settings: ["connector.execution_retention_days"],
      },
    ),
    capability(
      "connector_triggers",
      "Connector triggers",
      "Workflow runs and routed items for what happens in connected accounts.",
      ["TriggerSubscriptionService"],
      {
        settings: ["connector.trigger_event_retention_days", "api.public_url"],
      },
    ),
    capability(
      "connections",
      "Connections",
      "Credentials for external services, and the pages that collect them.",
      ["ConnectionService", "ConnectSessionService", "ProviderConfigService"],
      withMasterKey,
    ),
    capability("marketplace", "Marketplace", "Signed packs of workflows, notifications, rules and connectors.", [
      "MarketplaceService",
    ]),
    capability(
      "experiments",
      "Experiments",
      "Sticky variants with scores and always-valid results.",
      ["ExperimentService"],
      {
        settings: ["experiment.retention_days"],
      },
    ),
    capability("promotions", "Promotions", "Governed activation of versions, with canaries, approvals and rollback.", [
      "PromotionService",
    ]),
    capability(
      "rollout_evidence",
      "Rollout evidence",
      "Signed receipts of checks, and the gates that promotions depend on.",
      ["RolloutEvidenceService"],
      withMasterKey,
    ),
    capability(
      "conformance",
      "Runtime conformance",
      "Suites that check the guarantees of this instance.",
      ["ConformanceService"],
      {
        settings: ["conformance.run_timeout_s", "conformance.max_open_runs_per_tenant", "conformance.max_running_runs"],
      },
    ),
    capability("billing", "Billing", "Plans, subscriptions, meters, usage and invoices as records.", [
      "PlanService",
      "BillingSubscriptionService",
      "MeterService",
      "InvoiceService",
    ]),
    capability("entitlements", "Entitlements", "What tenants may use, checked on every call.", ["EntitlementService"], {
      settings: ["entitlement.enforcement", "entitlement.grace_unprovisioned"],
      mode: () => entitlementPosture(config),
    }),
    capability("events", "Event log", "The tenant's event log, to list and to stream.", ["EventService"]),
    capability("webhooks", "Webhooks", "Events delivered to HTTP endpoints, signed and retried.", ["WebhookService"], {
      ...withMasterKey,
      settings: ["egress.mode", "egress.allowed_domains", "egress.allowed_ip_nets", "webhooks.retention_days"],
    }),
    capability("discovery", "Discovery", "The services and capabilities of this instance.", ["DiscoveryService"], {
      settings: ["discovery.hidden_capabilities"],
    }),
    capability("health", "Operational health", "A verdict about each environment, with reasons and runbooks.", [
      "OperationalHealthService",
    ]),
    capability("explanations", "Explanations", "What happened to a record, why, and what it waits for.", [
      "ExplainService",
    ]),
    capability("history", "History", "Coarse counts of the last seven days, for charts.", ["HistoryService"]),
    capability("analytics", "Analytics", "The metrics of a tenant over time.", ["AnalyticsService"], {
      ...whenSet("analytics.enabled", () => prometheusPosture(config)),
      settings: ["analytics.enabled", "analytics.prometheus_url", "analytics.allow_unscoped_metrics"],
      dependencies: ["prometheus"],
    }),
    capability("mcp", "Model Context Protocol", "Operations as tools for language models.", [], {
      ...whenSet("mcp.enabled"),
      settings: ["mcp.enabled", "mcp.path", "mcp.oauth_scopes"],
    }),
    capability("rate_limits", "Rate limits", "Token buckets for the instance and for each tenant.", [], {
      settings: ["ratelimit.global_rps", "ratelimit.tenant_rps", "cache.backend"],
      dependencies: ["cache"],
      mode: () => rateLimitPosture(config, isCacheReachable),
    }),
    capability("audit", "Audit log", "A hash-chained record of every change and denied call.", [], {
      settings: ["audit.sink", "audit.hash_chain", "audit.redact_pii"],
      mode: () => auditPosture(config),
    }),
    capability("traces", "Traces", "OpenTelemetry traces.", [], {
      settings: ["telemetry.otlp_endpoint", "telemetry.otlp_signals"],
      dependencies: ["otlp_collector"],
      mode: () => tracePosture(config, areTracesLost),
    }),
  ];
}

/** Describes a capability by the services, without their package, whose operations belong to it. */
function capability(id: string, name: string, description: string, services: readonly string[], details: Details = {}) {
  const { settings = [], dependencies = [], mode = () => active } = details;
  return {
    ...{ id, name, description, settings, mode },
    dependencies: services.length === 0 ? dependencies : ["database", ...dependencies],
    services: services.map((service) => `service.api.${service}`),
  };
}

/** The settings that switch a capability. */
type BooleanSetting = { [K in SettingKey]: Config[K] extends boolean ? K : never }[SettingKey];

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

async function issuerPosture(issuers: readonly string[]): Promise<Posture> {
  if (issuers.length === 0) return { mode: "disabled", reason: "api.oidc_issuer is not set" };
  const found = await Promise.allSettled(issuers.map((issuer) => discoverJwksUri(issuer, 1000)));
  const silent = issuers.filter((_, at) => found[at]!.status === "rejected");
  if (silent.length === 0) return active;
  const [subject, verb] = issuers.length === 1 ? ["the issuer", "does"] : [silent.join(" and "), "do"];
  return {
    mode: "degraded",
    reason: `${subject} ${verb} not respond: only tokens signed with cached keys are accepted`,
  };
}

async function rateLimitPosture(
  config: Config,
  isCacheReachable: (() => Promise<boolean>) | undefined,
): Promise<Posture> {
  if (config["ratelimit.global_rps"] === 0 && config["ratelimit.tenant_rps"] === 0) {
    return { mode: "disabled", reason: "ratelimit.global_rps and ratelimit.tenant_rps are 0" };
  }
  if (config["cache.backend"] === "none")
    return { mode: "unwired", reason: "cache.backend is none: requests are not counted" };
  if (isCacheReachable === undefined)
    return {
      mode: "degraded",
      reason: "each node counts its own requests; set cache.backend=redis to share the limits",
    };
  return (await isCacheReachable()) ? active : { mode: "degraded", reason: "the cache does not respond" };
}

async function prometheusPosture(config: Config): Promise<Posture> {
  const isReachable = await isPrometheusReachable(
    config["analytics.prometheus_url"],
    config["analytics.prometheus_token"],
  );
  return isReachable ? active : { mode: "degraded", reason: "Prometheus does not respond: queries fail" };
}

function auditPosture(config: Config): Posture {
  if (config["audit.sink"] === "") return { mode: "disabled", reason: "audit.sink is not set" };
  return config["audit.hash_chain"]
    ? active
    : { mode: "degraded", reason: "audit.hash_chain is false: tampering cannot be detected" };
}

function tracePosture(config: Config, areTracesLost: () => boolean): Posture {
  if (config["telemetry.otlp_endpoint"] === "")
    return { mode: "disabled", reason: "telemetry.otlp_endpoint is not set" };
  if (!config["telemetry.otlp_signals"].includes("traces"))
    return { mode: "disabled", reason: "telemetry.otlp_signals does not have traces" };
  return areTracesLost() ? { mode: "degraded", reason: "the collector did not accept the latest traces" } : active;
}

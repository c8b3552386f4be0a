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

/** A capability as the table below describes it. */
interface Description {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The services whose operations belong to it, without their package. */
  readonly services: readonly string[];
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
  const sources = describeCapabilities(dependencies).map(
    ({ services, settings = [], dependencies = [], mode = () => active, ...rest }) => ({
      ...{ ...rest, settings, mode, hidden: hidden.delete(rest.id) },
      dependencies: services.length === 0 ? dependencies : ["database", ...dependencies],
      services: services.map((service) => `service.api.${service}`),
    }),
  );
  if (hidden.size > 0) {
    const known = sources.map(({ id }) => id).join(", ");
    const unknown = [...hidden].map((id) => `discovery.hidden_capabilities: ${id} is unknown: use ids of ${known}`);
    throw new ConfigError(unknown);
  }
  return sources;
}

function describeCapabilities({ config, keyring, isCacheReachable, areTracesLost }: Dependencies): Description[] {
  const whenSet = (key: BooleanSetting, mode: () => Posture | Promise<Posture> = () => active) => ({
    settings: [key],
    mode: () => (config[key] ? mode() : ({ mode: "disabled", reason: `${key} is false` } as const)),
  });
  const withMasterKey = {
    settings: ["connector.encryption_key", "connector.encryption_key_id", "connector.rotation_keys"],
    dependencies: ["master_key"],
    mode: () =>
      keyring === undefined ? ({ mode: "unwired", reason: "connector.encryption_key is not set" } as const) : active,
  } satisfies Partial<Description>;
  return [
    {
      id: "tenants",
      name: "Tenants",
      description: "Tenants with daily quotas.",
      services: ["TenantService"],
    },
    {
      id: "environments",
      name: "Environments",
      description: "A tenant's environments.",
      services: ["EnvironmentService"],
    },
    {
      id: "members",
      name: "Members",
      description: "A tenant's members and their roles.",
      services: ["MemberService"],
    },
    {
      id: "api_keys",
      name: "API keys",
      description: "API keys for programs.",
      services: ["ApiKeyService"],
      ...whenSet("auth.api_key_enabled"),
    },
    {
      id: "sessions",
      name: "Browser sessions",
      description: "Sign-in of people with links and identity providers.",
      services: ["BrowserSessionService", "SsoService"],
    },
    {
      id: "oidc",
      name: "OpenID Connect",
      description: "Authentication with tokens of an OpenID Connect issuer.",
      services: [],
      settings: ["api.oidc_issuer", "api.oidc_audience"],
      dependencies: ["oidc_issuer"],
      mode: () => issuerPosture(config["api.oidc_issuer"]),
    },
    {
      id: "saml",
      name: "SAML",
      description: "Sign-in of people with SAML identity providers.",
      services: [],
      ...whenSet("identity.saml.enabled"),
    },
    {
      id: "scim",
      name: "SCIM",
      description: "Provisioning of members and groups with SCIM 2.0.",
      services: [],
      ...whenSet("identity.scim.enabled"),
    },
    {
      id: "secrets",
      name: "Secrets",
      description: "Write-only values that the service uses on the tenant's behalf.",
      services: ["SecretService"],
      ...withMasterKey,
    },
    {
      id: "dynamic_config",
      name: "Dynamic configuration",
      description: "Settings that a tenant may change.",
      services: ["ConfigService"],
      ...whenSet("dynamic_config.enabled"),
    },
    {
      id: "pools",
      name: "Pools",
      description: "Pools of recipients, with routing strategies, rules and versions.",
      services: ["PoolService", "RecipientService", "RuleService", "PoolVersionService"],
    },
    {
      id: "routing",
      name: "Routing",
      description: "Routing decisions and their outcomes.",
      services: ["RoutingService", "OutcomeService"],
      settings: ["routing.retention_days"],
    },
    {
      id: "queues",
      name: "Queues",
      description: "Work queues with leases, pauses and bulk operations.",
      services: ["QueueService", "WorkService", "BulkOperationService"],
      settings: ["routing.retention_days"],
    },
    {
      id: "admission",
      name: "Admission control",
      description: "Singleton, debounce, throttle and concurrency limits.",
      services: ["AdmissionService"],
    },
    {
      id: "dead_letters",
      name: "Dead letters",
      description: "Items that failed for good, to retry, quarantine or purge.",
      services: ["DeadLetterService"],
    },
    {
      id: "reservations",
      name: "Reservations",
      description: "Offers that a recipient accepts or declines in time.",
      services: ["OfferService"],
    },
    {
      id: "schedules",
      name: "Schedules",
      description: "Items at the times of cron expressions.",
      services: ["ScheduleService"],
    },
    {
      id: "anomalies",
      name: "Anomalies",
      description: "Anomalies detected in pools.",
      services: ["AnomalyService"],
    },
    {
      id: "notifications",
      name: "Notifications",
      description: "Messages on five channels, to a subscriber or a topic.",
      services: [
        "NotificationService",
        "NotificationWorkflowService",
        "IntegrationService",
        "SuppressionService",
        "InboxService",
        "OutboxService",
      ],
      settings: ["notification.dispatch.enabled", "notification.dispatch.queue", "notification.outbox.enabled"],
      mode: () => notificationPosture(config),
    },
    {
      id: "layouts",
      name: "Layouts",
      description: "Envelopes and dependencies that templates of notifications share.",
      services: ["LayoutService", "PartialService"],
    },
    {
      id: "subscribers",
      name: "Subscribers",
      description: "Recipients of notifications, their addresses, topics and tokens.",
      services: ["SubscriberService", "SubscriberTokenService", "TopicService"],
    },
    {
      id: "workflows",
      name: "Workflows",
      description: "Durable processes of many steps, with waits, approvals, workers and retries.",
      services: [
        "WorkflowDefinitionService",
        "WorkflowRunService",
        "WorkflowTaskService",
        "WorkflowApprovalService",
        "WorkflowDeadLetterService",
        "WorkflowTriggerService",
      ],
      settings: ["workflow.retention_days"],
    },
    {
      id: "workflow_streams",
      name: "Workflow data streams",
      description: "Ordered records of runs, and large objects.",
      services: ["WorkflowStreamService", "WorkflowObjectService"],
      settings: ["objects.backend"],
      dependencies: ["objects"],
    },
    {
      id: "connectors",
      name: "Connectors",
      description: "Providers with their actions and triggers, and manifests of your own.",
      services: ["ConnectorCatalogService", "ConnectorManifestService"],
    },
    {
      id: "connector_actions",
      name: "Connector actions",
      description: "Calls of other systems on behalf of connected accounts.",
      services: ["ConnectorActionService"],
      settings: ["connector.execution_retention_days"],
    },
    {
      id: "connector_triggers",
      name: "Connector triggers",
      description: "Workflow runs and routed items for what happens in connected accounts.",
      services: ["TriggerSubscriptionService"],
      settings: ["connector.trigger_event_retention_days", "api.public_url"],
    },
    {
      id: "connections",
      name: "Connections",
      description: "Credentials for external services, and the pages that collect them.",
      services: ["ConnectionService", "ConnectSessionService", "ProviderConfigService"],
      ...withMasterKey,
    },
    {
      id: "marketplace",
      name: "Marketplace",
      description: "Signed packs of workflows, notifications, rules and connectors.",
      services: ["MarketplaceService"],
    },
    {
      id: "experiments",
      name: "Experiments",
      description: "Sticky variants with scores and always-valid results.",
      services: ["ExperimentService"],
      settings: ["experiment.retention_days"],
    },
    {
      id: "promotions",
      name: "Promotions",
      description: "Governed activation of versions, with canaries, approvals and rollback.",
      services: ["PromotionService"],
    },
    {
      id: "rollout_evidence",
      name: "Rollout evidence",
      description: "Signed receipts of checks, and the gates that promotions depend on.",
      services: ["RolloutEvidenceService"],
      ...withMasterKey,
    },
    {
      id: "conformance",
      name: "Runtime conformance",
      description: "Suites that check the guarantees of this instance.",
      services: ["ConformanceService"],
      settings: ["conformance.run_timeout_s", "conformance.max_open_runs_per_tenant", "conformance.max_running_runs"],
    },
    {
      id: "billing",
      name: "Billing",
      description: "Plans, subscriptions, meters, usage and invoices as records.",
      services: ["PlanService", "BillingSubscriptionService", "MeterService", "InvoiceService"],
    },
    {
      id: "entitlements",
      name: "Entitlements",
      description: "What tenants may use, checked on every call.",
      services: ["EntitlementService"],
      settings: ["entitlement.enforcement", "entitlement.grace_unprovisioned"],
      mode: () => entitlementPosture(config),
    },
    {
      id: "events",
      name: "Event log",
      description: "The tenant's event log, to list and to stream.",
      services: ["EventService"],
    },
    {
      id: "webhooks",
      name: "Webhooks",
      description: "Events delivered to HTTP endpoints, signed and retried.",
      services: ["WebhookService"],
      ...withMasterKey,
      settings: ["egress.mode", "egress.allowed_domains", "egress.allowed_ip_nets", "webhooks.retention_days"],
    },
    {
      id: "discovery",
      name: "Discovery",
      description: "The services and capabilities of this instance.",
      services: ["DiscoveryService"],
      settings: ["discovery.hidden_capabilities"],
    },
    {
      id: "health",
      name: "Operational health",
      description: "A verdict about each environment, with reasons and runbooks.",
      services: ["OperationalHealthService"],
    },
    {
      id: "explanations",
      name: "Explanations",
      description: "What happened to a record, why, and what it waits for.",
      services: ["ExplainService"],
    },
    {
      id: "analytics",
      name: "Analytics",
      description: "The metrics of a tenant over time.",
      services: ["AnalyticsService"],
      ...whenSet("analytics.enabled", () => prometheusPosture(config)),
      settings: ["analytics.enabled", "analytics.prometheus_url", "analytics.allow_unscoped_metrics"],
      dependencies: ["prometheus"],
    },
    {
      id: "mcp",
      name: "Model Context Protocol",
      description: "Operations as tools for language models.",
      services: [],
      ...whenSet("mcp.enabled"),
      settings: ["mcp.enabled", "mcp.path", "mcp.oauth_scopes"],
    },
    {
      id: "rate_limits",
      name: "Rate limits",
      description: "Token buckets for the instance and for each tenant.",
      services: [],
      settings: ["ratelimit.global_rps", "ratelimit.tenant_rps", "cache.backend"],
      dependencies: ["cache"],
      mode: () => rateLimitPosture(config, isCacheReachable),
    },
    {
      id: "audit",
      name: "Audit log",
      description: "A hash-chained record of every change and denied call.",
      services: [],
      settings: ["audit.sink", "audit.hash_chain", "audit.redact_pii"],
      mode: () => auditPosture(config),
    },
    {
      id: "traces",
      name: "Traces",
      description: "OpenTelemetry traces.",
      services: [],
      settings: ["telemetry.otlp_endpoint"],
      dependencies: ["otlp_collector"],
      mode: () => tracePosture(config, areTracesLost),
    },
  ];
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
  return areTracesLost() ? { mode: "degraded", reason: "the collector did not accept the latest traces" } : active;
}

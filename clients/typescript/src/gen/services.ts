// Generated from the definitions; do not edit.
import type { Transport } from "../transport/transport.ts";
import { createAdmissionService, type AdmissionService } from "./admission.ts";
import { createAnalyticsService, type AnalyticsService } from "./analytics.ts";
import { createAnomalyService, type AnomalyService } from "./anomaly.ts";
import { createApiKeyService, type ApiKeyService } from "./api-key.ts";
import { createBillingSubscriptionService, type BillingSubscriptionService } from "./billing-subscription.ts";
import { createBrowserSessionService, type BrowserSessionService } from "./browser-session.ts";
import { createBulkOperationService, type BulkOperationService } from "./bulk-operation.ts";
import { createConfigService, type ConfigService } from "./config.ts";
import { createConformanceService, type ConformanceService } from "./conformance.ts";
import { createConnectSessionService, type ConnectSessionService } from "./connect-session.ts";
import { createConnectionService, type ConnectionService } from "./connection.ts";
import { createConnectorActionService, type ConnectorActionService } from "./connector-action.ts";
import { createConnectorCatalogService, type ConnectorCatalogService } from "./connector-catalog.ts";
import { createConnectorManifestService, type ConnectorManifestService } from "./connector-catalog.ts";
import { createDeadLetterService, type DeadLetterService } from "./dead-letter.ts";
import { createDiscoveryService, type DiscoveryService } from "./discovery.ts";
import { createEntitlementService, type EntitlementService } from "./entitlement.ts";
import { createEnvironmentService, type EnvironmentService } from "./environment.ts";
import { createEventService, type EventService } from "./event.ts";
import { createExperimentService, type ExperimentService } from "./experiment.ts";
import { createExplainService, type ExplainService } from "./explain.ts";
import { createHistoryService, type HistoryService } from "./history.ts";
import { createInboxService, type InboxService } from "./inbox.ts";
import { createIntegrationService, type IntegrationService } from "./integration.ts";
import { createInvoiceService, type InvoiceService } from "./invoice.ts";
import { createLayoutService, type LayoutService } from "./layout.ts";
import { createMarketplaceService, type MarketplaceService } from "./marketplace.ts";
import { createMemberService, type MemberService } from "./member.ts";
import { createMeterService, type MeterService } from "./meter.ts";
import { createNotificationService, type NotificationService } from "./notification.ts";
import { createNotificationWorkflowService, type NotificationWorkflowService } from "./notification-workflow.ts";
import { createOfferService, type OfferService } from "./offer.ts";
import { createOperationalHealthService, type OperationalHealthService } from "./operational-health.ts";
import { createOutboxService, type OutboxService } from "./outbox.ts";
import { createPartialService, type PartialService } from "./partial.ts";
import { createPlanService, type PlanService } from "./plan.ts";
import { createPoolService, type PoolService } from "./pool.ts";
import { createPoolVersionService, type PoolVersionService } from "./pool-version.ts";
import { createPromotionService, type PromotionService } from "./promotion.ts";
import { createProviderConfigService, type ProviderConfigService } from "./provider-config.ts";
import { createQueueService, type QueueService } from "./queue.ts";
import { createRecipientService, type RecipientService } from "./recipient.ts";
import { createRolloutEvidenceService, type RolloutEvidenceService } from "./rollout-evidence.ts";
import { createRoutingService, type RoutingService } from "./routing.ts";
import { createOutcomeService, type OutcomeService } from "./routing.ts";
import { createRuleService, type RuleService } from "./rule.ts";
import { createScheduleService, type ScheduleService } from "./schedule.ts";
import { createSecretService, type SecretService } from "./secret.ts";
import { createSsoService, type SsoService } from "./sso.ts";
import { createSubscriberService, type SubscriberService } from "./subscriber.ts";
import { createSubscriberTokenService, type SubscriberTokenService } from "./subscriber-token.ts";
import { createSuppressionService, type SuppressionService } from "./suppression.ts";
import { createTenantService, type TenantService } from "./tenant.ts";
import { createTopicService, type TopicService } from "./topic.ts";
import { createTriggerSubscriptionService, type TriggerSubscriptionService } from "./trigger-subscription.ts";
import { createWebhookService, type WebhookService } from "./webhook.ts";
import { createWorkService, type WorkService } from "./work.ts";
import { createWorkflowApprovalService, type WorkflowApprovalService } from "./workflow-approval.ts";
import { createWorkflowDeadLetterService, type WorkflowDeadLetterService } from "./workflow-dead-letter.ts";
import { createWorkflowDefinitionService, type WorkflowDefinitionService } from "./workflow-definition.ts";
import { createWorkflowObjectService, type WorkflowObjectService } from "./workflow-object.ts";
import { createWorkflowRunService, type WorkflowRunService } from "./workflow-run.ts";
import { createWorkflowStreamService, type WorkflowStreamService } from "./workflow-stream.ts";
import { createWorkflowTaskService, type WorkflowTaskService } from "./workflow-task.ts";
import { createWorkflowTriggerService, type WorkflowTriggerService } from "./workflow-trigger.ts";

/** Every service of the API. */
export interface Services {
  readonly admission: AdmissionService;
  readonly analytics: AnalyticsService;
  readonly anomalies: AnomalyService;
  readonly apiKeys: ApiKeyService;
  readonly billingSubscriptions: BillingSubscriptionService;
  readonly browserSessions: BrowserSessionService;
  readonly bulkOperations: BulkOperationService;
  readonly config: ConfigService;
  readonly conformance: ConformanceService;
  readonly connectSessions: ConnectSessionService;
  readonly connections: ConnectionService;
  readonly connectorActions: ConnectorActionService;
  readonly connectorCatalog: ConnectorCatalogService;
  readonly connectorManifests: ConnectorManifestService;
  readonly deadLetters: DeadLetterService;
  readonly discovery: DiscoveryService;
  readonly entitlements: EntitlementService;
  readonly environments: EnvironmentService;
  readonly events: EventService;
  readonly experiments: ExperimentService;
  readonly explains: ExplainService;
  readonly histories: HistoryService;
  readonly inbox: InboxService;
  readonly integrations: IntegrationService;
  readonly invoices: InvoiceService;
  readonly layouts: LayoutService;
  readonly marketplace: MarketplaceService;
  readonly members: MemberService;
  readonly meters: MeterService;
  readonly notifications: NotificationService;
  readonly notificationWorkflows: NotificationWorkflowService;
  readonly offers: OfferService;
  readonly operationalHealths: OperationalHealthService;
  readonly outbox: OutboxService;
  readonly partials: PartialService;
  readonly plans: PlanService;
  readonly pools: PoolService;
  readonly poolVersions: PoolVersionService;
  readonly promotions: PromotionService;
  readonly providerConfigs: ProviderConfigService;
  readonly queues: QueueService;
  readonly recipients: RecipientService;
  readonly rolloutEvidences: RolloutEvidenceService;
  readonly routing: RoutingService;
  readonly outcomes: OutcomeService;
  readonly rules: RuleService;
  readonly schedules: ScheduleService;
  readonly secrets: SecretService;
  readonly sso: SsoService;
  readonly subscribers: SubscriberService;
  readonly subscriberTokens: SubscriberTokenService;
  readonly suppressions: SuppressionService;
  readonly tenants: TenantService;
  readonly topics: TopicService;
  readonly triggerSubscriptions: TriggerSubscriptionService;
  readonly webhooks: WebhookService;
  readonly work: WorkService;
  readonly workflowApprovals: WorkflowApprovalService;
  readonly workflowDeadLetters: WorkflowDeadLetterService;
  readonly workflowDefinitions: WorkflowDefinitionService;
  readonly workflowObjects: WorkflowObjectService;
  readonly workflowRuns: WorkflowRunService;
  readonly workflowStreams: WorkflowStreamService;
  readonly workflowTasks: WorkflowTaskService;
  readonly workflowTriggers: WorkflowTriggerService;
}

/** Creates every service over a transport. Create single services instead where the size of a bundle matters. */
export function createServices(transport: Transport): Services {
  return {
    admission: createAdmissionService(transport),
    analytics: createAnalyticsService(transport),
    anomalies: createAnomalyService(transport),
    apiKeys: createApiKeyService(transport),
    billingSubscriptions: createBillingSubscriptionService(transport),
    browserSessions: createBrowserSessionService(transport),
    bulkOperations: createBulkOperationService(transport),
    config: createConfigService(transport),
    conformance: createConformanceService(transport),
    connectSessions: createConnectSessionService(transport),
    connections: createConnectionService(transport),
    connectorActions: createConnectorActionService(transport),
    connectorCatalog: createConnectorCatalogService(transport),
    connectorManifests: createConnectorManifestService(transport),
    deadLetters: createDeadLetterService(transport),
    discovery: createDiscoveryService(transport),
    entitlements: createEntitlementService(transport),
    environments: createEnvironmentService(transport),
    events: createEventService(transport),
    experiments: createExperimentService(transport),
    explains: createExplainService(transport),
    histories: createHistoryService(transport),
    inbox: createInboxService(transport),
    integrations: createIntegrationService(transport),
    invoices: createInvoiceService(transport),
    layouts: createLayoutService(transport),
    marketplace: createMarketplaceService(transport),
    members: createMemberService(transport),
    meters: createMeterService(transport),
    notifications: createNotificationService(transport),
    notificationWorkflows: createNotificationWorkflowService(transport),
    offers: createOfferService(transport),
    operationalHealths: createOperationalHealthService(transport),
    outbox: createOutboxService(transport),
    partials: createPartialService(transport),
    plans: createPlanService(transport),
    pools: createPoolService(transport),
    poolVersions: createPoolVersionService(transport),
    promotions: createPromotionService(transport),
    providerConfigs: createProviderConfigService(transport),
    queues: createQueueService(transport),
    recipients: createRecipientService(transport),
    rolloutEvidences: createRolloutEvidenceService(transport),
    routing: createRoutingService(transport),
    outcomes: createOutcomeService(transport),
    rules: createRuleService(transport),
    schedules: createScheduleService(transport),
    secrets: createSecretService(transport),
    sso: createSsoService(transport),
    subscribers: createSubscriberService(transport),
    subscriberTokens: createSubscriberTokenService(transport),
    suppressions: createSuppressionService(transport),
    tenants: createTenantService(transport),
    topics: createTopicService(transport),
    triggerSubscriptions: createTriggerSubscriptionService(transport),
    webhooks: createWebhookService(transport),
    work: createWorkService(transport),
    workflowApprovals: createWorkflowApprovalService(transport),
    workflowDeadLetters: createWorkflowDeadLetterService(transport),
    workflowDefinitions: createWorkflowDefinitionService(transport),
    workflowObjects: createWorkflowObjectService(transport),
    workflowRuns: createWorkflowRunService(transport),
    workflowStreams: createWorkflowStreamService(transport),
    workflowTasks: createWorkflowTaskService(transport),
    workflowTriggers: createWorkflowTriggerService(transport),
  };
}

# Generated from the definitions; do not edit.
from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Optional

from ..threads import ThreadRunner
from ..transport import Transport

if TYPE_CHECKING:
    from ..batching import Batcher
    from .services.admission import AsyncAdmissionService, AdmissionService
    from .services.analytics import AsyncAnalyticsService, AnalyticsService
    from .services.anomaly import AsyncAnomalyService, AnomalyService
    from .services.api_key import AsyncApiKeyService, ApiKeyService
    from .services.billing_subscription import AsyncBillingSubscriptionService, BillingSubscriptionService
    from .services.browser_session import AsyncBrowserSessionService, BrowserSessionService
    from .services.bulk_operation import AsyncBulkOperationService, BulkOperationService
    from .services.config import AsyncConfigService, ConfigService
    from .services.conformance import AsyncConformanceService, ConformanceService
    from .services.connect_session import AsyncConnectSessionService, ConnectSessionService
    from .services.connection import AsyncConnectionService, ConnectionService
    from .services.connector_action import AsyncConnectorActionService, ConnectorActionService
    from .services.connector_catalog import AsyncConnectorCatalogService, ConnectorCatalogService
    from .services.connector_catalog import AsyncConnectorManifestService, ConnectorManifestService
    from .services.dead_letter import AsyncDeadLetterService, DeadLetterService
    from .services.discovery import AsyncDiscoveryService, DiscoveryService
    from .services.entitlement import AsyncEntitlementService, EntitlementService
    from .services.environment import AsyncEnvironmentService, EnvironmentService
    from .services.event import AsyncEventService, EventService
    from .services.experiment import AsyncExperimentService, ExperimentService
    from .services.explain import AsyncExplainService, ExplainService
    from .services.history import AsyncHistoryService, HistoryService
    from .services.inbox import AsyncInboxService, InboxService
    from .services.integration import AsyncIntegrationService, IntegrationService
    from .services.invoice import AsyncInvoiceService, InvoiceService
    from .services.layout import AsyncLayoutService, LayoutService
    from .services.marketplace import AsyncMarketplaceService, MarketplaceService
    from .services.member import AsyncMemberService, MemberService
    from .services.meter import AsyncMeterService, MeterService
    from .services.notification import AsyncNotificationService, NotificationService
    from .services.notification_workflow import AsyncNotificationWorkflowService, NotificationWorkflowService
    from .services.offer import AsyncOfferService, OfferService
    from .services.operational_health import AsyncOperationalHealthService, OperationalHealthService
    from .services.outbox import AsyncOutboxService, OutboxService
    from .services.partial import AsyncPartialService, PartialService
    from .services.plan import AsyncPlanService, PlanService
    from .services.pool import AsyncPoolService, PoolService
    from .services.pool_version import AsyncPoolVersionService, PoolVersionService
    from .services.promotion import AsyncPromotionService, PromotionService
    from .services.provider_config import AsyncProviderConfigService, ProviderConfigService
    from .services.queue import AsyncQueueService, QueueService
    from .services.recipient import AsyncRecipientService, RecipientService
    from .services.rollout_evidence import AsyncRolloutEvidenceService, RolloutEvidenceService
    from .services.routing import AsyncRoutingService, RoutingService
    from .services.routing import AsyncOutcomeService, OutcomeService
    from .services.rule import AsyncRuleService, RuleService
    from .services.schedule import AsyncScheduleService, ScheduleService
    from .services.secret import AsyncSecretService, SecretService
    from .services.sso import AsyncSsoService, SsoService
    from .services.subscriber import AsyncSubscriberService, SubscriberService
    from .services.subscriber_token import AsyncSubscriberTokenService, SubscriberTokenService
    from .services.suppression import AsyncSuppressionService, SuppressionService
    from .services.tenant import AsyncTenantService, TenantService
    from .services.topic import AsyncTopicService, TopicService
    from .services.trigger_subscription import AsyncTriggerSubscriptionService, TriggerSubscriptionService
    from .services.webhook import AsyncWebhookService, WebhookService
    from .services.work import AsyncWorkService, WorkService
    from .services.workflow_approval import AsyncWorkflowApprovalService, WorkflowApprovalService
    from .services.workflow_dead_letter import AsyncWorkflowDeadLetterService, WorkflowDeadLetterService
    from .services.workflow_definition import AsyncWorkflowDefinitionService, WorkflowDefinitionService
    from .services.workflow_object import AsyncWorkflowObjectService, WorkflowObjectService
    from .services.workflow_run import AsyncWorkflowRunService, WorkflowRunService
    from .services.workflow_stream import AsyncWorkflowStreamService, WorkflowStreamService
    from .services.workflow_task import AsyncWorkflowTaskService, WorkflowTaskService
    from .services.workflow_trigger import AsyncWorkflowTriggerService, WorkflowTriggerService


class Services:
    """Every service of the API."""

    def __init__(self, transport: Transport, batcher: Optional[Batcher]) -> None:
        self._transport = transport
        self._batcher = batcher

    @cached_property
    def admission(self) -> AdmissionService:
        """Admission: which items a queue accepts, and what holds an item."""
        from .services.admission import AdmissionService

        return AdmissionService(self._transport, self._batcher)

    @cached_property
    def analytics(self) -> AnalyticsService:
        """Analytics: the metrics of a tenant over time. Unless analytics.enabled is true, these operations do not exist."""
        from .services.analytics import AnalyticsService

        return AnalyticsService(self._transport, self._batcher)

    @cached_property
    def anomalies(self) -> AnomalyService:
        """Anomalies: unusual outcomes of pools and their recipients."""
        from .services.anomaly import AnomalyService

        return AnomalyService(self._transport, self._batcher)

    @cached_property
    def api_keys(self) -> ApiKeyService:
        """API keys: credentials of programs. A key belongs to a tenant and never has more access than its creator."""
        from .services.api_key import ApiKeyService

        return ApiKeyService(self._transport, self._batcher)

    @cached_property
    def billing_subscriptions(self) -> BillingSubscriptionService:
        """Subscriptions: the plan that a tenant has. A tenant has one subscription."""
        from .services.billing_subscription import BillingSubscriptionService

        return BillingSubscriptionService(self._transport, self._batcher)

    @cached_property
    def browser_sessions(self) -> BrowserSessionService:
        """Browser sessions: how people use the service in a browser. A session is kept by the service; the browser has a cookie."""
        from .services.browser_session import BrowserSessionService

        return BrowserSessionService(self._transport, self._batcher)

    @cached_property
    def bulk_operations(self) -> BulkOperationService:
        """Bulk operations: cancel, requeue or retry all items that match a filter. They work in the background, in batches."""
        from .services.bulk_operation import BulkOperationService

        return BulkOperationService(self._transport, self._batcher)

    @cached_property
    def config(self) -> ConfigService:
        """Dynamic configuration: settings that a tenant can change at run time."""
        from .services.config import ConfigService

        return ConfigService(self._transport, self._batcher)

    @cached_property
    def conformance(self) -> ConformanceService:
        """Runtime conformance: checks that this instance keeps its guarantees, by calling it as its callers do. Runs work in a scratch tenant of their own and never touch records of the caller's tenant."""
        from .services.conformance import ConformanceService

        return ConformanceService(self._transport, self._batcher)

    @cached_property
    def connect_sessions(self) -> ConnectSessionService:
        """Connect sessions: an end user connects an account at a provider on a hosted page."""
        from .services.connect_session import ConnectSessionService

        return ConnectSessionService(self._transport, self._batcher)

    @cached_property
    def connections(self) -> ConnectionService:
        """Connections: settings and credentials to act for a tenant at a provider. Credentials are never returned."""
        from .services.connection import ConnectionService

        return ConnectionService(self._transport, self._batcher)

    @cached_property
    def connector_actions(self) -> ConnectorActionService:
        """Executes the actions of connectors at their providers, and keeps records of the executions."""
        from .services.connector_action import ConnectorActionService

        return ConnectorActionService(self._transport, self._batcher)

    @cached_property
    def connector_catalog(self) -> ConnectorCatalogService:
        """The connector catalogue: providers with their actions and triggers. It has the built-in providers, the tenant's own manifests, and the manifests of installed packs."""
        from .services.connector_catalog import ConnectorCatalogService

        return ConnectorCatalogService(self._transport, self._batcher)

    @cached_property
    def connector_manifests(self) -> ConnectorManifestService:
        """Connector manifests: a tenant's own providers, as documents of the manifest language. Versions never change."""
        from .services.connector_catalog import ConnectorManifestService

        return ConnectorManifestService(self._transport, self._batcher)

    @cached_property
    def dead_letters(self) -> DeadLetterService:
        """Dead letters: items whose last attempt failed. Those of a deleted pool can be read, quarantined and purged, but not retried."""
        from .services.dead_letter import DeadLetterService

        return DeadLetterService(self._transport, self._batcher)

    @cached_property
    def discovery(self) -> DiscoveryService:
        """Discovery: what this instance offers, and in which state."""
        from .services.discovery import DiscoveryService

        return DiscoveryService(self._transport, self._batcher)

    @cached_property
    def entitlements(self) -> EntitlementService:
        """Entitlements: what a tenant may use. Operations name the entitlement that they need."""
        from .services.entitlement import EntitlementService

        return EntitlementService(self._transport, self._batcher)

    @cached_property
    def environments(self) -> EnvironmentService:
        """Environments of a tenant, such as production: the scope of its configuration and keys."""
        from .services.environment import EnvironmentService

        return EnvironmentService(self._transport, self._batcher)

    @cached_property
    def events(self) -> EventService:
        """The event log: what happened in a tenant, in order, as CloudEvents."""
        from .services.event import EventService

        return EventService(self._transport, self._batcher)

    @cached_property
    def experiments(self) -> ExperimentService:
        """Experiments: assigns variants to units, records outcomes, and says which variant is better. An experiment with one variant is a feature flag."""
        from .services.experiment import ExperimentService

        return ExperimentService(self._transport, self._batcher)

    @cached_property
    def explains(self) -> ExplainService:
        """Explanations: what happened to something, why, and what it waits for."""
        from .services.explain import ExplainService

        return ExplainService(self._transport, self._batcher)

    @cached_property
    def histories(self) -> HistoryService:
        """History: coarse counts of pools, workflows and notification channels over the last seven days, for charts."""
        from .services.history import HistoryService

        return HistoryService(self._transport, self._batcher)

    @cached_property
    def inbox(self) -> InboxService:
        """Inboxes: messages of subscribers on the channel in_app."""
        from .services.inbox import InboxService

        return InboxService(self._transport, self._batcher)

    @cached_property
    def integrations(self) -> IntegrationService:
        """Integrations: which provider serves a channel, in which order and for which messages."""
        from .services.integration import IntegrationService

        return IntegrationService(self._transport, self._batcher)

    @cached_property
    def invoices(self) -> InvoiceService:
        """Invoices: what a tenant owes for a billing period. They are records; the service collects no payments."""
        from .services.invoice import InvoiceService

        return InvoiceService(self._transport, self._batcher)

    @cached_property
    def layouts(self) -> LayoutService:
        """Layouts: templates around the notifications of a channel."""
        from .services.layout import LayoutService

        return LayoutService(self._transport, self._batcher)

    @cached_property
    def marketplace(self) -> MarketplaceService:
        """The marketplace: signed packs of manifests, workflows, notifications and rules, and their installations in a tenant."""
        from .services.marketplace import MarketplaceService

        return MarketplaceService(self._transport, self._batcher)

    @cached_property
    def members(self) -> MemberService:
        """Members: the people of a tenant, identified by the subject of their token."""
        from .services.member import MemberService

        return MemberService(self._transport, self._batcher)

    @cached_property
    def meters(self) -> MeterService:
        """Meters: what is counted. The service counts its own meters; callers report usage of the others."""
        from .services.meter import MeterService

        return MeterService(self._transport, self._batcher)

    @cached_property
    def notifications(self) -> NotificationService:
        """Notifications: triggers, deliveries and their results."""
        from .services.notification import NotificationService

        return NotificationService(self._transport, self._batcher)

    @cached_property
    def notification_workflows(self) -> NotificationWorkflowService:
        """Notification workflows: the content of one kind of notification on each channel, and the author's preferences for everybody and for single users."""
        from .services.notification_workflow import NotificationWorkflowService

        return NotificationWorkflowService(self._transport, self._batcher)

    @cached_property
    def offers(self) -> OfferService:
        """Offers: in a pool with reservations, a recipient accepts or declines an item before it works on it."""
        from .services.offer import OfferService

        return OfferService(self._transport, self._batcher)

    @cached_property
    def operational_healths(self) -> OperationalHealthService:
        """Operational health: whether an environment works as it should, why not, and what to do."""
        from .services.operational_health import OperationalHealthService

        return OperationalHealthService(self._transport, self._batcher)

    @cached_property
    def outbox(self) -> OutboxService:
        """The outbox: messages that are stored for developers instead of being sent."""
        from .services.outbox import OutboxService

        return OutboxService(self._transport, self._batcher)

    @cached_property
    def partials(self) -> PartialService:
        """Partials: pieces of templates that notification workflows, layouts and other partials include."""
        from .services.partial import PartialService

        return PartialService(self._transport, self._batcher)

    @cached_property
    def plans(self) -> PlanService:
        """Plans: what tenants can subscribe to. A plan has versions, which never change."""
        from .services.plan import PlanService

        return PlanService(self._transport, self._batcher)

    @cached_property
    def pools(self) -> PoolService:
        """Pools: groups of recipients, with the rules and the strategy that choose among them."""
        from .services.pool import PoolService

        return PoolService(self._transport, self._batcher)

    @cached_property
    def pool_versions(self) -> PoolVersionService:
        """Versions of pools: what a pool routes by, at a time. A version never changes."""
        from .services.pool_version import PoolVersionService

        return PoolVersionService(self._transport, self._batcher)

    @cached_property
    def promotions(self) -> PromotionService:
        """Promotions: activates versions of pools, workflows and connectors step by step, with checks, a canary and an approval."""
        from .services.promotion import PromotionService

        return PromotionService(self._transport, self._batcher)

    @cached_property
    def provider_configs(self) -> ProviderConfigService:
        """Provider configs: a tenant's own OAuth app or other settings for a provider. Secrets are never returned."""
        from .services.provider_config import ProviderConfigService

        return ProviderConfigService(self._transport, self._batcher)

    @cached_property
    def queues(self) -> QueueService:
        """Queues: the items that wait in pools, and the control of them."""
        from .services.queue import QueueService

        return QueueService(self._transport, self._batcher)

    @cached_property
    def recipients(self) -> RecipientService:
        """Recipients: people, programs or systems that process work, each in one pool."""
        from .services.recipient import RecipientService

        return RecipientService(self._transport, self._batcher)

    @cached_property
    def rollout_evidences(self) -> RolloutEvidenceService:
        """Rollout evidence: proof that a change was checked before it is promoted. A pack holds artifacts by their digests and signed receipts of checks. Its gate is open while every requirement has a valid receipt."""
        from .services.rollout_evidence import RolloutEvidenceService

        return RolloutEvidenceService(self._transport, self._batcher)

    @cached_property
    def routing(self) -> RoutingService:
        """Routing: which recipient gets an item, and why."""
        from .services.routing import RoutingService

        return RoutingService(self._transport, self._batcher)

    @cached_property
    def outcomes(self) -> OutcomeService:
        """Outcomes: the results of routed items."""
        from .services.routing import OutcomeService

        return OutcomeService(self._transport, self._batcher)

    @cached_property
    def rules(self) -> RuleService:
        """Rules: what a pool does with items that match a condition."""
        from .services.rule import RuleService

        return RuleService(self._transport, self._batcher)

    @cached_property
    def schedules(self) -> ScheduleService:
        """Schedules: items that are routed at the times of a cron expression."""
        from .services.schedule import ScheduleService

        return ScheduleService(self._transport, self._batcher)

    @cached_property
    def secrets(self) -> SecretService:
        """Secrets: values that callers can set and use, but never read back."""
        from .services.secret import SecretService

        return SecretService(self._transport, self._batcher)

    @cached_property
    def sso(self) -> SsoService:
        """Single sign-on: identity providers that sign people in, and the roles of their groups."""
        from .services.sso import SsoService

        return SsoService(self._transport, self._batcher)

    @cached_property
    def subscribers(self) -> SubscriberService:
        """Subscribers: people who receive notifications, with their addresses, topics and preferences."""
        from .services.subscriber import SubscriberService

        return SubscriberService(self._transport, self._batcher)

    @cached_property
    def subscriber_tokens(self) -> SubscriberTokenService:
        """Subscriber tokens: short-lived credentials with which the web page of a subscriber reads and marks its inbox and changes its preferences, and nothing else."""
        from .services.subscriber_token import SubscriberTokenService

        return SubscriberTokenService(self._transport, self._batcher)

    @cached_property
    def suppressions(self) -> SuppressionService:
        """Suppressions: addresses that no notification is sent to, whoever they belong to. Providers' reports add them, and callers can."""
        from .services.suppression import SuppressionService

        return SuppressionService(self._transport, self._batcher)

    @cached_property
    def tenants(self) -> TenantService:
        """Tenants: the units of isolation. Only the platform tenant sees and creates others."""
        from .services.tenant import TenantService

        return TenantService(self._transport, self._batcher)

    @cached_property
    def topics(self) -> TopicService:
        """Topics: named sets of subscribers to notify together."""
        from .services.topic import TopicService

        return TopicService(self._transport, self._batcher)

    @cached_property
    def trigger_subscriptions(self) -> TriggerSubscriptionService:
        """Trigger subscriptions: what happens in a connected account starts a workflow run, routes an item, or is only recorded."""
        from .services.trigger_subscription import TriggerSubscriptionService

        return TriggerSubscriptionService(self._transport, self._batcher)

    @cached_property
    def webhooks(self) -> WebhookService:
        """Webhooks: events of the log, sent to HTTP endpoints of the tenant and signed as Standard Webhooks."""
        from .services.webhook import WebhookService

        return WebhookService(self._transport, self._batcher)

    @cached_property
    def work(self) -> WorkService:
        """Work: how workers lease items, extend leases and report results."""
        from .services.work import WorkService

        return WorkService(self._transport, self._batcher)

    @cached_property
    def workflow_approvals(self) -> WorkflowApprovalService:
        """Approvals that workflow runs wait for."""
        from .services.workflow_approval import WorkflowApprovalService

        return WorkflowApprovalService(self._transport, self._batcher)

    @cached_property
    def workflow_dead_letters(self) -> WorkflowDeadLetterService:
        """Dead letters of workflow runs: runs that failed or timed out, until somebody replays or discards them."""
        from .services.workflow_dead_letter import WorkflowDeadLetterService

        return WorkflowDeadLetterService(self._transport, self._batcher)

    @cached_property
    def workflow_definitions(self) -> WorkflowDefinitionService:
        """Workflow definitions: documents of the workflow language, edited as drafts and published as immutable versions."""
        from .services.workflow_definition import WorkflowDefinitionService

        return WorkflowDefinitionService(self._transport, self._batcher)

    @cached_property
    def workflow_objects(self) -> WorkflowObjectService:
        """Large objects of workflow data streams: payloads of up to 32 MiB that are uploaded first and then committed as a record."""
        from .services.workflow_object import WorkflowObjectService

        return WorkflowObjectService(self._transport, self._batcher)

    @cached_property
    def workflow_runs(self) -> WorkflowRunService:
        """Workflow runs: executions of published workflow definitions."""
        from .services.workflow_run import WorkflowRunService

        return WorkflowRunService(self._transport, self._batcher)

    @cached_property
    def workflow_streams(self) -> WorkflowStreamService:
        """Data streams of workflow runs: ordered records that a run, its workers and its consumers exchange."""
        from .services.workflow_stream import WorkflowStreamService

        return WorkflowStreamService(self._transport, self._batcher)

    @cached_property
    def workflow_tasks(self) -> WorkflowTaskService:
        """Workflow tasks: how external workers run the tasks of workflow runs."""
        from .services.workflow_task import WorkflowTaskService

        return WorkflowTaskService(self._transport, self._batcher)

    @cached_property
    def workflow_triggers(self) -> WorkflowTriggerService:
        """Workflow triggers: what starts runs without a call, at the times of a schedule or for events of the log."""
        from .services.workflow_trigger import WorkflowTriggerService

        return WorkflowTriggerService(self._transport, self._batcher)


class AsyncServices:
    """Every service of the API, for asyncio."""

    def __init__(self, transport: Transport, threads: ThreadRunner, batcher: Optional[Batcher]) -> None:
        self._transport = transport
        self._threads = threads
        self._batcher = batcher

    @cached_property
    def admission(self) -> AsyncAdmissionService:
        """Admission: which items a queue accepts, and what holds an item."""
        from .services.admission import AsyncAdmissionService

        return AsyncAdmissionService(self._transport, self._threads, self._batcher)

    @cached_property
    def analytics(self) -> AsyncAnalyticsService:
        """Analytics: the metrics of a tenant over time. Unless analytics.enabled is true, these operations do not exist."""
        from .services.analytics import AsyncAnalyticsService

        return AsyncAnalyticsService(self._transport, self._threads, self._batcher)

    @cached_property
    def anomalies(self) -> AsyncAnomalyService:
        """Anomalies: unusual outcomes of pools and their recipients."""
        from .services.anomaly import AsyncAnomalyService

        return AsyncAnomalyService(self._transport, self._threads, self._batcher)

    @cached_property
    def api_keys(self) -> AsyncApiKeyService:
        """API keys: credentials of programs. A key belongs to a tenant and never has more access than its creator."""
        from .services.api_key import AsyncApiKeyService

        return AsyncApiKeyService(self._transport, self._threads, self._batcher)

    @cached_property
    def billing_subscriptions(self) -> AsyncBillingSubscriptionService:
        """Subscriptions: the plan that a tenant has. A tenant has one subscription."""
        from .services.billing_subscription import AsyncBillingSubscriptionService

        return AsyncBillingSubscriptionService(self._transport, self._threads, self._batcher)

    @cached_property
    def browser_sessions(self) -> AsyncBrowserSessionService:
        """Browser sessions: how people use the service in a browser. A session is kept by the service; the browser has a cookie."""
        from .services.browser_session import AsyncBrowserSessionService

        return AsyncBrowserSessionService(self._transport, self._threads, self._batcher)

    @cached_property
    def bulk_operations(self) -> AsyncBulkOperationService:
        """Bulk operations: cancel, requeue or retry all items that match a filter. They work in the background, in batches."""
        from .services.bulk_operation import AsyncBulkOperationService

        return AsyncBulkOperationService(self._transport, self._threads, self._batcher)

    @cached_property
    def config(self) -> AsyncConfigService:
        """Dynamic configuration: settings that a tenant can change at run time."""
        from .services.config import AsyncConfigService

        return AsyncConfigService(self._transport, self._threads, self._batcher)

    @cached_property
    def conformance(self) -> AsyncConformanceService:
        """Runtime conformance: checks that this instance keeps its guarantees, by calling it as its callers do. Runs work in a scratch tenant of their own and never touch records of the caller's tenant."""
        from .services.conformance import AsyncConformanceService

        return AsyncConformanceService(self._transport, self._threads, self._batcher)

    @cached_property
    def connect_sessions(self) -> AsyncConnectSessionService:
        """Connect sessions: an end user connects an account at a provider on a hosted page."""
        from .services.connect_session import AsyncConnectSessionService

        return AsyncConnectSessionService(self._transport, self._threads, self._batcher)

    @cached_property
    def connections(self) -> AsyncConnectionService:
        """Connections: settings and credentials to act for a tenant at a provider. Credentials are never returned."""
        from .services.connection import AsyncConnectionService

        return AsyncConnectionService(self._transport, self._threads, self._batcher)

    @cached_property
    def connector_actions(self) -> AsyncConnectorActionService:
        """Executes the actions of connectors at their providers, and keeps records of the executions."""
        from .services.connector_action import AsyncConnectorActionService

        return AsyncConnectorActionService(self._transport, self._threads, self._batcher)

    @cached_property
    def connector_catalog(self) -> AsyncConnectorCatalogService:
        """The connector catalogue: providers with their actions and triggers. It has the built-in providers, the tenant's own manifests, and the manifests of installed packs."""
        from .services.connector_catalog import AsyncConnectorCatalogService

        return AsyncConnectorCatalogService(self._transport, self._threads, self._batcher)

    @cached_property
    def connector_manifests(self) -> AsyncConnectorManifestService:
        """Connector manifests: a tenant's own providers, as documents of the manifest language. Versions never change."""
        from .services.connector_catalog import AsyncConnectorManifestService

        return AsyncConnectorManifestService(self._transport, self._threads, self._batcher)

    @cached_property
    def dead_letters(self) -> AsyncDeadLetterService:
        """Dead letters: items whose last attempt failed. Those of a deleted pool can be read, quarantined and purged, but not retried."""
        from .services.dead_letter import AsyncDeadLetterService

        return AsyncDeadLetterService(self._transport, self._threads, self._batcher)

    @cached_property
    def discovery(self) -> AsyncDiscoveryService:
        """Discovery: what this instance offers, and in which state."""
        from .services.discovery import AsyncDiscoveryService

        return AsyncDiscoveryService(self._transport, self._threads, self._batcher)

    @cached_property
    def entitlements(self) -> AsyncEntitlementService:
        """Entitlements: what a tenant may use. Operations name the entitlement that they need."""
        from .services.entitlement import AsyncEntitlementService

        return AsyncEntitlementService(self._transport, self._threads, self._batcher)

    @cached_property
    def environments(self) -> AsyncEnvironmentService:
        """Environments of a tenant, such as production: the scope of its configuration and keys."""
        from .services.environment import AsyncEnvironmentService

        return AsyncEnvironmentService(self._transport, self._threads, self._batcher)

    @cached_property
    def events(self) -> AsyncEventService:
        """The event log: what happened in a tenant, in order, as CloudEvents."""
        from .services.event import AsyncEventService

        return AsyncEventService(self._transport, self._threads, self._batcher)

    @cached_property
    def experiments(self) -> AsyncExperimentService:
        """Experiments: assigns variants to units, records outcomes, and says which variant is better. An experiment with one variant is a feature flag."""
        from .services.experiment import AsyncExperimentService

        return AsyncExperimentService(self._transport, self._threads, self._batcher)

    @cached_property
    def explains(self) -> AsyncExplainService:
        """Explanations: what happened to something, why, and what it waits for."""
        from .services.explain import AsyncExplainService

        return AsyncExplainService(self._transport, self._threads, self._batcher)

    @cached_property
    def histories(self) -> AsyncHistoryService:
        """History: coarse counts of pools, workflows and notification channels over the last seven days, for charts."""
        from .services.history import AsyncHistoryService

        return AsyncHistoryService(self._transport, self._threads, self._batcher)

    @cached_property
    def inbox(self) -> AsyncInboxService:
        """Inboxes: messages of subscribers on the channel in_app."""
        from .services.inbox import AsyncInboxService

        return AsyncInboxService(self._transport, self._threads, self._batcher)

    @cached_property
    def integrations(self) -> AsyncIntegrationService:
        """Integrations: which provider serves a channel, in which order and for which messages."""
        from .services.integration import AsyncIntegrationService

        return AsyncIntegrationService(self._transport, self._threads, self._batcher)

    @cached_property
    def invoices(self) -> AsyncInvoiceService:
        """Invoices: what a tenant owes for a billing period. They are records; the service collects no payments."""
        from .services.invoice import AsyncInvoiceService

        return AsyncInvoiceService(self._transport, self._threads, self._batcher)

    @cached_property
    def layouts(self) -> AsyncLayoutService:
        """Layouts: templates around the notifications of a channel."""
        from .services.layout import AsyncLayoutService

        return AsyncLayoutService(self._transport, self._threads, self._batcher)

    @cached_property
    def marketplace(self) -> AsyncMarketplaceService:
        """The marketplace: signed packs of manifests, workflows, notifications and rules, and their installations in a tenant."""
        from .services.marketplace import AsyncMarketplaceService

        return AsyncMarketplaceService(self._transport, self._threads, self._batcher)

    @cached_property
    def members(self) -> AsyncMemberService:
        """Members: the people of a tenant, identified by the subject of their token."""
        from .services.member import AsyncMemberService

        return AsyncMemberService(self._transport, self._threads, self._batcher)

    @cached_property
    def meters(self) -> AsyncMeterService:
        """Meters: what is counted. The service counts its own meters; callers report usage of the others."""
        from .services.meter import AsyncMeterService

        return AsyncMeterService(self._transport, self._threads, self._batcher)

    @cached_property
    def notifications(self) -> AsyncNotificationService:
        """Notifications: triggers, deliveries and their results."""
        from .services.notification import AsyncNotificationService

        return AsyncNotificationService(self._transport, self._threads, self._batcher)

    @cached_property
    def notification_workflows(self) -> AsyncNotificationWorkflowService:
        """Notification workflows: the content of one kind of notification on each channel, and the author's preferences for everybody and for single users."""
        from .services.notification_workflow import AsyncNotificationWorkflowService

        return AsyncNotificationWorkflowService(self._transport, self._threads, self._batcher)

    @cached_property
    def offers(self) -> AsyncOfferService:
        """Offers: in a pool with reservations, a recipient accepts or declines an item before it works on it."""
        from .services.offer import AsyncOfferService

        return AsyncOfferService(self._transport, self._threads, self._batcher)

    @cached_property
    def operational_healths(self) -> AsyncOperationalHealthService:
        """Operational health: whether an environment works as it should, why not, and what to do."""
        from .services.operational_health import AsyncOperationalHealthService

        return AsyncOperationalHealthService(self._transport, self._threads, self._batcher)

    @cached_property
    def outbox(self) -> AsyncOutboxService:
        """The outbox: messages that are stored for developers instead of being sent."""
        from .services.outbox import AsyncOutboxService

        return AsyncOutboxService(self._transport, self._threads, self._batcher)

    @cached_property
    def partials(self) -> AsyncPartialService:
        """Partials: pieces of templates that notification workflows, layouts and other partials include."""
        from .services.partial import AsyncPartialService

        return AsyncPartialService(self._transport, self._threads, self._batcher)

    @cached_property
    def plans(self) -> AsyncPlanService:
        """Plans: what tenants can subscribe to. A plan has versions, which never change."""
        from .services.plan import AsyncPlanService

        return AsyncPlanService(self._transport, self._threads, self._batcher)

    @cached_property
    def pools(self) -> AsyncPoolService:
        """Pools: groups of recipients, with the rules and the strategy that choose among them."""
        from .services.pool import AsyncPoolService

        return AsyncPoolService(self._transport, self._threads, self._batcher)

    @cached_property
    def pool_versions(self) -> AsyncPoolVersionService:
        """Versions of pools: what a pool routes by, at a time. A version never changes."""
        from .services.pool_version import AsyncPoolVersionService

        return AsyncPoolVersionService(self._transport, self._threads, self._batcher)

    @cached_property
    def promotions(self) -> AsyncPromotionService:
        """Promotions: activates versions of pools, workflows and connectors step by step, with checks, a canary and an approval."""
        from .services.promotion import AsyncPromotionService

        return AsyncPromotionService(self._transport, self._threads, self._batcher)

    @cached_property
    def provider_configs(self) -> AsyncProviderConfigService:
        """Provider configs: a tenant's own OAuth app or other settings for a provider. Secrets are never returned."""
        from .services.provider_config import AsyncProviderConfigService

        return AsyncProviderConfigService(self._transport, self._threads, self._batcher)

    @cached_property
    def queues(self) -> AsyncQueueService:
        """Queues: the items that wait in pools, and the control of them."""
        from .services.queue import AsyncQueueService

        return AsyncQueueService(self._transport, self._threads, self._batcher)

    @cached_property
    def recipients(self) -> AsyncRecipientService:
        """Recipients: people, programs or systems that process work, each in one pool."""
        from .services.recipient import AsyncRecipientService

        return AsyncRecipientService(self._transport, self._threads, self._batcher)

    @cached_property
    def rollout_evidences(self) -> AsyncRolloutEvidenceService:
        """Rollout evidence: proof that a change was checked before it is promoted. A pack holds artifacts by their digests and signed receipts of checks. Its gate is open while every requirement has a valid receipt."""
        from .services.rollout_evidence import AsyncRolloutEvidenceService

        return AsyncRolloutEvidenceService(self._transport, self._threads, self._batcher)

    @cached_property
    def routing(self) -> AsyncRoutingService:
        """Routing: which recipient gets an item, and why."""
        from .services.routing import AsyncRoutingService

        return AsyncRoutingService(self._transport, self._threads, self._batcher)

    @cached_property
    def outcomes(self) -> AsyncOutcomeService:
        """Outcomes: the results of routed items."""
        from .services.routing import AsyncOutcomeService

        return AsyncOutcomeService(self._transport, self._threads, self._batcher)

    @cached_property
    def rules(self) -> AsyncRuleService:
        """Rules: what a pool does with items that match a condition."""
        from .services.rule import AsyncRuleService

        return AsyncRuleService(self._transport, self._threads, self._batcher)

    @cached_property
    def schedules(self) -> AsyncScheduleService:
        """Schedules: items that are routed at the times of a cron expression."""
        from .services.schedule import AsyncScheduleService

        return AsyncScheduleService(self._transport, self._threads, self._batcher)

    @cached_property
    def secrets(self) -> AsyncSecretService:
        """Secrets: values that callers can set and use, but never read back."""
        from .services.secret import AsyncSecretService

        return AsyncSecretService(self._transport, self._threads, self._batcher)

    @cached_property
    def sso(self) -> AsyncSsoService:
        """Single sign-on: identity providers that sign people in, and the roles of their groups."""
        from .services.sso import AsyncSsoService

        return AsyncSsoService(self._transport, self._threads, self._batcher)

    @cached_property
    def subscribers(self) -> AsyncSubscriberService:
        """Subscribers: people who receive notifications, with their addresses, topics and preferences."""
        from .services.subscriber import AsyncSubscriberService

        return AsyncSubscriberService(self._transport, self._threads, self._batcher)

    @cached_property
    def subscriber_tokens(self) -> AsyncSubscriberTokenService:
        """Subscriber tokens: short-lived credentials with which the web page of a subscriber reads and marks its inbox and changes its preferences, and nothing else."""
        from .services.subscriber_token import AsyncSubscriberTokenService

        return AsyncSubscriberTokenService(self._transport, self._threads, self._batcher)

    @cached_property
    def suppressions(self) -> AsyncSuppressionService:
        """Suppressions: addresses that no notification is sent to, whoever they belong to. Providers' reports add them, and callers can."""
        from .services.suppression import AsyncSuppressionService

        return AsyncSuppressionService(self._transport, self._threads, self._batcher)

    @cached_property
    def tenants(self) -> AsyncTenantService:
        """Tenants: the units of isolation. Only the platform tenant sees and creates others."""
        from .services.tenant import AsyncTenantService

        return AsyncTenantService(self._transport, self._threads, self._batcher)

    @cached_property
    def topics(self) -> AsyncTopicService:
        """Topics: named sets of subscribers to notify together."""
        from .services.topic import AsyncTopicService

        return AsyncTopicService(self._transport, self._threads, self._batcher)

    @cached_property
    def trigger_subscriptions(self) -> AsyncTriggerSubscriptionService:
        """Trigger subscriptions: what happens in a connected account starts a workflow run, routes an item, or is only recorded."""
        from .services.trigger_subscription import AsyncTriggerSubscriptionService

        return AsyncTriggerSubscriptionService(self._transport, self._threads, self._batcher)

    @cached_property
    def webhooks(self) -> AsyncWebhookService:
        """Webhooks: events of the log, sent to HTTP endpoints of the tenant and signed as Standard Webhooks."""
        from .services.webhook import AsyncWebhookService

        return AsyncWebhookService(self._transport, self._threads, self._batcher)

    @cached_property
    def work(self) -> AsyncWorkService:
        """Work: how workers lease items, extend leases and report results."""
        from .services.work import AsyncWorkService

        return AsyncWorkService(self._transport, self._threads, self._batcher)

    @cached_property
    def workflow_approvals(self) -> AsyncWorkflowApprovalService:
        """Approvals that workflow runs wait for."""
        from .services.workflow_approval import AsyncWorkflowApprovalService

        return AsyncWorkflowApprovalService(self._transport, self._threads, self._batcher)

    @cached_property
    def workflow_dead_letters(self) -> AsyncWorkflowDeadLetterService:
        """Dead letters of workflow runs: runs that failed or timed out, until somebody replays or discards them."""
        from .services.workflow_dead_letter import AsyncWorkflowDeadLetterService

        return AsyncWorkflowDeadLetterService(self._transport, self._threads, self._batcher)

    @cached_property
    def workflow_definitions(self) -> AsyncWorkflowDefinitionService:
        """Workflow definitions: documents of the workflow language, edited as drafts and published as immutable versions."""
        from .services.workflow_definition import AsyncWorkflowDefinitionService

        return AsyncWorkflowDefinitionService(self._transport, self._threads, self._batcher)

    @cached_property
    def workflow_objects(self) -> AsyncWorkflowObjectService:
        """Large objects of workflow data streams: payloads of up to 32 MiB that are uploaded first and then committed as a record."""
        from .services.workflow_object import AsyncWorkflowObjectService

        return AsyncWorkflowObjectService(self._transport, self._threads, self._batcher)

    @cached_property
    def workflow_runs(self) -> AsyncWorkflowRunService:
        """Workflow runs: executions of published workflow definitions."""
        from .services.workflow_run import AsyncWorkflowRunService

        return AsyncWorkflowRunService(self._transport, self._threads, self._batcher)

    @cached_property
    def workflow_streams(self) -> AsyncWorkflowStreamService:
        """Data streams of workflow runs: ordered records that a run, its workers and its consumers exchange."""
        from .services.workflow_stream import AsyncWorkflowStreamService

        return AsyncWorkflowStreamService(self._transport, self._threads, self._batcher)

    @cached_property
    def workflow_tasks(self) -> AsyncWorkflowTaskService:
        """Workflow tasks: how external workers run the tasks of workflow runs."""
        from .services.workflow_task import AsyncWorkflowTaskService

        return AsyncWorkflowTaskService(self._transport, self._threads, self._batcher)

    @cached_property
    def workflow_triggers(self) -> AsyncWorkflowTriggerService:
        """Workflow triggers: what starts runs without a call, at the times of a schedule or for events of the log."""
        from .services.workflow_trigger import AsyncWorkflowTriggerService

        return AsyncWorkflowTriggerService(self._transport, self._threads, self._batcher)

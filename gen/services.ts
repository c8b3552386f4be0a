// Generated from the definitions; do not edit.
import type { DescService } from "@bufbuild/protobuf";
import { AdmissionService } from "./service/api/admission_pb.ts";
import { AnomalyService } from "./service/api/anomaly_pb.ts";
import { ApiKeyService } from "./service/api/api_key_pb.ts";
import { ConfigService } from "./service/api/config_pb.ts";
import { ConnectionService } from "./service/api/connection_pb.ts";
import { DeadLetterService } from "./service/api/dead_letter_pb.ts";
import { DiscoveryService } from "./service/api/discovery_pb.ts";
import { EnvironmentService } from "./service/api/environment_pb.ts";
import { EventService } from "./service/api/event_pb.ts";
import { InboxService } from "./service/api/inbox_pb.ts";
import { IntegrationService } from "./service/api/integration_pb.ts";
import { LayoutService } from "./service/api/layout_pb.ts";
import { MemberService } from "./service/api/member_pb.ts";
import { NotificationService } from "./service/api/notification_pb.ts";
import { NotificationWorkflowService } from "./service/api/notification_workflow_pb.ts";
import { OutboxService } from "./service/api/outbox_pb.ts";
import { PoolService } from "./service/api/pool_pb.ts";
import { QueueService } from "./service/api/queue_pb.ts";
import { RecipientService } from "./service/api/recipient_pb.ts";
import { RoutingService, OutcomeService } from "./service/api/routing_pb.ts";
import { RuleService } from "./service/api/rule_pb.ts";
import { SecretService } from "./service/api/secret_pb.ts";
import { SubscriberService } from "./service/api/subscriber_pb.ts";
import { TenantService } from "./service/api/tenant_pb.ts";
import { TopicService } from "./service/api/topic_pb.ts";
import { WebhookService } from "./service/api/webhook_pb.ts";
import { WorkService } from "./service/api/work_pb.ts";
import { WorkflowApprovalService } from "./service/api/workflow_approval_pb.ts";
import { WorkflowDeadLetterService } from "./service/api/workflow_dead_letter_pb.ts";
import { WorkflowDefinitionService } from "./service/api/workflow_definition_pb.ts";
import { WorkflowRunService } from "./service/api/workflow_run_pb.ts";
import { WorkflowTaskService } from "./service/api/workflow_task_pb.ts";
import { WorkflowTriggerService } from "./service/api/workflow_trigger_pb.ts";

/** Every service of the API. */
export const services: readonly DescService[] = [AdmissionService, AnomalyService, ApiKeyService, ConfigService, ConnectionService, DeadLetterService, DiscoveryService, EnvironmentService, EventService, InboxService, IntegrationService, LayoutService, MemberService, NotificationService, NotificationWorkflowService, OutboxService, PoolService, QueueService, RecipientService, RoutingService, OutcomeService, RuleService, SecretService, SubscriberService, TenantService, TopicService, WebhookService, WorkService, WorkflowApprovalService, WorkflowDeadLetterService, WorkflowDefinitionService, WorkflowRunService, WorkflowTaskService, WorkflowTriggerService];

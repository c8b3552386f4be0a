import { createHash, randomBytes } from "node:crypto";
import { Governance_Audience } from "../../gen/service/options/governance_pb.ts";
import type { Operation } from "../../src/definitions/index.ts";
import type { ErrorCode } from "../../src/errors/index.ts";
import { ulid } from "../../src/platform/ids/ulid.ts";
import { signServiceToken } from "../../src/platform/tokens/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { creatorOf, freshWord, idFields, type Json, operations, validRequest } from "../harness/operations.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { serviceTokenSecret, startService, type TestService, type TestSettings } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { type Caller, protocols } from "../harness/wire.ts";
import { callerFor, type FixtureRequests, must, operationNamed, type TenantFixture } from "./calls.ts";
import { billingRequests } from "./fixtures/billing.ts";
import { bulkOperationRequests } from "./fixtures/bulk-operations.ts";
import { conformanceRequests } from "./fixtures/conformance.ts";
import { connectSessionRequests } from "./fixtures/connect-sessions.ts";
import { connectionRequests } from "./fixtures/connections.ts";
import { connectorActionRequests } from "./fixtures/connector-actions.ts";
import { connectorManifestRequests } from "./fixtures/connector-manifests.ts";
import { evidenceRequests } from "./fixtures/evidence.ts";
import { experimentRequests } from "./fixtures/experiments.ts";
import { identityRequests } from "./fixtures/identity.ts";
import { integrationRequests } from "./fixtures/integrations.ts";
import { kernelRequests } from "./fixtures/kernel.ts";
import { layoutRequests } from "./fixtures/layouts.ts";
import { marketplaceRequests } from "./fixtures/marketplace.ts";
import { notificationRequests } from "./fixtures/notifications.ts";
import { operationsRequests, startEmptyMetricsStore } from "./fixtures/operations.ts";
import { poolRequests } from "./fixtures/pools.ts";
import { preferenceRequests } from "./fixtures/preferences.ts";
import { promotionRequests } from "./fixtures/promotions.ts";
import { routingRequests } from "./fixtures/routing.ts";
import { scheduleRequests } from "./fixtures/schedules.ts";
import { subscriberRequests } from "./fixtures/subscribers.ts";
import { suppressionRequests } from "./fixtures/suppressions.ts";
import { triggerSubscriptionRequests } from "./fixtures/trigger-subscriptions.ts";
import { webhookRequests } from "./fixtures/webhooks.ts";
import { workflowDefinitionRequests } from "./fixtures/workflow-definitions.ts";
import { workflowObjectRequests } from "./fixtures/workflow-objects.ts";
import { workflowRunRequests } from "./fixtures/workflow-runs.ts";
import { workflowStreamRequests } from "./fixtures/workflow-streams.ts";
import { workflowTriggerRequests } from "./fixtures/workflow-triggers.ts";

export { callerFor, operations, protocols, type TenantFixture };

/** A node with the platform tenant and two others. */
export interface MatrixFixture {
  readonly service: TestService;
  readonly sql: TestSql;
  readonly platform: TenantFixture;
  readonly own: TenantFixture;
  readonly foreign: TenantFixture;
}

/** Starts a node, on a new database unless one is given, and creates its tenants. */
export async function createMatrixFixture(settings: TestSettings = {}, databaseUrl?: string): Promise<MatrixFixture> {
  const analytics = { "analytics.enabled": "true", "analytics.prometheus_url": await startEmptyMetricsStore() };
  const service = await startService({ ...analytics, ...settings }, databaseUrl);
  const sql = connect(service.databaseUrl, 2);
  afterFile(() => sql.end({ timeout: 1 }));
  const rest = restClient(service.baseUrl, service.adminKey);
  const tenants = await rest.call("GET", "/api/tenants");
  const platform = await partyOf(service, sql, tenants.body.data[0].id, service.adminKey, true);
  const make = async (name: string): Promise<TenantFixture> => {
    const { body } = await rest.call("POST", "/api/tenants", { name, issue_admin_key: true });
    return partyOf(service, sql, body.data.id, body.data.admin_key, false);
  };
  return { service, sql, platform, own: await make("own"), foreign: await make("foreign") };
}

/** Waits until the background work that calls started is done. */
export async function atRest(sql: TestSql): Promise<void> {
  await until(
    () => sql<{ busy: boolean }[]>`
      select exists (select from notification_deliveries where status in ('queued', 'running'))
        or exists (select from connector_trigger_deliveries)
        or exists (select from routing_schedule_runs where state in ('starting', 'waiting'))
        or exists (select from queue_items item join recipients using (tenant_id, pool_id)
          where item.state = 'ready' and item.leased_at is not null and item.recipient_id = '' and item.assign_tries is null)
        or exists (select from notification_broadcasts where status in ('accepted', 'expanding', 'cancelling'))
        or exists (select from jobs
          where kind in ('queues.bulk_operation', 'conformance.execute_run', 'topics.import_members', 'subscribers.erase')) as busy`,
    ([row]) => !row!.busy,
  );
}

async function partyOf(
  { baseUrl, internalUrl }: TestService,
  sql: TestSql,
  tenantId: string,
  adminKey: string,
  isPlatform: boolean,
): Promise<TenantFixture> {
  const keyWith = async (request: object): Promise<Caller> => {
    const created = await restClient(baseUrl, adminKey).call("POST", "/api/v2/api-keys", {
      name: "matrix",
      ...request,
    });
    return { baseUrl, headers: { "x-api-key": created.body.data.secret } };
  };
  const service = { baseUrl: internalUrl, headers: { authorization: "" } };
  const renewToken = async () => {
    const token = await signServiceToken({ issuer: "tests", subject: "matrix", tenantId }, serviceTokenSecret);
    service.headers.authorization = `Bearer ${token}`;
  };
  await renewToken();
  // A token is valid for five minutes. On a busy machine, the tests take longer.
  setInterval(renewToken, 60_000).unref();
  return {
    tenantId,
    isPlatform,
    admin: { baseUrl, headers: { "x-api-key": adminKey } },
    nobody: await keyWith({}),
    roleless: await keyWith({ scopes: ["*:*"] }),
    service,
    person: await signIn(baseUrl, sql, tenantId),
    sql,
  };
}

/** Signs an admin in with a browser. */
async function signIn(baseUrl: string, sql: TestSql, tenantId: string): Promise<Caller> {
  const secret = tenantId + randomBytes(32).toString("base64url");
  const [now, expiresAt] = [new Date(), new Date(Date.now() + 3_600_000)];
  const memberId = ulid(now.getTime());
  await sql`
    insert into members (tenant_id, id, subject, email, display_name, roles, status, environment_mode, created_at,
      updated_at)
    values (${tenantId}, ${memberId}, ${memberId}, ${`${memberId}@example.com`}, 'Ada', '{admin}', 'active', 'any', ${now},
      ${now})`;
  await sql`
    insert into browser_sessions (tenant_id, id, token_hash, member_id, method, created_at, last_seen_at, expires_at)
    values (${tenantId}, ${ulid(now.getTime())}, ${createHash("sha256").update(secret).digest()}, ${memberId}, 'link',
      ${now}, ${now}, ${expiresAt})`;
  const cookie = `switchyard-session-${new URL(baseUrl).port}=${secret}`;
  return { baseUrl, headers: { cookie, origin: baseUrl, "x-switchyard-session": "1" } };
}

/** Values that the definition does not determine; each part of the service has a file in fixtures/. */
const known: FixtureRequests = {
  ...billingRequests,
  ...bulkOperationRequests,
  ...conformanceRequests,
  ...connectSessionRequests,
  ...connectionRequests,
  ...connectorActionRequests,
  ...connectorManifestRequests,
  ...evidenceRequests,
  ...experimentRequests,
  ...identityRequests,
  ...integrationRequests,
  ...kernelRequests,
  ...layoutRequests,
  ...marketplaceRequests,
  ...notificationRequests,
  ...operationsRequests,
  ...poolRequests,
  ...preferenceRequests,
  ...promotionRequests,
  ...routingRequests,
  ...scheduleRequests,
  ...subscriberRequests,
  ...suppressionRequests,
  ...triggerSubscriptionRequests,
  ...webhookRequests,
  ...workflowDefinitionRequests,
  ...workflowTriggerRequests,
  ...workflowRunRequests,
  ...workflowObjectRequests,
  ...workflowStreamRequests,
};

/** The operations that create the record which a field names, where the path does not determine them. */
const makers: Readonly<Record<string, string>> = {
  environment_id: "EnvironmentService/CreateEnvironment",
  pool_id: "PoolService/CreatePool",
  recipient_id: "RecipientService/CreateRecipient",
  rule_id: "RuleService/CreateRule",
  connection_id: "ConnectionService/CreateConnection",
  delivery_id: "WebhookService/TestWebhookEndpoint",
  replay_id: "WebhookService/ReplayWebhookEndpoint",
  run_id: "WorkflowRunService/StartWorkflowRun",
  definition_id: "WorkflowDefinitionService/CreateWorkflowDefinition",
  parent_run_id: "WorkflowRunService/StartWorkflowRun",
  provider_config_id: "ProviderConfigService/CreateProviderConfig",
  subscription_id: "TriggerSubscriptionService/CreateTriggerSubscription",
  experiment_id: "ExperimentService/CreateExperiment",
  candidate_id: "PromotionService/CreateCandidate",
};

/** Ids that name no record of a tenant: they are shared by all tenants, or chosen by the caller. */
export const sharedIds: ReadonlySet<string> = new Set([
  "service.api.DiscoveryService/GetCapability.id",
  "service.api.SubscriberService/UpsertSubscriber.external_id",
  "service.api.SubscriberService/UpsertSubscriberBatch.subscribers.external_id",
  "service.api.SubscriberService/ExplainSubscriber.user_id",
  "service.api.SubscriberService/PreviewPreferences.user_id",
  // Tokens are signed and not stored.
  "service.api.SubscriberTokenService/RevokeSubscriberToken.token_id",
  "service.api.NotificationWorkflowService/UpsertNotificationWorkflowUser.user_id",
  "service.api.NotificationService/TriggerNotification.user_id",
  "service.api.NotificationService/SimulateTriggers.workflow_users.user_id",
  "service.api.NotificationService/TriggerNotificationBatch.triggers.user_id",
  // A trigger names its recipient in one form; triggers.subscriber_id is tested.
  "service.api.NotificationService/TriggerNotificationBatch.triggers.subscriber_external_id",
  // An import looks its names up later, and counts another tenant's as unknown (test/notifications/bulk.test.ts).
  "service.api.TopicService/ImportTopicSubscribers.subscriber_ids",
  "service.api.WorkflowRunService/ApplyWorkflowRunUpdate.update_id",
  "service.api.WorkflowRunService/SignalWorkflowRun.event_id",
  "service.api.ConnectSessionService/ListConnectSessions.end_user_id",
  "service.api.ConnectSessionService/CompleteConnectSession.end_user_id",
  "service.api.ConnectionService/ListConnections.end_user_id",
  "service.api.WorkflowRunService/SignalWorkflowRunByKey.event_id",
  "service.api.MeterService/RecordUsage.events.transaction_id",
  "service.api.WorkflowTaskService/PollWorkflowTasks.worker_id",
  "service.api.WorkflowTaskService/PollWorkflowTasks.build_id",
  "service.api.WorkflowStreamService/AcknowledgeWorkflowStream.consumer_id",
  "service.api.ConformanceService/GetConformanceSuite.suite_id",
  "service.api.ConformanceService/RunConformanceSuite.suite_id",
  "service.api.ConformanceService/ListConformanceRuns.suite_id",
  "service.api.ConformanceService/ListConformanceReports.suite_id",
  "service.api.ConformanceService/ExplainConformanceReport.suite_id",
  "service.api.ConformanceService/ExplainConformanceReport.case_id",
  "service.api.ExperimentService/RecordScore.score_id",
  // Only a runtime receipt names a report; that of another tenant is unknown (test/governance/evidence-runs.test.ts).
  "service.api.RolloutEvidenceService/AddEvidenceReceipt.report_id",
  "service.api.ExperimentService/RecordScoreBatch.scores.score_id",
]);

/** The error code for an id of another tenant, where it is not NOT_FOUND. */
export const refusals: Readonly<Record<string, ErrorCode>> = {
  "service.api.QueueService/ListQueues.tenant_id": "INVALID_ARGUMENT",
  // A worker without a lease gets the same error whether or not the item exists.
  "service.api.WorkService/HeartbeatItem.queue_item_id": "LEASE_LOST",
  "service.api.WorkService/ReportItemProgress.queue_item_id": "LEASE_LOST",
  "service.api.WorkService/CompleteItem.queue_item_id": "LEASE_LOST",
  "service.api.WorkService/FailItem.queue_item_id": "LEASE_LOST",
  // The same for a recipient without an offer.
  "service.api.OfferService/AcceptOffer.queue_item_id": "OFFER_LOST",
  "service.api.OfferService/DeclineOffer.queue_item_id": "OFFER_LOST",
};

/** Fields that restrict an operation to one list of its request, by operation. */
export const itemsOnly: Readonly<Record<string, Json>> = {
  "service.api.WorkService/LeaseItems": { report_only: true, completed: [], failed: [], released: [] },
};

/** Fields of which a request names exactly one, with the substitute for each. */
export const alternatives: Readonly<Record<string, string>> = {
  "service.api.OutcomeService/RecordOutcome.queue_item_id": "decision_id",
  "service.api.NotificationService/TriggerNotification.subscriber_external_id": "subscriber_id",
  "service.api.NotificationService/ListDeliveries.transaction_id": "subscriber_id",
  "service.api.HistoryService/GetHistory.environment_id": "source_id",
};

/** Required parameters of a list besides its path. */
const listedBy: Readonly<Record<string, readonly string[]>> = {
  "service.api.NotificationService/ListDeliveries": ["subscriber_id"],
};

/** A valid request of a tenant; every record that it names is created, and an update changes a field. */
export async function requestFor(operation: Operation, tenant: TenantFixture): Promise<Json> {
  const request = await leastRequestFor(operation, tenant);
  return isPatch(operation) ? { ...changeFor(operation, request), ...request, ...documentChange(request) } : request;
}

/** Like requestFor, but an update changes nothing. */
export async function leastRequestFor(operation: Operation, tenant: TenantFixture): Promise<Json> {
  const given = await knownOf(operation, tenant);
  for (const { name } of idFields(operation)) given[name] ??= await createFor(operation, name, tenant);
  return validRequest(operation, given);
}

/** Whether an operation is an update of the fields that are present. */
export function isPatch({ bindings }: Operation): boolean {
  return bindings.some(({ verb }) => verb === "PATCH");
}

/** A change that every record of the operation's type accepts. */
function changeFor({ id, method }: Operation, request: Json): Json {
  if ("document" in request) return {};
  const names = ["name", "display_name", "description", "value"];
  const name = names.find((each) => method.input.fields.some((field) => field.name === each));
  if (name === undefined) throw new Error(`${id}: no known field can be changed by an update`);
  return { [name]: freshWord() };
}

/** A change of a document, which is replaced as a whole. */
function documentChange({ document }: Json): Json {
  return document === undefined ? {} : { document: { ...document, name: freshWord() } };
}

/** A valid request of a tenant for every operation, created sequentially because some limits are on concurrent work. */
export async function requestsForAll(tenant: TenantFixture): Promise<ReadonlyMap<Operation, Json>> {
  const requests = new Map<Operation, Json>();
  for (const operation of operations) requests.set(operation, await requestFor(operation, tenant));
  await atRest(tenant.sql);
  return requests;
}

/** The smallest valid list request. At least one record exists. */
export async function listRequestFor(operation: Operation, tenant: TenantFixture): Promise<Json> {
  return listRequestOf(operation, await requestFor(operation, tenant));
}

/** The required parameters of a list in a valid request. */
export function listRequestOf(operation: Operation, request: Json): Json {
  const inPath = [...operation.bindings[0]!.path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name!);
  const names = [...inPath, ...(listedBy[operation.id] ?? [])];
  return Object.fromEntries(names.map((name) => [name, request[name]]));
}

/** Creates a record of a tenant that a field of an operation, or its substitute, can name; returns its id. */
export async function recordFor(operation: Operation, fieldName: string, tenant: TenantFixture): Promise<string> {
  const substitute = alternatives[`${operation.id}.${fieldName}`];
  if (substitute !== undefined && makers[fieldName] === undefined) return recordFor(operation, substitute, tenant);
  const named = (await knownOf(operation, tenant))[fieldName];
  return typeof named === "string" && named !== "" ? named : createFor(operation, fieldName, tenant);
}

async function knownOf(operation: Operation, tenant: TenantFixture): Promise<Json> {
  return (await known[operation.id.slice("service.api.".length)]?.(tenant)) ?? {};
}

async function createFor(operation: Operation, fieldName: string, tenant: TenantFixture): Promise<string> {
  const maker = makers[fieldName];
  const field = operation.method.input.fields.find(({ name }) => name === fieldName)!;
  const creator = maker === undefined ? creatorOf(operation, field) : operationNamed(maker);
  if (creator === operation)
    throw new Error(`${operation.id}: the record that ${fieldName} names must be created in fixtures/`);
  // Only the platform creates tenants; every other tenant uses its own.
  if (creator.governance.audience === Governance_Audience.OPERATOR && !tenant.isPlatform) return tenant.tenantId;
  const { body } = await must(creator, tenant, await requestFor(creator, tenant));
  const record = body.data.id === undefined ? Object.values<Json>(body.data)[0]! : body.data;
  return record.id as string;
}

import { exampleId } from "./values.ts";

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

const ssoConnection = {
  name: "Okta",
  just_in_time: true,
  oidc: {
    issuer: "https://example.okta.com",
    client_id: "0oa1b2c3d4e5f6g7h8i9",
    client_secret: "a secret of the identity provider",
    scopes: ["openid", "email", "profile", "groups"],
    groups_claim: "groups",
    trust_email: true,
  },
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

const triggerSettings = {
  condition: 'event.data.text.startsWith("order")',
  target: { workflow: { definition: "order.fulfil", input: { order: "=event.data.text" }, run_key: "=event.id" } },
};

const planTerms = {
  currency: "EUR",
  interval: "INTERVAL_MONTH",
  prices: [
    { key: "base", name: "Base fee", model: "MODEL_FLAT", amount: 1900 },
    {
      ...{ key: "routes", name: "Routes", model: "MODEL_PER_UNIT", meter_key: "service.routes" },
      ...{ included: 10_000, amount: 5, per_units: 1000 },
    },
  ],
  entitlements: ["routing.route", "workflow.run"],
  limits: { route: 50_000 },
};

const manifest = {
  manifest: 1,
  key: "acme-tickets",
  version: "1.0.0",
  name: "Acme Tickets",
  category: "support",
  hosts: ["tickets.acme.example"],
  base_url: "https://tickets.acme.example/api",
  auth: {
    api_key: {
      fields: { token: { title: "Token" } },
      apply: { headers: { authorization: "Bearer {credentials.token}" } },
    },
  },
  actions: {
    "ticket.get": {
      title: "Get a ticket",
      mutation: { effect: "read" },
      input: { type: "object", required: ["id"], properties: { id: { type: "string" } }, additionalProperties: false },
      request: { method: "GET", path: "/tickets/{input.id}" },
      output: { subject: "/subject", status: "/status" },
    },
  },
};

const workflow = {
  dsl: "1",
  key: "order.fulfil",
  name: "Fulfil an order",
  timeout: "7d",
  steps: [
    { id: "price", transform: { total: "=input.amount * 1.2" } },
    { id: "payment", wait_event: { event: "order.paid", scope: "=input.order", timeout: "2d" } },
  ],
  output: { total: "=steps.price.total", paid_by: "=steps.payment.payload.method" },
};

/** A pack that was signed with a key for examples, whose private half was not kept. */
const pack = {
  pack: 1,
  publisher: "acme",
  name: "greetings",
  kind: "workflow",
  version: "1.0.0",
  title: "Greetings",
  contents: [
    {
      record: "workflow_definition",
      key: "greet",
      content: { dsl: "1", key: "acme.greet", timeout: "1d", steps: [{ id: "greet", transform: { text: "Hello" } }] },
    },
  ],
  digest: "52a8ffdd1fefcfce3af92186fcd6ea6b8b0af64685700422b9640748f00a9b6f",
  signature: "7rJE34fw6InwTrxlOABHQsRJxPVoWdHOXa1rj2pLvVhSYzywhSqeThc/Z7SDViwDPomJ0D4OuUZIhtFhOV/hCw==",
  key_id: "ed25519-9887c6f7ac6f345534b6661c1f49c363",
};

const refundPack = { publisher: "switchyard", name: "refund-approval", version: "1.0.0" };

const workflowText = `dsl: "1"
key: order.greet
timeout: 1h
steps:
  - id: greet
    transform: ="Hello " + input.name
`;

const workflowInput = { order: "A-1001", amount: 100 };

const workflowTrigger = {
  schedule: { cron: "0 9 * * 1-5", timezone: "Europe/London", overlap: "skip" },
  input: { day: "=string(schedule.time)" },
};

const schedule = {
  timing: { cron: "0 9 * * 1-5", timezone: "Europe/London", overlap: "skip" },
  item: { pool_id: exampleId("pool"), type: "report.daily", payload: { day: "=string(schedule.time)" } },
};

const workflowTasks = {
  queue: "documents",
  worker_id: "worker-1",
  build_id: "4f2c1d9",
  capabilities: [{ type: "document.read", versions: ["2.1.0"] }],
  slots: 4,
};

/** A recipient has either a URL or an action. */
const experiment = {
  name: "Checkout button",
  unit: "user",
  variants: [
    { key: "old", weight: 50 },
    { key: "new", weight: 50, value: { button: "Buy now" } },
  ],
  metrics: [{ key: "revenue", type: "mean", role: "success", direction: "increase" }],
  planned_units: 20_000,
};

const evidenceArtifact = {
  kind: "workflow",
  name: "order.fulfil",
  version: "7",
  sha256: "7d1a54127b222502f5b79b5fb0803061152a44f92b37e23c6527baf665d4da9a",
};

const evidencePack = { name: "Release 42", description: "Evidence for the release.", max_age_s: 86_400 };

const delivery = { mode: "MODE_PUSH", url: "https://hooks.example.com/switchyard", secret_ref: "push/crm" };

const exampleRecipient = {
  ...{ name: "crm", status: "STATUS_ACTIVE", weight: 100, capacity: 4, priority: 100, cost: 1 },
  ...{ attributes: { region: "eu" }, skills: { german: 3 }, delivery },
};

/**
 * Example requests whose fields depend on each other, by message. Fields that are not listed are omitted; other required
 * fields come from the definition.
 */
export const exampleRequests: Readonly<Record<string, Json>> = {
  ExecuteActionRequest: {
    key: "http.request.write",
    connection_id: exampleId("connection"),
    input: { method: "POST", path: "contacts", body: { name: "Ada" } },
    timeout_ms: 5000,
  },
  ProxyConnectionRequest: {
    ...{ connection_id: exampleId("connection"), method: "GET", path: "/repos/acme/site/issues?state=open" },
    headers: { accept: "application/json" },
  },
  AcceptOfferRequest: { recipient_id: exampleId("recipient"), offer_number: 1, lease_s: 600 },
  DeclineOfferRequest: {
    ...{ recipient_id: exampleId("recipient"), offer_number: 1 },
    ...{ reason_code: "on_a_break", reason: "Back at two" },
  },
  CreateRecipientRequest: exampleRecipient,
  BatchCreateRecipientsRequest: { recipients: [exampleRecipient] },
  UpdateRecipientRequest: { capacity: 8, delivery },
  RegisterPublisherKeyRequest: { publisher: "acme", public_key: "GOJHl+Tnl8Gk9ilzGf7+yr6r+NmSVlLF8w1yeqrn3DM=" },
  ListPacksRequest: {
    query: "refund",
    kind: "workflow",
    publisher: "switchyard",
    installed: false,
    page: 1,
    per_page: 20,
  },
  GetPackRequest: refundPack,
  PublishPackRequest: { pack },
  YankPackRequest: { reason: "It greets twice.", deprecated_by: "acme/better-greetings" },
  ExportPackRequest: {
    ...{ publisher: "acme", name: "orders", version: "1.0.0", title: "Orders", description: "How we fulfil orders." },
    records: [{ kind: "workflow_definition", record: "order.fulfil" }],
  },
  PreviewInstallRequest: { ...refundPack, slots: { limit: 100 } },
  InstallPackRequest: { ...refundPack, slots: { limit: 100 } },
  UpgradePackRequest: {
    version: "1.1.0",
    on_conflict: "keep",
    accepted_permissions: { hosts: [], scopes: [], effects: ["workflow:notify"] },
  },
  CreateManifestRequest: { document: manifest },
  ValidateManifestRequest: { document: manifest },
  TryManifestRequest: {
    ...{ document: manifest, action: "ticket.get", input: { id: "7" } },
    answers: [{ status: 200, body: '{"subject": "It hums", "status": "open"}' }],
  },
  CreateWorkflowDefinitionRequest: { document: workflow },
  UpdateWorkflowDefinitionDraftRequest: { document: workflow },
  ValidateWorkflowDefinitionRequest: { document: workflow },
  ImportWorkflowDefinitionRequest: { text: workflowText, format: "yaml" },
  StartWorkflowRunRequest: {
    ...{ definition: "order.fulfil", input: workflowInput, run_key: "A-1001" },
    attributes: { customer: "acme" },
  },
  PrepareWorkflowObjectRequest: {
    sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    size_bytes: 5_242_880,
    content_type: "video/mp4",
  },
  ChangeWorkflowRunsRequest: {
    action: "cancel",
    definition_id: "order.fulfil",
    version: 2,
    reason: "Version 2 charges twice.",
  },
  ApplyWorkflowRunUpdateRequest: { name: "address", payload: { street: "Elm Street 5" }, wait_s: 10 },
  CompensateWorkflowRunRequest: { steps: ["reserve"], reason: "The warehouse is available again." },
  ReplayWorkflowRunRequest: { reason: "The payment provider is available again." },
  ReplayWorkflowDeadLetterRequest: { reason: "The payment provider is available again." },
  ReplayAllWorkflowDeadLettersRequest: { error_code: "task_failed", max_items: 100 },
  SimulateWorkflowRunRequest: {
    document: workflow,
    input: workflowInput,
    events: [{ event: "order.paid", scope: "A-1001", payload: { method: "card" }, after_s: 3600 }],
  },
  CreateScheduleRequest: { name: "Daily report", ...schedule },
  UpdateScheduleRequest: { name: "Report of working days", timing: schedule.timing },
  PreviewScheduleRequest: { ...schedule, count: 5 },
  PreviewQueueOperationRequest: { action: "cancel", filter: { type: "mail", enqueued_before: "2024-05-01T00:00:00Z" } },
  StartQueueOperationRequest: {
    action: "requeue",
    filter: { states: ["leased"] },
    reason: "The worker pool was replaced.",
  },
  PreviewDeadLetterOperationRequest: { filter: { reason_code: "http_503" } },
  StartDeadLetterOperationRequest: { filter: { reason_code: "http_503" }, reason: "The receiver is available again." },
  CreateWorkflowTriggerRequest: { name: "Every morning", definition: "order.fulfil", ...workflowTrigger },
  UpdateWorkflowTriggerRequest: { name: "Every working day", ...workflowTrigger },
  PreviewWorkflowTriggerRequest: workflowTrigger,
  CreateTriggerSubscriptionRequest: {
    name: "Orders from the team chat",
    trigger_key: "slack.message.posted",
    connection_id: exampleId("connection"),
    signing_secret: "correct-horse-battery-staple",
    ...triggerSettings,
  },
  UpdateTriggerSubscriptionRequest: { name: "Urgent orders from the team chat", ...triggerSettings },
  ReplayTriggerEventsRequest: { from: "2024-05-01T00:00:00Z", to: "2024-05-02T00:00:00Z", status: "dead" },
  PollWorkflowTasksRequest: workflowTasks,
  CompleteWorkflowTasksRequest: {
    completions: [{ task_id: exampleId("task"), token: "correct-horse-battery-staple", output: { words: 360 } }],
    poll: workflowTasks,
  },
  CreateWorkflowStreamRequest: {
    name: "progress",
    pins: {
      retention: { max_age_s: 86_400 },
      redaction: [{ path: "/customer/email", action: "mask" }],
      content_classes: ["progress"],
      on_unread_full: "reject",
    },
  },
  AppendWorkflowStreamRecordRequest: { payload: { done: 40, of: 100 } },
  AppendWorkflowStreamRecordBatchRequest: {
    records: [{ payload: { done: 40, of: 100 } }, { payload: { done: 60, of: 100 } }],
  },
  SetWorkflowStreamLegalHoldRequest: { held: true, reason: "Case 2024-17" },
  RunConformanceSuiteRequest: { environment_id: exampleId("environment"), wait_s: 20 },
  ExplainConformanceReportRequest: { suite_id: "worker-protocol", case_id: "worker.lease-exclusive" },
  CreateExperimentRequest: { key: "checkout-button", environment_id: exampleId("environment"), ...experiment },
  ValidateExperimentRequest: { key: "checkout-button", environment_id: exampleId("environment"), ...experiment },
  UpdateExperimentRequest: { name: "Checkout button in Europe", targeting: "attributes.region == 'eu'" },
  CreatePoolVersionRequest: { strategy: "least_loaded", message: "Balance by load" },
  ActivatePoolVersionRequest: {},
  CreateProviderConfigVersionRequest: { scope_set: { scopes: ["repo", "read:org"] }, message: "Read organisations" },
  CreateCandidateRequest: {
    environment_id: exampleId("environment"),
    name: "Balance by load",
    artifacts: [{ kind: "routing", ref: exampleId("pool"), version: 4 }],
    guardrails: [{ metric: "success", limit: 0.95 }],
  },
  StartCanaryRequest: {
    keys_min: 200,
    steps: [
      { percent: 5, min_duration_s: 600 },
      { percent: 25, min_duration_s: 3600, guardrails: [{ metric: "latency_ms", limit: 800 }] },
    ],
  },
  ApproveCandidateRequest: { note: "The canary looks right." },
  RollBackCandidateRequest: { reason: "Latency doubled." },
  AbortCandidateRequest: { reason: "Not needed any more." },
  ReplayCandidateRequest: { days: 7, items_max: 1000 },
  SimulateCandidateRequest: { items_max: 10_000 },
  CompleteExperimentRequest: { variant: "new", reason: "More revenue, no more refunds." },
  AssignExperimentRequest: { unit: "user-42", attributes: { region: "eu" } },
  AssignExperimentBatchRequest: { units: [{ unit: "user-42" }, { unit: "user-43" }] },
  RecordScoreRequest: {
    score_id: "order-1001",
    receipt: "correct-horse-battery-staple",
    metric: "revenue",
    value: 42.5,
  },
  RecordScoreBatchRequest: {
    scores: [{ score_id: "order-1001", receipt: "correct-horse-battery-staple", metric: "revenue", value: 42.5 }],
  },
  CreateEvidencePackRequest: { environment_id: exampleId("environment"), ...evidencePack },
  UpdateEvidencePackRequest: { ...evidencePack, required_types: ["scenario"] },
  AddEvidenceArtifactRequest: {
    artifact: { ...evidenceArtifact, size_bytes: 2048, storage_ref: "s3://releases/42/order.fulfil.json" },
  },
  AddEvidenceReceiptRequest: {
    type: "scenario",
    result: "passed",
    run_id: exampleId("run"),
    token: "correct-horse-battery-staple",
    cases: [{ id: "order.paid", status: "passed" }],
    tool: { name: "scenario-runner", version: "2.1.0" },
  },
  StartEvidenceRunRequest: { type: "scenario", mode: "dry_run", claim: true, lease_s: 60, deadline_s: 3600 },
  HeartbeatEvidenceRunRequest: { token: "correct-horse-battery-staple" },
  CancelEvidenceRunRequest: { reason: "The release is postponed." },
  ExpandEvidenceRequirementsRequest: { environment_id: exampleId("environment"), kinds: ["workflow"] },
  RotateEvidenceKeyRequest: { reason: "Yearly rotation." },
  AddTopicSubscribersRequest: { subscriber_ids: [exampleId("subscriber")] },
  CreateConnectionRequest: {
    name: "Team chat",
    provider_key: "slack",
    credentials: { webhook_url: "https://hooks.example.com/services/T0/B0/correct-horse-battery-staple" },
  },
  UpdateConnectionRequest: {
    name: "Team chat at night",
    credentials: { webhook_url: "https://hooks.example.com/services/T0/B1/correct-horse-battery-staple" },
  },
  CreateProviderConfigRequest: {
    provider_key: "github",
    name: "Our app",
    environment_id: exampleId("environment"),
    client_id: "Iv1.8a61f9b3a7aba766",
    secrets: { client_secret: "correct-horse-battery-staple" },
    scopes: ["read:user"],
  },
  UpdateProviderConfigRequest: { name: "Our app in Europe", scope_set: { scopes: ["read:user", "repo"] } },
  CreateConnectSessionRequest: {
    allowed_provider_keys: ["http", "stripe"],
    end_user: { id: "user-42", email: "ada@example.com", display_name: "Ada Lovelace" },
    allowed_origins: ["https://app.example.com"],
    success_redirect_uri: "https://app.example.com/connected",
    error_redirect_uri: "https://app.example.com/not-connected",
    expires_in_s: 900,
  },
  CompleteConnectSessionRequest: { completion_code: "correct-horse-battery-staple", end_user_id: "user-42" },
  CreateIntegrationRequest: { channel: "chat", ...integration },
  UpdateIntegrationRequest: { ...integration, name: "Order room at night" },
  CreateSuppressionRequest: { channel: "email", identity: "ada@example.com", note: "Asked by phone." },
  ListSuppressionsRequest: { channel: "email", reason: "bounced" },
  CreateLayoutRequest: { ...layout, channel: "email", is_default: true },
  UpdateLayoutRequest: { ...layout, name: "Letter with address", version: 1 },
  ListDeliveriesRequest: { subscriber_id: exampleId("subscriber") },
  UpdateMemberRequest: { display_name: "Ada Lovelace", role_set: { roles: ["operator"] } },
  GetOperationalHealthReportRequest: { environment: "production", period: "1h" },
  RecordOutcomeRequest: { decision_id: exampleId("decision"), status: "success", latency_ms: 420, cost: 0.02 },
  SignOutEverywhereRequest: { member_id: exampleId("member") },
  CreatePoolRequest: {
    name: "Support",
    description: "Questions of customers.",
    strategy: "least_loaded",
    config: poolConfig,
  },
  UpdatePoolRequest: { description: "Questions of customers.", strategy: "round_robin", config: poolConfig },
  CreatePlanRequest: { key: "starter", name: "Starter", self_service: true, terms: planTerms },
  CreatePlanVersionRequest: { terms: planTerms },
  SetSubscriptionRequest: { tenant_id: exampleId("tenant"), plan_key: "starter" },
  CancelSubscriptionRequest: { tenant_id: exampleId("tenant"), effective: "EFFECTIVE_NOW" },
  PreviewSubscriptionRequest: { tenant_id: exampleId("tenant"), plan_key: "starter" },
  PreviewInvoiceRequest: { tenant_id: exampleId("tenant") },
  RecordUsageRequest: {
    tenant_id: exampleId("tenant"),
    events: [
      { meter_key: "tokens", transaction_id: "call-1", properties: { tokens: "1200" } },
      { meter_key: "tokens", transaction_id: "call-2", properties: { tokens: "300" } },
    ],
  },
  IssueEntitlementSnapshotRequest: {
    tenant_id: exampleId("tenant"),
    source: { kind: "KIND_OPERATOR", ref: "contract 4711" },
    fresh_until: "2030-01-01T00:00:00Z",
    allow: ["routing.route", "workflow.run"],
    deny: ["connector.execute"],
    limits: { route: 50_000 },
  },
  CreateRuleRequest: rule,
  UpdateRuleRequest: rule,
  GetHistoryRequest: { source: "pool", range: "24h" },
  QueryAnalyticsRequest: {
    query: "sum by (outcome) (rate(routing_decisions_total[5m]))",
    start: "2026-01-31T00:00:00Z",
    end: "2026-01-31T06:00:00Z",
    step_s: 60,
  },
  RouteRequest: {
    pool_id: exampleId("pool"),
    type: "order.created",
    key: "A-1001",
    attributes: { language: "de" },
    requirements: { skills: { german: 3 } },
    payload: { order: "A-1001" },
    priority: 10,
  },
  PreviewAdmissionRequest: { item: { type: "order.created", key: "A-1001", attributes: { language: "de" } } },
  UpsertSubscriberBatchRequest: {
    subscribers: [
      { external_id: "ada", first_name: "Ada", email: "ada@example.com" },
      { external_id: "bob", first_name: "Bob", phone: "+4930901820" },
    ],
  },
  ImportTopicSubscribersRequest: { subscriber_ids: ["ada", "bob"] },
  RedriveNotificationDeadLettersRequest: {
    filter: { channel: "email", failure_code: "unavailable" },
    preview: true,
    reason: "The mail server is back.",
  },
  SimulateTriggersRequest: {
    integrations: [{ channel: "chat", ...integration }],
    messages_max: 10_000,
  },
  UpsertPartialRequest: { engine: "handlebars", body: "<p>{{ payload.company }}</p>" },
  TriggerNotificationBatchRequest: {
    triggers: [
      {
        workflow_key: "order.shipped",
        subscriber_external_id: "ada",
        payload: { order_id: "A-1001", carrier: "Royal Mail" },
      },
      { workflow_key: "order.paid", subscriber_external_id: "bob", payload: { order_id: "A-1002" } },
    ],
  },
  TriggerNotificationRequest: {
    workflow_key: "order.shipped",
    subscriber_id: exampleId("subscriber"),
    payload: { order_id: "A-1001", carrier: "Royal Mail" },
  },
  ExplainSubscriberRequest: { workflow_key: "order.shipped" },
  ResolveNamesRequest: { ids: [exampleId("pool"), `key:${exampleId("api_key")}`], kinds: ["pool", "api_key"] },
  GetGroupRolesRequest: { group: "support" },
  CreateSsoConnectionRequest: { ...ssoConnection, default_roles: ["viewer"], email_domains: ["example.com"] },
  UpdateSsoConnectionRequest: {
    ...ssoConnection,
    status: "active",
    default_role_set: { roles: ["viewer"] },
    email_domain_set: { domains: ["example.com"] },
    enforced: false,
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
    steps: [
      { key: "inbox", send: { channels: ["in_app"] } },
      { key: "unread", await_inbox: { step: "inbox", state: "read", for_s: 900 } },
      { key: "mail", condition: "!steps.inbox.read", send: { channels: ["email"] } },
    ],
  },
  UpsertNotificationWorkflowUserRequest: { preferences },
  PreviewNotificationContentRequest: {
    channel: "email",
    content: { subject: "Order {{payload.order}}", body: "<p>Dear {{subscriber.first_name}}, it is on its way.</p>" },
    payload: { order: "A-4711" },
    subscriber: { first_name: "Ada" },
  },
  UpsertPreferenceRequest: { layer: 4, workflow_key: "order.shipped", ...preferences },
  UpsertSubscriptionRequest: { topic_key: "order.updates" },
  MarkInboxMessageRequest: { read: true },
  MarkInboxMessagesRequest: { message_ids: [exampleId("message")], read: true },
  CreateSubscriberTokenRequest: { ttl_s: 600 },
};

import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import {
  CancelWorkflowRunResponseSchema,
  SignalWorkflowRunResponseSchema,
} from "../../gen/service/api/workflow_run_pb.ts";
import { type ErrorCode, Failure, fail } from "../../src/errors/index.ts";
import type { SandboxKeys, SendRequest } from "../../src/modules/governance/conformance/sandbox/index.ts";
import { ulid } from "../../src/platform/ids/ulid.ts";
import type { AnyMessage, Fault } from "./test-build.ts";

type OwnRequest = Parameters<SendRequest>[0];
type OwnResponse = Awaited<ReturnType<SendRequest>>;

/** Calls the build as the admin of the tenant. */
export type AdminCall = (method: string, path: string, body?: object) => Promise<AnyMessage>;

/** A fault of a build: in operations, or at the edge that receives requests. */
export interface Mutation {
  readonly operations?: Readonly<Record<string, Fault>>;
  readonly edge?: (
    request: OwnRequest,
    original: (request: OwnRequest) => Promise<OwnResponse>,
  ) => Promise<OwnResponse>;
}

/** Changes the request of an operation. */
const request = (operation: string, change: (request: AnyMessage) => unknown): Mutation => ({
  operations: {
    [operation]: (given, original) => {
      change(given);
      return original();
    },
  },
});

/** Changes the response of an operation. `n` is the number of the call. */
const response = (operation: string, change: (response: AnyMessage, n: number) => unknown): Mutation => {
  let n = 0;
  return {
    operations: {
      [operation]: async (_, original) => {
        const found = await original();
        change(found, ++n);
        return found;
      },
    },
  };
};

/** Replaces an operation. */
const instead = (operation: string, fault: Fault): Mutation => ({ operations: { [operation]: fault } });

/** Has an operation succeed where it refuses. */
const lenient = (operation: string, succeed: (request: AnyMessage) => AnyMessage): Mutation =>
  instead(operation, async (given, original) => {
    try {
      return await original();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return succeed(given);
    }
  });

/** Has an operation refuse with another error. */
const miscoded = (operation: string, code: ErrorCode): Mutation =>
  instead(operation, (_, original) => original().catch(() => Promise.reject(fail(code))));

/** Ignores a header of requests. */
const deaf = (...names: string[]): Mutation => ({
  edge: (given, original) =>
    original({
      ...given,
      headers: Object.fromEntries(Object.entries(given.headers).filter(([name]) => !names.includes(name))),
    }),
});

/** Changes the text of responses. */
const rewritten = (pattern: RegExp | string, replacement: string): Mutation => ({
  edge: async (given, original) => {
    const found = await original(given);
    return { ...found, text: found.text.replace(pattern, replacement) };
  },
});

/** Does more than it should after a request. */
const after = (path: RegExp, act: (body: AnyMessage) => Promise<unknown>): Mutation => ({
  edge: async (given, original) => {
    const found = await original(given);
    if (given.method !== "GET" && path.test(given.path) && found.status < 300) await act(JSON.parse(found.text));
    return found;
  },
});

/** Reveals a part of a request or a response in all later responses. */
const leaky = (pattern: RegExp): Mutation => {
  let secret: string | undefined;
  return {
    edge: async (given, original) => {
      const found = await original(given);
      const text = secret === undefined ? found.text : found.text.replace(/}$/, `,"leak":"${secret}"}`);
      secret ??= pattern.exec(`${given.body} ${found.text}`)?.[1];
      return { ...found, text };
    },
  };
};

/** Takes the callers with one key for those with another. */
const mistaken = (from: string | undefined, to: string | undefined): Mutation => ({
  edge: (given, original) =>
    original(
      given.headers["x-api-key"] === from ? { ...given, headers: { ...given.headers, "x-api-key": to! } } : given,
    ),
});

/** Accepts requests without doing anything. */
const idle = (path: RegExp): Mutation => ({
  edge: async (given, original) =>
    given.method !== "GET" && path.test(given.path)
      ? { status: 200, headers: { "content-type": "application/json" }, text: '{"data":{}}' }
      : original(given),
});

/** Reads the bodies of requests wrongly. */
const garbled = (pattern: RegExp | string, replace: (...matches: string[]) => string): Mutation => ({
  edge: (given, original) => original({ ...given, body: given.body?.replace(pattern, replace) }),
});

/** Takes the value of a field for another one, whether the field is in the body or in a document within it. */
const misread = (name: string, value: string): Mutation =>
  garbled(new RegExp(`(\\b${name}\\\\?":\\\\?"?)[^",}\\\\]*`), (_, before) => `${before}${value}`);

/** Runs a repeated request again. */
const forgetful = deaf("idempotency-key");
/** Puts every item into a group of its own. */
const ungrouped: Mutation = {
  operations: {
    ...request("RoutingService/route", (given) => (given.key = randomUUID())).operations,
    ...request("RoutingService/routeBatch", ({ items }) => {
      for (const item of items) item.key = randomUUID();
    }).operations,
  },
};
const workResult = (typeName: string) => (given: AnyMessage) => ({
  $typeName: typeName,
  result: { queueItemId: given.queueItemId, state: "completed", violations: [] },
});

/** What the mutations know about the build that they break. */
interface BuildAccess {
  readonly admin: AdminCall;
  readonly keys: SandboxKeys;
}

/** Mutations by the case that catches each. Every case has one. */
export const mutations: Readonly<Record<string, (build: BuildAccess) => Mutation>> = {
  "access.directory-deactivation": () => garbled('"value":false', () => '"value":true'),
  "access.directory-reactivation": () =>
    garbled('"op":"remove","path":"active"', () => '"op":"add","path":"active","value":true'),
  "access.evidence-gate": () => misread("result", "passed"),
  "access.evidence-verifiable": () => rewritten('"valid":false', '"valid":true'),
  "access.health-report": ({ keys }) => mistaken(keys.neighbour, keys.admin),
  "access.no-escalation": () => request("ApiKeyService/createApiKey", (given) => (given.environmentMode = "any")),
  "access.pack-atomic": ({ admin }) => ({
    edge: async (given, original) => {
      const found = await original(given);
      if (given.path.endsWith("/installations") && found.status >= 400) {
        const key = `${JSON.parse(given.body!).publisher.replaceAll("-", "_")}_first`;
        const text = JSON.stringify({ dsl: "1", key, timeout: "1h", steps: [{ id: "only", transform: {} }] });
        await admin("POST", "/api/workflow-definitions:import", { text });
      }
      return found;
    },
  }),
  "access.pack-rollback": () => idle(/\/rollback$/),
  "access.pack-signed": () => idle(/\/packs$/),
  "access.promotion-gated": () => idle(/\/promote$/),
  "access.rate-limit": () => idle(/tenant_rps$/),
  "access.record-version": () => deaf("if-match"),
  "access.revoked-key": () => idle(/\/revoke$/),
  "access.scopes-enforced": ({ keys }) => mistaken(keys.viewer, keys.admin),
  "access.secret-once": () => leaky(/"secret":"([^"]+)"/),
  "access.stored-secret-hidden": () => leaky(/"value":"([^"]+)"/),
  "access.subscriber-token": ({ keys }) => ({
    edge: ({ headers: { authorization, ...headers }, ...given }, original) =>
      original({ ...given, headers: authorization === undefined ? headers : { ...headers, "x-api-key": keys.admin! } }),
  }),
  "access.tenant-isolation": ({ keys }) => mistaken(keys.neighbour, keys.admin),
  "admission.concurrency-never-exceeded": () => ungrouped,
  "admission.debounce-survivor": () => ungrouped,
  "admission.preview-consumes-nothing": ({ admin }) =>
    instead("AdmissionService/previewAdmission", async ({ poolId, item }, original) => {
      await admin("POST", "/api/route", { pool_id: poolId, type: item.type, key: item.key });
      return original();
    }),
  "admission.preview-equals-enqueue": () =>
    response("AdmissionService/previewAdmission", ({ preview }) => (preview.status = "admitted")),
  "admission.repeated-route": () => forgetful,
  "admission.singleton-skip": () => ungrouped,
  "admission.throttle-gcra": () => ungrouped,
  "bridge.auth-before-decode": () => ({
    edge: async (given, original) =>
      given.body?.endsWith("}")
        ? original(given)
        : { status: 400, headers: { "content-type": "application/json" }, text: '{"errorCode":"INVALID_ARGUMENT"}' },
  }),
  "bridge.error-codes-equal": () => miscoded("EnvironmentService/getEnvironment", "PERMISSION_DENIED"),
  "bridge.rest-connect-equal": () =>
    response("EnvironmentService/listEnvironments", ({ environments: [first] }, n) => (first.name = `${n}`)),
  "bridge.tenant-header-403": () => deaf("x-tenant-id"),
  "bridge.unknown-field": () => ({
    edge: (given, original) =>
      original({ ...given, path: given.path.replace(/\?.*/, ""), body: given.body?.replace('"no_such_field":1', "") }),
  }),
  "bridge.version-echo": () => deaf("api-version"),
  "connector.activate-disable-archive": ({ admin }) =>
    instead("ProviderConfigService/archiveProviderConfig", async ({ id }, original) => {
      await admin("POST", `/api/v2/connector/provider-configs/${id}:disable`, {});
      return original();
    }),
  "connector.catalog-only-refused": () =>
    request("ConnectorActionService/executeAction", (given) => (given.key = given.key.replace("scan", "get"))),
  "connector.draft-not-callable": ({ admin }) =>
    after(/\/provider-configs$/, async ({ data }) => {
      await admin("POST", `/api/v2/connector/provider-configs/${data.id}:activate`, {});
    }),
  "connector.egress-guarded": () =>
    request("ConnectionService/createConnection", (given) => (given.settings.base_url = "https://127.0.0.1:1")),
  "connector.repeated-create": () => forgetful,
  "connector.revoked-unusable": () => idle(/\/revoke$/),
  "connector.secret-never-echoed": () => {
    let secret = "";
    return {
      operations: {
        ...request("ConnectionService/createConnection", (given) => (secret = given.credentials.token)).operations,
        ...response("ConnectionService/getConnection", ({ connection }) => (connection.name = secret)).operations,
      },
    };
  },
  "connector.session-single-use": () => ({
    edge: async (given, original) => {
      const found = await original(given);
      return given.path.endsWith("/open")
        ? { ...found, headers: { ...found.headers, "set-cookie": "session" } }
        : found;
    },
  }),
  "connector.signed-delivery": () => ({
    edge: async (given, original) => {
      const found = await original(given);
      return found.status === 401 ? { ...found, status: 200 } : found;
    },
  }),
  "delivery.broadcast-once": () => forgetful,
  "delivery.delay-cancelled": () => idle(/:cancel$/),
  "delivery.digest": () => garbled("'all'", () => "payload.text"),
  "delivery.event-log": () => response("EventService/listEvents", ({ events }) => events.reverse()),
  "delivery.event-stream": () => ({
    edge: ({ headers, ...given }, original) =>
      original({ ...given, headers: { ...headers, ...(headers["last-event-id"] && { "last-event-id": ulid(0) }) } }),
  }),
  "delivery.inbox-stream": () => rewritten('"body":"second"', '"body":"third"'),
  "delivery.layout": () => request("LayoutService/createLayout", (given) => (given.body = "{{content}}")),
  "delivery.notification-once": () => forgetful,
  "delivery.preferences-respected": () => misread("enabled", "true"),
  "delivery.quiet-hours": () => misread("timezone", "UTC"),
  "delivery.read-in-inbox": () => garbled("!steps.inbox.read", () => "true"),
  "delivery.throttle": () => misread("limit", "9"),
  "delivery.values-escaped": () => rewritten("&lt;b&gt;", "<b>"),
  "delivery.webhook-guarded": () =>
    request("WebhookService/createWebhookEndpoint", (given) => (given.url = "https://127.0.0.1:1")),
  "delivery.webhook-secret": () => leaky(/"secret":"([^"]+)"/),
  "experiment.decision-applies": () =>
    request("ExperimentService/completeExperiment", (given) => (given.variant = "old")),
  "experiment.receipt-verifiable": () => rewritten('"valid":false', '"valid":true'),
  "experiment.score-once": () => garbled('"score_id":"s"', () => `"score_id":"${randomUUID()}"`),
  "experiment.sticky-assignment": () =>
    response("ExperimentService/assignExperiment", (found, n) => (found.assignment.variant = n % 3 ? "old" : "new")),
  "mcp.bad-version-400": () => deaf("mcp-protocol-version"),
  "mcp.call-equals-rest": () => response("PoolService/listPools", (found, n) => (found.totalSize = n)),
  "mcp.foreign-host-refused": () => ({
    edge: ({ headers: { origin: _origin, ...headers }, ...given }, original) =>
      original({ ...given, headers: { ...headers, host: "localhost" } }),
  }),
  "mcp.initialize": () => rewritten(/"protocolVersion":"[^"]*"/, '"protocolVersion":"2024-11-05"'),
  "mcp.no-stream-payload-tools": () => rewritten('"tools":[', '"tools":[{"name":"read_stream_records"},'),
  "mcp.tools-list-authz": () => rewritten('"tools":[]', '"tools":[{"name":"delete_pool"}]'),
  "runtime.approval-quorum": () => misread("quorum", "1"),
  "runtime.cancel-stops-work": () =>
    instead("WorkflowRunService/cancelWorkflowRun", async () => create(CancelWorkflowRunResponseSchema)),
  "runtime.compensation": () => misread("on_failure", "fail"),
  "runtime.dead-letter-replay": () => idle(/\/replay$/),
  "runtime.event-trigger": () => garbled("data.n > 1", () => "data.n > 0"),
  "runtime.explanation": () =>
    response("WorkflowRunService/explainWorkflowRun", (found) => {
      found.explanation.reasons = [];
    }),
  "runtime.idempotent-replay": () => forgetful,
  "runtime.kill-resume": () => misread("heartbeat", "1m"),
  "runtime.lease-fencing": () =>
    response("WorkflowTaskService/completeWorkflowTasks", ({ results }) => {
      for (const result of results) result.status = "completed";
    }),
  "runtime.object-digest": () => garbled("CONFORMANCE", () => "conformance"),
  "runtime.pause-holds-work": () => idle(/\/pause$/),
  "runtime.retry-and-catch": () => misread("max_attempts", "1"),
  "runtime.run-key-unique": () => garbled('"run_key":"k"', () => `"run_key":"${randomUUID()}"`),
  "runtime.signal-once": () => garbled(/"event_id":"\d"/, () => `"event_id":"${randomUUID()}"`),
  "runtime.stream-order": () => forgetful,
  "runtime.stream-pins": () =>
    request("WorkflowStreamService/createWorkflowStream", ({ pins }) => (pins.redaction = [])),
  "runtime.stream-resume": () => deaf("last-event-id"),
  "runtime.timer-fires-once": () => misread("for", "1ms"),
  "runtime.version-pinned": () => response("WorkflowRunService/getWorkflowRun", ({ run }) => (run.version = 2)),
  "runtime.wait-before-event": () =>
    instead("WorkflowRunService/signalWorkflowRun", async ({ event }, original) =>
      event === "early" ? create(SignalWorkflowRunResponseSchema) : original(),
    ),
  "worker.bulk-operation": () =>
    request("BulkOperationService/startQueueOperation", ({ filter }) => (filter.type = "")),
  "worker.bulk-preview": ({ admin }) =>
    instead("BulkOperationService/previewQueueOperation", async ({ poolId }, original) => {
      const found = await original();
      await admin("POST", `/api/queues/${poolId}/drain`, { max_items: 1 });
      return found;
    }),
  "worker.complete-once": () => lenient("WorkService/failItem", workResult("service.api.FailItemResponse")),
  "worker.dead-letter": () => request("WorkService/failItem", (given) => (given.retryable = true)),
  "worker.dependency-order": () => request("RoutingService/route", (given) => (given.after = [])),
  "worker.explanation": () => misread("status", "STATUS_ACTIVE"),
  "worker.heartbeat-extends": () =>
    lenient("WorkService/heartbeatItem", () => ({
      $typeName: "service.api.HeartbeatItemResponse",
    })),
  "worker.lease-exclusive": () =>
    response("WorkService/leaseItems", (found) => (found.items = [...found.items, ...found.items])),
  "worker.not-before": () => request("RoutingService/route", (given) => (given.notBefore = undefined)),
  "worker.offer-declined": () => idle(/\/decline$/),
  "worker.paused-recipient": () => idle(/\/pause$/),
  "worker.pause-holds-items": () => idle(/\/pause$/),
  "worker.repeated-create": () => forgetful,
  "worker.result-kept": () => request("WorkService/completeItem", (given) => (given.result = undefined)),
  "worker.retry-ceiling": () => request("PoolService/createPool", ({ config }) => (config.retry.maxAttempts = 3)),
  "worker.schedule": () => misread("timezone", "UTC"),
  "worker.stale-token-refused": () =>
    lenient("WorkService/completeItem", workResult("service.api.CompleteItemResponse")),
  "worker.strict-order": () => request("RoutingService/route", (given) => (given.priority = 0)),
};

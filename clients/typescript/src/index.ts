/**
 * The client of Switchyard, for Node 20 and newer and for browsers.
 *
 * Transport: sends calls, with credentials, a deadline and retries. Service: the operations of one service of the API, over
 * a transport. Client: all services. Batch: calls that share a request. List: a list that is read page by page. Event
 * stream: messages that the service sends. Names of requests and responses are those of the API. Workers are in
 * `@switchyard/client/node`.
 */
export type { BatchingOptions } from "./batching/batcher.ts";
export { type Client, type ClientOptions, createClient } from "./client.ts";
export type { ErrorCatalogue, ErrorCode } from "./gen/errors.ts";
export { createServices, type Services } from "./gen/services.ts";
export type * from "./gen/types.ts";
export type { JsonObject, JsonValue, RawBody } from "./json.ts";
export type { EventStream } from "./streams/event-stream.ts";
export type { Backoff } from "./transport/backoff.ts";
export {
  ApiError,
  BacklogError,
  ConnectionError,
  type Correction,
  DeadlineError,
  isApiError,
  type Problem,
  SwitchyardError,
} from "./transport/errors.ts";
export type { List, Page } from "./transport/list.ts";
export type { CallOptions, Operation, ResponseInfo } from "./transport/operation.ts";
export { createTransport, type Transport, type TransportOptions } from "./transport/transport.ts";
export {
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from "./webhooks/verify-webhook.ts";
export {
  defineWorkflow,
  type Workflow,
  type WorkflowOptions,
  type WorkflowScope,
} from "./workflows/define-workflow.ts";
export { cel, type Expression, type Ref, type Template } from "./workflows/expression.ts";
export type { Block, StepPolicy, Steps } from "./workflows/steps.ts";
export type { Duration, RetryPolicy } from "./workflows/work.ts";

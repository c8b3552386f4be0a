// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonValue } from "../json.ts";

/** Executes the actions of connectors at their providers, and keeps records of the executions. */
export interface ConnectorActionService {
  /** Executes an action and waits for the provider. An action that changes something is sent again only if that cannot have an effect twice. Repeating a call with the same Idempotency-Key never executes a succeeded action again. */
  execute(request: ExecuteActionRequest, options?: CallOptions): Promise<ExecuteActionResponse>;

  /** Sends any request to the provider of a connection, with the credentials of the connection, and returns the answer, whatever its status is. Rejected credentials, rate limits and missing answers are errors, as for actions. The request goes to the base URL of the provider and the paths below it, is repeated only after a renewal of the token, and leaves an execution. */
  proxyConnection(request: ProxyConnectionRequest, options?: CallOptions): Promise<ProxyConnectionResponse>;

  /** Returns one execution. */
  getExecution(request: GetExecutionRequest, options?: CallOptions): Promise<ConnectorExecution>;

  /** Lists executions, the newest first. */
  listExecutions(request?: ListExecutionsRequest, options?: CallOptions): List<ConnectorExecution>;

  /** Explains what happened in an execution, why it failed, and what would help. */
  explainExecution(request: ExplainExecutionRequest, options?: CallOptions): Promise<ConnectorExecutionExplanation>;
}

const connectorActionServiceOperations = {
  execute: { verb: "POST", path: "/api/v2/connector/actions/{key}:execute", body: "*", keyed: true },
  proxyConnection: { verb: "POST", path: "/api/v2/connector/connections/{connection_id}:proxy", body: "*", keyed: true },
  getExecution: { verb: "GET", path: "/api/v2/connector/executions/{execution_id}" },
  listExecutions: { verb: "GET", path: "/api/v2/connector/executions", result: "cursor" },
  explainExecution: { verb: "GET", path: "/api/v2/connector/executions/{execution_id}:explain" },
} as const satisfies Record<keyof ConnectorActionService, Operation>;

/** Creates the service over a transport. */
export function createConnectorActionService(transport: Transport): ConnectorActionService {
  return bindOperations<ConnectorActionService>(transport, connectorActionServiceOperations);
}

/** Executes an action. */
export type ExecuteActionRequest = {
  /** The action, such as github.issue.create. */
  readonly key: string;
  /** The connection to use. Leave it out for providers without authentication. */
  readonly connection_id?: string;
  /** The input, as the action's schema describes it. */
  readonly input?: object;
  /** The key that the provider deduplicates by. By default it is derived from the Idempotency-Key of the call, or from the id of the execution. To repeat an execution with an unknown outcome, send the key of its record. */
  readonly deduplication_key?: string;
  /** Renders the request and sends nothing. */
  readonly dry_run?: boolean;
  /** Milliseconds that the execution may take, retries included. At most, and by default, what the action allows. */
  readonly timeout_ms?: number;
};

/** The result of an execution. */
export type ExecuteActionResponse = {
  /** The execution; absent for a dry run, which leaves no record. */
  readonly execution?: ConnectorExecution;
  /** The request that a dry run rendered. */
  readonly request?: ConnectorRenderedRequest;
};

/** One execution of an action. Credentials are replaced wherever a provider repeats them. */
export type ConnectorExecution = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The action, such as github.issue.create. */
  readonly action_key: string;
  /** The provider. */
  readonly provider_key: string;
  /** The version of the provider's manifest. */
  readonly manifest_version: string;
  /** The connection; empty for providers without authentication. */
  readonly connection_id: string;
  /** running, succeeded, failed or outcome_unknown. A failed execution changed nothing. outcome_unknown: the provider may have performed the action. */
  readonly status: string;
  /** What the last answer means: ok, rate_limited, auth_expired, permission_denied, not_found, conflict, invalid_input, unavailable, failed or malformed. Empty while it is running. */
  readonly class: string;
  /** The provider's error code, an HTTP status such as http_404, or why there was no answer, such as connection_lost. */
  readonly code: string;
  /** What went wrong, in the provider's words if it gave any. */
  readonly message: string;
  /** The requests that were sent, in order. Only the first 100 are kept. */
  readonly attempts: readonly ConnectorExecutionAttempt[];
  /** The output of an execution that succeeded. */
  readonly output?: JsonValue;
  /** Whether the output is larger than 256 KiB. The response of the first call has it; the record does not. */
  readonly output_omitted: boolean;
  /** Whether the provider has more pages than the action reads, or names a page again that was read. */
  readonly pages_truncated: boolean;
  /** The request, without values. */
  readonly request?: ConnectorRequestSummary;
  /** The key that the provider deduplicates by; empty if it does not deduplicate. */
  readonly deduplication_key: string;
  /** Where it came from: api, workflow or routing. */
  readonly origin: string;
  /** The id of the request, or of the workflow run or queue item that it was executed for. */
  readonly origin_id: string;
  /** When the provider allows the next request, if it limited this one. */
  readonly retry_at?: string;
  /** When it started. */
  readonly started_at?: string;
  /** When it ended. */
  readonly ended_at?: string;
  /** Whether an execution without success can be repeated without having an effect twice. */
  readonly repeatable: boolean;
};

/** One request to a provider. */
export type ConnectorExecutionAttempt = {
  /** The number of the request, from 1. */
  readonly number: number;
  /** The page that it requested, from 1; 0 for actions without pages. */
  readonly page: number;
  /** When it was sent. */
  readonly started_at?: string;
  /** How long it took, in milliseconds. */
  readonly duration_ms: number;
  /** The HTTP status; 0 without an answer. */
  readonly http_status: number;
  /** What the answer means. */
  readonly class: string;
  /** The provider's error code, or why there was no answer. */
  readonly code: string;
  /** Whether the provider may have performed the action, although the attempt failed. */
  readonly may_have_taken_effect: boolean;
};

/** A request to a provider, without values. */
export type ConnectorRequestSummary = {
  /** The HTTP method. */
  readonly method: string;
  /** The host. */
  readonly host: string;
  /** The path as the manifest writes it, with placeholders. */
  readonly path: string;
};

/** A rendered request, with credentials replaced. */
export type ConnectorRenderedRequest = {
  /** The HTTP method. */
  readonly method: string;
  /** The URL. */
  readonly url: string;
  /** The headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body; binary bodies are in base64. */
  readonly body: string;
  /** Whether the body was cut off after 64 KiB. */
  readonly body_truncated: boolean;
};

/** Sends a request to the provider of a connection. */
export type ProxyConnectionRequest = {
  /** The connection. */
  readonly connection_id: string;
  /** The HTTP method. */
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path below the base URL of the provider, with the query, both encoded (for example: /repos/acme/site/issues?state=open). */
  readonly path?: string;
  /** The headers. Those of the connection's credentials and of the connection between two servers are left out. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body as a text, by default JSON. */
  readonly body?: string;
  /** The body, if it is not a text. */
  readonly body_bytes?: string;
  /** Milliseconds to wait for the answer; 30,000 by default. */
  readonly timeout_ms?: number;
};

/** The answer of a provider. */
export type ProxyConnectionResponse = {
  /** The execution. */
  readonly execution_id: string;
  /** The HTTP status. */
  readonly status: number;
  /** The headers, by lower-case name, without cookies. Credentials are replaced wherever the provider repeats them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body, if it is a text. */
  readonly body: string;
  /** The body, if it is not a text. */
  readonly body_bytes: string;
  /** Whether a repeat of the call leaves the body out, because it is larger than 256 KiB. */
  readonly body_omitted: boolean;
};

/** Returns one execution. */
export type GetExecutionRequest = {
  /** The execution. */
  readonly execution_id: string;
};

/** Lists executions. Filters that are empty match all. */
export type ListExecutionsRequest = {
  /** The page size: 50 by default, 1000 at most. */
  readonly limit?: number;
  /** The token of the previous page's response. */
  readonly cursor?: string;
  /** The number of items to skip. */
  readonly offset?: number;
  /** Only those of this connection. */
  readonly connection_id?: string;
  /** Only those of this action. */
  readonly action_key?: string;
  /** Only those of this provider. */
  readonly provider_key?: string;
  /** Only those with this status. */
  readonly status?: "" | "running" | "succeeded" | "failed" | "outcome_unknown";
  /** Only those from here: api, workflow or routing. */
  readonly origin?: "" | "api" | "workflow" | "routing";
};

/** Explains an execution. */
export type ExplainExecutionRequest = {
  /** The execution. */
  readonly execution_id: string;
};

/** What happened in an execution. */
export type ConnectorExecutionExplanation = {
  /** The execution. */
  readonly execution_id: string;
  /** Its status. */
  readonly status: string;
  /** One sentence that sums it up. */
  readonly summary: string;
  /** Whether the action may have had an effect: yes, no or unknown. */
  readonly effect: string;
  /** What would help; empty if nothing has to be done. */
  readonly remedies: readonly string[];
  /** What each request did, and why it was or was not repeated. */
  readonly attempts: readonly ConnectorAttemptExplanation[];
};

/** What one request did. */
export type ConnectorAttemptExplanation = {
  /** The number of the request. */
  readonly number: number;
  /** What happened. */
  readonly outcome: string;
  /** What followed, and why. */
  readonly consequence: string;
};

// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Connect sessions: an end user connects an account at a provider on a hosted page. */
export interface ConnectSessionService {
  /** Creates a connect session. Send the end user to its connect_url, in a popup or as a redirect. */
  create(request: CreateConnectSessionRequest, options?: CallOptions): Promise<ConnectSession>;

  /** Returns one connect session, without its token. */
  get(request: GetConnectSessionRequest, options?: CallOptions): Promise<ConnectSession>;

  /** Lists the connect sessions of the caller's tenant, oldest first. Ended sessions are deleted after 30 days. */
  list(request?: ListConnectSessionsRequest, options?: CallOptions): List<ConnectSession>;

  /** Revokes a connect session, so that its link stops working. A session that has ended stays unchanged. */
  revoke(request: RevokeConnectSessionRequest, options?: CallOptions): Promise<ConnectSession>;

  /** Confirms the end user of a session with require_completion, and connects the account. Call it only if the person who returned with the completion_code is signed in to your application as the end user of the session: otherwise somebody could be tricked into connecting their account for another person. A completed session stays unchanged. */
  complete(request: CompleteConnectSessionRequest, options?: CallOptions): Promise<ConnectSession>;
}

const connectSessionServiceOperations = {
  create: { verb: "POST", path: "/api/v2/connector/connect-sessions", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/connector/connect-sessions/{id}" },
  list: { verb: "GET", path: "/api/v2/connector/connect-sessions", result: "cursor" },
  revoke: { verb: "POST", path: "/api/v2/connector/connect-sessions/{id}/revoke", body: "*", keyed: true },
  complete: { verb: "POST", path: "/api/v2/connector/connect-sessions/{id}/complete", body: "*", keyed: true },
} as const satisfies Record<keyof ConnectSessionService, Operation>;

/** Creates the service over a transport. */
export function createConnectSessionService(transport: Transport): ConnectSessionService {
  return bindOperations<ConnectSessionService>(transport, connectSessionServiceOperations);
}

/** The end user of a connect session. */
export type ConnectSessionEndUserInput = {
  /** The tenant's id of the end user. */
  readonly id: string;
  /** Their email address, if known. The hosted page shows it. */
  readonly email?: string;
  /** Their name, if known. The hosted page shows it. */
  readonly display_name?: string;
};

/** Request to create a connect session. */
export type CreateConnectSessionRequest = {
  /** The providers that the end user can choose from. Optional with provider_config_id or connection_id. */
  readonly allowed_provider_keys?: readonly string[];
  /** The active provider config to use, for a session with one provider. */
  readonly provider_config_id?: string;
  /** The id or the key of the environment; production when empty. */
  readonly environment_id?: string;
  /** The end user. Use the id under which your application knows them. */
  readonly end_user: ConnectSessionEndUserInput;
  /** The connection to reconnect. The end user must grant access to the same account. */
  readonly connection_id?: string;
  /** The scopes to request instead of the default ones, in the provider's terms. */
  readonly scopes?: readonly string[];
  /** The origins whose pages may embed the hosted page and get a message about the result (for example: https://app.example.com). Without a wildcard, and https except for loopback hosts. */
  readonly allowed_origins?: readonly string[];
  /** Where the end user is sent after success, with session_id and status in the query; with require_completion also completion_code. */
  readonly success_redirect_uri?: string;
  /** Where the end user is sent after a failure, with session_id, status and error in the query. */
  readonly error_redirect_uri?: string;
  /** How long the session is valid, in seconds; 30 minutes when 0. */
  readonly expires_in_s?: number;
  /** Connects the account only after CompleteConnectSession. It needs success_redirect_uri. Always on with security_profile=enterprise. */
  readonly require_completion?: boolean;
  /** The name of a new connection; the provider's name and the end user when empty. */
  readonly connection_name?: string;
};

/** A session in which an end user connects one account. */
export type ConnectSession = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The environment, whose provider configs are used. */
  readonly environment_id: string;
  /** pending, authorizing (the end user is at the provider, or awaits completion), completed, failed, expired or revoked. */
  readonly status: string;
  /** The providers that the end user can choose from. */
  readonly allowed_provider_keys: readonly string[];
  /** The provider config to use; the provider's default config when empty. */
  readonly provider_config_id: string;
  /** The end user. */
  readonly end_user?: ConnectSessionEndUser;
  /** The connection to reconnect; empty for a new one. */
  readonly connection_id: string;
  /** The scopes to request instead of the default ones. */
  readonly scopes: readonly string[];
  /** The origins whose pages may embed the hosted page and get a message about the result. */
  readonly allowed_origins: readonly string[];
  /** Where the end user is sent after success; the hosted page shows the result when empty. */
  readonly success_redirect_uri: string;
  /** Where the end user is sent after a failure; the hosted page shows the error when empty. */
  readonly error_redirect_uri: string;
  /** Whether the account is connected only after CompleteConnectSession. */
  readonly require_completion: boolean;
  /** Whether the end user has finished and CompleteConnectSession is awaited. */
  readonly awaiting_completion: boolean;
  /** The name of a new connection. */
  readonly connection_name: string;
  /** The connection that the session created or reconnected. */
  readonly result_connection_id: string;
  /** Why it failed: cancelled, access_denied, account_mismatch, end_user_mismatch, issuer_mismatch, redirect_mismatch, provider_refused, provider_unavailable, provider_malformed, provider_changed, connection_unusable, too_many_connections or too_many_attempts; empty otherwise. */
  readonly error_code: string;
  /** When it expires. */
  readonly expires_at?: string;
  /** When it ended, if it did. */
  readonly ended_at?: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record. */
  readonly record_version: number;
  /** The token that opens the session once. Only the response that creates the session contains it. */
  readonly token?: string;
  /** The link for the end user, with the token in its fragment. Only the response that creates the session contains it. */
  readonly connect_url?: string;
  /** The provider's error code behind error_code (for example: invalid_client), or what came instead of an answer (http_302, empty_answer); empty if there is none. */
  readonly error_detail: string;
};

/** The end user of a connect session. */
export type ConnectSessionEndUser = {
  /** The tenant's id of the end user. */
  readonly id: string;
  /** Their email address, if known. The hosted page shows it. */
  readonly email: string;
  /** Their name, if known. The hosted page shows it. */
  readonly display_name: string;
};

/** Identifies a connect session. */
export type GetConnectSessionRequest = {
  /** The session's id. */
  readonly id: string;
};

/** Request for a page of connect sessions. */
export type ListConnectSessionsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only those in this status. */
  readonly status?: "pending" | "authorizing" | "completed" | "failed" | "expired" | "revoked";
  /** Only those of this end user. */
  readonly end_user_id?: string;
};

/** Selects the connect session to revoke. */
export type RevokeConnectSessionRequest = {
  /** The session's id. */
  readonly id: string;
};

/** Request to complete a connect session. */
export type CompleteConnectSessionRequest = {
  /** The session's id. */
  readonly id: string;
  /** The code from the query of success_redirect_uri. */
  readonly completion_code: string;
  /** The id of the person who is signed in to your application. It must be the end user of the session. */
  readonly end_user_id: string;
};

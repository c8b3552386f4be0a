// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject } from "../json.ts";

/** Connections: settings and credentials to act for a tenant at a provider. Credentials are never returned. */
export interface ConnectionService {
  /** Creates a connection. The provider defines the settings and credentials. */
  create(request: CreateConnectionRequest, options?: CallOptions): Promise<Connection>;

  /** Returns one connection, without its credentials. */
  get(request: GetConnectionRequest, options?: CallOptions): Promise<Connection>;

  /** Lists the connections of the caller's tenant, revoked ones included, oldest first. */
  list(request?: ListConnectionsRequest, options?: CallOptions): List<Connection>;

  /** Changes the fields that are present. New settings and credentials take the place of the current ones, which stay in use until the provider has accepted the new ones; they must belong to the same account. A grant of OAuth is replaced by a connect session that reconnects the connection. With account_id, a connection that needs an account gets one. */
  update(request: UpdateConnectionRequest, options?: CallOptions): Promise<Connection>;

  /** Revokes a connection permanently. The grant is revoked at the provider if it offers that, then the credentials are deleted. A revoked connection stays unchanged. */
  revoke(request: RevokeConnectionRequest, options?: CallOptions): Promise<Connection>;

  /** Checks a connection at its provider: expired credentials are refreshed, then the account is requested. Reports what failed, and records the result. An account that was not known yet is stored. */
  test(request: TestConnectionRequest, options?: CallOptions): Promise<TestConnectionResponse>;

  /** Refreshes the credentials of a connection now, whether they have expired or not. Concurrent refreshes of a connection share one request to the provider. */
  refresh(request: RefreshConnectionRequest, options?: CallOptions): Promise<Connection>;
}

const connectionServiceOperations = {
  create: { verb: "POST", path: "/api/v2/connector/connections", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/connector/connections/{id}" },
  list: { verb: "GET", path: "/api/v2/connector/connections", result: "cursor" },
  update: { verb: "PATCH", path: "/api/v2/connector/connections/{id}", body: "*", keyed: true },
  revoke: { verb: "POST", path: "/api/v2/connector/connections/{id}/revoke", body: "*", keyed: true },
  test: { verb: "POST", path: "/api/v2/connector/connections/{id}/test", body: "*", keyed: true },
  refresh: { verb: "POST", path: "/api/v2/connector/connections/{id}/refresh", body: "*", keyed: true },
} as const satisfies Record<keyof ConnectionService, Operation>;

/** Creates the service over a transport. */
export function createConnectionService(transport: Transport): ConnectionService {
  return bindOperations<ConnectionService>(transport, connectionServiceOperations);
}

/** An end user for whom a connection acts. */
export type ConnectionEndUserInput = {
  /** The tenant's id of the end user. */
  readonly id: string;
  /** Their email address, if known. */
  readonly email?: string;
  /** Their name, if known. */
  readonly display_name?: string;
};

/** Request to create a connection. */
export type CreateConnectionRequest = {
  /** The name. */
  readonly name: string;
  /** The provider. */
  readonly provider_key: string;
  /** The end user for whom it acts, if any. */
  readonly end_user?: ConnectionEndUserInput;
  /** What it may do, in the provider's terms. */
  readonly scopes?: readonly string[];
  /** Settings that are not secret, such as a host name. The provider defines them. At most 16 KiB as JSON. */
  readonly settings?: object;
  /** Credentials, such as a password. The provider defines them. Write-only, at most 64 KiB in total. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** When it expires; never when absent. */
  readonly expires_at?: string | Date;
  /** How requests are authenticated; the provider's default mode when empty. With oauth2, the credentials are an existing grant: access_token, refresh_token or both. */
  readonly auth_mode?: "" | "oauth2" | "oauth2_cc" | "api_key" | "basic" | "two_step" | "jwt" | "signed_jwt" | "aws_sigv4" | "none";
  /** The provider config whose OAuth app obtained the grant; required for a refresh with oauth2. */
  readonly provider_config_id?: string;
  /** The id or the key of the environment; production when empty. A provider config must belong to it. */
  readonly environment_id?: string;
};

/** Settings and credentials to act for a tenant at a provider; shown without the credentials. */
export type Connection = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The name. */
  readonly name: string;
  /** The provider. */
  readonly provider_key: string;
  /** The provider configuration that it was created with; empty if it has its own credentials. */
  readonly provider_config_id: string;
  /** The end user for whom it acts, if any. */
  readonly end_user?: ConnectionEndUser;
  /** active, needs_account (unusable until one of account_choices is chosen), needs_reauth (unusable until access is granted again) or revoked. */
  readonly status: string;
  /** What it may do, in the provider's terms. */
  readonly scopes: readonly string[];
  /** Settings that are not secret, such as a host name. */
  readonly settings?: JsonObject;
  /** When it expires, if ever. */
  readonly expires_at?: string;
  /** When its credentials were last renewed, if ever. */
  readonly last_refreshed_at?: string;
  /** When it was revoked, if ever. */
  readonly revoked_at?: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record. */
  readonly record_version: number;
  /** How requests are authenticated: a mode of the provider's manifest, such as oauth2 or api_key; empty for a provider of notifications. */
  readonly auth_mode: string;
  /** The account at the provider, if it is known. */
  readonly account?: ConnectionAccount;
  /** Why it needs reauthorization: grant_rejected (the provider no longer accepts the grant), refresh_interrupted (a refresh was cut off and its new credentials are lost), credentials_rejected (the provider refused the credentials) or refresh_token_missing; empty otherwise. */
  readonly status_reason: string;
  /** What became of the grant at the provider after a revocation: pending, succeeded, failed or not_offered; empty if it is not revoked. */
  readonly provider_revocation: string;
  /** Why the last refresh failed (for example: unavailable); empty after a successful one. */
  readonly last_refresh_error: string;
  /** When it was last tested, if ever. */
  readonly last_tested_at?: string;
  /** The class of the last test's result, such as ok or auth_expired; empty if it was never tested. */
  readonly last_test_class: string;
  /** When the grant ends whatever is done with it, so that access must be granted again before; absent if it does not end, or if the provider does not say when. */
  readonly grant_expires_at?: string;
  /** The environment. */
  readonly environment_id: string;
  /** The last 20 attempts to connect the account and to renew its tokens, newest first; only in the answer of GetConnection. */
  readonly attempts: readonly ConnectionAttempt[];
  /** The accounts that the grant reaches, such as the sites of a person; only while one of them must be chosen with UpdateConnection. */
  readonly account_choices: readonly ConnectionAccount[];
};

/** An end user for whom a connection acts. */
export type ConnectionEndUser = {
  /** The tenant's id of the end user. */
  readonly id: string;
  /** Their email address, if known. */
  readonly email: string;
  /** Their name, if known. */
  readonly display_name: string;
};

/** The account at a provider that a connection belongs to. */
export type ConnectionAccount = {
  /** The provider's id of the account. */
  readonly id: string;
  /** A name for people, such as a login or an email address; empty if unknown. */
  readonly label: string;
};

/** One attempt to connect an account or to renew its tokens. */
export type ConnectionAttempt = {
  /** When it ended. */
  readonly at?: string;
  /** connect (a connect session) or refresh (a token request). */
  readonly kind: string;
  /** Why tokens were renewed: due, requested, rejected (the provider refused the previous ones), idle (the refresh token would end for lack of use) or interrupted (the outcome of the previous request is unknown); empty for a connect session. */
  readonly cause: string;
  /** The connect session; empty for a refresh. */
  readonly connect_session_id: string;
  /** succeeded, refused, malformed (the answer was none of a token endpoint) or unavailable (it may work later). */
  readonly outcome: string;
  /** Why it did not succeed (for example: invalid_grant); empty if it did. */
  readonly code: string;
};

/** Identifies a connection. */
export type GetConnectionRequest = {
  /** The connection's id. */
  readonly id: string;
};

/** Request for a page of connections. */
export type ListConnectionsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only those of this provider. */
  readonly provider_key?: string;
  /** Only those in this status. */
  readonly status?: "active" | "needs_account" | "needs_reauth" | "revoked";
  /** Only those of this end user. */
  readonly end_user_id?: string;
  /** Only those of this provider config. */
  readonly provider_config_id?: string;
  /** Only those of this environment: its id or its key. */
  readonly environment_id?: string;
};

/** The fields of a connection to change. */
export type UpdateConnectionRequest = {
  /** The connection's id. */
  readonly id: string;
  /** The name. */
  readonly name?: string;
  /** Replaces the end user for whom it acts. */
  readonly end_user?: ConnectionEndUserInput;
  /** Replaces all credentials, for example with a new API key. Write-only, at most 64 KiB in total. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** When the new credentials expire; never when absent. */
  readonly expires_at?: string | Date;
  /** The expected version of the record; unconditional when absent. */
  readonly record_version?: number;
  /** Replaces all settings, for example with another sender. They are tested together with the credentials. At most 16 KiB as JSON. */
  readonly settings?: object;
  /** Chooses one of account_choices by its id, so that the connection acts for it from now on. It cannot be changed later. */
  readonly account_id?: string;
};

/** Selects the connection to revoke. */
export type RevokeConnectionRequest = {
  /** The connection's id. */
  readonly id: string;
};

/** Selects the connection to test. */
export type TestConnectionRequest = {
  /** The connection's id. */
  readonly id: string;
};

/** The result of a test. */
export type TestConnectionResponse = {
  /** Whether the provider accepted the credentials. */
  readonly ok: boolean;
  /** ok; unverified (the provider offers no request to check an account); unusable (see code); unreachable (no response); or the class of the provider's response: rate_limited, auth_expired, permission_denied, not_found, conflict, invalid_input, unavailable, failed or malformed. */
  readonly class: string;
  /** The provider's error code, or why the connection is unusable: revoked, needs_account, needs_reauth, account_missing (the credentials do not reach the account of the connection), expired, decrypt_failed or refresh_failed. */
  readonly code: string;
  /** What failed, in words. */
  readonly message: string;
  /** The account that the provider reported, if any. */
  readonly account?: ConnectionAccount;
  /** The status of the connection after the test. */
  readonly status: string;
  /** How long the provider took to respond, in milliseconds. */
  readonly duration_ms: number;
};

/** Selects the connection to refresh. */
export type RefreshConnectionRequest = {
  /** The connection's id. */
  readonly id: string;
};

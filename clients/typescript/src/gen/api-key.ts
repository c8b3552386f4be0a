// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** API keys: credentials of programs. A key belongs to a tenant and never has more access than its creator. */
export interface ApiKeyService {
  /** Lists the keys of the caller's tenant, never their secrets. */
  list(request?: ListApiKeysRequest, options?: CallOptions): List<ApiKey>;

  /** Creates a key. Only this response contains its secret. */
  create(request: CreateApiKeyRequest, options?: CallOptions): Promise<ApiKey>;

  /** Returns one key, never its secret. */
  get(request: GetApiKeyRequest, options?: CallOptions): Promise<ApiKey>;

  /** Revokes a key. This node rejects it immediately, every other node within a second. */
  revoke(request: RevokeApiKeyRequest, options?: CallOptions): Promise<ApiKey>;
}

const apiKeyServiceOperations = {
  list: { verb: "GET", path: "/api/v2/api-keys", result: "cursor" },
  create: { verb: "POST", path: "/api/v2/api-keys", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/v2/api-keys/{api_key_id}" },
  revoke: { verb: "POST", path: "/api/v2/api-keys/{api_key_id}/revoke", body: "*", keyed: true },
} as const satisfies Record<keyof ApiKeyService, Operation>;

/** Creates the service over a transport. */
export function createApiKeyService(transport: Transport): ApiKeyService {
  return bindOperations<ApiKeyService>(transport, apiKeyServiceOperations);
}

/** The status of a key. */
export type ApiKeyStatus = "STATUS_UNSPECIFIED" | "STATUS_ACTIVE" | "STATUS_REVOKED" | "STATUS_EXPIRED";

/** Request for a page of keys. */
export type ListApiKeysRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only keys in this status. */
  readonly status?: ApiKeyStatus;
};

/** An API key. Only the response that creates it contains the secret. */
export type ApiKey = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The display name. */
  readonly name: string;
  /** The public part of the key. */
  readonly prefix: string;
  /** Its roles. */
  readonly roles: readonly string[];
  /** Its own scopes, each resource:action. */
  readonly scopes: readonly string[];
  /** The environments it may be used in: any, production_only or non_production_only. */
  readonly environment_mode: string;
  /** The status. */
  readonly status: ApiKeyStatus;
  /** When it expires, if ever. */
  readonly expires_at?: string;
  /** When it was last used, to the minute. */
  readonly last_used_at?: string;
  /** Who created it. */
  readonly created_by: string;
  /** When it was revoked. */
  readonly revoked_at?: string;
  /** Who revoked it. */
  readonly revoked_by: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
  /** The whole key as callers send it. Only the response that creates the key contains it. */
  readonly secret?: string;
  /** Its own rate limit, in tokens per second; 0 if only the limits of the tenant apply. */
  readonly max_rps: number;
};

/** Request to create a key. */
export type CreateApiKeyRequest = {
  /** The display name. */
  readonly name: string;
  /** Its roles: viewer, operator, admin, service or a role of a module. */
  readonly roles?: readonly string[];
  /** Its own scopes, each resource:action as operations need them; * means any. */
  readonly scopes?: readonly string[];
  /** The environments it may be used in: any (when empty), production_only or non_production_only. */
  readonly environment_mode?: "" | "any" | "production_only" | "non_production_only";
  /** When it expires: not after the creator's own access, which is also the default. */
  readonly expires_at?: string | Date;
  /** Its own rate limit, in tokens per second, besides those of the tenant; none when 0. A key with a limit gives it to the keys that it creates. */
  readonly max_rps?: number;
};

/** Identifies a key. */
export type GetApiKeyRequest = {
  /** The key's id. */
  readonly api_key_id: string;
};

/** Selects the key to revoke. */
export type RevokeApiKeyRequest = {
  /** The key's id. */
  readonly api_key_id: string;
};

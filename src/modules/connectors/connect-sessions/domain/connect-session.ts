import { createHash, timingSafeEqual } from "node:crypto";
import { invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Binding } from "../../../../platform/crypto/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { EndUser } from "../../connections/index.ts";
import type { AuthMode } from "../../manifests/index.ts";
import type { SessionStatus } from "./session-status.ts";
import { checkOrigin, checkRedirectUri } from "./web-address.ts";

export type ConnectSessionId = string & { readonly __id: "connect_session" };

/** Why a session failed. */
export type SessionError =
  | "cancelled"
  | "access_denied"
  | "account_mismatch"
  | "end_user_mismatch"
  | "issuer_mismatch"
  | "redirect_mismatch"
  | "provider_refused"
  | "provider_unavailable"
  | "provider_malformed"
  | "provider_changed"
  | "connection_unusable"
  | "too_many_connections"
  | "too_many_attempts";

/** The fields that callers choose. */
interface SessionDetails {
  readonly allowedProviderKeys: readonly string[];
  /** Empty for the default config of the provider. */
  readonly providerConfigId: string;
  readonly endUser: EndUser;
  /** The connection to reconnect; empty for a new one. */
  readonly connectionId: string;
  /** Empty for a name made of the provider and the end user. */
  readonly connectionName: string;
  /** Empty for the default scopes. */
  readonly scopes: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly successRedirectUri: string;
  readonly errorRedirectUri: string;
  readonly requireCompletion: boolean;
}

/** A session in which an end user connects one account. */
export interface ConnectSession extends SessionDetails, Stamps {
  readonly tenantId: TenantId;
  readonly id: ConnectSessionId;
  readonly environmentId: string;
  readonly environmentKey: string;
  readonly status: SessionStatus;
  readonly awaitingCompletion: boolean;
  readonly resultConnectionId: string;
  readonly errorCode: SessionError | "";
  /** The provider's error code, if any. It is safe to show. */
  readonly errorDetail: string;
  readonly expiresAt: Date;
  readonly endedAt: Date | null;
}

/** The authorization that an end user has started. */
export interface Authorization {
  readonly providerKey: string;
  readonly authMode: AuthMode;
  /** Empty without a provider config. */
  readonly usedConfigId: string;
  /** The manifest that is used until the end, also if a newer version appears. */
  readonly manifestDigest: string;
}

/** A session with everything that the hosted page needs. Hashes are SHA-256. */
export interface OpenSession extends ConnectSession, Omit<Authorization, "authMode"> {
  readonly authMode: AuthMode | "";
  readonly tokenHash: Buffer;
  /** Null until a browser opens the session. */
  readonly cookieHash: Buffer | null;
  readonly attempts: number;
  readonly stateHash: Buffer | null;
  readonly stateExpiresAt: Date | null;
  readonly completionHash: Buffer | null;
  /** Empty without sealed values. */
  readonly ciphertext: string;
}

export interface NewConnectSession extends SessionDetails {
  /** Empty for production. */
  readonly environmentId: string;
  /** 0 for the default. */
  readonly expiresInS: number;
}

/** How long a session is valid unless the caller says otherwise. */
export const lifetimeDefaultS = 30 * 60;
/** How long an authorization at a provider may take. */
export const stateLifetimeMs = 10 * 60_000;
/** How often an end user may submit the page. */
export const attemptsMax = 20;
/** How long ended sessions are kept. */
export const retentionMs = 30 * 24 * 3_600_000;

/** Checks the rules that the definitions cannot express. */
export function checkNewSession(input: NewConnectSession): void {
  for (const [at, origin] of input.allowedOrigins.entries()) checkOrigin(`allowed_origins[${at}]`, origin);
  if (input.successRedirectUri !== "") checkRedirectUri("success_redirect_uri", input.successRedirectUri);
  if (input.errorRedirectUri !== "") checkRedirectUri("error_redirect_uri", input.errorRedirectUri);
  if (input.requireCompletion && input.successRedirectUri === "") {
    throw invalid(
      "success_redirect_uri",
      "required",
      "is required with require_completion, because it receives the completion_code (for example: https://app.example.com/connected)",
    );
  }
  if (input.allowedProviderKeys.length === 0 && input.providerConfigId === "" && input.connectionId === "") {
    throw invalid("allowed_provider_keys", "required", 'must name at least one provider (for example: ["github"])');
  }
}

/** SHA-256 of a random value. A plain hash is enough, because the value cannot be guessed. */
export function hashOf(value: string): Buffer {
  return createHash("sha256").update(value).digest();
}

/** Whether a value has a stored hash. */
export function matchesHash(value: string, hash: Buffer | null): boolean {
  return hash !== null && timingSafeEqual(hashOf(value), hash);
}

/** The binding of a session's sealed values: they cannot be decrypted for another tenant, record or field. */
export function bindingOf({ tenantId, id }: { readonly tenantId: string; readonly id: string }): Binding {
  return { tenantId, recordId: id, field: "connect_session.authorization" };
}

import { invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Binding } from "../../../../platform/crypto/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { AuthMode } from "../../manifests/index.ts";

export type ConnectionId = string & { readonly __id: "connection" };

/**
 * A connection's status. `needs_account`: unusable until one of the accounts that the grant reaches is chosen. `needs_reauth`:
 * unusable until access is granted again.
 */
export type ConnectionStatus = "active" | "needs_account" | "needs_reauth" | "revoked";

/** Why a connection needs reauthorization. */
export type ReauthReason =
  /** The provider no longer accepts the grant. */
  | "grant_rejected"
  /** A refresh was cut off, and the provider does not accept the spent refresh token any more. */
  | "refresh_interrupted"
  /** The provider refused the credentials, also fresh ones. */
  | "credentials_rejected"
  /** The access token has expired, and there is no refresh token. */
  | "refresh_token_missing";

/** The state of the grant at the provider after a revocation; empty if the connection is not revoked. */
export type ProviderRevocation = "" | "pending" | "succeeded" | "failed" | "not_offered";

/** The end user on whose behalf a connection acts. */
export interface EndUser {
  readonly id: string;
  readonly email: string;
  readonly displayName: string;
}

/** The account at the provider; both fields are empty if it is unknown. */
export interface Account {
  readonly id: string;
  readonly label: string;
}

/** An account that a grant reaches, with the values that templates use for it. */
export interface AccountChoice extends Account {
  readonly captured: Readonly<Record<string, unknown>>;
}

/** The account of a grant, or the accounts to choose it from. */
interface AccountPart {
  readonly account: Account;
  /** Values from the provider's answers that templates use. */
  readonly captured: Readonly<Record<string, unknown>>;
  /** Empty if the account is settled. */
  readonly accountChoices: readonly AccountChoice[];
}

/** Settles the account of a grant: the only one that it reaches, or the one with this id. Otherwise the choice stays open. */
export function settleAccount<G extends AccountPart>(grant: G, accountId: string): G {
  const [first, ...others] = grant.accountChoices;
  const chosen = others.length === 0 ? first : grant.accountChoices.find(({ id }) => id === accountId);
  if (chosen === undefined) return grant;
  const { id, label, captured } = chosen;
  return { ...grant, account: { id, label }, captured: { ...grant.captured, ...captured }, accountChoices: [] };
}

export function grantedStatus({ accountChoices }: Pick<AccountPart, "accountChoices">): "active" | "needs_account" {
  return accountChoices.length === 0 ? "active" : "needs_account";
}

/** The caller-supplied fields of a connection, without its credentials. */
interface ConnectionDetails {
  readonly name: string;
  readonly providerKey: string;
  readonly endUser: EndUser | undefined;
  readonly scopes: readonly string[];
  /** Provider settings that are not secret, such as a host name. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** When the credentials expire. They may be refreshed before. */
  readonly expiresAt: Date | null;
  /** The id of the provider config that its grant belongs to; empty without one. */
  readonly providerConfigId: string;
}

/** A tenant's account in another system, without the credentials. */
export interface Connection extends ConnectionDetails, AccountPart, Stamps {
  readonly tenantId: TenantId;
  readonly id: ConnectionId;
  readonly environmentId: string;
  readonly environmentKey: string;
  /** Empty for providers of notifications, which are not in the catalogue. */
  readonly authMode: AuthMode | "";
  /** The manifest that was used for the grant; empty without one. */
  readonly manifestVersion: string;
  readonly manifestDigest: string;
  /** Raised with every change of the credentials. */
  readonly credentialVersion: number;
  readonly status: ConnectionStatus;
  readonly statusReason: ReauthReason | "";
  readonly providerRevocation: ProviderRevocation;
  /** When the grant ends by itself, so that access must be granted again; null if it does not. */
  readonly grantExpiresAt: Date | null;
  readonly lastRefreshedAt: Date | null;
  readonly lastRefreshError: string;
  readonly lastTestedAt: Date | null;
  /** The class of the last test's result; empty before the first. */
  readonly lastTestClass: string;
  readonly revokedAt: Date | null;
}

/** One attempt to connect an account or to renew its tokens. It has no secrets. */
export interface ConnectionAttempt {
  readonly at: Date;
  readonly kind: "connect" | "refresh";
  /** Why a refresh was requested; empty for a connect session. */
  readonly cause: string;
  /** Empty for a refresh. */
  readonly connectSessionId: string;
  /** The result. malformed: the answer is not that of a token endpoint. unavailable: it may work later. */
  readonly outcome: "succeeded" | "refused" | "malformed" | "unavailable";
  /** Why it did not succeed; safe to show. */
  readonly code: string;
}

/** A connection with its sealed credentials. */
export interface SealedConnection extends Connection {
  readonly ciphertext: string;
  readonly keyId: string;
}

/** Credential values by name. Tokens are `access_token` and `refresh_token`. */
export type Credentials = Readonly<Record<string, string>>;

export interface NewConnection extends ConnectionDetails {
  /** Empty for production. */
  readonly environmentId: string;
  /** Empty for the provider's default. */
  readonly authMode: AuthMode | "";
  readonly credentials: Credentials;
}

/** Maximum number of connections per tenant, without revoked ones. */
export const connectionsMax = 100_000;

const settingsBytesMax = 16 * 1024;
const credentialsBytesMax = 64 * 1024;

/** The modes whose requests carry a token that is fetched and renewed. */
const tokenModes: ReadonlySet<string> = new Set(["oauth2", "oauth2_cc", "two_step", "jwt"]);

/** Whether the requests of a mode carry a token that is fetched and renewed. */
export function hasTokens(mode: AuthMode | ""): boolean {
  return tokenModes.has(mode);
}

/** Whether credentials of a mode are renewed without the end user. */
export function canRenew(mode: AuthMode | "", credentials: Credentials): boolean {
  return mode === "oauth2" ? credentials.refresh_token !== undefined : hasTokens(mode);
}

/** Checks the rules that the definitions cannot express. */
export function checkNewConnection({ settings, credentials, expiresAt }: NewConnection, nowMs: number): void {
  checkSizes(settings, credentials);
  checkExpiry(expiresAt, nowMs);
}

/** Checks that credentials expire in the future, if ever. */
export function checkExpiry(expiresAt: Date | null, nowMs: number): void {
  if (expiresAt !== null && expiresAt.getTime() <= nowMs) {
    throw invalid("expires_at", "future", "must be in the future (for example: 2030-01-31T00:00:00Z)");
  }
}

export function checkSizes(settings: Readonly<Record<string, unknown>>, credentials: Credentials): void {
  if (Buffer.byteLength(JSON.stringify(settings)) > settingsBytesMax) {
    throw invalid("settings", "max_bytes", `must have at most ${settingsBytesMax} bytes as JSON`);
  }
  if (Buffer.byteLength(JSON.stringify(credentials)) > credentialsBytesMax) {
    throw invalid("credentials", "max_bytes", `must have at most ${credentialsBytesMax} bytes as JSON`);
  }
}

/** The binding of a connection's credentials: they cannot be decrypted for another tenant, record or field. */
export function bindingOf({ tenantId, id }: { tenantId: string; id: string }): Binding {
  return { tenantId, recordId: id, field: "connection.credentials" };
}

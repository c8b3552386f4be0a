import { invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Binding } from "../../../../platform/crypto/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

/** A connection's id. */
export type ConnectionId = string & { readonly __id: "connection" };

/** A connection's status. `needs_reauth`: unusable until access is granted again. */
export type ConnectionStatus = "active" | "needs_reauth" | "revoked";

/** The end user on whose behalf a connection acts. */
export interface EndUser {
  readonly id: string;
  readonly email: string;
  readonly displayName: string;
}

/** The caller-supplied fields of a connection, without its credentials. */
interface ConnectionDetails {
  readonly name: string;
  readonly providerKey: string;
  readonly endUser: EndUser | undefined;
  readonly scopes: readonly string[];
  /** Provider settings that are not secret, such as a host name. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly expiresAt: Date | null;
}

/** A tenant's account in another system, without the credentials. */
export interface Connection extends ConnectionDetails, Stamps {
  readonly tenantId: TenantId;
  readonly id: ConnectionId;
  /** The id of the provider configuration that it was created from; empty without one. */
  readonly providerConfigId: string;
  readonly status: ConnectionStatus;
  readonly lastRefreshedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** A connection with its sealed credentials. */
export interface SealedConnection extends Connection {
  readonly ciphertext: string;
  readonly keyId: string;
}

/** Credential values by name. */
export type Credentials = Readonly<Record<string, string>>;

/** The input for a new connection. */
export interface NewConnection extends ConnectionDetails {
  readonly credentials: Credentials;
}

/** Maximum number of connections per tenant, without revoked ones. */
export const connectionsMax = 1000;

const settingsBytesMax = 16 * 1024;
const credentialsBytesMax = 64 * 1024;

/** Checks the rules that the definitions cannot express. */
export function checkNewConnection({ settings, credentials, expiresAt }: NewConnection, nowMs: number): void {
  if (Buffer.byteLength(JSON.stringify(settings)) > settingsBytesMax) {
    throw invalid("settings", "max_bytes", `must have at most ${settingsBytesMax} bytes as JSON`);
  }
  if (Buffer.byteLength(JSON.stringify(credentials)) > credentialsBytesMax) {
    throw invalid("credentials", "max_bytes", `must have at most ${credentialsBytesMax} bytes as JSON`);
  }
  if (expiresAt !== null && expiresAt.getTime() <= nowMs) {
    throw invalid("expires_at", "future", "must be in the future (for example: 2030-01-31T00:00:00Z)");
  }
}

/** The binding of a connection's credentials: they cannot be decrypted for another tenant, record or field. */
export function bindingOf({ tenantId, id }: { tenantId: string; id: string }): Binding {
  return { tenantId, recordId: id, field: "connection.credentials" };
}

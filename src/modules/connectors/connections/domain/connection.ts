import { invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Binding } from "../../../../platform/crypto/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

/** A connection's id. */
export type ConnectionId = string & { readonly __id: "connection" };

/** Whether a connection can be used; needs_reauth: not until somebody grants access again. */
export type ConnectionStatus = "active" | "needs_reauth" | "revoked";

/** For whom a connection acts. */
export interface EndUser {
  readonly id: string;
  readonly email: string;
  readonly displayName: string;
}

/** What a connection is made of, besides its credentials. */
interface ConnectionDetails {
  readonly name: string;
  readonly providerKey: string;
  readonly endUser: EndUser | undefined;
  readonly scopes: readonly string[];
  /** What is no secret, such as a host name. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly expiresAt: Date | null;
}

/** What the service needs to act for a tenant elsewhere, without the credentials. */
export interface Connection extends ConnectionDetails, Stamps {
  readonly tenantId: TenantId;
  readonly id: ConnectionId;
  /** The configuration that it was made with; empty while it stands for itself. */
  readonly providerConfigId: string;
  readonly status: ConnectionStatus;
  readonly lastRefreshedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** A connection with its credentials, sealed. */
export interface SealedConnection extends Connection {
  readonly ciphertext: string;
  readonly keyId: string;
}

/** Texts that prove who the tenant is elsewhere, by name. */
export type Credentials = Readonly<Record<string, string>>;

/** What is asked for a new connection. */
export interface NewConnection extends ConnectionDetails {
  readonly credentials: Credentials;
}

/** How many connections in use a tenant may have. */
export const connectionsMax = 1000;

const settingsBytesMax = 16 * 1024;
const credentialsBytesMax = 64 * 1024;

/** Refuses what no single field's rules tell. */
export function checkNewConnection({ settings, credentials, expiresAt }: NewConnection, nowMs: number): void {
  if (Buffer.byteLength(JSON.stringify(settings)) > settingsBytesMax) {
    throw invalid("settings", "max_bytes", `must have at most ${settingsBytesMax} bytes as JSON`);
  }
  if (Buffer.byteLength(JSON.stringify(credentials)) > credentialsBytesMax) {
    throw invalid("credentials", "max_bytes", `must have at most ${credentialsBytesMax} bytes as JSON`);
  }
  if (expiresAt !== null && expiresAt.getTime() <= nowMs) throw invalid("expires_at", "future", "must lie ahead");
}

/** What a connection's credentials are bound to: they open in no other tenant, record or field. */
export function bindingOf({ tenantId, id }: { tenantId: string; id: string }): Binding {
  return { tenantId, recordId: id, field: "connection.credentials" };
}

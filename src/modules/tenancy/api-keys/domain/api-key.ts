import {
  type EnvironmentMode,
  grantedScopes,
  type Principal,
  type TenantId,
} from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

/** An API key without its secret. */
export interface ApiKey extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly name: string;
  /** `sk_<env>_<key id>`: the public part, which identifies the key. */
  readonly prefix: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  readonly environmentMode: EnvironmentMode;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly createdBy: string;
  readonly revokedAt: Date | null;
  readonly revokedBy: string;
}

/** An API key with the hash of its secret. */
export interface StoredApiKey extends ApiKey {
  readonly secretHash: string;
}

/** An API key's status. */
export type ApiKeyStatus = "active" | "revoked" | "expired";

/** A key's status at a time. A revoked key stays revoked after it expires. */
export function statusOf({ revokedAt, expiresAt }: ApiKey, nowMs: number): ApiKeyStatus {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt.getTime() <= nowMs ? "expired" : "active";
}

/** The caller that a key identifies. */
export function principalOf(key: ApiKey): Principal {
  return {
    tenantId: key.tenantId,
    subject: `key:${key.id}`,
    kind: "api_key",
    roles: key.roles,
    scopes: grantedScopes(key.roles, key.scopes),
    environmentMode: key.environmentMode,
    expiresAt: key.expiresAt ?? undefined,
  };
}

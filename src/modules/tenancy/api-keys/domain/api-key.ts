import {
  type EnvironmentMode,
  grantedScopes,
  limitAccess,
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
  /** Its own rate limit; 0 for none. */
  readonly maxRps: number;
  readonly lastUsedAt: Date | null;
  readonly createdBy: string;
  /** The subject at the start of the chain of keys that created keys; empty if that is nobody of the tenant. */
  readonly owner: string;
  /** Roles that only the owner's token had when the chain began, so that they cannot be looked up. */
  readonly tokenRoles: readonly string[];
  readonly revokedAt: Date | null;
  readonly revokedBy: string;
}

/** An API key with the hash of its secret. */
export interface StoredApiKey extends ApiKey {
  readonly secretHash: string;
}

export type ApiKeyStatus = "active" | "revoked" | "expired";

/** A key's status at a time. A revoked key stays revoked after it expires. */
export function statusOf({ revokedAt, expiresAt }: ApiKey, nowMs: number): ApiKeyStatus {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt.getTime() <= nowMs ? "expired" : "active";
}

/** The access of a key's owner now. */
export interface OwnerAccess {
  readonly status: "invited" | "active" | "suspended" | "removed";
  readonly roles: readonly string[];
  readonly environmentMode: EnvironmentMode;
  readonly expiresAt: Date | null;
}

/**
 * The caller that a key identifies, with no more access than the owner has now; undefined if that is none. An owner who is not
 * a member, such as a service, does not limit the key.
 */
export function principalOf(key: ApiKey, owner: OwnerAccess | undefined): Principal | undefined {
  const principal: Principal = {
    tenantId: key.tenantId,
    subject: `key:${key.id}`,
    kind: "api_key",
    roles: key.roles,
    scopes: grantedScopes(key.roles, key.scopes),
    environmentMode: key.environmentMode,
    expiresAt: key.expiresAt ?? undefined,
    ...(key.maxRps > 0 && { maxRps: key.maxRps }),
  };
  if (owner === undefined) return principal;
  if (owner.status === "suspended" || owner.status === "removed") return undefined;
  const roles = [...new Set([...owner.roles, ...key.tokenRoles])];
  const { environmentMode, expiresAt } = owner;
  const scopes = grantedScopes(roles, []);
  return limitAccess(principal, { roles, scopes, environmentMode, expiresAt: expiresAt ?? undefined });
}

import type { EnvironmentMode, TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

/** A key, without its secret. */
export interface ApiKey extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly name: string;
  /** `sk_<env>_<key id>`: what a key is looked up by. */
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

/** A key with the hash of its secret. */
export interface StoredApiKey extends ApiKey {
  readonly secretHash: string;
}

/** Where a key stands at a moment. */
export type ApiKeyStatus = "active" | "revoked" | "expired";

/** Where a key stands at a moment: revoking goes before expiring. */
export function statusOf({ revokedAt, expiresAt }: ApiKey, nowMs: number): ApiKeyStatus {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && expiresAt.getTime() <= nowMs ? "expired" : "active";
}

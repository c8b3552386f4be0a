import {
  covers,
  type EnvironmentMode,
  type Principal,
  roleBeyond,
  type TenantId,
} from "../../../platform/access/index.ts";
import type { Stamps } from "../../../platform/records/index.ts";

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

/** What is asked for a key. */
export type Grant = Pick<ApiKey, "roles" | "scopes" | "environmentMode">;

/** The first thing that a creator asks to give away without having it; undefined when there is none. */
export function beyondCreator(creator: Principal, { roles, scopes, environmentMode }: Grant): string | undefined {
  const beyond = roleBeyond(creator, roles) ?? scopes.find((scope) => !covers(creator.scopes, scope));
  if (beyond !== undefined) return beyond;
  const confined = creator.environmentMode === "any" || creator.environmentMode === environmentMode;
  return confined ? undefined : `the environment mode ${environmentMode}`;
}

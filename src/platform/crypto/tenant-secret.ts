import { randomBytes } from "node:crypto";
import type { TenantId } from "../access/index.ts";

const pattern = /^([0-9A-Z]{26})[A-Za-z0-9_-]{43}$/;

/** A new secret for callers whose tenant is not known yet. It begins with the id of the tenant, in whose rows its hash is found. */
export function newTenantSecret(tenantId: TenantId): string {
  return tenantId + randomBytes(32).toString("base64url");
}

/** The tenant that a presented secret names; empty for other text. Only the stored hash proves the secret. */
export function tenantOfSecret(secret: string): TenantId {
  return (pattern.exec(secret)?.[1] ?? "") as TenantId;
}

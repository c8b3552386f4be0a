import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Config, keyFormat } from "../config/index.ts";
import { type ApiKeys, createKeyText, type MemberAccounts } from "../modules/tenancy/index.ts";
import { inTenant } from "../modules/tenant-work.ts";
import type { TenantId } from "../platform/access/index.ts";
import type { Clock } from "../platform/clock/clock.ts";
import type { Database } from "../platform/db/index.ts";
import { readOrCreateSecret } from "./secret-file.ts";

interface Dependencies {
  readonly config: Config;
  readonly db: Database;
  readonly clock: Clock;
  readonly apiKeys: ApiKeys;
  readonly tenantId: TenantId;
}

/** The admin key of the operator who started the node. */
export interface AdminAccess {
  readonly key: string;
  readonly keyId: string;
  /** The file with the key; undefined for the key in auth.bootstrap_api_key. */
  readonly file: string | undefined;
  /** Whether this start created the key. */
  readonly isNew: boolean;
}

/**
 * Ensures that an admin key exists: the one in auth.bootstrap_api_key or, with the embedded PostgreSQL, one that is
 * generated once and stored in the data directory, readable by its owner only. Returns undefined if the key must not be
 * shown on this machine or was revoked.
 */
export async function ensureAdminAccess(dependencies: Dependencies): Promise<AdminAccess | undefined> {
  const { config, db, clock, apiKeys, tenantId } = dependencies;
  if (!config["auth.api_key_enabled"]) return undefined;
  const nowMs = clock.now();
  const chosen = config["auth.bootstrap_api_key"];
  if (chosen !== "") {
    await apiKeys.ensureBootstrapKey(db, tenantId, chosen, nowMs);
  }
  if (config["database.url"] !== "") return undefined;
  const accessWith = async (key: string, file: string | undefined, isNew: boolean) => {
    const verified = await apiKeys.verifier.verify(key);
    return verified && { key, keyId: verified.key.id, file, isNew };
  };
  if (chosen !== "") return accessWith(chosen, undefined, false);
  // The file is written before the database row, so that no stored key is unknown to the operator. A start that stopped in
  // between left only the file, so every start stores its key again. A revoked key stays revoked.
  const file = resolve(config["data.dir"], "admin.key");
  const isNew = !existsSync(file);
  const key = readOrCreateSecret(file, () => createKeyText("dev", nowMs));
  if (!keyFormat.test(key))
    throw new Error(`${file} contains no valid API key. Delete the file; the next start creates a new key.`);
  await apiKeys.ensureBootstrapKey(db, tenantId, key, nowMs);
  return accessWith(key, file, isNew);
}

/**
 * Ensures that a second person exists, next to the operator of a machine with the embedded PostgreSQL, so that approvals can be
 * tried. Returns the id of the member.
 */
export async function ensureApprover(
  dependencies: { readonly db: Database; readonly clock: Clock },
  accounts: MemberAccounts,
  tenantId: TenantId,
): Promise<string> {
  const email = "approver@localhost";
  return inTenant(dependencies, tenantId, async (context) => {
    const found = await accounts.findByEmail(context.sql, tenantId, email);
    if (found !== undefined) return found.id;
    const roles = ["viewer", "promotion_approver", "workflow_approver"];
    return (await accounts.create(context, { email, displayName: "Approver", roles, isActive: true })).id;
  });
}

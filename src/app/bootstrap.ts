import type { Config } from "../config/index.ts";
import { type ApiKeys, newKeyText } from "../modules/api-keys/index.ts";
import type { TenantId } from "../platform/access/index.ts";
import type { Database } from "../platform/db/index.ts";

interface Parts {
  readonly config: Config;
  readonly db: Database;
  readonly apiKeys: ApiKeys;
  readonly tenantId: TenantId;
}

/**
 * Makes sure that somebody can get in: keeps the key that the operator chose, or, with the embedded PostgreSQL and no
 * key at all yet, makes an admin key. Answers with a key that was made or chosen, to be shown once.
 */
export async function firstAccess({ config, db, apiKeys, tenantId }: Parts): Promise<string | undefined> {
  if (!config["auth.api_key_enabled"]) return undefined;
  const chosen = config["auth.bootstrap_api_key"];
  if (chosen === "" && (config["database.url"] !== "" || (await hasKeys(db, tenantId)))) return undefined;
  const nowMs = Date.now();
  const key = chosen || newKeyText("dev", nowMs);
  await db.transaction(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended('switchyard.first_access', 0))`;
    await apiKeys.keep(tx, tenantId, key, nowMs);
  });
  return key;
}

async function hasKeys({ sql }: Database, tenantId: TenantId): Promise<boolean> {
  const rows = await sql`select 1 from api_keys where tenant_id = ${tenantId} limit 1`;
  return rows.length > 0;
}

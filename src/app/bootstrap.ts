import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
 * Makes sure that somebody can get in, and answers with an admin key to show: the one that the operator chose or,
 * with the embedded PostgreSQL, one that is made once and kept beside the data, readable to its owner only.
 */
export async function firstAccess({ config, db, apiKeys, tenantId }: Parts): Promise<string | undefined> {
  if (!config["auth.api_key_enabled"]) return undefined;
  const nowMs = Date.now();
  const chosen = config["auth.bootstrap_api_key"];
  if (chosen !== "") {
    await apiKeys.keep(db, tenantId, chosen, nowMs);
    return chosen;
  }
  if (config["database.url"] !== "") return undefined;
  const path = join(config["data.dir"], "admin.key");
  if (existsSync(path)) {
    const kept = readFileSync(path, "utf8").trim();
    return (await apiKeys.verifier.verify(kept)) === undefined ? undefined : kept;
  }
  const made = newKeyText("dev", nowMs);
  // The file first: a key that was stored and then lost would help nobody.
  writeFileSync(path, `${made}\n`, { mode: 0o600, flag: "wx" });
  await apiKeys.keep(db, tenantId, made, nowMs);
  return made;
}

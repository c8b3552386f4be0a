import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Config, keyFormat } from "../config/index.ts";
import { type ApiKeys, createKeyText } from "../modules/tenancy/index.ts";
import type { TenantId } from "../platform/access/index.ts";
import type { Database } from "../platform/db/index.ts";
import { keptText } from "./kept-text.ts";

interface Parts {
  readonly config: Config;
  readonly db: Database;
  readonly apiKeys: ApiKeys;
  readonly tenantId: TenantId;
}

/** How whoever started the node gets in as an admin. */
export interface AdminAccess {
  readonly key: string;
  /** The file that holds the key; undefined for a key that the operator chose. */
  readonly file: string | undefined;
  /** Whether this start made the key. */
  readonly isNew: boolean;
}

/**
 * Makes sure that somebody can get in: with the key that the operator chose or, with the embedded PostgreSQL, one that
 * is made once and kept beside the data, readable to its owner only. Undefined where nobody at this machine may know a
 * key, or where it was revoked.
 */
export async function firstAccess({ config, db, apiKeys, tenantId }: Parts): Promise<AdminAccess | undefined> {
  if (!config["auth.api_key_enabled"]) return undefined;
  const nowMs = Date.now();
  const chosen = config["auth.bootstrap_api_key"];
  if (chosen !== "") {
    await apiKeys.ensureBootstrapKey(db, tenantId, chosen, nowMs);
  }
  if (config["database.url"] !== "") return undefined;
  const isValid = async (key: string) => (await apiKeys.verifier.verify(key)) !== undefined;
  if (chosen !== "") return (await isValid(chosen)) ? { key: chosen, file: undefined, isNew: false } : undefined;
  // The file first: a key that was stored and then lost would help nobody. A start that was cut off in between left
  // only the file, so that the key in it is stored at every start; one that was revoked stays so.
  const file = resolve(config["data.dir"], "admin.key");
  const isNew = !existsSync(file);
  const key = keptText(file, () => createKeyText("dev", nowMs));
  if (!keyFormat.test(key)) throw new Error(`${file} holds no key: remove it, and the next start makes another.`);
  await apiKeys.ensureBootstrapKey(db, tenantId, key, nowMs);
  return (await isValid(key)) ? { key, file, isNew } : undefined;
}

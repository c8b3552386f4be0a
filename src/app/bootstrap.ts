import { join } from "node:path";
import { type Config, keyFormat } from "../config/index.ts";
import { type ApiKeys, newKeyText } from "../modules/api-keys/index.ts";
import type { TenantId } from "../platform/access/index.ts";
import type { Database } from "../platform/db/index.ts";
import { keptText } from "./kept-text.ts";

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
  }
  // Shown to whoever started it at their own machine; elsewhere it would end up in collected logs.
  if (config["database.url"] !== "") return undefined;
  if (chosen !== "") return (await apiKeys.verifier.verify(chosen)) === undefined ? undefined : chosen;
  // The file first: a key that was stored and then lost would help nobody. A start that was cut off in between left
  // only the file, so that the key in it is stored at every start; one that was revoked stays so.
  const path = join(config["data.dir"], "admin.key");
  const kept = keptText(path, () => newKeyText("dev", nowMs));
  if (!keyFormat.test(kept)) throw new Error(`${path} holds no key: remove it, and the next start makes another.`);
  await apiKeys.keep(db, tenantId, kept, nowMs);
  return (await apiKeys.verifier.verify(kept)) === undefined ? undefined : kept;
}

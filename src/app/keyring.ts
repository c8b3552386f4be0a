import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/index.ts";
import { createKeyring, type Keyring } from "../platform/crypto/index.ts";

/**
 * The keys that protect secrets. With the embedded PostgreSQL a master key is made once and kept beside its data;
 * with an external one the nodes must share a key, so there is none until it is set.
 */
export function keyringOf(config: Config): Keyring | undefined {
  const set = config["connector.encryption_key"];
  const active = set !== "" ? set : config["database.url"] === "" ? keptKey(config["data.dir"]) : undefined;
  if (active === undefined) return undefined;
  const activeKeyId = config["connector.encryption_key_id"];
  return createKeyring({ activeKeyId, keys: { ...config["connector.rotation_keys"], [activeKeyId]: active } });
}

function keptKey(dataDir: string): string {
  const path = join(dataDir, "master.key");
  if (!existsSync(path)) {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(path, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  }
  return readFileSync(path, "utf8").trim();
}

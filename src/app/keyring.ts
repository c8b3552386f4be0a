import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Config, ConfigError } from "../config/index.ts";
import { createKeyring, type Keyring } from "../platform/crypto/index.ts";
import { readOrCreateSecret } from "./secret-file.ts";

/**
 * Opens the keyring that encrypts secrets. With the embedded PostgreSQL a master key is generated once and stored in the
 * data directory. With an external database all nodes must share the key, so there is no keyring until a key is set.
 */
export function openKeyring(config: Config): Keyring | undefined {
  const set = config["connector.encryption_key"];
  const active =
    set !== ""
      ? set
      : config["database.url"] === ""
        ? readOrCreateSecret(join(config["data.dir"], "master.key"), newKey)
        : undefined;
  if (active === undefined) return undefined;
  const activeKeyId = config["connector.encryption_key_id"];
  try {
    return createKeyring({ activeKeyId, keys: { ...config["connector.rotation_keys"], [activeKeyId]: active } });
  } catch (cause) {
    throw new ConfigError(`connector.encryption_key, connector.rotation_keys: ${(cause as Error).message}`, { cause });
  }
}

function newKey(): string {
  return randomBytes(32).toString("base64");
}

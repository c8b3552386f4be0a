import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Config, ConfigError } from "../config/index.ts";
import { createKeyring, type Keyring } from "../platform/crypto/index.ts";
import { keptText } from "./kept-text.ts";

/**
 * The keys that protect secrets. With the embedded PostgreSQL a master key is made once and kept beside its data;
 * with an external one the nodes must share a key, so there is none until it is set.
 */
export function keyringOf(config: Config): Keyring | undefined {
  const set = config["connector.encryption_key"];
  const active =
    set !== ""
      ? set
      : config["database.url"] === ""
        ? keptText(join(config["data.dir"], "master.key"), newKey)
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

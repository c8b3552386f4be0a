import type { LoadedConfig } from "../../config/index.ts";
import { reasonOf } from "../../errors/index.ts";
import { CliError, exitCodes } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { withComposedNode } from "./composed-node.ts";
import { isInUse, withDatabaseUrl } from "./database-access.ts";
import { resolveSettings, type SettingsOptions } from "./settings-options.ts";

/** Re-encrypts secrets that were encrypted with another key than the active one. The service may keep running. */
export async function rotateKeysCommand(io: Io, options: SettingsOptions): Promise<number> {
  const loaded = await resolveSettings(io, options);
  const { config } = loaded;
  if (config["database.url"] !== "" && config["connector.encryption_key"] === "") {
    throw new CliError(
      "connector.encryption_key: is required to rotate keys (generate one with: openssl rand -base64 32)",
      exitCodes.configuration,
    );
  }
  const { reencrypted, unreadable } = await withDatabaseUrl(config, (url) => reencryptAll(loaded, url)).catch(
    (error) => {
      // The running service could not decrypt secrets encrypted here with a key that it does not know.
      const hint = isInUse(error)
        ? " Restart that service with the new key: it re-encrypts all secrets within the hour."
        : "";
      throw new CliError(`Cannot rotate keys: ${reasonOf(error)}${hint}`, exitCodes.failed, { cause: error });
    },
  );
  io.out(`Re-encrypted ${reencrypted} secrets with key ${config["connector.encryption_key_id"]}.\n`);
  if (unreadable === 0) return exitCodes.ok;
  throw new CliError(
    `${unreadable} secrets cannot be decrypted with any configured key. Add the missing key to connector.rotation_keys.`,
    exitCodes.failed,
  );
}

const reencryptAll = (loaded: LoadedConfig, url: string) =>
  withComposedNode(loaded, url, "rotate-keys", (node) =>
    node.tenancy.secrets.reencryptAll(new AbortController().signal),
  );

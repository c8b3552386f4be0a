import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Config, ConfigError } from "../config/index.ts";
import { type Audit, openAudit } from "../platform/audit/index.ts";
import type { Clock } from "../platform/clock/clock.ts";

/** Opens the audit log of the settings; undefined if there is none. */
export async function openAuditLog(config: Config, clock: Clock): Promise<Audit | undefined> {
  const sink = config["audit.sink"];
  if (sink === "") return undefined;
  const path = config["audit.path"] || join(config["data.dir"], "audit.log");
  const folder = dirname(path);
  if (sink === "file" && !existsSync(folder)) {
    const setting = config["audit.path"] === "" ? "data.dir" : "audit.path";
    throw new ConfigError(
      `${setting}: the directory ${folder} for the audit log (audit.sink=file) does not exist. Create it, or set audit.path to a file in an existing directory.`,
    );
  }
  const { "audit.hash_chain": hashChain, "audit.redact_pii": redactPii } = config;
  try {
    return await openAudit({ sink, path, hashChain, redactPii, clock });
  } catch (cause) {
    throw new ConfigError(`audit.path: ${path} cannot be opened: ${(cause as Error).message}`, { cause });
  }
}

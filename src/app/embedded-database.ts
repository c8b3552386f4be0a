import type { Config } from "../config/index.ts";
import { type Embedded, startEmbedded } from "../platform/db/embedded/embedded.ts";
import type { Log } from "../platform/log/log.ts";

/** Starts the embedded PostgreSQL of the settings; undefined if they name an external one. */
export async function startEmbeddedDatabase(config: Config, log: Log): Promise<Embedded | undefined> {
  if (config["database.url"] !== "") return undefined;
  return startEmbedded({ dataDir: config["data.dir"], log: (line) => log.debug({ postgres: line }, "postgres") });
}

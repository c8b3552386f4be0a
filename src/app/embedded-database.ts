import { setTimeout as delay } from "node:timers/promises";
import type { Config } from "../config/index.ts";
import { createBackupTarget, startArchiver } from "../platform/backup/index.ts";
import { type Embedded, startEmbedded } from "../platform/db/embedded/embedded.ts";
import type { Log } from "../platform/log/log.ts";
import { openBackupStore, openObjectStore } from "../platform/objects/index.ts";
import { version } from "./version.ts";

/** How long a stop waits for a slow backup store. What was not archived stays in the log, and is archived after the next start. */
const patienceMs = 10_000;

/** Starts the embedded PostgreSQL of the settings, and its backups; undefined if the settings name an external one. */
export async function startEmbeddedDatabase(config: Config, log: Log): Promise<Embedded | undefined> {
  if (config["database.url"] !== "") return undefined;
  const dataDir = config["data.dir"];
  const store = openBackupStore(config, Date.now);
  const embedded = await startEmbedded({
    dataDir,
    log: (line) => log.debug({ postgres: line }, "postgres"),
    isArchiving: store !== undefined,
    settings: { archive_timeout: String(config["backup.archive_timeout_s"]) },
  });
  if (store === undefined) return embedded;
  const target = createBackupTarget(store, config["backup.encryption_key"]);
  const objects = config["objects.backend"] === "file" ? openObjectStore(config, Date.now) : undefined;
  const archiver = await startArchiver({
    ...{ url: embedded.url, dataDir, target, objects, version, log, now: Date.now },
    intervalMs: config["backup.interval_h"] * 3_600_000,
    keepDays: config["backup.keep_days"],
  }).catch(async (error) => {
    await embedded.stop();
    throw error;
  });
  return {
    ...embedded,
    async stop() {
      await Promise.race([archiver.stop(), delay(patienceMs, undefined, { ref: false })]);
      await embedded.stop();
      // With the last file of the log, which is complete now.
      const archived = archiver
        .archive()
        .catch((error) => log.warn({ err: error }, "the last changes were not archived"));
      await Promise.race([archived, delay(patienceMs, undefined, { ref: false })]);
      target.close();
    },
  };
}

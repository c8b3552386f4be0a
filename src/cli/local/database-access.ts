import { fileURLToPath } from "node:url";
import type { Config } from "../../config/index.ts";
import { type Embedded, findRunningEmbedded, startEmbedded } from "../../platform/db/embedded/embedded.ts";

/** The directory of the schema migrations. */
export const migrationsFolder: string = fileURLToPath(new URL("../../../migrations", import.meta.url));

/** Runs work on the configured database. The embedded database is started for the duration of the work. */
export async function withDatabaseUrl<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  if (config["database.url"] !== "") return work(config["database.url"]);
  const embedded = await startEmbedded({ dataDir: config["data.dir"] });
  try {
    return await work(embedded.url);
  } finally {
    await embedded.stop();
  }
}

/** Runs work on the configured database, also if it is the embedded one of a running service. */
export async function withRunningDatabase<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  if (config["database.url"] !== "") return work(config["database.url"]);
  let embedded: Embedded;
  try {
    embedded = await startEmbedded({ dataDir: config["data.dir"] });
  } catch (error) {
    if (!isInUse(error)) throw error;
    const running = findRunningEmbedded(config["data.dir"]);
    return work(running.url).finally(running.close);
  }
  return work(embedded.url).finally(embedded.stop);
}

/** Whether an error means that a running service uses the embedded PostgreSQL. */
export function isInUse(error: unknown): error is Error {
  return error instanceof Error && /^The data folder .* is in use by /.test(error.message);
}

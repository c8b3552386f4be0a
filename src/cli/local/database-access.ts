import { fileURLToPath } from "node:url";
import type { Config } from "../../config/index.ts";
import { startEmbedded } from "../../platform/db/embedded/embedded.ts";

/** The folder of the schema's migrations. */
export const migrationsFolder: string = fileURLToPath(new URL("../../../migrations", import.meta.url));

/** Works on the configured database: the external one, or the embedded one, which runs for as long. */
export async function withDatabaseUrl<T>(config: Config, work: (url: string) => Promise<T>): Promise<T> {
  if (config["database.url"] !== "") return work(config["database.url"]);
  const embedded = await startEmbedded({ dataDir: config["data.dir"] });
  try {
    return await work(embedded.url);
  } finally {
    await embedded.stop();
  }
}

/** Whether an error says that a running service has the embedded PostgreSQL. */
export function isInUse(error: unknown): error is Error {
  return error instanceof Error && /^The data folder .* is in use by /.test(error.message);
}

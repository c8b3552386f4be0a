import { join } from "node:path";

/** The file that marks a data folder as incomplete while a backup is restored into it. */
export function restoreMarkFile(dataDir: string): string {
  return join(dataDir, "restore.json");
}

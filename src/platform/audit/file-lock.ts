import { DatabaseSync } from "node:sqlite";
import { fail } from "../../errors/index.ts";

/** An exclusive lock on a file. It is held until it is released or the process ends. */
export interface FileLock {
  release(): void;
}

/**
 * Acquires the lock `<path>.lock`; throws when another process holds it.
 *
 * Node has no file locks. SQLite uses those of the operating system, so a killed process leaves no stale lock behind and no
 * process id has to be checked. The lock file is an empty database.
 */
export function lockFile(path: string): FileLock {
  const database = new DatabaseSync(`${path}.lock`);
  try {
    database.exec("begin exclusive");
  } catch (cause) {
    database.close();
    throw fail("FAILED_PRECONDITION", {
      public: `The audit file ${path} is in use by another process; set a different audit.path for each instance.`,
      cause,
    });
  }
  return { release: () => database.close() };
}

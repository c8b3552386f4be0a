import { DatabaseSync } from "node:sqlite";
import { fail } from "../../errors/index.ts";

/** Holds a file for this process alone until it is released or the process ends, however it ends. */
export interface FileLock {
  release(): void;
}

/**
 * Takes the lock `<path>.lock`, or fails when another process has it.
 *
 * Node offers no file locks; SQLite does, and takes them from the operating system. So nothing is left behind by a
 * kill -9 and no process id is ever guessed at. The lock file is an empty database: no row is ever written.
 */
export function lockFile(path: string): FileLock {
  const database = new DatabaseSync(`${path}.lock`);
  try {
    database.exec("begin exclusive");
  } catch (cause) {
    database.close();
    throw fail("FAILED_PRECONDITION", {
      public: `The audit file ${path} is in use by another process; give each instance its own.`,
      cause,
    });
  }
  return { release: () => database.close() };
}

/** Cleans up after a test file. */
type Cleanup = () => unknown;

const cleanups: Cleanup[] = [];
let whenDone = () => {};

/**
 * Runs a cleanup after the last test of the current file. Helpers use it instead of `after`: one process runs many files
 * but loads a helper once, and `after` within a hook would run when that hook ends.
 */
export function afterFile(cleanup: Cleanup): void {
  cleanups.push(cleanup);
}

/** Registers a listener that runs when a file's cleanups are done. */
export function onCleanedUp(listener: () => void): void {
  whenDone = listener;
}

/** Runs all cleanups, latest first, even when some fail. */
export async function cleanUpFile(): Promise<void> {
  const errors: unknown[] = [];
  for (let cleanup = cleanups.pop(); cleanup !== undefined; cleanup = cleanups.pop()) {
    try {
      await cleanup();
    } catch (error) {
      errors.push(error);
    }
  }
  whenDone();
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} cleanups of a test file failed`);
}

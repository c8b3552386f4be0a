/** Runs after-commit actions; undefined if all of them are synchronous. A failed action never fails the committed work. */
export function runAfterCommit(actions: readonly (() => unknown)[]): Promise<unknown> | undefined {
  const pending: Promise<unknown>[] = [];
  for (const action of actions) {
    try {
      const result = action();
      if (result instanceof Promise) pending.push(result);
    } catch {
      // The other actions do not depend on it.
    }
  }
  return pending.length === 0 ? undefined : Promise.allSettled(pending);
}

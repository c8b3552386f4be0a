import type { TenantChanges } from "../../src/platform/db/index.ts";

/** A change feed that the test controls, including whether changes count as known. */
export function announcedChanges() {
  const listeners = new Set<(tenantId: string | undefined) => void>();
  const standing = { fresh: true };
  const changes: TenantChanges = {
    // A test may replace `record` in a copy of this object.
    async invalidate(context, tenantId = context.tenantId) {
      await this.record(context.sql, tenantId);
      context.afterCommit(() => this.published(tenantId));
    },
    record: async () => {},
    published: (tenantId) => {
      for (const listener of listeners) listener(tenantId);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    fresh: () => standing.fresh,
    start: async () => {},
    stop() {},
  };
  return { changes, standing };
}

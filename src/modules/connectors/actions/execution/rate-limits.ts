import type { TenantId } from "../../../../platform/access/index.ts";
import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";
import type { Clock } from "../../../../platform/clock/clock.ts";

/** The times until which providers accept no requests, as known to this node. */
export type RateLimits = ReturnType<typeof createRateLimits>;

/** The longest time that a provider's hint can block a connection. */
export const blockMsMax = 24 * 3_600_000;

const entriesMax = 10_000;

/** Returns the limited scope: a connection, or a provider that needs none. */
export function limitScope(connectionId: string, providerKey: string): string {
  return connectionId === "" ? `provider:${providerKey}` : connectionId;
}

/** Creates the limits that this node knows. Other nodes learn of them from the database when they start an execution. */
export function createRateLimits(clock: Clock) {
  // The database still has the limits that are evicted.
  const blocked = new BoundedCache<string, number>(entriesMax);

  return {
    /** 0 if requests are allowed. */
    blockedUntilMs(tenantId: TenantId, scope: string) {
      const untilMs = blocked.get(`${tenantId}:${scope}`) ?? 0;
      return untilMs > clock.now() ? untilMs : 0;
    },
    block(tenantId: TenantId, scope: string, untilMs: number) {
      const key = `${tenantId}:${scope}`;
      const nowMs = clock.now();
      const boundedMs = Math.min(untilMs, nowMs + blockMsMax);
      if (boundedMs <= Math.max(nowMs, blocked.get(key) ?? 0)) return;
      blocked.set(key, boundedMs);
    },
  };
}

import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";
import { availableSlots, type Pace, paceOf } from "../domain/allowance.ts";
import type { EndpointRef } from "../endpoints/endpoint-store.ts";

/** Limits this node's concurrent sends per endpoint and tenant, and records how fast each endpoint responds. */
export type SendSlots = ReturnType<typeof createSendSlots>;

const pacesMax = 10_000;

/** Creates the send slots of this node. */
export function createSendSlots() {
  const endpoints = new Map<string, number>();
  const tenants = new Map<string, number>();
  const paces = new BoundedCache<string, Pace>(pacesMax);
  // Slots count as slow from their reservation to their release, even if the endpoint's pace changes meanwhile.
  const reservedAsSlow = new Map<string, number>();
  let all = 0;
  let allSlow = 0;

  return {
    /** Reserves all slots that an endpoint can have now; returns their number. */
    reserve(endpoint: EndpointRef): number {
      const key = keyOf(endpoint);
      const pace = paces.get(key) ?? "unknown";
      const ofTenant = tenants.get(endpoint.tenantId) ?? 0;
      const count = availableSlots({ all, slow: allSlow, ofTenant, ofEndpoint: endpoints.get(key) ?? 0 }, pace);
      all += count;
      add(endpoints, key, count);
      add(tenants, endpoint.tenantId, count);
      if (pace === "slow") {
        allSlow += count;
        add(reservedAsSlow, key, count);
      }
      return count;
    },

    /** Releases reserved slots. */
    release(endpoint: EndpointRef, count: number) {
      const key = keyOf(endpoint);
      const asSlow = Math.min(count, reservedAsSlow.get(key) ?? 0);
      all -= count;
      allSlow -= asSlow;
      add(endpoints, key, -count);
      add(tenants, endpoint.tenantId, -count);
      add(reservedAsSlow, key, -asSlow);
    },

    /** Records an attempt, which determines the endpoint's pace. */
    recordResult(endpoint: EndpointRef, tookMs: number, succeeded: boolean) {
      paces.set(keyOf(endpoint), paceOf(tookMs, succeeded));
    },
  };
}

/** A unique key of an endpoint. */
export function keyOf({ tenantId, endpointId }: EndpointRef): string {
  return `${tenantId}/${endpointId}`;
}

function add(counts: Map<string, number>, key: string, count: number): void {
  const sum = (counts.get(key) ?? 0) + count;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}

import { allowanceOf, type Pace, paceOf } from "../domain/allowance.ts";
import type { EndpointRef } from "../endpoints/endpoint-store.ts";

/** What this node has under way to whom, and how each endpoint did last time. */
export interface Traffic {
  /** Takes as much room for messages to an endpoint as there is now; answers with how much. */
  reserve(endpoint: EndpointRef): number;
  /** Gives back room that was taken. */
  release(endpoint: EndpointRef, count: number): void;
  /** Learns from an attempt how an endpoint does. */
  learn(endpoint: EndpointRef, tookMs: number, succeeded: boolean): void;
}

const remembered = 10_000;

/** Makes the books of this node. */
export function createTraffic(): Traffic {
  const endpoints = new Map<string, number>();
  const tenants = new Map<string, number>();
  const paces = new Map<string, Pace>();
  // What counts as slow is fixed when room is taken, so that the same is given back.
  const reservedAsSlow = new Map<string, number>();
  let all = 0;
  let allSlow = 0;

  return {
    reserve(endpoint) {
      const key = keyOf(endpoint);
      const pace = paces.get(key) ?? "unknown";
      const ofTenant = tenants.get(endpoint.tenantId) ?? 0;
      const room = allowanceOf({ all, slow: allSlow, ofTenant, ofEndpoint: endpoints.get(key) ?? 0 }, pace);
      all += room;
      add(endpoints, key, room);
      add(tenants, endpoint.tenantId, room);
      if (pace === "slow") {
        allSlow += room;
        add(reservedAsSlow, key, room);
      }
      return room;
    },

    release(endpoint, count) {
      const key = keyOf(endpoint);
      const asSlow = Math.min(count, reservedAsSlow.get(key) ?? 0);
      all -= count;
      allSlow -= asSlow;
      add(endpoints, key, -count);
      add(tenants, endpoint.tenantId, -count);
      add(reservedAsSlow, key, -asSlow);
    },

    learn(endpoint, tookMs, succeeded) {
      if (paces.size >= remembered) paces.clear();
      paces.set(keyOf(endpoint), paceOf(tookMs, succeeded));
    },
  };
}

/** A key that no two endpoints share. */
export function keyOf({ tenantId, endpointId }: EndpointRef): string {
  return `${tenantId}/${endpointId}`;
}

function add(counts: Map<string, number>, key: string, count: number): void {
  const sum = (counts.get(key) ?? 0) + count;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}

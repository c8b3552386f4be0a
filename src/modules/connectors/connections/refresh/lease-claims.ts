import { setMaxListeners } from "node:events";
import { nextWake, type Signals } from "../../../../platform/db/index.ts";
import { topicOf } from "../connection-cache.ts";
import type { ConnectionRef } from "../store.ts";
import type { LeaseRefusal, leaseStore, RefreshLease } from "./lease-store.ts";

/** The times of refreshes; for tests. */
export interface RefreshTimes {
  /** How long a lease lasts; longer than a token request takes. */
  readonly leaseMs?: number;
  /** How long a refresh waits for one of another node. It never proceeds without the lease. */
  readonly waitMs?: number;
}

interface Dependencies {
  readonly leases: Pick<ReturnType<typeof leaseStore>, "claim">;
  readonly signals: Signals;
  readonly times: RefreshTimes | undefined;
}

/** Longer than the time limit of a token request, so that a holder that lives has its answer before the lease ends. */
const leaseMsDefault = 20_000;
/** Longer than a lease, so that a refresh survives the end of the node that holds it. */
const waitMsDefault = 25_000;
/** Covers lost signals. */
const pollMs = 250;

/** Claims leases for this node, and waits for those of other nodes. */
export function createLeaseClaims({ leases, signals, times }: Dependencies) {
  const { leaseMs = leaseMsDefault, waitMs = waitMsDefault } = times ?? {};
  const stopping = new AbortController();
  // Every refresh that waits adds a listener.
  setMaxListeners(0, stopping.signal);
  return {
    /**
     * Claims the lease of a connection. Waits while another node holds it, unless `settled` returns something meanwhile. Returns
     * a refusal if the lease does not get free in time, or must not be used yet.
     */
    async claim<T extends object>(
      ref: ConnectionRef,
      force: boolean,
      settled: () => Promise<T | undefined> = async () => undefined,
    ): Promise<RefreshLease | LeaseRefusal | T> {
      const untilMs = performance.now() + waitMs;
      for (;;) {
        // Subscribes before it looks, so that no signal is missed in between.
        const wake = nextWake(signals, topicOf(ref), stopping.signal, pollMs);
        try {
          const done = await settled();
          if (done !== undefined) return done;
          const claimed = await leases.claim(ref, leaseMs, force);
          if ("fence" in claimed || claimed.kind === "backing_off") return claimed;
          if (stopping.signal.aborted || performance.now() > untilMs) return claimed;
          await wake.reason;
        } finally {
          wake.cancel();
        }
      }
    },

    /** Ends waits for other nodes. */
    stop: () => stopping.abort(),
  };
}

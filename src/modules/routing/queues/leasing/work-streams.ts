import { create } from "@bufbuild/protobuf";
import { type LeasedItem, type WorkResponse, WorkResponseSchema } from "../../../../../gen/service/api/work_pb.ts";
import { wasWritten } from "../../../../chain/stream.ts";
import { fail } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { FinishedItem } from "../completion/completion-service.ts";
import { findHeldLeases, type LeaseRef } from "./lease-store.ts";

/** A worker's request for a stream of leased items. */
export interface WorkStreamRequest {
  readonly tenantId: TenantId;
  /** The most items of the stream that may be unfinished at a time. */
  readonly maxInFlight: number;
  /** Aborts when the worker disconnects or the node stops. */
  readonly signal: AbortSignal;
  /** Leases up to `max` items; waits for some, and may return none. The signal ends the wait. */
  lease(max: number, signal: AbortSignal): Promise<LeasedItem[]>;
  /** Returns items that the worker did not receive. */
  returnItems(leases: readonly LeaseRef[]): Promise<void>;
  /** Whether a finished item makes room for the next one, because the recipient has a capacity. */
  hasCapacity(): boolean;
}

/** The open streams of this node. */
export type WorkStreams = ReturnType<typeof createWorkStreams>;

/**
 * How soon a stream without credit looks for items that other nodes finished. The interval doubles while there are none.
 * A worker whose calls are balanced over the nodes would otherwise get its credit back only once a second.
 */
const pollMsMin = 50;
const pollMsMax = 1000;

/**
 * Creates this node's streams. A stream leases only when its reader asks for the next message, which is after the previous
 * one was written. So it never leases ahead of a worker that does not read.
 */
export function createWorkStreams(sql: Sql) {
  /** Frees the credit of an unfinished item, by its lease. */
  const releases = new Map<string, () => void>();
  /** Closes the open streams. */
  const closers = new Set<(reason: unknown) => void>();
  const returning = new Set<Promise<void>>();
  let isEnded = false;

  /** Returns items that the worker does not know of. If this fails, they return when their leases expire. */
  function returnUnwritten({ returnItems }: WorkStreamRequest, items: readonly LeasedItem[]): void {
    const done = returnItems(items.map(leaseOf)).catch(() => {});
    returning.add(done);
    done.finally(() => returning.delete(done));
  }

  return {
    open(request: WorkStreamRequest): AsyncIterableIterator<WorkResponse> {
      const { tenantId, maxInFlight, signal, lease, hasCapacity } = request;
      const unfinished = new Map<string, LeaseRef>();
      const ending = new AbortController();
      let last: WorkResponse | undefined;
      let pollMs = pollMsMin;
      /** Called when an item is finished or the stream ends. */
      let wake = () => {};

      const release = (key: string) => {
        unfinished.delete(key);
        releases.delete(key);
        wake();
      };
      const close = (reason: unknown) => {
        ending.abort(reason);
        closers.delete(close);
        signal.removeEventListener("abort", onAbort);
        for (const key of unfinished.keys()) releases.delete(key);
        wake();
      };
      const onAbort = () => close(signal.reason);

      function track(items: readonly LeasedItem[]): void {
        for (const item of items) {
          const lease = leaseOf(item);
          const key = keyOf(lease);
          unfinished.set(key, lease);
          releases.set(key, () => release(key));
        }
      }

      /** Waits until an item is finished on this node, or looks for items that ended elsewhere. */
      async function awaitCredit(): Promise<void> {
        const { promise: woken, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = setTimeout(resolve, pollMs);
        await woken;
        clearTimeout(timer);
        if (unfinished.size < maxInFlight || ending.signal.aborted) return;
        const held = new Set((await findHeldLeases(sql, tenantId, [...unfinished.values()])).map(keyOf));
        for (const key of unfinished.keys()) if (!held.has(key)) release(key);
        pollMs = unfinished.size < maxInFlight ? pollMsMin : Math.min(2 * pollMs, pollMsMax);
      }

      /** Leases items for the free credit. A finished item ends the wait if it may have made room for another. */
      function leaseNext(): Promise<LeasedItem[]> {
        const leasing = new AbortController();
        wake = () => {
          if (ending.signal.aborted || hasCapacity()) leasing.abort();
        };
        return lease(maxInFlight - unfinished.size, leasing.signal);
      }

      closers.add(close);
      signal.addEventListener("abort", onAbort);
      if (signal.aborted) onAbort();
      else if (isEnded) close(stopping());

      return {
        [Symbol.asyncIterator]() {
          return this;
        },
        async next() {
          // The reader asks for more, so it has written the last message.
          last = undefined;
          try {
            for (;;) {
              ending.signal.throwIfAborted();
              if (unfinished.size >= maxInFlight) {
                await awaitCredit();
                continue;
              }
              const items = await leaseNext();
              if (items.length === 0) continue;
              if (ending.signal.aborted) {
                returnUnwritten(request, items);
                continue;
              }
              track(items);
              last = create(WorkResponseSchema, { items });
              return { done: false, value: last };
            }
          } catch (error) {
            close(error);
            throw error;
          }
        },
        async return() {
          close(fail("CANCELED"));
          if (last !== undefined && !wasWritten(last)) returnUnwritten(request, last.items);
          last = undefined;
          return { done: true, value: undefined };
        },
      };
    },

    /** Frees the credit of finished items. Called after their commit. */
    release(finished: readonly FinishedItem[]) {
      if (releases.size === 0) return;
      for (const { report } of finished) releases.get(keyOf({ id: report.id, leaseToken: report.token }))?.();
    },

    /** Ends current and future streams; a stopping node calls it. */
    end() {
      isEnded = true;
      for (const close of closers) close(stopping());
    },

    /** Resolves when no item is being returned to the queue. */
    async idle() {
      await Promise.all(returning);
    },
  };
}

function stopping() {
  return fail("UNAVAILABLE", { public: "The instance is stopping." });
}

function leaseOf({ queueItemId, leaseToken }: LeasedItem): LeaseRef {
  return { id: queueItemId, leaseToken };
}

function keyOf({ id, leaseToken }: LeaseRef): string {
  return `${id}/${leaseToken}`;
}

import { RoundRobinQueue } from "./round-robin-queue.ts";

/** The time slices of one task on the event loop. */
export interface TimeSlices {
  /** Whether the current slice is used up. If so, await `next` before continuing. */
  isOver(): boolean;
  /** Resolves when the task's next slice begins. */
  next(): Promise<void>;
}

/**
 * Shares the event loop fairly between tenants.
 *
 * Long-running work is split into slices. Slices are scheduled round-robin between tenants, and round-robin between the tasks of
 * one tenant. After each slice the loop is left to all other work for a turn. If there is such work, it is left for a while, so
 * that sliced calls together take at most half of a busy loop, and background work at most a quarter.
 */
export interface EventLoopScheduler {
  /** Slices for a call with a waiting caller. The first slice starts immediately unless other calls of the tenant are queued. */
  forCall(tenantId: string): TimeSlices;
  /** Slices for background work. Its first slice is queued as well. */
  forBackground(tenantId: string): TimeSlices;
}

interface Settings {
  readonly nowMs?: () => number;
  readonly delay?: (action: () => void, ms: number) => void;
}

/** The length of a slice. A step of work may exceed it by up to 3 ms, so a slice takes 5 ms at most. */
export const sliceMs = 2;
/** Upper bound for the measured length of a slice. A longer measurement means that the process was suspended. */
const sliceMsMax = 5;
/** A turn of the loop without any other work is shorter. */
const idleTurnMs = 0.05;
/** How long a busy loop is left to other work after a slice, as a multiple of the slice's length. */
const restFactors = { call: 1, background: 3 } as const;

export function createEventLoopScheduler({
  nowMs = () => performance.now(),
  delay = setTimeout,
}: Settings = {}): EventLoopScheduler {
  const calls = new RoundRobinQueue<() => void>();
  const background = new RoundRobinQueue<() => void>();
  let isGranting = false;
  let callsFirst = true;
  let sliceStartMs = 0;
  let restUntilMs = 0;
  let restFactor = 0;

  function enqueue(queue: RoundRobinQueue<() => void>, tenantId: string, begin: () => void): void {
    queue.add(tenantId, begin);
    if (isGranting) return;
    isGranting = true;
    planSlice();
  }

  function planSlice(): void {
    const turnStartMs = nowMs();
    setImmediate(() => {
      const atMs = nowMs();
      if (atMs - turnStartMs < idleTurnMs) restUntilMs = 0;
      const waitMs = restUntilMs - atMs;
      // Timers have a resolution of 1 ms.
      if (waitMs >= 1) delay(beginSlice, waitMs);
      else beginSlice();
    });
  }

  function beginSlice(): void {
    // Both callbacks run in the same phase of the loop, so the time between them is exactly the slice.
    setImmediate(grant);
    setImmediate(endSlice);
  }

  function grant(): void {
    sliceStartMs = nowMs();
    const isCall = background.isEmpty || (callsFirst && !calls.isEmpty);
    callsFirst = !isCall;
    restFactor = restFactors[isCall ? "call" : "background"];
    const begin = (isCall ? calls : background).take();
    begin?.();
  }

  function endSlice(): void {
    const tookMs = Math.min(nowMs() - sliceStartMs, sliceMsMax);
    restUntilMs = Math.max(restUntilMs, sliceStartMs) + tookMs * (1 + restFactor);
    if (calls.isEmpty && background.isEmpty) isGranting = false;
    else planSlice();
  }

  function slicesOf(queue: RoundRobinQueue<() => void>, tenantId: string, firstEndMs: number): TimeSlices {
    let endMs = firstEndMs;
    return {
      isOver: () => nowMs() >= endMs,
      next: () =>
        new Promise((resolve) => {
          enqueue(queue, tenantId, () => {
            endMs = nowMs() + sliceMs;
            resolve();
          });
        }),
    };
  }

  return {
    forCall: (tenantId) => slicesOf(calls, tenantId, calls.has(tenantId) ? 0 : nowMs() + sliceMs),
    forBackground: (tenantId) => slicesOf(background, tenantId, 0),
  };
}

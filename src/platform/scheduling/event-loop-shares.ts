import { TenantRing } from "./tenant-ring.ts";

/** The turns of one task on the event loop. */
export interface Turns {
  /** Whether the current slice is used up: call `next` before going on. */
  isOver(): boolean;
  /** Resolves when the task's next slice begins. */
  next(): Promise<void>;
}

/**
 * Shares the event loop between tenants.
 *
 * Work that may take long runs in slices. Tenants take turns, a slice each, and so do the tasks of one tenant. After each slice
 * the loop belongs to everybody else for a while, so that sliced calls together take at most half of it, and background work a
 * quarter.
 */
export interface EventLoopShares {
  /** Turns for a call that somebody waits for. Its first slice begins at once, unless calls of its tenant wait for theirs. */
  forCall(tenantId: string): Turns;
  /** Turns for background work. It waits for its first slice, too. */
  forBackground(tenantId: string): Turns;
}

interface Settings {
  readonly nowMs?: () => number;
  readonly delay?: (action: () => void, ms: number) => void;
}

/** How long a slice may take. One step of work may run over it by up to 3 ms: no slice takes more than 5 ms. */
export const sliceMs = 2;
/** What a slice is taken to have lasted at most: if it seems longer, the process did not run all the time. */
const sliceMsMax = 5;
/** How long the loop is left alone after a slice, as a multiple of what the slice took. */
const restFactors = { call: 1, background: 3 } as const;

/** Creates the shares of one node. */
export function createEventLoopShares({
  nowMs = () => performance.now(),
  delay = setTimeout,
}: Settings = {}): EventLoopShares {
  const calls = new TenantRing<() => void>();
  const background = new TenantRing<() => void>();
  let isGranting = false;
  let callsFirst = true;
  let sliceStartMs = 0;
  let restUntilMs = 0;
  let restFactor = 0;

  function enqueue(ring: TenantRing<() => void>, tenantId: string, begin: () => void): void {
    ring.add(tenantId, begin);
    if (isGranting) return;
    isGranting = true;
    planSlice();
  }

  function planSlice(): void {
    const waitMs = restUntilMs - nowMs();
    // Timers have no finer grain.
    if (waitMs >= 1) delay(beginSlice, waitMs);
    else beginSlice();
  }

  function beginSlice(): void {
    // Both run in the same phase of the loop: what passes between them is the slice, and nothing else.
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

  function turns(ring: TenantRing<() => void>, tenantId: string, firstEndMs: number): Turns {
    let endMs = firstEndMs;
    return {
      isOver: () => nowMs() >= endMs,
      next: () =>
        new Promise((resolve) => {
          enqueue(ring, tenantId, () => {
            endMs = nowMs() + sliceMs;
            resolve();
          });
        }),
    };
  }

  return {
    forCall: (tenantId) => turns(calls, tenantId, calls.has(tenantId) ? 0 : nowMs() + sliceMs),
    forBackground: (tenantId) => turns(background, tenantId, 0),
  };
}

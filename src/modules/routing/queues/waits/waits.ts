import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Signals, Sql } from "../../../../platform/db/index.ts";
import type { Log } from "../../../../platform/log/log.ts";

/** The callers of this node that wait for something to happen to a target: an item, or a recipient. */
export interface Waits<Target> {
  /**
   * Begins to wait for a target. Throws if too many callers wait. The caller reads the target afterwards, because it may
   * have happened before, and always calls `cancel`.
   */
  begin(target: Target): Wait;
  /** Announces the targets to which it has happened on this node. Called after the commit. */
  announce(targets: readonly Target[]): void;
  /** Ends current and future waits; a stopping node calls it. */
  end(): void;
  isEnded(): boolean;
  /** Resolves when no statement is in flight. */
  idle(): Promise<void>;
}

/** One caller's wait. */
export interface Wait {
  /** Resolves when it may have happened, or after the time. */
  ended(ms: number, signal: AbortSignal): Promise<void>;
  cancel(): void;
}

/** How many callers may wait, on this node and of one tenant. */
export interface WaitLimits {
  readonly node: number;
  readonly tenant: number;
}

/** What waits of every kind need. */
export interface WaitParts {
  readonly sql: Sql;
  readonly signals: Signals;
  readonly log: Pick<Log, "warn">;
  readonly limits?: WaitLimits | undefined;
}

interface Dependencies<Target> extends Omit<WaitParts, "sql"> {
  /** Names the awaited target in signal topics. */
  readonly name: string;
  /** The name of a target; only equal targets have the same. */
  readonly keyOf: (target: Target) => string;
  /** Finds the targets to which it has happened. */
  readonly find: (targets: readonly Target[]) => Promise<readonly Target[]>;
  /** The error message of a caller beyond the limits. */
  readonly tooMany: string;
}

const defaultLimits: WaitLimits = { node: 10_000, tenant: 1000 };
/** How long nodes remember that a target is awaited. No wait is longer. */
const rememberMs = 30_000;
/** The most awaited targets of all nodes that a node remembers. */
const awaitedMax = 100_000;
/** A signal can be lost, and it can happen before other nodes know of the wait. One statement covers all waits. */
const firstPollMs = 100;
const pollMs = 1000;

/**
 * Creates this node's waits. A wait is announced to all nodes, so that a node sends a signal only for a target that
 * somebody awaits.
 */
export function createWaits<Target extends { readonly tenantId: TenantId }>(
  dependencies: Dependencies<Target>,
): Waits<Target> {
  const { name, signals, log, limits = defaultLimits, keyOf, find, tooMany } = dependencies;
  /** Signal topics: a caller waits for a target, and it has happened to an awaited target. */
  const [awaitedPrefix, endedPrefix] = [`${name}-awaited:`, `${name}-ended:`];
  const waits = new Map<string, { readonly target: Target; readonly wakes: Set<() => void> }>();
  const perTenant = new Map<TenantId, number>();
  /** Awaited targets of all nodes, with the time until which they are remembered, oldest first. */
  const awaited = new Map<string, number>();
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  let timerAtMs = Number.POSITIVE_INFINITY;
  let polling: Promise<void> | undefined;
  let isEnded = false;

  function remember(key: string): void {
    const nowMs = performance.now();
    awaited.delete(key);
    awaited.set(key, nowMs + rememberMs);
    for (const [oldest, untilMs] of awaited) {
      if (untilMs > nowMs && awaited.size <= awaitedMax) break;
      awaited.delete(oldest);
    }
  }

  function wake(key: string): void {
    for (const each of waits.get(key)?.wakes ?? []) each();
  }

  async function poll(): Promise<void> {
    try {
      const targets = [...waits.values()].map(({ target }) => target);
      for (const target of await find(targets)) wake(keyOf(target));
    } catch (error) {
      log.warn({ err: error }, `polling for each awaited ${name} failed`);
    }
    polling = undefined;
    schedule(pollMs);
  }

  function schedule(inMs: number): void {
    const atMs = performance.now() + inMs;
    if (isEnded || waits.size === 0 || polling !== undefined || atMs >= timerAtMs) return;
    clearTimeout(timer);
    timerAtMs = atMs;
    timer = setTimeout(() => {
      timerAtMs = Number.POSITIVE_INFINITY;
      if (waits.size > 0) polling = poll();
    }, inMs);
  }

  function add({ tenantId }: Target): void {
    const ofTenant = perTenant.get(tenantId) ?? 0;
    if (count >= limits.node || ofTenant >= limits.tenant)
      throw fail("RATE_LIMITED", { public: tooMany, headers: { "retry-after": "1" } });
    count++;
    perTenant.set(tenantId, ofTenant + 1);
  }

  function remove({ tenantId }: Target): void {
    count--;
    const ofTenant = perTenant.get(tenantId)! - 1;
    if (ofTenant === 0) perTenant.delete(tenantId);
    else perTenant.set(tenantId, ofTenant);
  }

  const subscriptions = [
    signals.onWakeUnder(awaitedPrefix, remember, () => {}),
    signals.onWakeUnder(endedPrefix, wake, () => schedule(0)),
  ];

  return {
    begin(target) {
      add(target);
      const key = keyOf(target);
      const { promise: woken, resolve } = Promise.withResolvers<void>();
      const entry = waits.get(key) ?? { target, wakes: new Set() };
      waits.set(key, entry);
      entry.wakes.add(resolve);
      if (isEnded) resolve();
      else signals.wake(awaitedPrefix + key);
      schedule(firstPollMs);
      return {
        async ended(ms, signal) {
          const end = () => resolve();
          const timeout = setTimeout(end, ms);
          signal.addEventListener("abort", end);
          if (signal.aborted) end();
          await woken;
          clearTimeout(timeout);
          signal.removeEventListener("abort", end);
        },
        cancel() {
          resolve();
          if (!entry.wakes.delete(resolve)) return;
          remove(target);
          if (entry.wakes.size === 0) waits.delete(key);
        },
      };
    },

    announce(targets) {
      if (awaited.size === 0) return;
      for (const target of targets) {
        const key = keyOf(target);
        if (awaited.delete(key)) signals.wake(endedPrefix + key);
      }
    },

    end() {
      isEnded = true;
      clearTimeout(timer);
      for (const unsubscribe of subscriptions) unsubscribe();
      for (const key of waits.keys()) wake(key);
    },

    isEnded: () => isEnded,

    async idle() {
      await polling;
    },
  };
}

/** A read that a caller waits for. */
interface AwaitedRead<Target, Result> {
  readonly waits: Waits<Target>;
  readonly target: Target;
  readonly waitMs: number;
  readonly read: () => Promise<Result>;
  /** Whether the result ends the wait. */
  readonly isDone: (result: Result) => boolean;
}

/** Reads until the result is done; returns the last result when the time is up. */
export async function readUntilDone<Target, Result>(
  context: Pick<Context, "signal" | "waited" | "recheckAccess">,
  { waits, target, waitMs, read, isDone }: AwaitedRead<Target, Result>,
): Promise<Result> {
  const first = await read();
  if (waitMs === 0 || isDone(first)) return first;
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    const wait = waits.begin(target);
    try {
      // Read again: it may have happened before the wait began.
      const current = await read();
      const leftMs = deadlineMs - performance.now();
      if (isDone(current) || leftMs <= 0 || waits.isEnded() || context.signal.aborted) return current;
      const startMs = performance.now();
      await wait.ended(leftMs, context.signal);
      context.waited(performance.now() - startMs);
      await context.recheckAccess();
    } finally {
      wait.cancel();
    }
  }
}

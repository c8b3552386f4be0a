import { fail } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Signals, Sql } from "../../../../platform/db/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import { type ItemKey, readEnded } from "./wait-store.ts";

/** The callers of this node that wait for the end of items. */
export interface ItemWaits {
  /**
   * Begins to wait for the end of an item. Throws if too many callers wait. The caller reads the item afterwards, because it
   * may have ended before, and always calls `cancel`.
   */
  begin(item: ItemKey): ItemWait;
  /** Announces items that have ended on this node. Called after their commit. */
  announce(ended: readonly ItemKey[]): void;
  /** Ends current and future waits; a stopping node calls it. */
  end(): void;
  isEnded(): boolean;
  /** Resolves when no statement is in flight. */
  idle(): Promise<void>;
}

/** One caller's wait. */
export interface ItemWait {
  /** Resolves when the item may have ended, or after the time. */
  ended(ms: number, signal: AbortSignal): Promise<void>;
  cancel(): void;
}

interface Parts {
  readonly sql: Sql;
  readonly signals: Signals;
  readonly log: Pick<Log, "warn">;
  readonly limits?: { readonly node: number; readonly tenant: number };
}

/** Signal topics: a caller waits for an item, and an awaited item has ended. */
const awaitedPrefix = "item-awaited:";
const endedPrefix = "item-ended:";

const defaultLimits = { node: 10_000, tenant: 1000 };
/** How long nodes remember that an item is awaited. No wait is longer. */
const rememberMs = 30_000;
/** The most awaited items of all nodes that a node remembers. */
const awaitedMax = 100_000;
/** A signal can be lost, and an item can end before other nodes know of the wait. One statement covers all waits. */
const firstPollMs = 100;
const pollMs = 1000;

/**
 * Creates this node's waits. A wait is announced to all nodes, so that a node sends a signal only for the end of an item
 * that somebody awaits.
 */
export function createItemWaits({ sql, signals, log, limits = defaultLimits }: Parts): ItemWaits {
  const waits = new Map<string, { readonly item: ItemKey; readonly wakes: Set<() => void> }>();
  const perTenant = new Map<TenantId, number>();
  /** Awaited items of all nodes, with the time until which they are remembered, oldest first. */
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
      const items = [...waits.values()].map(({ item }) => item);
      for (const item of await readEnded(sql, items)) wake(keyOf(item));
    } catch (error) {
      log.warn({ err: error }, "polling for awaited items failed");
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

  function add({ tenantId }: ItemKey): void {
    const ofTenant = perTenant.get(tenantId) ?? 0;
    if (count >= limits.node || ofTenant >= limits.tenant) throw tooMany();
    count++;
    perTenant.set(tenantId, ofTenant + 1);
  }

  function remove({ tenantId }: ItemKey): void {
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
    begin(item) {
      add(item);
      const key = keyOf(item);
      const { promise: woken, resolve } = Promise.withResolvers<void>();
      const entry = waits.get(key) ?? { item, wakes: new Set() };
      waits.set(key, entry);
      entry.wakes.add(resolve);
      if (isEnded) resolve();
      else signals.wake(awaitedPrefix + key);
      schedule(firstPollMs);
      return {
        async ended(ms, signal) {
          const timeout = setTimeout(resolve, ms);
          signal.addEventListener("abort", () => resolve());
          if (signal.aborted) resolve();
          await woken;
          clearTimeout(timeout);
        },
        cancel() {
          resolve();
          if (!entry.wakes.delete(resolve)) return;
          remove(item);
          if (entry.wakes.size === 0) waits.delete(key);
        },
      };
    },

    announce(ended) {
      if (awaited.size === 0) return;
      for (const item of ended) {
        const key = keyOf(item);
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

function keyOf({ tenantId, id }: ItemKey): string {
  return `${tenantId}:${id}`;
}

function tooMany() {
  return fail("RATE_LIMITED", {
    public: "Too many callers wait for items. Repeat the call later, or read the item without wait_s.",
    headers: { "retry-after": "1" },
  });
}

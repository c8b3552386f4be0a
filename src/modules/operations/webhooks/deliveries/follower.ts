import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database, Signals } from "../../../../platform/db/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { EventReader } from "../../events/index.ts";
import { fanOut } from "../domain/fan-out.ts";
import { type EndpointRef, endpointStore } from "../endpoints/endpoint-store.ts";
import { deliveryStore } from "./delivery-store.ts";

/** Creates deliveries from the event logs of tenants with endpoints. */
export interface Follower {
  /** Creates the deliveries of all new events of a tenant; returns false if another node is doing so. */
  follow(tenantId: TenantId): Promise<boolean>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const eventBatchSize = 200;
const tenantBatchSize = 1000;
const concurrencyMax = 4;
/** Delays of the retries after a wake: the signalled event may still be hidden behind a running transaction. */
const retryDelaysMs = [50, 200, 1000];

/** Signal topic for changes to the set of followed tenants. */
export const followTopic = "webhooks";

interface Parts {
  readonly db: Database;
  readonly signals: Signals;
  readonly reader: EventReader;
  readonly log: Log;
  /** Notifies this node's sender that an endpoint has due deliveries. */
  readonly onDue: (endpoint: EndpointRef) => void;
  readonly pollMs?: number;
}

/** Creates this node's follower. A lock on a tenant's cursor prevents two nodes from following the same log. */
export function createFollower({ db, signals, reader, log, onDue, pollMs = 2000 }: Parts): Follower {
  const waiting = new Map<TenantId, number>();
  const following = new Map<TenantId, Promise<void>>();
  const wakers = new Map<TenantId, () => void>();
  const timers = new Map<TenantId, NodeJS.Timeout>();
  let polling: Promise<void> | undefined;
  let pollAgain = false;
  let pollTimer: NodeJS.Timeout | undefined;
  let stopWaking: (() => void) | undefined;
  let stopped = true;

  /** Handles one batch of a tenant's log. Its deliveries and the new cursor are committed together. */
  async function fanOutBatch(tenantId: TenantId): Promise<{ events: number; endpoints: Set<string> } | undefined> {
    return db.transaction(async (tx) => {
      const store = endpointStore(tx);
      const position = await store.lockCursor(tenantId);
      if (position === undefined) return undefined;
      const events = await reader.headsAfter(tx, tenantId, position, eventBatchSize);
      const last = events.at(-1);
      if (last === undefined) return { events: 0, endpoints: new Set<string>() };
      // Endpoints are read after events, so that an endpoint created before an event is never missed.
      const deliveries = fanOut(events, await store.subscribers(tenantId));
      if (deliveries.length > 0) await deliveryStore(tx).insert(tenantId, deliveries);
      await store.moveCursor(tenantId, last);
      return { events: events.length, endpoints: new Set(deliveries.map(({ endpointId }) => endpointId)) };
    });
  }

  async function follow(tenantId: TenantId): Promise<boolean> {
    for (;;) {
      const done = await fanOutBatch(tenantId);
      if (done === undefined) return false;
      for (const endpointId of done.endpoints) onDue({ tenantId, endpointId });
      if (done.events < eventBatchSize || stopped) return true;
    }
  }

  /** Queues a tenant to be followed when a slot is free. `attempt` counts the retries for the same wake. */
  function enqueue(tenantId: TenantId, attempt: number): void {
    waiting.set(tenantId, Math.min(attempt, waiting.get(tenantId) ?? attempt));
    startNext();
  }

  function startNext(): void {
    for (const [tenantId, attempt] of waiting) {
      if (stopped || following.size >= concurrencyMax) return;
      if (following.has(tenantId)) continue;
      waiting.delete(tenantId);
      following.set(tenantId, run(tenantId, attempt));
    }
  }

  async function run(tenantId: TenantId, attempt: number): Promise<void> {
    await follow(tenantId).catch((error) =>
      log.warn({ err: error, tenant_id: tenantId }, "could not follow an event log"),
    );
    following.delete(tenantId);
    scheduleRetry(tenantId, attempt);
    startNext();
  }

  function scheduleRetry(tenantId: TenantId, attempt: number): void {
    const ms = retryDelaysMs[attempt];
    if (ms === undefined || stopped) return;
    clearTimeout(timers.get(tenantId));
    const timer = setTimeout(() => {
      timers.delete(tenantId);
      enqueue(tenantId, attempt + 1);
    }, ms);
    timers.set(tenantId, timer);
  }

  /** Refreshes the set of followed tenants, and queues those whose log has events without a signal. */
  async function poll(): Promise<void> {
    const store = endpointStore(db.sql);
    const followed = new Set<TenantId>();
    for (let after = ""; !stopped; ) {
      const places = await store.cursors(after, tenantBatchSize);
      // Listen before reading, so that a commit in between causes a wake.
      for (const { tenantId } of places) {
        followed.add(tenantId);
        if (!wakers.has(tenantId))
          wakers.set(
            tenantId,
            reader.onWake(tenantId, () => enqueue(tenantId, 0)),
          );
      }
      for (const tenantId of await reader.findTenantsBehind(db.sql, places)) enqueue(tenantId, retryDelaysMs.length);
      if (places.length < tenantBatchSize) break;
      after = places.at(-1)!.tenantId;
    }
    for (const [tenantId, stop] of wakers) {
      if (followed.has(tenantId)) continue;
      stop();
      wakers.delete(tenantId);
    }
  }

  function startPoll(): void {
    pollAgain = polling !== undefined;
    if (pollAgain || stopped) return;
    polling = poll()
      .catch((error) => log.warn({ err: error }, "could not read the event logs to follow"))
      .finally(() => {
        polling = undefined;
        if (pollAgain) startPoll();
      });
  }

  return {
    follow,
    async start() {
      stopped = false;
      stopWaking = signals.onWake(followTopic, startPoll);
      pollTimer = setInterval(startPoll, pollMs);
      startPoll();
      await polling;
    },
    async stop() {
      stopped = true;
      clearInterval(pollTimer);
      for (const timer of timers.values()) clearTimeout(timer);
      stopWaking?.();
      for (const stop of wakers.values()) stop();
      wakers.clear();
      await polling;
      await Promise.all(following.values());
    },
  };
}

import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database, Signals } from "../../../../platform/db/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { EventReader } from "../../events/index.ts";
import { deliveriesOf } from "../domain/fan-out.ts";
import { type EndpointRef, endpointStore } from "../endpoints/endpoint-store.ts";
import { deliveryStore } from "./delivery-store.ts";

/** Turns the logs of tenants with endpoints into deliveries. */
export interface Follower {
  /** Turns into deliveries what a tenant's log has now; answers false when another node is at it. */
  follow(tenantId: TenantId): Promise<boolean>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const eventsAtOnce = 200;
const tenantsAtOnce = 1000;
const parallel = 4;
/** How long to wait for what was announced and may stand behind a transaction under way. */
const soonMs = [50, 200, 1000];

/** The topic of changes to who is to be followed. */
export const followTopic = "webhooks";

interface Parts {
  readonly db: Database;
  readonly signals: Signals;
  readonly reader: EventReader;
  readonly log: Log;
  /** Tells this node's sender that an endpoint has something due. */
  readonly onDue: (endpoint: EndpointRef) => void;
  readonly pollMs?: number;
}

/** Makes this node's follower. Other nodes have theirs; a tenant's place in its log keeps them apart. */
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

  /** One bite of a tenant's log: its deliveries and the place after it are committed together. */
  async function bite(tenantId: TenantId): Promise<{ events: number; endpoints: Set<string> } | undefined> {
    return db.transaction(async (tx) => {
      const store = endpointStore(tx);
      const position = await store.lockCursor(tenantId);
      if (position === undefined) return undefined;
      const events = await reader.headsAfter(tx, tenantId, position, eventsAtOnce);
      const last = events.at(-1);
      if (last === undefined) return { events: 0, endpoints: new Set<string>() };
      // Endpoints are read after events: one that was there before an event is then never missed.
      const deliveries = deliveriesOf(events, await store.subscribers(tenantId));
      if (deliveries.length > 0) await deliveryStore(tx).insert(tenantId, deliveries);
      await store.moveCursor(tenantId, last);
      return { events: events.length, endpoints: new Set(deliveries.map(({ endpointId }) => endpointId)) };
    });
  }

  async function follow(tenantId: TenantId): Promise<boolean> {
    for (;;) {
      const done = await bite(tenantId);
      if (done === undefined) return false;
      for (const endpointId of done.endpoints) onDue({ tenantId, endpointId });
      if (done.events < eventsAtOnce || stopped) return true;
    }
  }

  /** Looks at a tenant's log as soon as there is room; `turn` counts how often that was for the same wake. */
  function ask(tenantId: TenantId, turn: number): void {
    waiting.set(tenantId, Math.min(turn, waiting.get(tenantId) ?? turn));
    pump();
  }

  function pump(): void {
    for (const [tenantId, turn] of waiting) {
      if (stopped || following.size >= parallel) return;
      if (following.has(tenantId)) continue;
      waiting.delete(tenantId);
      following.set(tenantId, run(tenantId, turn));
    }
  }

  async function run(tenantId: TenantId, turn: number): Promise<void> {
    await follow(tenantId).catch((error) =>
      log.warn({ err: error, tenant_id: tenantId }, "a log could not be followed"),
    );
    following.delete(tenantId);
    lookAgain(tenantId, turn);
    pump();
  }

  function lookAgain(tenantId: TenantId, turn: number): void {
    const ms = soonMs[turn];
    if (ms === undefined || stopped) return;
    clearTimeout(timers.get(tenantId));
    const timer = setTimeout(() => {
      timers.delete(tenantId);
      ask(tenantId, turn + 1);
    }, ms);
    timers.set(tenantId, timer);
  }

  /** Finds out whom to follow, and whose log has something that nobody told us of. */
  async function poll(): Promise<void> {
    const store = endpointStore(db.sql);
    const followed = new Set<TenantId>();
    for (let after = ""; !stopped; ) {
      const places = await store.cursors(after, tenantsAtOnce);
      // Listen before looking: what is committed in between then wakes us.
      for (const { tenantId } of places) {
        followed.add(tenantId);
        if (!wakers.has(tenantId))
          wakers.set(
            tenantId,
            reader.onWake(tenantId, () => ask(tenantId, 0)),
          );
      }
      for (const tenantId of await reader.behind(db.sql, places)) ask(tenantId, soonMs.length);
      if (places.length < tenantsAtOnce) break;
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
      .catch((error) => log.warn({ err: error }, "the logs to follow could not be read"))
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

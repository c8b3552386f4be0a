import type { TenantId } from "../../../platform/access/index.ts";
import type { NextDue } from "../../../platform/db/index.ts";
import { createRepeatedTask } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Position } from "./domain/event.ts";
import type { EventReader } from "./reader.ts";

export interface LogConsumer {
  /** Signal topic for changes to the set of followed tenants. */
  readonly topic: string;
  /** Now, while any log may be followed. */
  readonly nextFollowed: NextDue;
  /** The positions of up to `limit` tenants whose logs are followed, after a tenant. */
  positions(after: string, limit: number): Promise<readonly (Position & { readonly tenantId: TenantId })[]>;
  /** Handles all new events of a tenant. Never called concurrently for the same tenant on this node. */
  handle(tenantId: TenantId): Promise<unknown>;
  /** Interval of the scans that find new events without a signal, while any log may be followed. */
  readonly pollMs?: number;
}

/** Calls a consumer for the tenants whose logs have new events. */
export type LogFollower = ReturnType<typeof createLogFollower>;

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "log"> {
  readonly reader: EventReader;
}

const tenantBatchSize = 1000;
const concurrencyMax = 4;
/** Delays of the retries after a wake: the signalled event may still be hidden behind a running transaction. */
const retryDelaysMs = [50, 200, 1000];

/** Creates a follower of event logs on this node. */
export function createLogFollower({ db, signals, reader, log }: Dependencies, consumer: LogConsumer) {
  const { topic, nextFollowed, positions, handle, pollMs = 2000 } = consumer;
  const waiting = new Map<TenantId, number>();
  const following = new Map<TenantId, Promise<void>>();
  const wakers = new Map<TenantId, () => void>();
  const timers = new Map<TenantId, NodeJS.Timeout>();
  let stopped = true;

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
    await handle(tenantId).catch((error) =>
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
    const followed = new Set<TenantId>();
    for (let after = ""; !stopped; ) {
      const places = await positions(after, tenantBatchSize);
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

  const polls = createRepeatedTask({
    work: poll,
    onError: (error) => log.warn({ err: error }, "could not read the event logs to follow"),
    subscribe: ({ run, runEvery }) => [signals.onWake(topic, run), signals.onDue(nextFollowed, () => runEvery(pollMs))],
  });

  return {
    start() {
      stopped = false;
      return polls.start();
    },
    async stop() {
      stopped = true;
      await polls.stop();
      for (const timer of timers.values()) clearTimeout(timer);
      for (const stop of wakers.values()) stop();
      wakers.clear();
      await Promise.all(following.values());
    },
    /** Reads the set of followed tenants again. */
    refresh: polls.run,
    isStopped: (): boolean => stopped,
  };
}

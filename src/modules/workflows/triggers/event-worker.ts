import type { TenantId } from "../../../platform/access/index.ts";
import { CelError } from "../../../platform/cel/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { ulidMs } from "../../../platform/ids/ulid.ts";
import type { Shards } from "../../../platform/shards/index.ts";
import { shardOf } from "../../../platform/shards/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventHead, EventLogs } from "../../operations/index.ts";
import { depthOf, isFor, type LoggedEvent, matchesType } from "./domain/event-match.ts";
import { shardCount } from "./domain/trigger.ts";
import { applyOutcomes, type FiringOutcome } from "./domain/trigger-outcome.ts";
import type { Firing, StartFiring } from "./firing-starter.ts";
import { positionStore, type Subscriber } from "./position-store.ts";
import type { RecordResults } from "./trigger-recorder.ts";
import { isConditionTrue } from "./trigger-templates.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "shares"> {
  readonly shards: Shards;
  readonly eventLogs: EventLogs;
  readonly startFiring: StartFiring;
  readonly recordResults: RecordResults;
  /** Signal topic for changes of triggers. */
  readonly topic: string;
  readonly pollMs?: number;
}

const batchSize = 200;
const concurrentStartsMax = 50;

/** Creates the worker that starts the runs of event triggers. It reads the logs of tenants whose shards this node owns. */
export function createEventWorker(dependencies: Dependencies) {
  const { db, clock, shares, shards, eventLogs, startFiring, recordResults, topic, pollMs } = dependencies;
  const store = positionStore(db.sql);

  /** Handles a batch of events. Returns whether there may be more. */
  async function handleBatch(tenantId: TenantId): Promise<boolean> {
    const shard = shardOf(tenantId, shardCount);
    const epoch = shards.owned().get(shard);
    const position = epoch === undefined ? undefined : await store.findPosition(tenantId);
    if (epoch === undefined || position === undefined) return false;
    const heads = await eventLogs.reader.headsAfter(db.sql, tenantId, position, batchSize);
    const last = heads.at(-1);
    if (last === undefined) return false;
    // Triggers are read after events, so that a trigger created before an event is never missed.
    const triggers = await store.subscribers(tenantId, [...new Set(heads.map(({ stamp }) => stamp))]);
    const outcomes = await fireAll(tenantId, heads, triggers);
    const now = new Date(clock.now());
    const changes = triggers.flatMap((trigger) => {
      const own = outcomes.get(trigger.id) ?? [];
      return own.length === 0 ? [] : [{ trigger, status: applyOutcomes(trigger, own, now) }];
    });
    // Stored after the starts: if this node dies in between, they are repeated and find the same runs.
    const finish = async (sql: Sql): Promise<boolean> => {
      const current = shards.currentSql(sql, [[shard, epoch]]);
      if (!(await positionStore(sql).movePosition(tenantId, position, last, current))) return false;
      for (const change of changes) await positionStore(sql).finishEvents(change);
      return true;
    };
    const isMoved = await recordResults(changes, finish, changes.length === 0 ? "one" : "several");
    return isMoved && heads.length === batchSize;
  }

  /** Starts the runs for events; returns the outcomes of each trigger, in the order of its events. */
  async function fireAll(
    tenantId: TenantId,
    heads: readonly EventHead[],
    triggers: readonly Subscriber[],
  ): Promise<ReadonlyMap<string, readonly FiringOutcome[]>> {
    const candidates = triggers.flatMap((trigger) => {
      const { cause, earlierStamps } = trigger;
      if (cause.kind !== "event") return [];
      const isEarlier = new Set(earlierStamps);
      return heads
        .filter((head) => !isEarlier.has(head.stamp) && matchesType(cause.event.types, trigger.id, head))
        .map(({ id }) => ({ trigger, condition: cause.event.condition, eventId: id }));
    });
    const ids = [...new Set(candidates.map(({ eventId }) => eventId))].map((id) => ({ tenantId, id }));
    const events = new Map<string, LoggedEvent>(
      ids.length === 0 ? [] : (await eventLogs.reader.findMany(db.sql, ids)).map((event) => [event.id, event]),
    );
    const outcomes = new Map<string, FiringOutcome[]>();
    const firings: { trigger: Subscriber; firing: Firing; at: number }[] = [];
    const slices = shares.forCall(tenantId);
    for (const { trigger, condition, eventId } of candidates) {
      const event = events.get(eventId);
      if (event === undefined || !isFor(trigger, event)) continue;
      if (slices.isOver()) await slices.next();
      const own = outcomes.get(trigger.id) ?? [];
      outcomes.set(trigger.id, own);
      const ignored = tryCondition(condition, event);
      if (ignored === true) {
        const firing = { name: event.id, atMs: ulidMs(event.id), depth: depthOf(event), values: { event } };
        firings.push({ trigger, firing, at: own.length });
        own.push({ kind: "skipped" });
      } else if (ignored !== false) own.push(ignored);
    }
    for (let from = 0; from < firings.length; from += concurrentStartsMax) {
      const part = firings.slice(from, from + concurrentStartsMax);
      const done = await Promise.all(part.map(({ trigger, firing }) => startFiring(trigger, firing)));
      for (const [nth, { trigger, at }] of part.entries()) outcomes.get(trigger.id)![at] = done[nth]!;
    }
    return outcomes;
  }

  async function follow(tenantId: TenantId): Promise<void> {
    while (await handleBatch(tenantId)) if (follower.isStopped()) return;
  }

  const follower = eventLogs.follow({
    topic,
    handle: follow,
    nextFollowed: (sql) => sql`select now() from workflow_trigger_cursors limit 1`,
    positions: (after, limit) => store.positions([...shards.owned().keys()], after, limit),
    ...(pollMs !== undefined && { pollMs }),
  });
  let stopListening: (() => void) | undefined;
  return {
    /** Handles all new events of a tenant whose shard this node owns. */
    follow,
    async start() {
      stopListening = shards.onChange(follower.refresh);
      await follower.start();
    },
    async stop() {
      stopListening?.();
      await follower.stop();
    },
  };
}

/** Whether a condition is true, or why it cannot be evaluated. */
function tryCondition(condition: string, event: LoggedEvent): boolean | FiringOutcome {
  try {
    return isConditionTrue(condition, event, { steps: 0 });
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return { kind: "ignored", message: `The condition failed for the event ${event.id}: ${error.message}` };
  }
}

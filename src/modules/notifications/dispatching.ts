import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../platform/clock/clock.ts";
import type { Database, Signals } from "../../platform/db/index.ts";
import { ulid } from "../../platform/ids/ulid.ts";
import { oneAtATime } from "../../platform/jobs/index.ts";
import type { Log } from "../../platform/log/log.ts";
import type { Preferences } from "../preferences/index.ts";
import type { Attempting } from "./attempt.ts";
import { dispatchStore, type KeptPayload, type LeasedDelivery } from "./dispatch-store.ts";
import type { DeliveryFailure, Lane } from "./domain/delivery.ts";
import { targetOf } from "./domain/plan.ts";
import { type Recipient, type RecipientParts, readRecipients } from "./recipients.ts";
import type { Settled, Settling } from "./settling.ts";

/** The topic that tells nodes of deliveries that are due. */
export const dispatchTopic = "notifications_due";

/** How many deliveries of each lane a node sends at once. What is to be sent to one has most of the room. */
const roomOf: Readonly<Record<Lane, number>> = { single: 64, broadcast: 32 };
/** How much of the room must be free before more is leased: a few together cost hardly more than one. */
const freeShare = 0.25;
const abandonedAtOnce = 500;
const graceMs = 12_000;

interface Parts extends RecipientParts {
  readonly db: Database;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
  readonly preferences: Pick<Preferences, "layersOf" | "workflow" | "resolve">;
  readonly attempting: Attempting;
  readonly settling: Settling;
  readonly verifiedOnly: boolean;
  /** Whether lanes are served apart; otherwise what has waited longest comes first, whatever it is. */
  readonly tiered: boolean;
  readonly pollMs?: number;
}

/** Sends what waits in the queue: members of broadcasts, what failed before, what is redriven. */
export interface Dispatching {
  start(): void;
  /** Takes no more deliveries and waits for those that are on their way. */
  stop(): Promise<void>;
}

/** Makes this node's dispatching. Other nodes have theirs; leases keep them apart. */
export function createDispatching(parts: Parts): Dispatching {
  const { db, signals, clock, log, settling, tiered, pollMs = 1000 } = parts;
  const store = dispatchStore(db.sql);
  const lanes = tiered
    ? [laneOf("single", roomOf.single), laneOf("broadcast", roomOf.broadcast)]
    : [laneOf(undefined, roomOf.single + roomOf.broadcast)];
  const leaving = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let stopWaking: (() => void) | undefined;

  function laneOf(lane: Lane | undefined, room: number) {
    const flights = new Set<Promise<void>>();

    /** Takes no more than can be sent at once: of what a node holds when it dies nobody knows whether it was sent. */
    async function take(): Promise<void> {
      const free = room - flights.size;
      if (free < room * freeShare) return;
      const leased = await store.lease(lane, free, randomUUID());
      const context = contextOf(leased);
      for (const delivery of leased) {
        const flight: Promise<void> = fly(delivery, context).finally(() => {
          flights.delete(flight);
          turns.run();
        });
        flights.add(flight);
      }
    }

    const turns = oneAtATime(take, (error) => log.warn({ err: error }, "notifications that are due cannot be leased"));
    return {
      look: turns.run,
      start: turns.start,
      async stop() {
        await turns.stop();
        await Promise.all(flights);
      },
    };
  }

  const lookAll = () => {
    for (const lane of lanes) lane.look();
  };

  /** Reads what deliveries that were leased together need, in a few statements for all of them. */
  async function contextOf(leased: readonly LeasedDelivery[]): Promise<DispatchContext> {
    const groups = Map.groupBy(leased, groupOf);
    const [kept, ...found] = await Promise.all([
      leased.length === 0 ? [] : store.carriedBy(leased),
      ...[...groups].map(async ([group, deliveries]) => {
        const ids = [...new Set(deliveries.map(({ subscriberId }) => subscriberId))];
        const { tenantId } = deliveries[0]!;
        return [group, await readRecipients(parts, db.sql, tenantId, deliveries[0]!, ids)] as const;
      }),
    ]);
    const carried = new Map(kept.map((each) => [each.tenantId + each.transactionId, each]));
    const recipients = new Map(found);
    return {
      carriedBy: ({ tenantId, transactionId }) => carried.get(tenantId + transactionId),
      recipientOf: (delivery) => recipients.get(groupOf(delivery))!.get(delivery.subscriberId),
    };
  }

  async function fly(delivery: LeasedDelivery, reading: Promise<DispatchContext>): Promise<void> {
    try {
      const { recipientOf, carriedBy } = await reading;
      await settling.settle([await execute(delivery, recipientOf(delivery), carriedBy(delivery))]);
    } catch (error) {
      // It is ended when its lease is over, as one of which nobody knows.
      log.error({ err: error, delivery_id: delivery.id }, "a notification was not settled");
    }
  }

  /** Asks anew whether a delivery is still wanted, and sends it if it is. */
  async function execute(
    delivery: LeasedDelivery,
    recipient: Recipient | undefined,
    carried: KeptPayload | undefined,
  ): Promise<Settled> {
    const { tenantId, channel, workflowKey, userId, topicKey, contextKeys } = delivery;
    if (recipient === undefined) return settling.skipped(delivery, undefined, gone);
    if (carried === undefined) return settling.skipped(delivery, undefined, expired);
    const { subscriber, endpoints, layers } = recipient;
    const { payload, overrides } = carried.body;
    const workflow = await parts.preferences.workflow(tenantId, workflowKey);
    const nowMs = clock.now();
    const about = { workflow, layers, subscriber, userId, topicKey, contextKeys, payload, nowMs };
    const decided = parts.preferences.resolve({ ...about, channels: [channel] }).get(channel)!;
    if (!decided.allowed) return settling.skipped(delivery, decided, undefined);
    const target = targetOf({ subscriber, endpoints, verifiedOnly: parts.verifiedOnly }, channel, delivery.endpointId);
    if ("code" in target) return settling.skipped(delivery, decided, target);
    const work = { delivery, target, subscriber, workflow, overrides, payload };
    const prepared = await parts.attempting.prepare(work);
    return settling.settlementOf(delivery, await parts.attempting.send(work, prepared, leaving.signal), decided);
  }

  /** Ends what nodes left behind that are gone. */
  async function sweep(): Promise<void> {
    const nowMs = clock.now();
    const letterIds = Array.from({ length: abandonedAtOnce }, () => ulid(nowMs));
    const ended = await store.endAbandoned(abandonedAtOnce, letterIds);
    if (ended.length > 0) log.warn({ count: ended.length }, "notifications were left behind by a node that is gone");
  }

  const sweeping = oneAtATime(sweep, (error) => log.warn({ err: error }, "notifications left behind cannot be found"));
  const poll = () => {
    lookAll();
    sweeping.run();
  };

  return {
    start() {
      stopWaking = signals.onWake(dispatchTopic, lookAll);
      timer = setInterval(poll, pollMs);
      for (const lane of lanes) lane.start();
      sweeping.start();
    },
    async stop() {
      clearInterval(timer);
      stopWaking?.();
      const timeUp = new AbortController();
      const landed = Promise.all([sweeping.stop(), ...lanes.map((lane) => lane.stop())]).finally(() => timeUp.abort());
      await delay(graceMs, undefined, { signal: timeUp.signal }).catch(() => {});
      leaving.abort();
      await landed;
    },
  };
}

/** What deliveries that were leased together need. */
interface DispatchContext {
  carriedBy(delivery: LeasedDelivery): KeptPayload | undefined;
  recipientOf(delivery: LeasedDelivery): Recipient | undefined;
}

function groupOf({ tenantId, workflowKey, userId, topicKey }: LeasedDelivery): string {
  return [tenantId, workflowKey, userId, topicKey].join("\0");
}

const gone: DeliveryFailure = { phase: "recipient", code: "subscriber_not_found", detail: "The subscriber is gone." };
const expired: DeliveryFailure = {
  phase: "admission",
  code: "payload_store_failed",
  detail: "What it carries was kept no longer.",
};

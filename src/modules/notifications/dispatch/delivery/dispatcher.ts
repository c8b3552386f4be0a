import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Database, Signals } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { createSerialTask } from "../../../../platform/jobs/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { Preferences } from "../../preferences/index.ts";
import type { Providers } from "../../providers/index.ts";
import type { DeliveryFailure, Lane } from "../domain/delivery.ts";
import { targetOf } from "../domain/plan.ts";
import { failedWithin, type Prepare } from "../message/message-preparation.ts";
import { type Recipient, type RecipientParts, readRecipients } from "../message/recipients.ts";
import type { Reporting } from "./delivery-report.ts";
import { dispatchStore, type KeptPayload, type LeasedDelivery } from "./dispatch-store.ts";
import { recoverAbandoned } from "./recovery-store.ts";
import type { Send } from "./send-attempt.ts";
import type { Settled, Settling } from "./settlement.ts";

/** The topic that tells nodes of deliveries that are due. */
export const dispatchTopic = "notifications_due";

/** How many deliveries of each lane a node sends at once. What is to be sent to one has most of the room. */
const roomOf: Readonly<Record<Lane, number>> = { single: 64, broadcast: 32 };
/** How much of the room must be free before more is leased: a few together cost hardly more than one. */
const freeShare = 0.25;
/** How much of the room one tenant's may take, so that one slow provider does not hold up everybody. */
const tenantShare = 0.5;
const abandonedAtOnce = 500;
const graceMs = 12_000;

interface Parts extends RecipientParts {
  readonly db: Database;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
  readonly preferences: Pick<Preferences, "layersOf" | "workflow" | "resolve">;
  readonly prepare: Prepare;
  readonly send: Send;
  readonly providers: Pick<Providers, "deduplicating">;
  readonly settling: Settling;
  readonly reporting: Reporting;
  readonly verifiedOnly: boolean;
  /** Whether anything is sent: what a node left behind that is gone is ended either way. */
  readonly enabled: boolean;
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
  const { db, signals, clock, log, settling, reporting, enabled, pollMs = 1000 } = parts;
  const { deduplicating } = parts.providers;
  const store = dispatchStore(db.sql);
  const lanes = enabled ? [laneOf("single"), laneOf("broadcast")] : [];
  let leaving = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let stopWaking: (() => void) | undefined;

  function laneOf(lane: Lane) {
    const room = roomOf[lane];
    const flights = new Map<Promise<void>, string>();
    let afterTenant = "";

    /** Takes no more than can be sent at once: what a node holds when it dies waits for its lease to end. */
    async function take(): Promise<void> {
      const free = room - flights.size;
      if (free < room * freeShare) return;
      const leased = await store.lease({
        lane,
        limit: free,
        each: room * freeShare,
        afterTenant,
        busyTenants: busyAmong([...flights.values()], room * tenantShare),
        token: randomUUID(),
      });
      const fromMidway = afterTenant !== "";
      // Whoever comes next has the next turn; when there was room for more, everybody had one.
      afterTenant =
        leased.length < free
          ? ""
          : leased
              .map(({ tenantId }) => tenantId)
              .sort()
              .at(-1)!;
      const context = contextOf(leased);
      for (const delivery of leased) {
        const flight: Promise<void> = fly(delivery, context).finally(() => {
          flights.delete(flight);
          turns.run();
        });
        flights.set(flight, delivery.tenantId);
      }
      if (leased.length > 0 || fromMidway) turns.run();
    }

    const turns = createSerialTask(take, (error) =>
      log.warn({ err: error }, "notifications that are due cannot be leased"),
    );
    return {
      look: turns.run,
      start: turns.start,
      async stop() {
        await turns.stop();
        await Promise.all(flights.keys());
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
    const settled = await attempt(delivery, reading);
    await settling.settle([settled]).catch((error) => {
      // It is taken over when its lease ends, as from a node that is gone.
      log.error({ err: error, delivery_id: delivery.id }, "a notification was not settled");
    });
  }

  async function attempt(delivery: LeasedDelivery, reading: Promise<DispatchContext>): Promise<Settled> {
    try {
      const { recipientOf, carriedBy } = await reading;
      return await execute(delivery, recipientOf(delivery), carriedBy(delivery));
    } catch (error) {
      // Nothing was sent: sending itself never throws.
      log.error({ err: error, delivery_id: delivery.id }, "a notification could not be taken up");
      return settling.settlementOf(delivery, failedWithin());
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
    // Whoever may have it is the only one who may be given it again.
    const onlyBy = delivery.reconciliationRequired ? delivery.integrationId : "";
    const work = { delivery, target, subscriber, workflow, overrides, payload, onlyBy };
    const prepared = await parts.prepare(work);
    const attempted = await parts.send(work, prepared, {
      signal: leaving.signal,
      handedOverTo: "",
      handOver: (way) => settling.handOver(delivery, way),
    });
    return settling.settlementOf(delivery, attempted, decided);
  }

  /** Takes over what nodes left behind that are gone. */
  async function sweep(): Promise<void> {
    const nowMs = clock.now();
    const letterIds = Array.from({ length: abandonedAtOnce }, () => ulid(nowMs));
    const { ended, told } = await db.transaction(async (tx) => {
      const ended = await recoverAbandoned(tx, { limit: abandonedAtOnce, letterIds, deduplicating });
      return { ended, told: await reporting.record(tx, ended) };
    });
    if (ended.length === 0) return;
    told.wake();
    reporting.count(ended);
    log.warn({ count: ended.length }, "notifications were left behind by a node that is gone");
    if (ended.some(({ status }) => status === "queued")) lookAll();
  }

  const sweeping = createSerialTask(sweep, (error) =>
    log.warn({ err: error }, "notifications left behind cannot be found"),
  );
  const poll = () => {
    lookAll();
    sweeping.run();
  };

  return {
    start() {
      leaving = new AbortController();
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

/** The tenants that have so many on their way, or more. */
function busyAmong(tenantIds: readonly string[], atLeast: number): string[] {
  const counts = Map.groupBy(tenantIds, (tenantId) => tenantId);
  return [...counts].flatMap(([tenantId, { length }]) => (length >= atLeast ? tenantId : []));
}

const gone: DeliveryFailure = { phase: "recipient", code: "subscriber_not_found", detail: "The subscriber is gone." };
const expired: DeliveryFailure = {
  phase: "admission",
  code: "payload_store_failed",
  detail: "What it carries was kept no longer.",
};

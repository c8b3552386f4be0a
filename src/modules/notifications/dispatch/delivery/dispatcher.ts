import { readMsToNext } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { createLeasedWorkLoop, createRepeatedTask, type LeasedWorkLoop } from "../../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { Preferences } from "../../preferences/index.ts";
import type { Providers } from "../../providers/index.ts";
import type { DeliveryFailure, Lane } from "../domain/delivery.ts";
import { targetOf } from "../domain/plan.ts";
import type { DigestValues } from "../domain/run.ts";
import { type BatchContext, readBatchContext } from "../message/batch-context.ts";
import { internalFailure, type MessagePreparer } from "../message/message-preparation.ts";
import type { Recipient, RecipientParts } from "../message/recipients.ts";
import { findDigests } from "../runs/digest-store.ts";
import type { DeliveryReporter } from "./delivery-report.ts";
import { dispatchStore, type LeasedDelivery, nextQueued, type StoredPayload } from "./dispatch-store.ts";
import { nextAbandoned, recoverAbandoned } from "./recovery-store.ts";
import type { MessageSender } from "./send-attempt.ts";
import type { DeliveryResultWriter, DeliverySettlement } from "./settlement.ts";

/** Signal topic for nodes that dispatch due deliveries. */
export const dispatchTopic = "notifications_due";

/**
 * Deliveries of each lane that a node sends concurrently. More share their statements better, but wait longer for a session of a
 * slow mail server: of one tenant up to 95, five at a time, within the 25 seconds of an attempt.
 */
const concurrency = 128;
/** The interval of leases while deliveries wait for their time. */
const pollMs = 1000;
const sweepLimit = 500;
const graceMs = 12_000;

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock" | "log">, RecipientParts {
  readonly preferences: Pick<Preferences, "readLayers" | "workflow" | "resolve">;
  readonly prepare: MessagePreparer;
  readonly send: MessageSender;
  readonly providers: Pick<Providers, "deduplicating">;
  readonly resultWriter: DeliveryResultWriter;
  readonly reporter: DeliveryReporter;
  readonly verifiedOnly: boolean;
  /** False when sending is switched off. Abandoned deliveries are recovered either way. */
  readonly enabled: boolean;
}

/** Background worker that sends queued deliveries: broadcast members, retries and redrives. */
export type Dispatcher = ReturnType<typeof createDispatcher>;

/** Creates this node's dispatcher. Leases ensure that each delivery is sent by one node at a time. */
export function createDispatcher(dependencies: Dependencies) {
  const { db, signals, clock, log, resultWriter, reporter, enabled } = dependencies;
  const store = dispatchStore(db.sql);
  const loops = enabled ? [loopOf("single"), loopOf("broadcast")] : [];

  function loopOf(lane: Lane): LeasedWorkLoop {
    return createLeasedWorkLoop<LeasedDelivery>({
      ...{ graceMs, concurrency },
      subscribe: ({ run, runWithin }) => [
        signals.onWake(dispatchTopic, run),
        signals.onDue(
          (sql) => nextQueued(sql, lane),
          () => runWithin(pollMs),
        ),
      ],
      lease: (request) => store.lease(lane, request),
      onLeaseError: (error) => log.warn({ err: error }, "leasing due notifications failed"),
      handle(leased) {
        const context = contextOf(leased);
        return async (delivery, signal) => {
          await resultWriter.settle([await attempt(delivery, context, signal)]);
        };
      },
      // The sweep recovers it after its lease expires.
      onItemError: (error, { id }) => log.error({ err: error, delivery_id: id }, "settling a notification failed"),
    });
  }

  async function contextOf(leased: readonly LeasedDelivery[]): Promise<DispatchContext> {
    const ofRuns = leased.filter(({ runId }) => runId !== "");
    const [context, digests] = await Promise.all([
      readBatchContext(dependencies, db.sql, leased),
      ofRuns.length === 0 ? [] : findDigests(db.sql, ofRuns),
    ]);
    const byRun = new Map(digests.map((each) => [each.tenantId + each.id, each.digest]));
    return { ...context, digestOf: ({ tenantId, runId }) => byRun.get(tenantId + runId) };
  }

  async function attempt(
    delivery: LeasedDelivery,
    context: Promise<DispatchContext>,
    signal: AbortSignal,
  ): Promise<DeliverySettlement> {
    try {
      const { recipientOf, payloadOf, digestOf } = await context;
      return await execute(delivery, recipientOf(delivery), payloadOf(delivery), digestOf(delivery), signal);
    } catch (error) {
      // Nothing was sent, because sending itself never throws.
      log.error({ err: error, delivery_id: delivery.id }, "loading a notification failed");
      return resultWriter.settlementOf(delivery, internalFailure());
    }
  }

  /** Evaluates the recipient's preferences again and sends the delivery if they still allow it. */
  async function execute(
    delivery: LeasedDelivery,
    recipient: Recipient | undefined,
    stored: StoredPayload | undefined,
    digest: DigestValues | undefined,
    signal: AbortSignal,
  ): Promise<DeliverySettlement> {
    const { tenantId, channel, workflowKey, userId, topicKey, contextKeys } = delivery;
    if (recipient === undefined) return resultWriter.skippedSettlement(delivery, undefined, subscriberDeleted);
    if (stored === undefined) return resultWriter.skippedSettlement(delivery, undefined, payloadExpired);
    if (stored.cancelledAt !== null) return resultWriter.skippedSettlement(delivery, undefined, triggerCancelled);
    const { subscriber, endpoints, layers } = recipient;
    const { payload, overrides } = stored.body;
    const workflow = await dependencies.preferences.workflow(tenantId, workflowKey);
    const nowMs = clock.now();
    const about = { workflow, layers, subscriber, userId, topicKey, contextKeys, payload, nowMs };
    const decided = dependencies.preferences.resolve({ ...about, channels: [channel] }).get(channel)!;
    if (decided.heldUntilMs !== undefined)
      return resultWriter.heldSettlement(delivery, decided, decided.heldUntilMs - nowMs);
    if (!decided.allowed) return resultWriter.skippedSettlement(delivery, decided, undefined);
    const target = targetOf(
      { subscriber, endpoints, verifiedOnly: dependencies.verifiedOnly },
      channel,
      delivery.endpointId,
    );
    if ("code" in target) return resultWriter.skippedSettlement(delivery, decided, target);
    // A provider that may already have the message is the only one that may receive it again.
    const onlyIntegrationId = delivery.reconciliationRequired ? delivery.integrationId : "";
    const request = { delivery, target, subscriber, workflow, overrides, payload, digest, onlyIntegrationId };
    const prepared = await dependencies.prepare(request);
    const result = await dependencies.send(request, prepared, {
      signal,
      handedOverTo: "",
      handOver: (route) => resultWriter.handOver(delivery, route),
    });
    return resultWriter.settlementOf(delivery, result, decided);
  }

  /** Recovers deliveries whose lease expired because their node died. */
  async function sweep(): Promise<void> {
    // Most sweeps find nothing. The list of providers takes a while when it is first read.
    const inMs = await readMsToNext(db.sql, nextAbandoned);
    if (inMs === undefined || inMs > 0) return;
    const nowMs = clock.now();
    const letterIds = Array.from({ length: sweepLimit }, () => ulid(nowMs));
    const deduplicating = await dependencies.providers.deduplicating();
    const ended = await db.transaction(async (tx) => {
      const ended = await recoverAbandoned(tx, { limit: sweepLimit, letterIds, deduplicating });
      await reporter.record(tx, ended);
      return ended;
    });
    if (ended.length === 0) return;
    reporter.count(ended);
    log.warn({ count: ended.length }, "notifications abandoned by a dead node were recovered");
    if (ended.some(({ status }) => status === "queued")) for (const loop of loops) loop.run();
  }

  const sweeps = createRepeatedTask({
    work: sweep,
    subscribe: ({ runWithin }) => [signals.onDue(nextAbandoned, runWithin)],
    onError: (error) => log.warn({ err: error }, "sweeping abandoned notifications failed"),
  });
  return {
    start() {
      for (const task of [...loops, sweeps]) task.start();
    },
    /** Leases no further deliveries and waits for those in flight. */
    async stop() {
      await Promise.all([...loops, sweeps].map((task) => task.stop()));
    },
  };
}

/** Data for the deliveries of a leased batch. */
interface DispatchContext extends BatchContext {
  /** Undefined if no digest came before the delivery. */
  digestOf(delivery: LeasedDelivery): DigestValues | undefined;
}

const subscriberDeleted: DeliveryFailure = {
  phase: "recipient",
  code: "subscriber_not_found",
  detail: "The subscriber does not exist.",
};
const triggerCancelled: DeliveryFailure = {
  phase: "system",
  code: "cancelled",
  detail: "The trigger was cancelled.",
};
const payloadExpired: DeliveryFailure = {
  phase: "admission",
  code: "payload_store_failed",
  detail: "The payload has expired.",
};

/**
 * Queues: store routed work until a worker completes it.
 *
 * item: one unit of work; its id is the id of the decision that created it. lease: a worker's exclusive, time-limited
 * right to an item; its token fences the item. credit: how many more items a worker's stream may send. admission: the
 * constraints an item passes before it is queued. group: all items with the same constraint key. slot: a place in a
 * concurrency group. offer: a recipient's time-limited choice to accept or decline an item. dependency: an item that must
 * end before another one can be leased. wait: a call that waits for the end of an item or for an offer. sweep: the
 * periodic pass that releases items, ends expired leases and offers, and expires items.
 */

import type { OperationCaller } from "../../../chain/operation-caller.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Egress } from "../../../platform/egress/index.ts";
import type { JobRunner } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Admission } from "../admission/index.ts";
import type { DeadLetters } from "../dead-letters/index.ts";
import type { PoolReader } from "../pools/index.ts";
import { bulkHandlers } from "./bulk/bulk-handler.ts";
import { bulkOperationJob } from "./bulk/bulk-job.ts";
import { createBulkRunner } from "./bulk/bulk-runner.ts";
import { createBulkService } from "./bulk/bulk-service.ts";
import { createCompletionService } from "./completion/completion-service.ts";
import { createCompletionEffects, type OutcomeSink } from "./completion/item-outcomes.ts";
import { createProgressReporter } from "./completion/item-progress.ts";
import { createDependencyCheck } from "./dependencies/dependency-check.ts";
import { isEndState } from "./domain/queue-item.ts";
import { explanationHandlers } from "./explanation/explanation-handler.ts";
import { createItemExplainer } from "./explanation/item-explainer.ts";
import { createItemHealth, readyItems } from "./health/item-health.ts";
import { maintainHistoryJob } from "./history/history-job.ts";
import { createAcceptor } from "./intake/acceptor.ts";
import { createConstrainedAcceptor } from "./intake/constrained-acceptor.ts";
import { createReadmission } from "./intake/dead-letter-readmission.ts";
import { createLeaseService, queueTopic } from "./leasing/lease-service.ts";
import { workHandlers } from "./leasing/work-handler.ts";
import { type AcceptanceFilter, createWorkService } from "./leasing/work-service.ts";
import { createWorkStreams } from "./leasing/work-streams.ts";
import { createOfferExpiry, type OfferEndListener } from "./offers/offer-expiry.ts";
import { offerHandlers } from "./offers/offer-handler.ts";
import { createOfferService } from "./offers/offer-service.ts";
import { createOfferWaits } from "./offers/offer-waits.ts";
import { createPushAction } from "./push/action-push.ts";
import { createPushDispatcher, pushTopic } from "./push/push-dispatcher.ts";
import { queueHandlers } from "./queue-handler.ts";
import { createQueueHistory } from "./queue-history.ts";
import { createQueueService } from "./queue-service.ts";
import { createItemSweeper } from "./sweep/item-sweeper.ts";
import type { EndedItem } from "./transitions/transition-store.ts";
import { createUnassignedItems } from "./unassigned-items.ts";
import { createItemWaits } from "./waits/item-waits.ts";

export { closeEmptyQueue } from "./close-queue.ts";
export type { CompletionService, WorkReport } from "./completion/completion-service.ts";
export type { OutcomeSink, WorkOutcome } from "./completion/item-outcomes.ts";
export type { DependencyCheck } from "./dependencies/dependency-check.ts";
export type { ItemDependencies } from "./domain/dependency.ts";
export { type ItemOffer, type ItemState, type ItemsAfter, noRequirementsJson } from "./domain/queue-item.ts";
export { type ItemRetry, retryViolation } from "./domain/retry-policy.ts";
export { archiveTracked } from "./history/history-store.ts";
export type { AcceptedBatch, DecisionRow, ItemEventRow, ItemRow } from "./intake/accept-input.ts";
export type { AcceptRequest } from "./intake/accept-request.ts";
export type { Acceptor } from "./intake/acceptor.ts";
export { type OfferedItem, readQueueActive } from "./leasing/lease-store.ts";
export { type MadeOffer, type NewOffer, offerItems, readItemOffers } from "./offers/item-offer-store.ts";
export { offeredEvent } from "./offers/offer-events.ts";
export type { OfferEnd } from "./offers/offer-expiry.ts";
export { fromItemOffer } from "./offers/offer-message.ts";
export type { Offeree } from "./offers/offer-store.ts";
export type { UnassignedItems } from "./unassigned-items.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log" | "signals" | "changes" | "shares"> {
  readonly events: EventRecorder;
  readonly pools: PoolReader;
  readonly deadLetters: Pick<DeadLetters, "record" | "deleteResolved" | "changePool">;
  readonly outcomes: OutcomeSink;
  readonly filterAcceptable: AcceptanceFilter;
  readonly admissionOf: Admission["requestOf"];
  readonly jobs: Pick<JobRunner, "wake">;
  readonly egress: Egress;
  /** Reads the value of a tenant's secret; undefined when there is no secret with that name. */
  readonly secret: (sql: Sql, tenantId: TenantId, name: string) => Promise<string | undefined>;
  /** Performs operations of other areas. */
  readonly call: OperationCaller;
  /** Called with each pool in which items became ready; the items may have no recipient. */
  readonly onReady: (tenantId: TenantId, poolId: string) => void;
  /** Called with each offer that ended, after the commit. */
  readonly onOfferEnded: OfferEndListener;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
}

/** The module's public API. */
export type Queues = ReturnType<typeof createQueues>;

export function createQueues(dependencies: Dependencies) {
  const { db, clock, log, signals, events, pools, filterAcceptable, onOfferEnded } = dependencies;
  const wake = (tenantId: string, poolId: string, push = true) => {
    signals.wake(queueTopic(tenantId, poolId));
    // The push dispatcher scans all pools, so one topic is enough.
    if (push) signals.wake(pushTopic);
  };
  const wakeReady = (tenantId: string, poolId: string) => {
    wake(tenantId, poolId);
    dependencies.onReady(tenantId as TenantId, poolId);
  };
  const sweepBy = (atMs: number) => sweeper.sweepBy(atMs);
  const sweep = () => sweepBy(clock.now());
  const sweepAndWake = (tenantId: string, poolId: string) => {
    sweep();
    wake(tenantId, poolId);
  };

  const waits = createItemWaits({ sql: db.sql, signals, log });
  const offerWaits = createOfferWaits({ sql: db.sql, signals, log });
  /** Called after the commit with items that have ended. */
  const onEnded = (items: readonly EndedItem[]) => {
    waits.announce(items);
    if (items.some(({ blocks }) => blocks === true)) sweep();
  };
  const workStreams = createWorkStreams(db.sql);
  const completion = createCompletionService({
    db,
    now: clock.now,
    random: Math.random,
    effects: createCompletionEffects({
      ...dependencies,
      wake: wakeReady,
      sweepBy,
      onFinished(finished) {
        workStreams.release(finished);
        onEnded(finished.flatMap(({ item, to }) => (isEndState(to) ? [item] : [])));
      },
    }),
  });
  const expireOffers = createOfferExpiry({ db, events, now: clock.now, onOfferEnded });
  const sweeper = createItemSweeper({ ...dependencies, completion, wake: wakeReady, onEnded, expireOffers });
  const leaseService = createLeaseService({ ...dependencies, wake: wakeReady, onLeasesEnded: sweep });
  const pushAction = createPushAction(dependencies.call);
  const pushDispatcher = createPushDispatcher({ ...dependencies, leaseService, completion, pushAction });
  const constrained = createConstrainedAcceptor(db, wake, { onEnded, sweep });
  const acceptor = createAcceptor({ db, constrained, wake });
  const service = createQueueService({
    ...dependencies,
    waits,
    wake,
    wakeReady,
    recall: leaseService.recall,
    onOffered: offerWaits.announce,
    onEnded,
  });
  const bulkRunner = createBulkRunner({
    ...dependencies,
    settleRecentLeases: (sql, tenantId, poolId) => service.settleRecentLeases({ sql, tenantId }, poolId),
    wakeReady,
    onEnded,
  });
  const offers = createOfferService({ db, pools, events, leaseService, wake: wakeReady, onOfferEnded });

  return {
    handlers: {
      queues: queueHandlers(service, pools),
      work: workHandlers({
        db,
        pools,
        leaseService,
        service: createWorkService({ db, pools, leaseService, completion, filterAcceptable }),
        streams: workStreams,
        reportProgress: createProgressReporter(events, clock.now),
      }),
      offers: offerHandlers({ db, pools, service: offers, waits: offerWaits }),
      explanations: explanationHandlers(pools),
      bulk: bulkHandlers(createBulkService(dependencies)),
    },
    explainer: createItemExplainer(pools),
    jobs: [maintainHistoryJob(dependencies), bulkOperationJob({ sql: db.sql, clock, runner: bulkRunner })],
    acceptor,
    /** Checks the items that new items are to wait for. */
    checkDependencies: createDependencyCheck(db.sql, pools),
    readmission: createReadmission(dependencies.admissionOf, dependencies.shares),
    completion,
    sweeper,
    /** The state of waiting items, for health reports. */
    health: createItemHealth(sweeper),
    backlog: readyItems,
    history: createQueueHistory(pools),
    pushDispatcher,
    unassignedItems: createUnassignedItems({ ...dependencies, wake: wakeReady, sweepBy }),
    wake,
    wakeReady,
    sweepAndWake,
    sweepBy,
    /** Wakes the callers that wait for these offers. Called after the commit. */
    announceOffers: offerWaits.announce,
    /** Ends all waits for work; a stopping node calls it. */
    endWaits() {
      waits.end();
      offerWaits.end();
      workStreams.end();
      leaseService.endWaits();
    },
    async idle(): Promise<void> {
      const writers = [acceptor, completion, workStreams, leaseService, waits, offerWaits];
      await Promise.all(writers.map((each) => each.idle()));
    },
  };
}

/**
 * Streams: ordered records that a run, its workers and its consumers exchange.
 *
 * stream: a sequence of records of one run. pins: what is fixed when a stream is created: regions, retention, redaction,
 * authorization, content classes and ceilings. record: an inline payload or a reference to a large object. sequence: the position
 * of a record, from 1 without gaps. head: how far a stream is; appends lock it. cursor: the last sequence that a reader has.
 * consumer: a reader that acknowledges records. unread: kept records that not every consumer has acknowledged. credit: what may
 * still be appended. tail: the newest records, read once for all subscribers of a node. delivery: an input record whose event its
 * run has not received yet. hold: while it is set, nothing of the stream is removed.
 */

import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Runs } from "../runs/index.ts";
import { createAppendService } from "./append/append-service.ts";
import { createRecordAppender } from "./append/record-appender.ts";
import { createInputDelivery } from "./delivery/input-delivery.ts";
import { recordTopic } from "./domain/stream.ts";
import { removeIdleConsumersJob } from "./retention/consumer-job.ts";
import { pruneStreamsJob, type ReleaseObjects } from "./retention/retention-job.ts";
import { streamHandlers } from "./stream-handler.ts";
import { createStreamLookup } from "./stream-lookup.ts";
import { createStreamMetrics } from "./stream-metrics.ts";
import { createStreamService } from "./stream-service.ts";
import { createStreamTails } from "./subscribe/stream-tail.ts";
import { createSubscriptions } from "./subscribe/subscription.ts";

export { contentClassOf } from "./domain/pins.ts";
export { mayLog } from "./domain/region.ts";
export type { NewRecord, ObjectReference, StreamDefinition } from "./domain/stream.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock" | "log"> {
  readonly metrics: Pick<Metrics, "counter" | "gauge">;
  readonly events: EventRecorder;
  readonly sendMail: Runs["sendMail"];
  readonly findInProgress: Runs["findInProgress"];
  readonly platformTenantId: () => string;
  /** The region of this node. */
  readonly region: string;
  /** Frees the large objects of removed records; undefined without large objects. */
  readonly releaseObjects?: ReleaseObjects;
}

export type Streams = ReturnType<typeof createStreams>;

export function createStreams(dependencies: Dependencies) {
  const { db, signals, region, releaseObjects } = dependencies;
  const metrics = createStreamMetrics(dependencies.metrics);
  const lookup = createStreamLookup(db, region);
  const delivery = createInputDelivery({ ...dependencies, lookup, metrics });
  const appender = createRecordAppender({
    db,
    onAppended(key, hasInput) {
      signals.wake(recordTopic(key));
      if (hasInput) delivery.deliver(key);
    },
  });
  const appends = createAppendService({ ...dependencies, lookup, appender, metrics });
  const tails = createStreamTails({ ...dependencies, metrics });
  return {
    handlers: streamHandlers({
      service: createStreamService({ ...dependencies, lookup }),
      appends,
      subscriptions: createSubscriptions({ db, lookup, tails, metrics }),
    }),
    jobs: [pruneStreamsJob({ ...dependencies, metrics, releaseObjects }), removeIdleConsumersJob(dependencies)],
    /** Repeats deliveries, on a node that does background work. */
    worker: { start: async () => delivery.start(), stop: delivery.stop },
    /** Finds streams and checks the access of callers and of this node's region. */
    lookup,
    /** Throws if a large object could not be appended. */
    requireAppendable: appends.requireAppendable,
    /** Appends a record in a transaction of the caller. */
    appendInTransaction: appends.appendInTransaction,
    /** Ends the appends that wait for acknowledgements when the node stops. */
    endWaits: appends.endWaits,
    /** Resolves when nothing is being appended or delivered. */
    async idle() {
      await appender.idle();
      await delivery.idle();
    },
  };
}

import { hash } from "node:crypto";
import { Failure } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database, Signals } from "../../../../platform/db/index.ts";
import { createRepeatedTask } from "../../../../platform/jobs/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { Json } from "../../definitions/index.ts";
import type { Runs } from "../../runs/index.ts";
import { mayEnterRun, mayLog } from "../domain/region.ts";
import { nameOfKey, type StreamDefinition, type StreamKey } from "../domain/stream.ts";
import type { StreamLookup } from "../stream-lookup.ts";
import type { StreamMetrics } from "../stream-metrics.ts";
import { deliveryStore, nextDelivery, type OpenDelivery } from "./delivery-store.ts";

interface Dependencies {
  readonly db: Database;
  readonly signals: Pick<Signals, "onDue">;
  readonly log: Pick<Log, "warn">;
  readonly lookup: StreamLookup;
  readonly sendMail: Runs["sendMail"];
  readonly metrics: StreamMetrics;
  /** The region of this node. */
  readonly region: string;
}

const pageSize = 100;
/** When the deliveries of a stream are tried again after a failure, for example because the mailbox is full. */
const againMs = 5000;

/**
 * Creates the delivery of input records as events to their runs. A delivery is stored with its record. It is carried out after
 * the commit, and repeated by any node until the event is in the mailbox. The id of the event follows from the record, so that a
 * repeat has no effect.
 */
export function createInputDelivery({ db, signals, log, lookup, sendMail, metrics, region }: Dependencies) {
  const store = deliveryStore(db.sql);
  const running = new Map<string, { again: boolean; done: Promise<void> }>();

  /** Delivers the records of a stream, the earliest first. Nothing is delivered before what precedes it. */
  async function deliverAll(key: StreamKey): Promise<void> {
    const stream = await lookup.find(key.tenantId, key.runId, key.streamId);
    // Only nodes of the home region read payloads to store them elsewhere.
    if (stream !== undefined && stream.pins.metadata_home !== region) return;
    for (;;) {
      const open = await store.listOpen(key, pageSize);
      for (const delivery of open) {
        if (stream === undefined || delivery.record === undefined) {
          await store.delete(key, delivery.sequence);
          continue;
        }
        const sent = await send(key, stream, delivery);
        metrics.delivered(sent === "ended" ? "run_ended" : "delivered");
        if (sent === "ended") return store.deleteAll(key);
        await store.delete(key, delivery.sequence);
      }
      if (open.length < pageSize) return;
    }
  }

  function send(key: StreamKey, { name, pins }: StreamDefinition, { sequence, record }: OpenDelivery) {
    const { tenantId, runId, streamId } = key;
    const { contentClass, schemaRef, payloadJson, object } = record!;
    return sendMail(tenantId, runId, {
      eventId: eventIdOf(tenantId, runId, streamId, sequence),
      event: `stream.${name}`,
      scope: "",
      payload: {
        ...{ stream_id: streamId, stream: name, sequence, content_class: contentClass, schema_ref: schemaRef },
        ...(payloadJson !== null && mayEnterRun(pins) && { payload: JSON.parse(payloadJson) as Json }),
        ...(object !== null && { object: { ...object } }),
      },
    });
  }

  async function run(key: StreamKey): Promise<void> {
    try {
      await deliverAll(key);
    } catch (error) {
      metrics.delivered("deferred");
      // A full mailbox is no fault of the service.
      const stream = await lookup.find(key.tenantId, key.runId, key.streamId).catch(() => undefined);
      if (!(error instanceof Failure) && stream !== undefined && mayLog(stream.pins, region)) {
        log.warn({ err: error }, "an input record could not be delivered yet");
      }
    }
  }

  /** Delivers the records of a stream in the background. */
  function deliver(key: StreamKey): void {
    const name = nameOfKey(key);
    const current = running.get(name);
    if (current !== undefined) {
      current.again = true;
      return;
    }
    const entry = { again: false, done: Promise.resolve() };
    entry.done = (async () => {
      do {
        entry.again = false;
        await run(key);
      } while (entry.again);
      running.delete(name);
    })();
    running.set(name, entry);
  }

  const task = createRepeatedTask({
    async work() {
      for (const key of await store.claimDue(pageSize, againMs)) deliver(key);
    },
    onError: (error) => log.warn({ err: error }, "the sweep of workflow stream deliveries failed"),
    subscribe: ({ runWithin }) => [signals.onDue(nextDelivery, runWithin)],
  });
  const idle = async () => {
    while (running.size > 0) await Promise.all([...running.values()].map(({ done }) => done));
  };
  return {
    deliver,
    /** Resolves when nothing is being delivered. */
    idle,
    start: task.start,
    async stop() {
      await task.stop();
      await idle();
    },
  };
}

/** The id of the event of a record. */
function eventIdOf(tenantId: TenantId, runId: string, streamId: string, sequence: number): string {
  return `stream-${hash("sha256", [tenantId, runId, streamId, sequence].join("\0"), "hex").slice(0, 40)}`;
}

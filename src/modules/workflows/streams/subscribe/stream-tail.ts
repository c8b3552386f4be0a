import { create } from "@bufbuild/protobuf";
import {
  type SubscribeWorkflowStreamResponse,
  SubscribeWorkflowStreamResponseSchema,
} from "../../../../../gen/service/api/workflow_stream_pb.ts";
import { shareMessage } from "../../../../chain/stream.ts";
import { createRepeatedTask } from "../../../../platform/jobs/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { PlatformServices } from "../../../area.ts";
import { mayLog } from "../domain/region.ts";
import { nameOfKey, recordTopic, type StreamDefinition } from "../domain/stream.ts";
import { fromRecord } from "../stream-message.ts";
import type { StreamMetrics } from "../stream-metrics.ts";
import { streamStore } from "../stream-store.ts";

/** The newest records of a stream, read once for all subscribers of this node. */
export interface StreamTail {
  /**
   * The records after a sequence that are in memory, without a gap; empty if there are none yet. Undefined if they have to be
   * read from the database.
   */
  after(sequence: number): readonly SubscribeWorkflowStreamResponse[] | undefined;
  /** Tells the tail that all records up to a sequence are known. The first one decides where the tail starts. */
  begin(sequence: number): void;
  /** Whether the stream is closed, and a sequence is its last. */
  isEnd(sequence: number): boolean;
  /** Resolves when there may be records after a sequence, or when the signal aborts. */
  next(sequence: number, signal: AbortSignal): Promise<void>;
}

interface Dependencies extends Pick<PlatformServices, "db" | "signals"> {
  readonly log: Pick<Log, "warn">;
  readonly metrics: StreamMetrics;
  /** The region of this node. */
  readonly region: string;
}

/** How often the tail is read without a signal. */
const pollMs = 1000;
const readMax = 500;
const readBytesMax = 1024 * 1024;
/** A subscriber that is further behind reads from the database. */
const ringItemsMax = 2000;
const ringBytesMax = 4 * 1024 * 1024;

interface RingEntry {
  readonly message: SubscribeWorkflowStreamResponse;
  readonly bytes: number;
}

/** The tails of the streams that somebody on this node follows. */
export type StreamTails = ReturnType<typeof createStreamTails>;

/** Creates the tails of this node. */
export function createStreamTails(dependencies: Dependencies) {
  const tails = new Map<string, { tail: OpenTail; subscribers: number }>();
  return {
    /** Follows a stream. The caller calls `leave` when it is done. */
    join(stream: StreamDefinition): { tail: StreamTail; leave: () => void } {
      const name = nameOfKey(stream);
      const entry = tails.get(name) ?? { tail: openTail(dependencies, stream), subscribers: 0 };
      entry.subscribers++;
      tails.set(name, entry);
      let hasLeft = false;
      const leave = () => {
        if (hasLeft) return;
        hasLeft = true;
        if (--entry.subscribers > 0) return;
        tails.delete(name);
        entry.tail.stop();
      };
      return { tail: entry.tail, leave };
    },
  };
}

interface OpenTail extends StreamTail {
  stop(): void;
}

function openTail({ db, signals, log, metrics, region }: Dependencies, stream: StreamDefinition): OpenTail {
  let ring: RingEntry[] = [];
  let ringBytes = 0;
  /** The last sequence that was read; undefined until somebody knows where the stream is. */
  let last: number | undefined;
  let isClosed = false;
  let waiting = new Set<() => void>();

  function release(): void {
    const released = waiting;
    waiting = new Set();
    for (const resolve of released) resolve();
  }

  async function read(): Promise<void> {
    while (last !== undefined) {
      const found = await streamStore(db.sql).readAfter(stream, last, readMax, readBytesMax);
      if (found === undefined) return;
      const { head, records } = found;
      // Retention overtook the tail: subscribers find out from the database.
      if (records[0] !== undefined && records[0].sequence !== last + 1) clear();
      for (const record of records) {
        const message = create(SubscribeWorkflowStreamResponseSchema, { record: fromRecord(record) });
        shareMessage(message);
        ring.push({ message, bytes: record.bytes });
        ringBytes += record.bytes;
        last = record.sequence;
      }
      trim();
      if (records.length > 0) metrics.fetched("tail", records.length);
      isClosed = head.closedAt !== null && last >= head.lastSequence;
      if (records.length > 0 || isClosed) release();
      if (last >= head.lastSequence || records.length === 0) return;
    }
  }

  function clear(): void {
    ring = [];
    ringBytes = 0;
  }

  function trim(): void {
    let dropped = 0;
    while (ring.length - dropped > ringItemsMax || (ringBytes > ringBytesMax && dropped < ring.length)) {
      ringBytes -= ring[dropped++]!.bytes;
    }
    if (dropped > 0) ring = ring.slice(dropped);
  }

  const task = createRepeatedTask({
    work: read,
    maxWaitMs: pollMs,
    // Without the payload: the error of a read does not contain it.
    onError: (error) => {
      if (mayLog(stream.pins, region)) log.warn({ err: error }, "the tail of a workflow stream could not be read");
    },
    subscribe: ({ run }) => [signals.onWake(recordTopic(stream), run)],
  });
  void task.start();

  return {
    after(sequence) {
      if (last === undefined || sequence < last - ring.length) return undefined;
      return sequence >= last ? [] : ring.slice(sequence - last).map(({ message }) => message);
    },
    begin(sequence) {
      if (last !== undefined) return;
      last = sequence;
      task.run();
    },
    isEnd: (sequence) => isClosed && sequence === last,
    next(sequence, signal) {
      if (signal.aborted || (last !== undefined && sequence < last)) return Promise.resolve();
      return new Promise((resolve) => {
        const done = () => {
          signal.removeEventListener("abort", done);
          waiting.delete(done);
          resolve();
        };
        signal.addEventListener("abort", done);
        waiting.add(done);
      });
    },
    stop() {
      void task.stop();
      release();
    },
  };
}

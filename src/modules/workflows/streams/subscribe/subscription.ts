import { create } from "@bufbuild/protobuf";
import {
  type SubscribeWorkflowStreamResponse,
  SubscribeWorkflowStreamResponseSchema,
} from "../../../../../gen/service/api/workflow_stream_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import { type Database, requireFound } from "../../../../platform/db/index.ts";
import { requireReadable } from "../domain/cursor.ts";
import type { StreamDefinition } from "../domain/stream.ts";
import type { StreamLookup } from "../stream-lookup.ts";
import { fromRecord } from "../stream-message.ts";
import type { StreamMetrics } from "../stream-metrics.ts";
import { streamStore } from "../stream-store.ts";
import type { StreamTails } from "./stream-tail.ts";

interface Dependencies {
  readonly db: Database;
  readonly lookup: StreamLookup;
  readonly tails: StreamTails;
  readonly metrics: StreamMetrics;
}

const pageMax = 200;
const pageBytesMax = 512 * 1024;

/** Follows streams for subscribers. */
export type Subscriptions = ReturnType<typeof createSubscriptions>;

/** Creates the subscriptions of this node. */
export function createSubscriptions({ db, lookup, tails, metrics }: Dependencies) {
  /** Reads a page after a sequence from the database; throws if the records after it are not kept. */
  async function readPage(stream: StreamDefinition, after: number) {
    const found = requireFound(
      await streamStore(db.sql).readAfter(stream, after, pageMax, pageBytesMax),
      "workflow stream",
    );
    requireReadable(after, found.head);
    return found;
  }

  /**
   * Yields the records after a cursor: every record once, in order. The tail is followed before the first read. What it does not
   * hold is read from the database, and what was sent before is skipped.
   */
  async function* follow(
    stream: StreamDefinition,
    cursor: number,
    signal: AbortSignal,
  ): AsyncGenerator<SubscribeWorkflowStreamResponse> {
    const { tail, leave } = tails.join(stream);
    metrics.subscribed(1);
    try {
      let at = cursor;
      for (;;) {
        // The caller learns that the stream did not end, and continues elsewhere.
        signal.throwIfAborted();
        const shared = tail.after(at);
        if (shared === undefined) {
          const { records } = await readPage(stream, at);
          metrics.fetched("backfill", records.length);
          for (const record of records) {
            yield create(SubscribeWorkflowStreamResponseSchema, { record: fromRecord(record) });
            at = record.sequence;
          }
          metrics.sent(records.length);
          if (records.length === 0) tail.begin(at);
        } else if (shared.length > 0) {
          for (const message of shared) {
            yield message;
            at++;
          }
          metrics.sent(shared.length);
        } else {
          if (tail.isEnd(at)) return;
          await tail.next(at, signal);
        }
      }
    } finally {
      metrics.subscribed(-1);
      leave();
    }
  }

  return {
    /** Follows a stream; throws if the caller may not read it, or if the records after the cursor cannot be read. */
    async subscribe(
      context: Context,
      runId: string,
      streamId: string,
      cursor: number,
    ): Promise<AsyncGenerator<SubscribeWorkflowStreamResponse>> {
      const stream = await lookup.require(context, runId, streamId, "read");
      const state = requireFound(await streamStore(db.sql).readState(stream), "workflow stream");
      requireReadable(cursor, state);
      return follow(stream, cursor, context.signal);
    },
  };
}

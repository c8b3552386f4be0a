import type { Message } from "@bufbuild/protobuf";
import type { Context, KeyedCall } from "../../../../chain/call.ts";
import { type Failure, fail, invalid } from "../../../../errors/index.ts";
import { nextWake, notFound, type Signals, type Sql } from "../../../../platform/db/index.ts";
import type { Json } from "../../definitions/index.ts";
import { contentClassOf } from "../domain/pins.ts";
import { redact } from "../domain/redaction.ts";
import { type Direction, inlineBytesMax, type NewRecord, type StreamDefinition } from "../domain/stream.ts";
import type { StreamLookup } from "../stream-lookup.ts";
import type { StreamMetrics } from "../stream-metrics.ts";
import { ackTopic } from "../stream-topics.ts";
import type { Append, SequenceRecord } from "./append-store.ts";
import type { AppendOutcome, RecordAppender } from "./record-appender.ts";

/** A record that a caller appends. */
export interface AppendInput {
  readonly runId: string;
  /** The id or the name of the stream. */
  readonly streamId: string;
  readonly direction: Direction;
  readonly contentClass: string;
  readonly schemaRef: string;
  readonly payload: Json;
  /** How long to wait for acknowledgements, if the stream blocks. */
  readonly waitMs: number;
}

interface Parts {
  readonly lookup: StreamLookup;
  readonly appender: RecordAppender;
  readonly signals: Signals;
  readonly metrics: StreamMetrics;
}

/** How often an append that waits looks for acknowledgements without a signal. */
const pollMs = 1000;
const retryAfterS = 1;

/** A sequence that no record has. It marks the place of the sequence in a stored response. */
const placeholder = Number.MAX_SAFE_INTEGER;

/** Appends records for callers. */
export type AppendService = ReturnType<typeof createAppendService>;

/** Creates the append service. */
export function createAppendService({ lookup, appender, signals, metrics }: Parts) {
  const stopping = new AbortController();

  /** Appends, and waits for acknowledgements if the stream is full of unread records and blocks. */
  async function appendOrWait(
    context: Context,
    stream: StreamDefinition,
    append: Append,
    waitMs: number,
  ): Promise<AppendOutcome> {
    // Most appends fit, and need neither a timer nor a listener.
    const outcome = await appender.append(append);
    const mayWait = outcome.kind === "unread_full" && stream.pins.on_unread_full === "block" && waitMs > 0;
    return mayWait ? waitAndAppend(context, stream, append, waitMs) : outcome;
  }

  async function waitAndAppend(
    context: Context,
    stream: StreamDefinition,
    append: Append,
    waitMs: number,
  ): Promise<AppendOutcome> {
    const untilMs = performance.now() + waitMs;
    const signal = AbortSignal.any([context.signal, stopping.signal]);
    for (;;) {
      const restMs = untilMs - performance.now();
      // Listen before the append, so that an acknowledgement in between wakes it.
      const woken = nextWake(signals, ackTopic(stream), signal, Math.max(0, Math.min(restMs, pollMs)));
      try {
        const outcome = await appender.append(append);
        if (outcome.kind !== "unread_full" || restMs <= 0 || stopping.signal.aborted) return outcome;
        const startedMs = performance.now();
        await woken.reason;
        context.waited(performance.now() - startedMs);
      } finally {
        woken.cancel();
      }
      context.signal.throwIfAborted();
      await context.recheckAccess();
    }
  }

  return {
    /** Appends an inline record. Returns "duplicate" for a repeated call. */
    async appendRecord<T extends Message>(
      context: Context,
      input: AppendInput,
      keyed: KeyedCall | undefined,
      toResponse: (sequence: number, appendedAtMs: number) => T,
    ): Promise<T | "duplicate"> {
      const stream = await lookup.require(context, input.runId, input.streamId, "write");
      const appendedAtMs = context.nowMs;
      const append = {
        ...appendTo(stream, toNewRecord(stream, input), appendedAtMs),
        idempotency: keyed && sequenceRecord(keyed, toResponse(placeholder, appendedAtMs)),
      };
      const outcome = await appendOrWait(context, stream, append, input.waitMs);
      metrics.appended(outcome.kind, append.record.bytes);
      if (outcome.kind === "duplicate") return "duplicate";
      if (outcome.kind !== "appended") throw appendFailure(outcome, stream);
      return toResponse(outcome.sequence, appendedAtMs);
    },

    /**
     * Appends a record in the caller's transaction, which locks the stream until it ends. Throws if it does not fit. The
     * caller calls `announce` after the commit.
     */
    async appendInTransaction(
      tx: Sql,
      stream: StreamDefinition,
      record: NewRecord,
      nowMs: number,
    ): Promise<{ readonly sequence: number; readonly announce: () => void }> {
      const { outcome, announce } = await appender.appendRecord(tx, appendTo(stream, record, nowMs));
      metrics.appended(outcome.kind, record.bytes);
      if (outcome.kind !== "appended") throw appendFailure(outcome, stream);
      return { sequence: outcome.sequence, announce };
    },

    /** Ends all waits when the node stops. */
    endWaits: () => stopping.abort(),
  };
}

function appendTo(stream: StreamDefinition, record: NewRecord, appendedAtMs: number): Append {
  const { tenantId, runId, streamId, pins } = stream;
  return {
    key: { tenantId, runId, streamId },
    record,
    ceilings: pins.ceilings,
    maxAgeS: pins.retention.max_age_s,
    appendedAtMs,
    idempotency: undefined,
  };
}

/** Checks and redacts a record. */
function toNewRecord({ pins, redactionKey }: StreamDefinition, input: AppendInput): NewRecord {
  const { direction, schemaRef, payload } = input;
  const contentClass = contentClassOf(pins, input.contentClass);
  const sent = JSON.stringify(payload);
  if (Buffer.byteLength(sent) > inlineBytesMax) {
    throw invalid("payload", "max_bytes", "must be at most 64 KiB as JSON; upload larger payloads as objects");
  }
  const payloadJson =
    pins.redaction.length === 0 ? sent : JSON.stringify(redact(payload, pins.redaction, redactionKey));
  return { direction, contentClass, schemaRef, payloadJson, bytes: Buffer.byteLength(payloadJson) };
}

function sequenceRecord(keyed: KeyedCall, response: Message): SequenceRecord {
  const { response: text, ...record } = keyed.record(response);
  const [beforeSequence, afterSequence] = text.split(String(placeholder)) as [string, string];
  return { ...record, beforeSequence, afterSequence };
}

/** The error of an append that was not carried out. */
function appendFailure(
  outcome: Exclude<AppendOutcome, { kind: "appended" }>,
  { pins, streamId }: StreamDefinition,
): Failure {
  switch (outcome.kind) {
    case "closed":
      return fail("STREAM_CLOSED", { extra: { stream_id: streamId } });
    case "total_full": {
      const { items, bytes } = outcome.usage;
      const { total_items, total_bytes } = pins.ceilings;
      return fail("STREAM_QUOTA_EXHAUSTED", {
        public: `The stream holds ${items} of at most ${total_items} records and ${bytes} of at most ${total_bytes} bytes. Nothing was appended.`,
        extra: { items, bytes, total_items, total_bytes },
      });
    }
    case "unread_full": {
      const { unreadItems, unreadBytes } = outcome.usage;
      const { unread_items, unread_bytes } = pins.ceilings;
      return fail("STREAM_BACKPRESSURE", {
        public: `${unreadItems} of at most ${unread_items} records and ${unreadBytes} of at most ${unread_bytes} bytes are unread. Nothing was appended.`,
        headers: { "retry-after": String(retryAfterS) },
        extra: {
          unread_items: unreadItems,
          unread_bytes: unreadBytes,
          unread_items_max: unread_items,
          unread_bytes_max: unread_bytes,
        },
      });
    }
    default:
      return notFound("workflow stream");
  }
}

import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../../chain/call.ts";
import { Failure, fail, invalid } from "../../../../errors/index.ts";
import { nextWake, notFound, type Sql } from "../../../../platform/db/index.ts";
import { isRecorded, type KeyedCall, withIdempotency } from "../../../../platform/idempotency/index.ts";
import { toViolationFailure } from "../../../../platform/protojson/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { Json } from "../../definitions/index.ts";
import type { Runs } from "../../runs/index.ts";
import { contentClassOf, type Pins } from "../domain/pins.ts";
import { redact } from "../domain/redaction.ts";
import { ackTopic, type Direction, inlineBytesMax, type NewRecord, type StreamDefinition } from "../domain/stream.ts";
import type { StreamLookup } from "../stream-lookup.ts";
import type { StreamMetrics } from "../stream-metrics.ts";
import { streamStore } from "../stream-store.ts";
import type { Append, SequenceRecord } from "./append-store.ts";
import type { AppendOutcome, RecordAppender, Refusal } from "./record-appender.ts";

/** The stream that a caller appends to. */
export interface AppendTarget {
  readonly runId: string;
  /** The id or the name of the stream. */
  readonly streamId: string;
  /** How long to wait for acknowledgements, if the stream blocks. */
  readonly waitMs: number;
}

/** A record that a caller appends. */
export interface RecordInput {
  readonly direction: Direction;
  readonly contentClass: string;
  readonly schemaRef: string;
  readonly payload: Json;
}

/** The appended part of a batch: the records before the first that did not fit. */
interface AppendedPrefix {
  readonly firstSequence: number;
  readonly appended: number;
  readonly refused: number;
  /** Why the others were not appended. */
  readonly refusal: Failure | undefined;
  readonly appendedAtMs: number;
}

interface Dependencies extends Pick<PlatformServices, "db" | "signals"> {
  readonly lookup: StreamLookup;
  readonly appender: RecordAppender;
  /** Those of the given runs that have not ended. */
  readonly findInProgress: Runs["findInProgress"];
  readonly metrics: StreamMetrics;
}

/** How often an append that waits looks for acknowledgements without a signal. */
const pollMs = 1000;
const retryAfterS = 1;

/** A sequence that no record has. It marks the place of the sequence in a stored response. */
const placeholder = Number.MAX_SAFE_INTEGER;

type AppendedOutcome = Extract<AppendOutcome, { kind: "appended" }>;

const nothingAppended = new Error("Nothing was appended.");

/** Appends records for callers. */
export type AppendService = ReturnType<typeof createAppendService>;

export function createAppendService({ db, lookup, appender, findInProgress, signals, metrics }: Dependencies) {
  const stopping = new AbortController();

  /** Appends, and waits for acknowledgements if the stream is full of unread records and blocks. */
  async function appendOrWait(
    context: Context,
    stream: StreamDefinition,
    append: () => Promise<AppendOutcome>,
    waitMs: number,
  ): Promise<AppendOutcome> {
    // Most appends fit, and need neither a timer nor a listener.
    const outcome = await append();
    const mayWait = outcome.kind === "unread_full" && stream.pins.on_unread_full === "block" && waitMs > 0;
    return mayWait ? waitAndAppend(context, stream, append, waitMs) : outcome;
  }

  async function waitAndAppend(
    context: Context,
    stream: StreamDefinition,
    append: () => Promise<AppendOutcome>,
    waitMs: number,
  ): Promise<AppendOutcome> {
    const untilMs = performance.now() + waitMs;
    const signal = AbortSignal.any([context.signal, stopping.signal]);
    for (;;) {
      const restMs = untilMs - performance.now();
      // Listen before the append, so that an acknowledgement in between wakes it.
      const woken = nextWake(signals, ackTopic(stream), signal, Math.max(0, Math.min(restMs, pollMs)));
      try {
        const outcome = await append();
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

  /** Appends a prefix, and stores the response under an idempotency key in the same transaction. */
  async function appendPrefixKeyed(
    append: Append,
    keyed: KeyedCall,
    toResponse: (outcome: AppendedOutcome) => Message,
  ): Promise<AppendOutcome> {
    let refused: AppendOutcome | undefined;
    try {
      const done = await db.transaction((tx) =>
        withIdempotency(tx, keyed, async () => {
          const { outcome, announce } = await appender.appendPrefixIn(tx, append);
          if (outcome.kind !== "appended") {
            refused = outcome;
            // Roll back, so that the key of a call that fails can be used again.
            throw nothingAppended;
          }
          return { outcome, announce, response: toResponse(outcome) };
        }),
      );
      if (done === "duplicate") return { kind: done };
      done.announce();
      return done.outcome;
    } catch (error) {
      if (error === nothingAppended) return refused!;
      throw error;
    }
  }

  /** Throws if a record is for a run that cannot receive it any more. */
  async function requireReceiver(
    { tenantId, runId }: StreamDefinition,
    records: readonly { readonly direction: Direction }[],
    keyed?: KeyedCall,
  ): Promise<void> {
    if (!records.some(({ direction }) => direction === "input")) return;
    if ((await findInProgress(tenantId, [runId])).length > 0) return;
    // A repeated call gets its response even if the run has ended meanwhile.
    if (await isRecorded(db.sql, keyed)) return;
    throw fail("FAILED_PRECONDITION", { public: "The run has ended, so it receives no input records." });
  }

  return {
    /** Throws if a large object that is announced could not be appended even if everything is read. */
    async requireAppendable(sql: Sql, stream: StreamDefinition, direction: Direction, bytes: number): Promise<void> {
      requireRoom(stream.pins, bytes, "size_bytes");
      await requireReceiver(stream, [{ direction }]);
      const state = await streamStore(sql).readState(stream);
      if (state?.closedAt != null) throw streamClosed(stream);
    },

    /** Appends an inline record. Returns "duplicate" for a repeated call. */
    async appendRecord<T extends Message>(
      context: Context,
      { runId, streamId, waitMs }: AppendTarget,
      input: RecordInput,
      keyed: KeyedCall | undefined,
      toResponse: (sequence: number, appendedAtMs: number) => T,
    ): Promise<T | "duplicate"> {
      const stream = await lookup.require(context, runId, streamId, "write");
      await requireReceiver(stream, [input], keyed);
      const appendedAtMs = context.nowMs;
      const record = toNewRecord(stream, input);
      const append = {
        ...appendTo(stream, [record], appendedAtMs),
        idempotency: keyed && sequenceRecord(keyed, toResponse(placeholder, appendedAtMs)),
      };
      const outcome = await appendOrWait(context, stream, () => appender.appendPrefix(append), waitMs);
      metrics.appended(outcome.kind, record.bytes);
      if (outcome.kind === "duplicate") return "duplicate";
      if (outcome.kind !== "appended") throw appendFailure(outcome, stream);
      return toResponse(outcome.sequence, appendedAtMs);
    },

    /**
     * Appends the longest prefix of inline records that fits. Throws if not even the first fits, or if one of them is invalid.
     * Returns "duplicate" for a repeated call.
     */
    async appendRecords<T extends Message>(
      context: Context,
      { runId, streamId, waitMs }: AppendTarget,
      inputs: readonly RecordInput[],
      keyed: KeyedCall | undefined,
      toResponse: (prefix: AppendedPrefix) => T,
    ): Promise<T | "duplicate"> {
      const stream = await lookup.require(context, runId, streamId, "write");
      await requireReceiver(stream, inputs, keyed);
      const appendedAtMs = context.nowMs;
      const records = toNewRecords(stream, inputs);
      const append = appendTo(stream, records, appendedAtMs);
      const respond = ({ sequence, count, refusal }: AppendedOutcome) =>
        toResponse({
          ...{ firstSequence: sequence, appended: count, refused: records.length - count, appendedAtMs },
          refusal: refusal && appendFailure(refusal, stream),
        });
      const outcome = await appendOrWait(
        context,
        stream,
        () => (keyed === undefined ? appender.appendPrefix(append) : appendPrefixKeyed(append, keyed, respond)),
        waitMs,
      );
      if (outcome.kind === "duplicate") return "duplicate";
      if (outcome.kind !== "appended") {
        metrics.appended(outcome.kind, 0, records.length);
        throw appendFailure(outcome, stream);
      }
      const { count, refusal } = outcome;
      metrics.appended("appended", sumOfBytes(records.slice(0, count)), count);
      if (refusal !== undefined) metrics.appended(refusal.kind, 0, records.length - count);
      return respond(outcome);
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
      const { outcome, announce } = await appender.appendPrefixIn(tx, appendTo(stream, [record], nowMs));
      metrics.appended(outcome.kind, record.bytes);
      if (outcome.kind !== "appended") throw appendFailure(outcome, stream);
      return { sequence: outcome.sequence, announce };
    },

    /** Ends all waits when the node stops. */
    endWaits: () => stopping.abort(),
  };
}

function appendTo(stream: StreamDefinition, records: readonly NewRecord[], appendedAtMs: number): Append {
  const { tenantId, runId, streamId, pins } = stream;
  return {
    key: { tenantId, runId, streamId },
    records,
    ceilings: pins.ceilings,
    maxAgeS: pins.retention.max_age_s,
    appendedAtMs,
    idempotency: undefined,
  };
}

function sumOfBytes(records: readonly NewRecord[]): number {
  return records.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Checks and redacts the records of a batch. Violations name the record. */
function toNewRecords(stream: StreamDefinition, inputs: readonly RecordInput[]): readonly NewRecord[] {
  const records: NewRecord[] = [];
  try {
    for (const input of inputs) records.push(toNewRecord(stream, input));
  } catch (error) {
    if (error instanceof Failure && error.violations.length > 0) {
      const inRecord = `records[${records.length}]`;
      throw toViolationFailure(error.violations.map((each) => ({ ...each, field: `${inRecord}.${each.field}` })));
    }
    throw error;
  }
  return records;
}

/** Checks and redacts a record. */
function toNewRecord({ pins, redactionKey }: StreamDefinition, input: RecordInput): NewRecord {
  const { direction, schemaRef, payload } = input;
  const contentClass = contentClassOf(pins, input.contentClass);
  const sent = JSON.stringify(payload);
  const sentBytes = Buffer.byteLength(sent);
  if (sentBytes > inlineBytesMax) {
    throw invalid("payload", "max_bytes", "must be at most 64 KiB as JSON; upload larger payloads as objects");
  }
  const isRedacted = pins.redaction.length > 0;
  const payloadJson = isRedacted ? JSON.stringify(redact(JSON.parse(sent), pins.redaction, redactionKey)) : sent;
  const bytes = isRedacted ? Buffer.byteLength(payloadJson) : sentBytes;
  requireRoom(pins, bytes, "payload");
  return { direction, contentClass, schemaRef, payloadJson, bytes };
}

/** Throws if a record does not fit even when everything before it is read. */
function requireRoom({ ceilings }: Pins, bytes: number, field: "payload" | "size_bytes"): void {
  if (bytes <= ceilings.unread_bytes) return;
  const limit = `must be at most ${ceilings.unread_bytes} bytes`;
  throw invalid(field, "max_bytes", `${limit}, the ceiling unread_bytes of the stream; it has ${bytes}`);
}

function sequenceRecord(keyed: KeyedCall, response: Message): SequenceRecord {
  const { response: text, ...record } = keyed.record(response);
  const [beforeSequence, afterSequence] = text.split(String(placeholder)) as [string, string];
  return { ...record, beforeSequence, afterSequence };
}

const streamClosed = ({ streamId }: StreamDefinition) => fail("STREAM_CLOSED", { extra: { stream_id: streamId } });

/** The error of an append that was not carried out. */
function appendFailure(outcome: Refusal | { readonly kind: "duplicate" }, stream: StreamDefinition): Failure {
  const { pins } = stream;
  switch (outcome.kind) {
    case "closed":
      return streamClosed(stream);
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

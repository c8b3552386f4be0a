import { createBatcher, type Database, isUniqueViolation, type Sql } from "../../../../platform/db/index.ts";
import { keyName } from "../../../../platform/idempotency/index.ts";
import { type FullReason, fullReason, type Usage, usageOf } from "../domain/credit.ts";
import { nameOfKey, type StreamKey } from "../domain/stream.ts";
import { type Append, type AppendedBatch, type AppendedStream, appendBatch } from "./append-store.ts";

/** Why a record was not appended. total_full and unread_full: a ceiling is reached. */
export type Refusal = { readonly kind: "closed" | "not_found" } | { readonly kind: FullReason; readonly usage: Usage };

/** The result of an append. duplicate: the idempotency key was used before. Nothing is appended unless it is appended. */
export type AppendOutcome =
  | {
      readonly kind: "appended";
      /** The sequence of the first record. */
      readonly sequence: number;
      readonly count: number;
      /** Why the records after them were not appended; undefined if all were. */
      readonly refusal: Refusal | undefined;
    }
  | { readonly kind: "duplicate" }
  | Refusal;

interface Dependencies {
  readonly db: Database;
  /** Called after the commit, once per stream. */
  readonly onAppended: (key: StreamKey, hasInput: boolean) => void;
}

/** The most bytes of payload that count as one record in a batch. */
const bytesPerWeight = 1024;

/** Appends records; those of all callers of this node share statements. */
export type RecordAppender = ReturnType<typeof createRecordAppender>;

/** Creates the appender of this node. */
export function createRecordAppender({ db, onAppended }: Dependencies) {
  const batcher = createBatcher<Append, AppendOutcome>({
    lanes: 2,
    batchMax: 1000,
    concurrentMin: 100,
    weigh: weightOf,
    async flush(appends) {
      const outcomes = await appendAll(db.genericPlans.sql, appends);
      announce(appends, outcomes);
      return outcomes;
    },
  });

  function announce(appends: readonly Append[], outcomes: readonly AppendOutcome[]): void {
    const appended = new Map<string, { key: StreamKey; hasInput: boolean }>();
    for (const [nth, { key, records }] of appends.entries()) {
      const outcome = outcomes[nth]!;
      if (outcome.kind !== "appended") continue;
      const name = nameOfKey(key);
      const inputAt = records.findIndex(({ direction }) => direction === "input");
      const hasInput = (inputAt >= 0 && inputAt < outcome.count) || (appended.get(name)?.hasInput ?? false);
      appended.set(name, { key, hasInput });
    }
    for (const { key, hasInput } of appended.values()) onAppended(key, hasInput);
  }

  return {
    /** Appends the longest prefix of records that fits, at consecutive sequences; resolves after the commit. */
    appendPrefix: (append: Append): Promise<AppendOutcome> => batcher.run(append),

    /**
     * The same in the caller's transaction, which locks the stream until it ends. The caller calls `announce` after the
     * commit.
     */
    async appendPrefixIn(tx: Sql, append: Append): Promise<{ outcome: AppendOutcome; announce: () => void }> {
      const outcomes = await appendAll(tx, [append]);
      return { outcome: outcomes[0]!, announce: () => announce([append], outcomes) };
    },

    idle: batcher.idle,
  };
}

/**
 * How often a batch is repeated because another node used one of its idempotency keys at the same moment. The repeat sees the
 * record of the other node.
 */
const repeatsMax = 20;

/**
 * Carries out appends. Of each, the longest prefix that fits is appended. It has consecutive sequences: a statement ends, for a
 * stream, at the first record that does not fit, so that an append is before it, after it, or divided by it.
 */
export async function appendAll(sql: Sql, appends: readonly Append[]): Promise<readonly AppendOutcome[]> {
  const outcomes = new Map<Append, AppendOutcome>();
  let open = appends;
  for (let repeats = 0; open.length > 0; ) {
    const batch = withoutRepeatedKeys(open);
    try {
      settle(batch, await appendBatch(sql, batch), outcomes);
      open = open.filter((append) => !outcomes.has(append));
    } catch (error) {
      if (!isUniqueViolation(error) || ++repeats > repeatsMax) throw error;
    }
  }
  return appends.map((append) => outcomes.get(append)!);
}

function weightOf({ records }: Append): number {
  return records.reduce((sum, { payloadJson }) => sum + 1 + Math.floor((payloadJson?.length ?? 0) / bytesPerWeight), 0);
}

/** Of several appends with the same idempotency key, only the first is part of a statement. */
function withoutRepeatedKeys(open: readonly Append[]): readonly Append[] {
  const names = new Set<string>();
  return open.filter(({ idempotency }) => {
    if (idempotency === undefined) return true;
    const name = keyName(idempotency);
    if (names.has(name)) return false;
    names.add(name);
    return true;
  });
}

/**
 * Adds the outcomes of a batch. The statement appends the longest prefix of the records of a stream. An append after it is
 * compared with the stream as the statement left it; one whose first record would fit has no outcome yet.
 */
function settle(
  batch: readonly Append[],
  { streams, duplicates }: AppendedBatch,
  outcomes: Map<Append, AppendOutcome>,
): void {
  const before = new Map<AppendedStream, number>();
  for (const append of batch) {
    const stream = streams.get(append.key.streamId);
    if (duplicates.has(append) || stream === undefined) {
      outcomes.set(append, { kind: duplicates.has(append) ? "duplicate" : "not_found" });
      continue;
    }
    const { length } = append.records;
    const offset = before.get(stream) ?? 0;
    before.set(stream, offset + length);
    const count = Math.max(0, Math.min(length, stream.appended - offset));
    const refusal = count < length ? refusalOf(append, count, stream) : undefined;
    const sequence = stream.lastSequence + offset + 1;
    if (count > 0) outcomes.set(append, { kind: "appended", sequence, count, refusal });
    else if (refusal !== undefined) outcomes.set(append, refusal);
  }
}

/** Why a record does not fit into its stream as a statement left it; undefined if it does. */
function refusalOf({ records, ceilings }: Append, at: number, stream: AppendedStream): Refusal | undefined {
  if (stream.closedAt !== null) return { kind: "closed" };
  const lastSequence = stream.lastSequence + stream.appended;
  const lastCumBytes = stream.lastCumBytes + stream.appendedBytes;
  const usage = usageOf({ ...stream, lastSequence, lastCumBytes }, stream);
  const reason = fullReason(usage, records[at]!.bytes, ceilings);
  return reason && { kind: reason, usage };
}

import { createBatcher, type Database, isUniqueViolation, type Sql } from "../../../../platform/db/index.ts";
import { keyName } from "../../../../platform/idempotency/index.ts";
import { type FullReason, fullReason, type Usage, usageOf } from "../domain/credit.ts";
import { nameOfKey, type StreamKey } from "../domain/stream.ts";
import { type Append, type AppendRow, appendBatch } from "./append-store.ts";

/**
 * The result of an append. duplicate: the idempotency key was used before. total_full and unread_full: a ceiling is reached.
 * Nothing is appended unless it is appended.
 */
export type AppendOutcome =
  | { readonly kind: "appended"; readonly sequence: number }
  | { readonly kind: "duplicate" | "closed" | "not_found" }
  | { readonly kind: FullReason; readonly usage: Usage };

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
  const batcher = createBatcher<readonly Append[], readonly AppendOutcome[]>({
    lanes: 2,
    batchMax: 1000,
    concurrentMin: 100,
    weigh: (group) => group.reduce((sum, each) => sum + weightOf(each), 0),
    async flush(groups) {
      const outcomes = await appendGroups(db.genericPlans.sql, groups);
      announce(groups.flat(), outcomes.flat());
      return outcomes;
    },
  });

  function announce(appends: readonly Append[], outcomes: readonly AppendOutcome[]): void {
    const appended = new Map<string, { key: StreamKey; hasInput: boolean }>();
    for (const [nth, { key, record }] of appends.entries()) {
      if (outcomes[nth]!.kind !== "appended") continue;
      const name = nameOfKey(key);
      const hasInput = record.direction === "input" || (appended.get(name)?.hasInput ?? false);
      appended.set(name, { key, hasInput });
    }
    for (const { key, hasInput } of appended.values()) onAppended(key, hasInput);
  }

  return {
    /** Appends the longest prefix of records of one stream that fits, at consecutive sequences; resolves after the commit. */
    appendPrefix: (appends: readonly Append[]): Promise<readonly AppendOutcome[]> => batcher.run(appends),

    /**
     * The same in the caller's transaction, which locks the stream until it ends. The caller calls `announce` after the
     * commit.
     */
    async appendPrefixIn(
      tx: Sql,
      appends: readonly Append[],
    ): Promise<{ outcomes: readonly AppendOutcome[]; announce: () => void }> {
      const [outcomes] = await appendGroups(tx, [appends]);
      return { outcomes: outcomes!, announce: () => announce(appends, outcomes!) };
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
 * Appends groups of records. Of each group, the longest prefix that fits is appended. It has consecutive sequences: a statement
 * ends at the first record that does not fit, so that a group is before it, after it, or divided by it.
 */
async function appendGroups(
  sql: Sql,
  groups: readonly (readonly Append[])[],
): Promise<readonly (readonly AppendOutcome[])[]> {
  const outcomes: (AppendOutcome | undefined)[] = [];
  let open = groups.flatMap((appends, group) => appends.map((append) => ({ append, group }))).map(numbered);
  for (let repeats = 0; open.length > 0; ) {
    const { first, later } = withoutRepeatedKeys(open);
    try {
      const batch = await appendBatch(
        sql,
        first.map(({ append }) => append),
      );
      const settled = refuseRest(first, settle(first, batch.rows, batch.duplicates));
      for (const [nth, outcome] of settled) outcomes[nth] = outcome;
      open = [...first.filter(({ nth }) => !settled.has(nth)), ...later].sort((a, b) => a.nth - b.nth);
    } catch (error) {
      if (!isUniqueViolation(error) || ++repeats > repeatsMax) throw error;
    }
  }
  const all = outcomes.values() as ArrayIterator<AppendOutcome>;
  return groups.map((appends) => all.take(appends.length).toArray());
}

interface OpenAppend {
  readonly append: Append;
  /** The position of its group. */
  readonly group: number;
  readonly nth: number;
}

function numbered(append: Omit<OpenAppend, "nth">, nth: number): OpenAppend {
  return { ...append, nth };
}

/** Refuses what follows a refused record in its group. */
function refuseRest(
  batch: readonly OpenAppend[],
  settled: ReadonlyMap<number, AppendOutcome>,
): ReadonlyMap<number, AppendOutcome> {
  const all = new Map(settled);
  const refusals = new Map<number, AppendOutcome>();
  for (const { group, nth } of batch) {
    const outcome = all.get(nth);
    const refusal = refusals.get(group);
    if (refusal !== undefined) all.set(nth, refusal);
    else if (outcome !== undefined && outcome.kind !== "appended") refusals.set(group, outcome);
  }
  return all;
}

function weightOf({ record }: Append): number {
  return 1 + Math.floor((record.payloadJson?.length ?? 0) / bytesPerWeight);
}

/** Of several appends with the same idempotency key, only the first is part of a statement. */
function withoutRepeatedKeys(open: readonly OpenAppend[]): { first: OpenAppend[]; later: OpenAppend[] } {
  const names = new Set<string>();
  const first: OpenAppend[] = [];
  const later: OpenAppend[] = [];
  for (const each of open) {
    const { idempotency } = each.append;
    const name = idempotency && keyName(idempotency);
    if (name !== undefined && names.has(name)) later.push(each);
    else first.push(each);
    if (name !== undefined) names.add(name);
  }
  return { first, later };
}

/**
 * The outcomes of a batch. The statement appends the longest prefix that fits. The records after it are compared with the
 * stream as the statement left it; a smaller one that would fit has no outcome yet.
 */
function settle(
  batch: readonly OpenAppend[],
  rows: ReadonlyMap<number, AppendRow>,
  duplicates: ReadonlySet<number>,
): ReadonlyMap<number, AppendOutcome> {
  const outcomes = new Map<number, AppendOutcome>();
  const added = new Map<string, { items: number; bytes: number }>();
  for (const [at, { append, nth }] of batch.entries()) {
    const row = rows.get(at);
    if (row === undefined) {
      outcomes.set(nth, { kind: duplicates.has(at) ? "duplicate" : "not_found" });
    } else if (row.sequence !== null) {
      const sum = added.get(nameOfKey(append.key)) ?? { items: 0, bytes: 0 };
      added.set(nameOfKey(append.key), { items: sum.items + 1, bytes: sum.bytes + append.record.bytes });
      outcomes.set(nth, { kind: "appended", sequence: row.sequence });
    }
  }
  for (const [at, { append, nth }] of batch.entries()) {
    const row = rows.get(at);
    if (row === undefined || row.sequence !== null) continue;
    const sum = added.get(nameOfKey(append.key)) ?? { items: 0, bytes: 0 };
    const lastSequence = row.lastSequence + sum.items;
    const usage = usageOf({ ...row, lastSequence, lastCumBytes: row.lastCumBytes + sum.bytes }, row);
    const reason = fullReason(usage, append.record.bytes, append.ceilings);
    if (row.closedAt !== null) outcomes.set(nth, { kind: "closed" });
    else if (reason !== undefined) outcomes.set(nth, { kind: reason, usage });
  }
  return outcomes;
}

import { changedPositions } from "../compilation/changed-positions.ts";
import type { CompiledPool } from "../compilation/compiled-pool.ts";
import { TurnQueue } from "../structures/turn-queue.ts";
import { AT_CAPACITY, AVAILABLE, DEPRIORITIZED, EJECTED, type Standing } from "./survey-record.ts";

/** What is known of a recipient from elsewhere; what is absent stays as it is. */
export interface LiveRow {
  readonly recipientId: string;
  readonly inFlight?: number;
  /** NaN while it is not known. */
  readonly latencyMs?: number;
  /** NaN while it is not known. */
  readonly cost?: number;
  /** 0 for never. */
  readonly lastAssignedAtMs?: number;
  readonly ejectedUntilMs?: number;
  readonly deprioritizedUntilMs?: number;
}

/**
 * What one node knows of the moment in one pool: its own assignments at once, those of others with the next refresh.
 * Indices are those of the snapshot. It may be wiped at any time: the truth is elsewhere.
 */
export class LivePool {
  inFlight!: Float64Array;
  latencyMs!: Float64Array;
  cost!: Float64Array;
  lastAssignedAtMs!: Float64Array;
  ejectedUntilMs!: Float64Array;
  deprioritizedUntilMs!: Float64Array;
  turns!: TurnQueue;
  /** Whom the last decision in turn came to; -1 for nobody. */
  offered = -1;
  #pool!: CompiledPool;
  readonly #salt: number;
  #lastStampMs = 0;
  #ejected = { count: 0, fromMs: Number.POSITIVE_INFINITY, untilMs: 0 };

  /** `salt`: any number of this node's own; it decides whom equals begin with. */
  constructor(pool: CompiledPool, salt = 0) {
    this.#salt = salt;
    this.#lay(pool);
  }

  get pool(): CompiledPool {
    return this.#pool;
  }

  /** Goes over to another snapshot of the same pool; whoever is in both keeps what is known of it. */
  follow(pool: CompiledPool): void {
    if (pool === this.#pool) return;
    const changed = changedPositions(this.#pool.snapshot.recipients, pool.snapshot.recipients);
    if (changed !== undefined) {
      this.#adopt(pool, changed);
      return;
    }
    const before = { ...this, pool: this.#pool };
    this.#lay(pool, (id, index) => {
      const was = before.pool.indexById.get(id);
      if (was === undefined) return undefined;
      for (const name of columns) this[name][index] = before[name][was]!;
      return before.turns.startsIn(was);
    });
  }

  /** An item was given to a recipient. */
  assigned(recipientId: string, nowMs: number): void {
    const index = this.#pool.indexById.get(recipientId);
    if (index === undefined) return;
    this.inFlight[index] = this.inFlight[index]! + 1;
    // Several in one millisecond still have an order.
    this.#lastStampMs = nowMs > this.#lastStampMs ? nowMs : this.#lastStampMs + 1 / 1024;
    this.lastAssignedAtMs[index] = this.#lastStampMs;
    // What is given out of turn, such as to whom an item names, is no turn.
    if (this.offered === index) this.turns.take(index, this.#weightNow(index, nowMs));
    this.offered = -1;
    this.#standInLine(index);
  }

  /** A recipient is done with an item, one way or the other. */
  released(recipientId: string): void {
    const index = this.#pool.indexById.get(recipientId);
    if (index === undefined) return;
    this.inFlight[index] = Math.max(0, this.inFlight[index]! - 1);
    this.#standInLine(index);
  }

  /** Takes over what is known elsewhere. Recipients that this snapshot does not have are passed over. */
  refresh(rows: Iterable<LiveRow>): void {
    for (const row of rows) {
      const index = this.#pool.indexById.get(row.recipientId);
      if (index === undefined) continue;
      const { ejectedUntilMs = this.ejectedUntilMs[index]!, lastAssignedAtMs = 0 } = row;
      if (ejectedUntilMs !== this.ejectedUntilMs[index]) this.#ejected.untilMs = 0;
      for (const name of columns) {
        const value = row[name];
        if (value !== undefined && name !== "lastAssignedAtMs") this[name][index] = value;
      }
      // What this node gave out just now may not have reached the others yet.
      this.lastAssignedAtMs[index] = Math.max(this.lastAssignedAtMs[index]!, lastAssignedAtMs);
      this.#standInLine(index);
    }
  }

  /** Whether everybody who may be chosen is at capacity. */
  get isFull(): boolean {
    return this.turns.first < 0;
  }

  /** How a recipient stands. */
  standing(index: number, nowMs: number, ejectionIgnored: boolean): Standing {
    if (!ejectionIgnored && this.ejectedUntilMs[index]! > nowMs) return EJECTED;
    if (this.#isFull(index)) return AT_CAPACITY;
    return this.deprioritizedUntilMs[index]! > nowMs ? DEPRIORITIZED : AVAILABLE;
  }

  /** How many of those who may be chosen are ejected. */
  ejectedCount(nowMs: number): number {
    const known = this.#ejected;
    if (nowMs < known.fromMs || nowMs >= known.untilMs) this.#countEjected(nowMs);
    return this.#ejected.count;
  }

  /** Counts, and remembers until when the count holds. */
  #countEjected(nowMs: number): void {
    let count = 0;
    let untilMs = Number.POSITIVE_INFINITY;
    for (const index of this.#pool.eligible) {
      const ejectedUntilMs = this.ejectedUntilMs[index]!;
      if (ejectedUntilMs <= nowMs) continue;
      count++;
      untilMs = Math.min(untilMs, ejectedUntilMs);
    }
    this.#ejected = { count, fromMs: nowMs, untilMs };
  }

  #weightNow(index: number, nowMs: number): number {
    const share = this.deprioritizedUntilMs[index]! > nowMs ? 0.1 : 1;
    return this.#pool.weights[index]! * share * this.#pool.warmth(index, nowMs);
  }

  #isFull(index: number): boolean {
    const capacity = this.#pool.capacities[index]!;
    return capacity > 0 && this.inFlight[index]! >= capacity;
  }

  /** Keeps those at capacity out of the round, so that looking for the next is not looking past all of them. */
  #standInLine(index: number): void {
    if (this.#isFull(index)) this.turns.leave(index);
    else this.turns.join(index);
  }

  /** Goes over to a snapshot with the same recipients, some of them changed. */
  #adopt(pool: CompiledPool, changed: readonly number[]): void {
    const startsIn = changed.map((index) => this.turns.startsIn(index));
    this.#pool = pool;
    this.turns.reweigh(pool.weights, changed);
    for (const [at, index] of changed.entries()) {
      if (!this.#isFull(index)) this.turns.join(index, startsIn[at]);
    }
    this.#ejected.untilMs = 0;
    this.offered = -1;
  }

  #lay(pool: CompiledPool, carry?: (id: string, index: number) => number | undefined): void {
    const count = pool.snapshot.recipients.length;
    this.#pool = pool;
    for (const name of columns) this[name] = new Float64Array(count).fill(unlessKnown[name]);
    this.turns = new TurnQueue(pool.weights, this.#salt);
    for (const [id, index] of pool.indexById) {
      const startsIn = carry?.(id, index);
      if (!this.#isFull(index)) this.turns.join(index, startsIn);
    }
    this.#ejected.untilMs = 0;
    this.offered = -1;
  }
}

const unlessKnown = {
  inFlight: 0,
  latencyMs: Number.NaN,
  cost: Number.NaN,
  lastAssignedAtMs: 0,
  ejectedUntilMs: 0,
  deprioritizedUntilMs: 0,
} as const;

const columns = Object.keys(unlessKnown) as (keyof typeof unlessKnown)[];

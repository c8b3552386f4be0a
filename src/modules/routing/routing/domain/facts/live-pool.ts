import { changedPositions } from "../compilation/changed-positions.ts";
import type { CompiledPool } from "../compilation/compiled-pool.ts";
import { TurnQueue } from "../structures/turn-queue.ts";
import { AT_CAPACITY, AVAILABLE, type Availability, DEPRIORITIZED, EJECTED } from "./observation.ts";

/** Live state of a recipient from the database; absent fields are unchanged. */
export interface RecipientLiveState {
  readonly recipientId: string;
  readonly inFlight?: number;
  /** NaN if unknown. */
  readonly latencyMs?: number;
  /** NaN if unknown. */
  readonly cost?: number;
  /** 0 for never. */
  readonly lastAssignedAtMs?: number;
  readonly ejectedUntilMs?: number;
  readonly deprioritizedUntilMs?: number;
}

/**
 * The live state of one pool on one node: its own assignments immediately, those of other nodes after the next
 * refresh. Indices are those of the snapshot. The state can be lost at any time; the database is authoritative.
 */
export class LivePool {
  inFlight!: Float64Array;
  latencyMs!: Float64Array;
  cost!: Float64Array;
  lastAssignedAtMs!: Float64Array;
  ejectedUntilMs!: Float64Array;
  deprioritizedUntilMs!: Float64Array;
  turns!: TurnQueue;
  /** The recipient of the last round-robin offer; -1 for none. */
  offered = -1;
  #pool!: CompiledPool;
  readonly #salt: number;
  #lastStampMs = 0;
  #ejected = { count: 0, fromMs: Number.POSITIVE_INFINITY, untilMs: 0 };

  /** `salt`: a number specific to this node; it determines the initial order of equal recipients. */
  constructor(pool: CompiledPool, salt = 0) {
    this.#salt = salt;
    this.#initialize(pool);
  }

  get pool(): CompiledPool {
    return this.#pool;
  }

  /** Switches to another snapshot of the same pool; recipients in both keep their state. */
  follow(pool: CompiledPool): void {
    if (pool === this.#pool) return;
    if (pool.snapshot.recipients === this.#pool.snapshot.recipients) {
      // The other side of a canary.
      this.#pool = pool;
      this.offered = -1;
      return;
    }
    const changed = changedPositions(this.#pool.snapshot.recipients, pool.snapshot.recipients);
    if (changed !== undefined) {
      this.#applyChanges(pool, changed);
      return;
    }
    const before = { ...this, pool: this.#pool };
    this.#initialize(pool, (id, index) => {
      const was = before.pool.indexById.get(id);
      if (was === undefined) return undefined;
      for (const name of columns) this[name][index] = before[name][was]!;
      return before.turns.startsIn(was);
    });
  }

  /** Records that an item was assigned to a recipient. */
  assigned(recipientId: string, nowMs: number): void {
    const index = this.#pool.indexById.get(recipientId);
    if (index === undefined) return;
    this.inFlight[index] = this.inFlight[index]! + 1;
    // Several assignments in one millisecond stay ordered.
    this.#lastStampMs = nowMs > this.#lastStampMs ? nowMs : this.#lastStampMs + 1 / 1024;
    this.lastAssignedAtMs[index] = this.#lastStampMs;
    // An assignment out of turn, such as to a named recipient, does not use a turn.
    if (this.offered === index) this.turns.take(index, this.#weightNow(index, nowMs));
    this.offered = -1;
    this.#updateTurnQueue(index);
  }

  /** Records that a recipient finished an item. */
  released(recipientId: string): void {
    const index = this.#pool.indexById.get(recipientId);
    if (index === undefined) return;
    this.inFlight[index] = Math.max(0, this.inFlight[index]! - 1);
    this.#updateTurnQueue(index);
  }

  /** Applies state from the database. Recipients that are not in the snapshot are ignored. */
  refresh(rows: Iterable<RecipientLiveState>): void {
    for (const row of rows) {
      const index = this.#pool.indexById.get(row.recipientId);
      if (index === undefined) continue;
      const { ejectedUntilMs = this.ejectedUntilMs[index]!, lastAssignedAtMs = 0 } = row;
      if (ejectedUntilMs !== this.ejectedUntilMs[index]) this.#ejected.untilMs = 0;
      for (const name of columns) {
        const value = row[name];
        if (value !== undefined && name !== "lastAssignedAtMs") this[name][index] = value;
      }
      // Recent assignments of this node may not be in the database yet.
      this.lastAssignedAtMs[index] = Math.max(this.lastAssignedAtMs[index]!, lastAssignedAtMs);
      this.#updateTurnQueue(index);
    }
  }

  /** Whether all eligible recipients are at capacity. */
  get isFull(): boolean {
    return this.turns.first < 0;
  }

  /** Returns the availability of a recipient. */
  availability(index: number, nowMs: number, ejectionIgnored: boolean): Availability {
    if (!ejectionIgnored && this.ejectedUntilMs[index]! > nowMs) return EJECTED;
    if (this.#isAtCapacity(index)) return AT_CAPACITY;
    return this.deprioritizedUntilMs[index]! > nowMs ? DEPRIORITIZED : AVAILABLE;
  }

  /** Returns the number of ejected eligible recipients. */
  ejectedCount(nowMs: number): number {
    const known = this.#ejected;
    if (nowMs < known.fromMs || nowMs >= known.untilMs) this.#countEjected(nowMs);
    return this.#ejected.count;
  }

  /** Counts ejected recipients and caches until when the count is valid. */
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
    return this.#pool.weights[index]! * share * this.#pool.slowStartFactor(index, nowMs);
  }

  #isAtCapacity(index: number): boolean {
    const capacity = this.#pool.capacities[index]!;
    return capacity > 0 && this.inFlight[index]! >= capacity;
  }

  /** Removes recipients at capacity from the turn queue, so the search for the next one does not skip over them. */
  #updateTurnQueue(index: number): void {
    if (this.#isAtCapacity(index)) this.turns.leave(index);
    else this.turns.join(index);
  }

  /** Switches to a snapshot with the same recipients, some of them changed. */
  #applyChanges(pool: CompiledPool, changed: readonly number[]): void {
    const startsIn = changed.map((index) => this.turns.startsIn(index));
    this.#pool = pool;
    this.turns.reweigh(pool.weights, changed);
    for (const [at, index] of changed.entries()) {
      if (!this.#isAtCapacity(index)) this.turns.join(index, startsIn[at]);
    }
    this.#ejected.untilMs = 0;
    this.offered = -1;
  }

  #initialize(pool: CompiledPool, carry?: (id: string, index: number) => number | undefined): void {
    const count = pool.snapshot.recipients.length;
    this.#pool = pool;
    for (const name of columns) this[name] = new Float64Array(count).fill(initialValues[name]);
    this.turns = new TurnQueue(pool.weights, this.#salt);
    for (const [id, index] of pool.indexById) {
      const startsIn = carry?.(id, index);
      if (!this.#isAtCapacity(index)) this.turns.join(index, startsIn);
    }
    this.#ejected.untilMs = 0;
    this.offered = -1;
  }
}

const initialValues = {
  inFlight: 0,
  latencyMs: Number.NaN,
  cost: Number.NaN,
  lastAssignedAtMs: 0,
  ejectedUntilMs: 0,
  deprioritizedUntilMs: 0,
} as const;

const columns = Object.keys(initialValues) as (keyof typeof initialValues)[];

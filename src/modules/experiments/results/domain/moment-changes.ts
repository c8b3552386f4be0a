import {
  addToMoments,
  emptyMoments,
  type MetricMoments,
  mergeMoments,
  momentsOfUnit,
  removeFromMoments,
  type UnitValue,
} from "../../analysis/index.ts";

/** Where moments are kept. */
export interface MomentKey {
  readonly tenantId: string;
  readonly experimentId: string;
  readonly phase: number;
  readonly variant: number;
  readonly metric: string;
  readonly shard: number;
}

/** The units that enter moments, and those whose earlier values leave them. */
export interface MomentChange extends MomentKey {
  readonly added: MetricMoments;
  removed: MetricMoments;
}

/** The name of a place; sorted names are the lock order. */
export function momentName({ tenantId, experimentId, phase, variant, metric, shard }: MomentKey): string {
  return [tenantId, experimentId, phase, variant, metric, shard].join("/");
}

/** Collects the changes of a batch of units. */
export class MomentChanges {
  readonly #changes = new Map<string, MomentChange>();

  add(key: MomentKey, value: UnitValue): void {
    addToMoments(this.#at(key).added, value);
  }

  remove(key: MomentKey, value: UnitValue): void {
    const change = this.#at(key);
    change.removed = mergeMoments(change.removed, momentsOfUnit(value));
  }

  /** The changes in lock order. */
  sorted(): readonly MomentChange[] {
    return [...this.#changes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change);
  }

  #at(key: MomentKey): MomentChange {
    const name = momentName(key);
    const known = this.#changes.get(name);
    if (known !== undefined) return known;
    const change = { ...key, added: emptyMoments(), removed: emptyMoments() };
    this.#changes.set(name, change);
    return change;
  }
}

/** The moments after a change. */
export function changedMoments(stored: MetricMoments, { added, removed }: MomentChange): MetricMoments {
  // Add first: what is removed is a part of the result.
  const merged = mergeMoments(stored, added);
  return removed.n === 0 ? merged : removeFromMoments(merged, removed);
}

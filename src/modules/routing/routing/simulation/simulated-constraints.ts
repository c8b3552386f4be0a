import { Failure } from "../../../../errors/index.ts";
import {
  type AdmissionRequest,
  admit,
  evaluateLease,
  type GroupState,
  groupKey,
  releaseGroup,
  selectLeaseRefs,
  toLeaseLimits,
  type Verdict,
} from "../../admission/index.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import type { RoutableItem } from "../domain/item.ts";
import type { RecordedItem } from "./recorded-item-store.ts";

export type AdmissionOf = (snapshot: PoolSnapshot, item: RoutableItem) => AdmissionRequest | undefined;

/** The constraints of a simulated pool, with the state of their groups. */
export class SimulatedConstraints {
  /** Items that a constraint did not admit, by constraint and result. */
  readonly refusals = new Map<string, number>();
  readonly #groups = new Map<string, GroupState>();
  readonly #admissionOf: AdmissionOf;

  constructor(admissionOf: AdmissionOf) {
    this.#admissionOf = admissionOf;
  }

  /** The constraints of an item; undefined for none, invalid if a key has no result for the item. */
  requestOf(snapshot: PoolSnapshot, item: RoutableItem): AdmissionRequest | undefined | "invalid" {
    try {
      return this.#admissionOf(snapshot, item);
    } catch (error) {
      if (error instanceof Failure) return "invalid";
      throw error;
    }
  }

  admit({ refs, config }: AdmissionRequest, { id, payloadBytes }: RecordedItem, nowMs: number): Verdict {
    const size = config.debounce?.take === "all" ? payloadBytes : undefined;
    const { verdict, next } = admit({ itemId: id, refs, config, nowMs, payloadBytes: size }, this.#groups);
    for (const state of next) this.#groups.set(groupKey(state), state);
    if (verdict.status !== "admitted") {
      const name = `${verdict.constraint} ${verdict.status}`;
      this.refusals.set(name, (this.refusals.get(name) ?? 0) + 1);
    }
    return verdict;
  }

  /**
   * Takes the tokens and places that an item needs to be worked on. False if there is none yet; then the time at which there
   * will be one, if it is known.
   */
  start({ config, limitGroups, refs }: AdmissionRequest, itemId: string, nowMs: number) {
    const limits = toLeaseLimits(config);
    if (limits !== undefined) {
      const lease = evaluateLease(selectLeaseRefs(limitGroups, config), limits, this.#groups, nowMs);
      if (lease.heldBy !== undefined) return { started: false, notBeforeMs: lease.heldBy.notBeforeMs };
      for (const state of lease.next) this.#groups.set(groupKey(state), state);
    }
    for (const ref of refs) {
      const state = this.#groups.get(groupKey(ref));
      if (state?.itemId === itemId) this.#groups.set(groupKey(ref), { ...state, itemStarted: true });
    }
    return { started: true, notBeforeMs: undefined };
  }

  /** Frees what an item held. `slotFreed`: it was worked on. */
  release({ refs, limitGroups }: AdmissionRequest, itemId: string, slotFreed: boolean): void {
    for (const ref of [...refs, ...limitGroups]) {
      const state = this.#groups.get(groupKey(ref));
      if (state !== undefined) this.#groups.set(groupKey(ref), releaseGroup(state, { itemId, ended: true, slotFreed }));
    }
  }
}

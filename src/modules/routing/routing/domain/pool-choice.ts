import type { RuleId } from "../../pools/index.ts";
import type { CompiledPool } from "./compilation/compiled-pool.ts";
import { Filter } from "./compilation/filter.ts";
import type { DecisionPoint } from "./decision.ts";
import { Evaluation } from "./evaluation.ts";
import type { RoutableItem } from "./item.ts";
import { findChoosingRule } from "./rules.ts";

/** Whether a pool chooses an item that names no pool. deferred: there was no time to find out. */
export type PoolChoiceResult =
  | { readonly type: "chosen"; readonly ruleId: RuleId }
  | { readonly type: "not_chosen" | "deferred" };

/**
 * The question whether a pool chooses an item that names no pool. It runs in slices of the event loop, like a decision, and each
 * slice starts over with the cached results of the previous ones. It depends on rules alone, not on the state of recipients.
 */
export class PoolChoice {
  readonly #pool: CompiledPool;
  readonly #item: RoutableItem;
  readonly #evaluation: Evaluation;

  constructor(pool: CompiledPool, item: RoutableItem, at: DecisionPoint) {
    this.#pool = pool;
    this.#item = item;
    this.#evaluation = new Evaluation(pool, item, at);
  }

  /** Continues until the choice is made or the slice ends; undefined means: call again in the next slice. */
  proceed(sliceIsOver: () => boolean): PoolChoiceResult | undefined {
    const [pool, item, evaluation] = [this.#pool, this.#item, this.#evaluation];
    evaluation.resume(sliceIsOver);
    const candidates = new Filter(pool, evaluation, item);
    const ruleId = findChoosingRule(pool, { item, candidates, waitedS: 0, evaluation, facts: searchedFacts });
    if (evaluation.paused) return undefined;
    // Rules that exceed the work limit choose nothing.
    return ruleId === undefined || evaluation.exhausted ? { type: "not_chosen" } : { type: "chosen", ruleId };
  }

  /** The result when the call has no time left. */
  defer(): PoolChoiceResult {
    return { type: "deferred" };
  }
}

/** Whether a pool accepts an item that names no pool, and chooses it. */
export function choosesUnaddressed(pool: CompiledPool, item: RoutableItem, at: DecisionPoint): boolean {
  if (!pool.snapshot.pool.config.acceptsUnaddressed) return false;
  return new PoolChoice(pool, item, at).proceed(() => false)?.type === "chosen";
}

const searchedFacts = { findWitness: (search: () => number) => search() };

import { unreachable } from "../../../../errors/index.ts";
import type { PoolId, Rule, RuleId } from "../../pools/index.ts";
import type { CompiledPool, CompiledRule } from "./compilation/compiled-pool.ts";
import { DOES_NOT_HOLD, FAILED, HOLDS, type Verdict } from "./compilation/condition.ts";
import type { Filter } from "./compilation/filter.ts";
import type { BoundCondition, Evaluation } from "./evaluation.ts";
import type { Facts } from "./facts/facts.ts";
import type { RoutableItem } from "./item.ts";
import type { Trace } from "./trace.ts";

/** How a rule ends a decision. */
export type RuleTermination =
  | { readonly type: "reject"; readonly message: string; readonly retryAfterS: number }
  | { readonly type: "error" }
  | { readonly type: "hold"; readonly holdS: number }
  | { readonly type: "redirect"; readonly poolId: PoolId };

/** The result of applying the rules of a pool to an item. */
export interface RuleResult {
  readonly matchedRuleIds: RuleId[];
  readonly experimentKeys: string[];
  readonly require: BoundCondition[];
  readonly prefer: BoundCondition[];
  priority: number;
  /** The recipient named by a rule; empty for none. */
  routeTo: string;
  /** A rule requires something that no recipient fulfils. */
  excludesAll: boolean;
  termination: RuleTermination | undefined;
}

/** The match of a rule; "nobody" if it concerns the item but holds for no recipient. */
type Match = "matched" | "not_matched" | "nobody" | "error" | "served";

/** The match of a rule, and its condition if it depends on the recipient. */
interface RuleEvaluation {
  readonly match: Match;
  readonly bound?: BoundCondition;
}

/**
 * Applies rules in order.
 *
 * A condition that does not use the recipient is evaluated once. A condition over the recipient is first evaluated
 * without one: if it is false for any recipient, as in `item.attributes.vip && recipient.attributes.gold` for a
 * non-VIP item, the rule does not concern the item. Otherwise it matches if it holds for at least one candidate: an
 * eligible recipient that fulfils the requirements of the item, busy or not. It does not hold for a candidate that
 * lacks an attribute it reads. If it fails for all candidates, the rule has failed and `on_error` applies.
 *
 * - require: only recipients for which it holds. If it holds for none, no recipient takes the item.
 * - prefer: recipients for which it holds come first. Both have no effect if the condition does not use the
 *   recipient.
 * - route: the condition is evaluated for the named recipient. The first such rule wins.
 * - hold: until the item has waited that long; after that the rule no longer matches.
 * - reject, redirect_pool, hold and errors with `on_error: reject` end the decision; the first one wins.
 */
export function applyRules(pool: CompiledPool, context: RuleContext): RuleResult {
  const result: RuleResult = {
    matchedRuleIds: [],
    experimentKeys: [],
    require: [],
    prefer: [],
    priority: context.item.priority,
    routeTo: "",
    excludesAll: false,
    termination: undefined,
  };
  for (const compiled of pool.rules) {
    const { rule } = compiled;
    const { match, bound } = evaluateRule(pool, compiled, context);
    context.trace.add("rule", match, { id: rule.id, detail: rule.action.type });
    if (match === "error" && rule.onError === "reject") result.termination = { type: "error" };
    if (match === "nobody" && rule.action.type === "require") result.excludesAll = true;
    if (match === "matched") {
      result.matchedRuleIds.push(rule.id);
      applyAction(result, rule, bound, context.waitedS);
    }
    if (result.termination !== undefined || (match === "matched" && rule.stopOnMatch)) break;
  }
  return result;
}

/** The inputs of rule evaluation. */
export interface RuleContext {
  readonly item: RoutableItem;
  /** Recipients that fulfil the requirements of the item. */
  readonly candidates: Filter;
  readonly waitedS: number;
  readonly evaluation: Evaluation;
  readonly facts: Pick<Facts, "findWitness">;
  readonly trace: Trace;
}

function applyAction(result: RuleResult, { action }: Rule, bound: BoundCondition | undefined, waitedS: number): void {
  switch (action.type) {
    case "route":
      if (result.routeTo === "") result.routeTo = action.recipientId;
      return;
    case "require":
      if (bound !== undefined) result.require.push(bound);
      return;
    case "prefer":
      if (bound !== undefined) result.prefer.push(bound);
      return;
    case "set_priority":
      result.priority = action.priority;
      return;
    case "redirect_pool":
      result.termination = { type: "redirect", poolId: action.poolId };
      return;
    case "hold":
      result.termination = { type: "hold", holdS: action.holdS - waitedS };
      return;
    case "reject":
      result.termination = { type: "reject", message: action.reason, retryAfterS: action.retryAfterS ?? 0 };
      return;
    case "assign_experiment":
      if (!result.experimentKeys.includes(action.experimentKey)) result.experimentKeys.push(action.experimentKey);
      return;
    default:
      unreachable(action);
  }
}

/** Actions by which a rule chooses its pool for an item without one. The others say nothing about who takes the item. */
const choosingActions: ReadonlySet<Rule["action"]["type"]> = new Set(["route", "require", "prefer", "redirect_pool"]);

/**
 * Returns the first rule by which a pool chooses an item that names no pool; undefined for none. Rules with other actions are
 * left out, also those that would end a decision: they apply when the pool decides.
 */
export function findChoosingRule(pool: CompiledPool, context: Omit<RuleContext, "trace">): RuleId | undefined {
  const chosen = pool.rules.find(
    (compiled) =>
      choosingActions.has(compiled.rule.action.type) && evaluateRule(pool, compiled, context).match === "matched",
  );
  return chosen?.rule.id;
}

function evaluateRule(
  pool: CompiledPool,
  { rule, condition }: CompiledRule,
  context: Omit<RuleContext, "trace">,
): RuleEvaluation {
  const { evaluation, waitedS } = context;
  if (rule.action.type === "hold" && waitedS >= rule.action.holdS) return { match: "served" };
  if (condition === undefined) return { match: "matched" };
  if (!condition.namesRecipient) return { match: matchOf(evaluation.evaluateForItem(condition)) };
  const bound = evaluation.bind(condition);
  if (rule.action.type === "route") {
    const index = pool.indexById.get(rule.action.recipientId);
    return { match: index === undefined ? "not_matched" : matchOf(evaluation.evaluateForRecipient(bound, index)) };
  }
  const alone = evaluation.evaluateWithoutRecipient(bound);
  // FAILED is the normal case: without a recipient the result is usually unknown.
  if (alone !== FAILED) return { match: matchOf(alone) };
  const found = context.facts.findWitness(() => findCandidate(bound, context));
  if (found === NO_CANDIDATE) return { match: "nobody" };
  // A recorded witness is evaluated again because the record may be old.
  const holds = found >= 0 && evaluation.evaluateForRecipient(bound, found) === HOLDS;
  return holds ? { match: "matched", bound } : { match: "error" };
}

function matchOf(verdict: Verdict): Match {
  return verdict === HOLDS ? "matched" : verdict === FAILED ? "error" : "not_matched";
}

const NO_CANDIDATE = -1;
const FAILED_FOR_ALL = -2;

/** Returns a candidate for which a condition holds. */
function findCandidate(
  bound: BoundCondition,
  { candidates, evaluation }: Pick<RuleContext, "candidates" | "evaluation">,
): number {
  const { row } = bound;
  const { searched } = row;
  if (searched !== undefined && (searched < 0 ? candidates.includesAllEligible : candidates.includes(searched)))
    return searched;
  let failures = 0;
  let negatives = 0;
  for (const index of candidates.among) {
    if (!candidates.admits(index)) continue;
    const verdict = evaluation.evaluateForRecipient(bound, index);
    if (evaluation.stopped) return NO_CANDIDATE;
    if (verdict === HOLDS) return rememberSearch(bound, index);
    if (verdict === DOES_NOT_HOLD) negatives++;
    else failures++;
  }
  const result = failures > 0 && negatives === 0 ? FAILED_FOR_ALL : NO_CANDIDATE;
  return candidates.includesAllEligible ? rememberSearch(bound, result) : result;
}

function rememberSearch({ row }: BoundCondition, result: number): number {
  row.searched = result;
  return result;
}

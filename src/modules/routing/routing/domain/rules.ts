import { unreachable } from "../../../../errors/index.ts";
import type { PoolId, Rule, RuleId } from "../../pools/index.ts";
import type { CompiledPool, CompiledRule } from "./compilation/compiled-pool.ts";
import { DOES_NOT, FAILED, HOLDS, type Verdict } from "./compilation/condition.ts";
import type { Filter } from "./compilation/filter.ts";
import type { Evaluation, Question } from "./evaluation.ts";
import type { Facts } from "./facts/facts.ts";
import type { RoutableItem } from "./item.ts";
import type { Trace } from "./trace.ts";

/** How a rule ends a decision by itself. */
export type RuleEnding =
  | { readonly type: "reject"; readonly message: string }
  | { readonly type: "error" }
  | { readonly type: "hold"; readonly holdS: number }
  | { readonly type: "redirect"; readonly poolId: PoolId };

/** What a pool's rules make of an item. */
export interface Ruling {
  readonly matchedRuleIds: RuleId[];
  readonly experimentKeys: string[];
  readonly require: Question[];
  readonly prefer: Question[];
  priority: number;
  /** The recipient that a rule names; empty for none. */
  routeTo: string;
  /** A rule requires what nobody fulfils. */
  excludesAll: boolean;
  ending: RuleEnding | undefined;
}

/** What a rule comes to: "nobody" where it is about the item, but holds for no recipient. */
type Match = "matched" | "not_matched" | "nobody" | "error" | "served";

/** How a rule comes out, and what it asks of each recipient where it depends on them. */
interface Judgement {
  readonly match: Match;
  readonly question?: Question;
}

/**
 * Applies rules in order.
 *
 * A condition that names no recipient is asked once. One that does is asked without a recipient first: where it is false
 * whoever the recipient is, as in `item.attributes.vip && recipient.attributes.gold` for an item that is not, the rule is not
 * about the item. Otherwise it matches when it holds for at least one candidate: a recipient that may be chosen at all and
 * fulfils what the item requires, busy or not. For a candidate without the attribute that it looks at it does not hold; when
 * it fails for all of them, the rule has failed, and `on_error` decides.
 *
 * - require: only those for whom it holds; where it is about the item and holds for nobody, nobody takes the item.
 * - prefer: those for whom it holds go first. Both are without effect when the condition names no recipient.
 * - route: the condition is asked of the recipient that the rule names. The first such rule counts.
 * - hold: until the item has waited that long; from then on the rule no longer matches.
 * - reject, redirect_pool, hold and errors of rules that reject end the decision; the first one counts.
 */
export function applyRules(pool: CompiledPool, context: RuleContext): Ruling {
  const ruling: Ruling = {
    matchedRuleIds: [],
    experimentKeys: [],
    require: [],
    prefer: [],
    priority: context.item.priority,
    routeTo: "",
    excludesAll: false,
    ending: undefined,
  };
  for (const compiled of pool.rules) {
    const { rule } = compiled;
    const { match, question } = judge(pool, compiled, context);
    context.trace.add("rule", match, { id: rule.id, detail: rule.action.type });
    if (match === "error" && rule.onError === "reject") ruling.ending = { type: "error" };
    if (match === "nobody" && rule.action.type === "require") ruling.excludesAll = true;
    if (match === "matched") {
      ruling.matchedRuleIds.push(rule.id);
      act(ruling, rule, question, context.waitedS);
    }
    if (ruling.ending !== undefined || (match === "matched" && rule.stopOnMatch)) break;
  }
  return ruling;
}

/** What rules are applied to, and with what. */
export interface RuleContext {
  readonly item: RoutableItem;
  /** Who fulfils what the item requires. */
  readonly candidates: Filter;
  readonly waitedS: number;
  readonly evaluation: Evaluation;
  readonly facts: Facts;
  readonly trace: Trace;
}

function act(ruling: Ruling, { action }: Rule, question: Question | undefined, waitedS: number): void {
  switch (action.type) {
    case "route":
      if (ruling.routeTo === "") ruling.routeTo = action.recipientId;
      return;
    case "require":
      if (question !== undefined) ruling.require.push(question);
      return;
    case "prefer":
      if (question !== undefined) ruling.prefer.push(question);
      return;
    case "set_priority":
      ruling.priority = action.priority;
      return;
    case "redirect_pool":
      ruling.ending = { type: "redirect", poolId: action.poolId };
      return;
    case "hold":
      ruling.ending = { type: "hold", holdS: action.holdS - waitedS };
      return;
    case "reject":
      ruling.ending = { type: "reject", message: action.reason };
      return;
    case "assign_experiment":
      if (!ruling.experimentKeys.includes(action.experimentKey)) ruling.experimentKeys.push(action.experimentKey);
      return;
    default:
      unreachable(action);
  }
}

function judge(pool: CompiledPool, { rule, condition }: CompiledRule, context: RuleContext): Judgement {
  const { evaluation, waitedS } = context;
  if (rule.action.type === "hold" && waitedS >= rule.action.holdS) return { match: "served" };
  if (condition === undefined) return { match: "matched" };
  if (!condition.namesRecipient) return { match: matchOf(evaluation.ofItem(condition)) };
  const question = evaluation.question(condition);
  if (rule.action.type === "route") {
    const index = pool.indexById.get(rule.action.recipientId);
    return { match: index === undefined ? "not_matched" : matchOf(evaluation.of(question, index)) };
  }
  const alone = evaluation.alone(question);
  // FAILED is the rule here: without a recipient it usually cannot be told.
  if (alone !== FAILED) return { match: matchOf(alone) };
  const found = context.facts.witness(() => anyCandidate(question, context));
  if (found === FOR_NOBODY) return { match: "nobody" };
  // A witness is asked again, since it may have been written down long ago.
  const holds = found >= 0 && evaluation.of(question, found) === HOLDS;
  return holds ? { match: "matched", question } : { match: "error" };
}

function matchOf(verdict: Verdict): Match {
  return verdict === HOLDS ? "matched" : verdict === FAILED ? "error" : "not_matched";
}

const FOR_NOBODY = -1;
const FAILED_FOR_ALL = -2;

/** A candidate for whom a condition holds. */
function anyCandidate(question: Question, { candidates, evaluation }: RuleContext): number {
  const { row } = question;
  const { searched } = row;
  if (searched !== undefined && (searched < 0 ? candidates.isEveryone : candidates.includes(searched))) return searched;
  let failures = 0;
  let answers = 0;
  for (const index of candidates.among) {
    if (!candidates.admits(index)) continue;
    const verdict = evaluation.of(question, index);
    if (evaluation.stopped) return FOR_NOBODY;
    if (verdict === HOLDS) return settle(question, index);
    if (verdict === DOES_NOT) answers++;
    else failures++;
  }
  const result = failures > 0 && answers === 0 ? FAILED_FOR_ALL : FOR_NOBODY;
  return candidates.isEveryone ? settle(question, result) : result;
}

function settle({ row }: Question, result: number): number {
  row.searched = result;
  return result;
}

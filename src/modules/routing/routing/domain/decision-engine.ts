import { unreachable } from "../../../../errors/index.ts";
import { filterByRules, filterByStep } from "./compilation/candidate-filters.ts";
import type { CompiledPool } from "./compilation/compiled-pool.ts";
import { Filter } from "./compilation/filter.ts";
import type { Decision, DecisionPoint, NoMatchReason } from "./decision.ts";
import { Evaluation } from "./evaluation.ts";
import type { Facts } from "./facts/facts.ts";
import { LiveFacts } from "./facts/live-facts.ts";
import type { LivePool } from "./facts/live-pool.ts";
import type { Observation } from "./facts/observation.ts";
import { ReplayedFacts } from "./facts/replayed-facts.ts";
import type { RoutableItem } from "./item.ts";
import { applyRules, type RuleResult, type RuleTermination } from "./rules.ts";
import type { Attempt } from "./strategies/attempt.ts";
import { type ChoiceResult, choose } from "./strategies/choice.ts";
import { stickyKey } from "./strategies/sticky-key.ts";
import { Draws, highBits, lowBits } from "./structures/seeded-random.ts";
import { Trace } from "./trace.ts";

/**
 * Decides which recipient takes an item.
 *
 * Rules apply first, then the strategy of the pool among the recipients that they admit. If that finds no
 * recipient, the fallback steps that are due are tried in order. `on_no_match` applies when no step is left; until
 * then the item waits. Items of first_accept and manual always wait for a worker or an assignment.
 *
 * The decision changes only the last offer of round robin: call `live.assigned` immediately after assigning the
 * item.
 */
export function decide(pool: CompiledPool, live: LivePool, item: RoutableItem, at: DecisionPoint): Decision {
  return run(new Evaluation(pool, item, at), pool, new LiveFacts(pool, live, at.nowMs), item, at)!;
}

/** Repeats a decision from its stored observation with the same code. */
export function replay(pool: CompiledPool, item: RoutableItem, at: DecisionPoint, observed: Observation): Decision {
  return replayFrom(new ReplayedFacts(pool, observed), pool, item, at);
}

/** Repeats a decision from recorded facts. */
export function replayFrom(facts: ReplayedFacts, pool: CompiledPool, item: RoutableItem, at: DecisionPoint): Decision {
  return run(new Evaluation(pool, item, at), pool, facts, item, at)!;
}

/**
 * A decision that runs in slices of the event loop.
 *
 * Each slice starts over with the cached results of all previous slices. The last slice runs without a pause, so
 * its view of the live state is consistent. If the pool changes in between, the decision switches to the new pool.
 */
export class SlicedDecision {
  readonly #live: LivePool;
  readonly #item: RoutableItem;
  readonly #at: DecisionPoint;
  #pool: CompiledPool;
  #evaluation: Evaluation;

  constructor(pool: CompiledPool, live: LivePool, item: RoutableItem, at: DecisionPoint) {
    live.follow(pool);
    this.#live = live;
    this.#item = item;
    this.#at = at;
    this.#pool = pool;
    this.#evaluation = new Evaluation(pool, item, at);
  }

  /** The pool that the decision currently uses. */
  get pool(): CompiledPool {
    return this.#pool;
  }

  /** Continues until the decision is made or the slice ends; undefined means: call again in the next slice. */
  proceed(sliceIsOver: () => boolean): Decision | undefined {
    // On the other side of a canary somebody else decides. This decision stays on its own side.
    if (this.#live.pool.snapshot.candidateId !== this.#pool.snapshot.candidateId) this.#live.follow(this.#pool);
    if (this.#live.pool !== this.#pool) {
      this.#pool = this.#live.pool;
      this.#evaluation = new Evaluation(this.#pool, this.#item, this.#at, this.#evaluation.steps);
    }
    this.#evaluation.resume(sliceIsOver);
    const facts = new LiveFacts(this.#pool, this.#live, this.#at.nowMs);
    return run(this.#evaluation, this.#pool, facts, this.#item, this.#at);
  }

  /** Defers the decision to the background: the item waits. */
  defer(): Decision {
    return createDeferredDecision(this.#item, { v: 1, deferred: true });
  }
}

/** The state of one decision. */
interface DecisionContext {
  readonly pool: CompiledPool;
  readonly item: RoutableItem;
  readonly at: DecisionPoint;
  readonly facts: Facts;
  readonly evaluation: Evaluation;
  /** Recipients that fulfil the requirements of the item. */
  readonly candidates: Filter;
  readonly trace: Trace;
}

type DecisionResult = Partial<Decision> & Pick<Decision, "outcome" | "reason">;

/** Returns undefined if the evaluation paused. */
function run(
  evaluation: Evaluation,
  pool: CompiledPool,
  facts: Facts,
  item: RoutableItem,
  at: DecisionPoint,
): Decision | undefined {
  if (facts.deferred) return createDeferredDecision(item, facts.observed(false));
  const trace = new Trace();
  const candidates = new Filter(pool, evaluation, item);
  const work: DecisionContext = { pool, item, at, facts, evaluation, candidates, trace };
  if (facts.exhausted) return createTooCostlyDecision(work);
  traceRequirements(work);
  const result = applyRules(pool, { item, candidates, waitedS: at.waitedS, evaluation, facts, trace });
  const findings =
    result.termination === undefined ? findRecipient(work, result) : toTerminationResult(result.termination);
  if (evaluation.paused) {
    facts.recordOffer(-1);
    return undefined;
  }
  if (evaluation.exhausted) return createTooCostlyDecision(work);
  return createDecision(findings, result, trace.steps, facts.observed(false));
}

function createDecision(
  findings: DecisionResult,
  { matchedRuleIds, priority, experimentKeys }: Pick<RuleResult, "matchedRuleIds" | "priority" | "experimentKeys">,
  trace: Decision["trace"],
  observed: Observation,
): Decision {
  const { outcome, reason } = findings;
  const {
    recipientId = "",
    deliveryMode = "",
    holdS = 0,
    redirectPoolId = "",
    message = "",
    retryAfterS = 0,
    nextStepInS = 0,
  } = findings;
  return {
    outcome,
    recipientId,
    deliveryMode,
    matchedRuleIds,
    priority,
    holdS,
    redirectPoolId,
    reason,
    message,
    retryAfterS,
    experimentKeys,
    nextStepInS,
    trace,
    observed,
  };
}

function traceRequirements({ pool, item, facts, trace }: DecisionContext): void {
  const { skills, recipientId, excludedRecipientIds } = item.requirements;
  trace.add("eligibility", "active", { detail: `${pool.eligible.length} of ${pool.snapshot.recipients.length}` });
  if (facts.ejectionIgnored) trace.add("eligibility", "ejection_ignored");
  const skillCount = Object.keys(skills).length;
  if (skillCount > 0) trace.add("requirement", "skills", { detail: String(skillCount) });
  if (recipientId !== "") {
    // An unknown recipient id may be arbitrary text, so it is not traced.
    trace.add("requirement", "recipient", pool.indexById.has(recipientId) ? { id: recipientId } : {});
  }
  if (excludedRecipientIds.length > 0) {
    trace.add("requirement", "excluded", { detail: String(excludedRecipientIds.length) });
  }
}

function toTerminationResult(termination: RuleTermination): DecisionResult {
  switch (termination.type) {
    case "reject":
      return {
        ...{ outcome: "rejected", reason: "rule_reject" },
        ...{ message: termination.message, retryAfterS: termination.retryAfterS },
      };
    case "error":
      return { outcome: "rejected", reason: "rule_error" };
    case "hold":
      return { outcome: "held", reason: "rule_hold", holdS: termination.holdS };
    case "redirect":
      return { outcome: "redirected", reason: "rule_redirect", redirectPoolId: termination.poolId };
    default:
      return unreachable(termination);
  }
}

function findRecipient(work: DecisionContext, result: RuleResult): DecisionResult {
  const { pool, item, at, evaluation, candidates, trace } = work;
  const { strategy } = pool.snapshot.pool;
  const draws = new Draws(at.seed);
  const first = result.excludesAll
    ? excludedByRules(pool)
    : choose(strategy, createAttempt(work, draws, filterByRules(candidates, result)));
  traceChoice(work, "strategy", strategy, first);
  if ("index" in first) {
    const named = item.requirements.recipientId !== "" ? "named_by_item" : "named_by_rule";
    return toRoutedResult(work, first.index, first.isNamed ? named : "chosen");
  }
  for (const { step, condition } of pool.steps) {
    if (step.afterS > at.waitedS) {
      trace.add("fallback", "not_due", { detail: `after ${step.afterS} s` });
      return { ...toNoMatchResult(work, first.reason, true), nextStepInS: step.afterS - at.waitedS };
    }
    const next = choose(step.strategy, createAttempt(work, draws, filterByStep(candidates, evaluation, condition)));
    traceChoice(work, "fallback", `after ${step.afterS} s, ${step.strategy}`, next);
    if ("index" in next) return toRoutedResult(work, next.index, "chosen_by_fallback");
  }
  return toNoMatchResult(work, first.reason, false);
}

function createAttempt(
  { pool, item, at, facts, evaluation, trace }: DecisionContext,
  draws: Draws,
  filter: Filter,
): Attempt {
  return {
    pool,
    facts,
    filter,
    draws,
    low: lowBits(at.seed),
    high: highBits(at.seed),
    nowMs: at.nowMs,
    stickyKey: () => stickyKey(pool, evaluation, item, at.seed, trace),
  };
}

function excludedByRules({ eligible }: CompiledPool): ChoiceResult {
  return eligible.length === 0
    ? { reason: "no_recipients", how: "nobody is active" }
    : { reason: "rules_exclude_all", how: "a rule requires what nobody fulfils" };
}

function traceChoice(
  { pool, trace }: DecisionContext,
  step: "strategy" | "fallback",
  name: string,
  chosen: ChoiceResult,
): void {
  const detail = `${name}: ${chosen.how}`;
  if ("index" in chosen) trace.add(step, "chosen", { id: pool.snapshot.recipients[chosen.index]!.id, detail });
  else trace.add(step, chosen.reason, { detail });
}

function toRoutedResult({ pool }: DecisionContext, index: number, reason: DecisionResult["reason"]): DecisionResult {
  const { id, delivery } = pool.snapshot.recipients[index]!;
  return { outcome: "routed", reason, recipientId: id, deliveryMode: delivery.mode };
}

/** Decides what happens to an item without a recipient. */
function toNoMatchResult({ pool }: DecisionContext, reason: NoMatchReason, mayStillFind: boolean): DecisionResult {
  const { onNoMatch, redirectPoolId } = pool.snapshot.pool.config.fallback;
  const waits = mayStillFind || reason === "awaiting_acceptance" || reason === "awaiting_assignment";
  if (waits || onNoMatch === "queue") return { outcome: "queued", reason };
  if (onNoMatch === "reject") return { outcome: "no_match", reason };
  return redirectPoolId === ""
    ? { outcome: "queued", reason }
    : { outcome: "redirected", reason, redirectPoolId: redirectPoolId as Decision["redirectPoolId"] };
}

/**
 * Creates the decision for exceeded work limits. Partial results are omitted because they depend on the state of
 * caches.
 */
function createTooCostlyDecision(work: DecisionContext): Decision {
  const findings = toNoMatchResult(work, "rules_too_costly", false);
  const unruled = { matchedRuleIds: [], priority: work.item.priority, experimentKeys: [] };
  return createDecision(findings, unruled, [{ step: "rule", result: "rules_too_costly" }], work.facts.observed(true));
}

function createDeferredDecision({ priority }: RoutableItem, observed: Observation): Decision {
  const findings: DecisionResult = { outcome: "queued", reason: "decided_later" };
  const unruled = { matchedRuleIds: [], priority, experimentKeys: [] };
  return createDecision(findings, unruled, [{ step: "rule", result: "decided_later" }], observed);
}

import { unreachable } from "../../../../errors/index.ts";
import type { CompiledPool } from "./compilation/compiled-pool.ts";
import { Filter } from "./compilation/filter.ts";
import { filterOfRules, filterOfStep } from "./compilation/opening-filters.ts";
import type { Decision, DecisionPoint, NobodyReason } from "./decision.ts";
import { Evaluation } from "./evaluation.ts";
import type { Facts } from "./facts/facts.ts";
import { LiveFacts } from "./facts/live-facts.ts";
import type { LivePool } from "./facts/live-pool.ts";
import { ReplayedFacts } from "./facts/replayed-facts.ts";
import type { Observed } from "./facts/survey-record.ts";
import type { RoutableItem } from "./item.ts";
import { applyRules, type RuleEnding, type Ruling } from "./rules.ts";
import type { Attempt } from "./strategies/attempt.ts";
import { type Chosen, choose } from "./strategies/choose.ts";
import { stickyKey } from "./strategies/sticky-key.ts";
import { Draws, highBits, lowBits } from "./structures/chance.ts";
import { Trace } from "./trace.ts";

/**
 * Decides who takes an item.
 *
 * Rules first, then the pool's strategy among those whom they let in. When that finds nobody, the steps of the fallback that
 * are due are tried in order. The pool's `on_no_match` has its say when none is left to come: until then the item waits. An
 * item of first_accept or manual waits in any case, since that is how they work.
 *
 * Nothing changes but what round robin offered last: tell `live` at once when the item is assigned.
 */
export function decide(pool: CompiledPool, live: LivePool, item: RoutableItem, at: DecisionPoint): Decision {
  return run(new Evaluation(pool, item, at), pool, new LiveFacts(pool, live, at.nowMs), item, at)!;
}

/** Makes a decision again from what was kept of it: the same code, which cannot tell the difference. */
export function replay(pool: CompiledPool, item: RoutableItem, at: DecisionPoint, observed: Observed): Decision {
  return run(new Evaluation(pool, item, at), pool, new ReplayedFacts(pool, observed), item, at)!;
}

/**
 * A decision that is made in slices of the event loop.
 *
 * Each slice starts over with the answers of all slices before. The last one goes through without a pause, so what it sees of
 * the moment belongs together. When the pool changes in between, the decision goes over to what it has become.
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

  /** The pool as the decision sees it. */
  get pool(): CompiledPool {
    return this.#pool;
  }

  /** Goes on until the decision is made or the slice is over; undefined: wait for the next slice, and call again. */
  proceed(sliceIsOver: () => boolean): Decision | undefined {
    if (this.#live.pool !== this.#pool) {
      this.#pool = this.#live.pool;
      this.#evaluation = new Evaluation(this.#pool, this.#item, this.#at, this.#evaluation.steps);
    }
    this.#evaluation.resume(sliceIsOver);
    const facts = new LiveFacts(this.#pool, this.#live, this.#at.nowMs);
    return run(this.#evaluation, this.#pool, facts, this.#item, this.#at);
  }

  /** Leaves the decision to the background: the item waits. */
  defer(): Decision {
    return deferred(this.#item, { v: 1, deferred: true });
  }
}

/** All that one decision works with. */
interface Work {
  readonly pool: CompiledPool;
  readonly item: RoutableItem;
  readonly at: DecisionPoint;
  readonly facts: Facts;
  readonly evaluation: Evaluation;
  /** Who fulfils what the item requires. */
  readonly candidates: Filter;
  readonly trace: Trace;
}

type Findings = Partial<Decision> & Pick<Decision, "outcome" | "reason">;

/** Undefined when the evaluation paused on the way. */
function run(
  evaluation: Evaluation,
  pool: CompiledPool,
  facts: Facts,
  item: RoutableItem,
  at: DecisionPoint,
): Decision | undefined {
  if (facts.deferred) return deferred(item, facts.observed(false));
  const trace = new Trace();
  const candidates = new Filter(pool, evaluation, item);
  const work: Work = { pool, item, at, facts, evaluation, candidates, trace };
  if (facts.exhausted) return tooCostly(work);
  traceTerms(work);
  const ruling = applyRules(pool, { item, candidates, waitedS: at.waitedS, evaluation, facts, trace });
  const findings = ruling.ending === undefined ? find(work, ruling) : ended(ruling.ending);
  if (evaluation.paused) {
    facts.offered(-1);
    return undefined;
  }
  if (evaluation.exhausted) return tooCostly(work);
  return decisionOf(findings, ruling, trace.steps, facts.observed(false));
}

function decisionOf(
  findings: Findings,
  { matchedRuleIds, priority, experimentKeys }: Pick<Ruling, "matchedRuleIds" | "priority" | "experimentKeys">,
  trace: Decision["trace"],
  observed: Observed,
): Decision {
  const { outcome, reason } = findings;
  const {
    recipientId = "",
    deliveryMode = "",
    holdS = 0,
    redirectPoolId = "",
    message = "",
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
    experimentKeys,
    nextStepInS,
    trace,
    observed,
  };
}

function traceTerms({ pool, item, facts, trace }: Work): void {
  const { skills, recipientId, excludedRecipientIds } = item.requirements;
  trace.add("eligibility", "active", { detail: `${pool.eligible.length} of ${pool.snapshot.recipients.length}` });
  if (facts.ejectionIgnored) trace.add("eligibility", "ejection_ignored");
  const skillCount = Object.keys(skills).length;
  if (skillCount > 0) trace.add("requirement", "skills", { detail: String(skillCount) });
  if (recipientId !== "") {
    // One that the pool does not have may be any text.
    trace.add("requirement", "recipient", pool.indexById.has(recipientId) ? { id: recipientId } : {});
  }
  if (excludedRecipientIds.length > 0) {
    trace.add("requirement", "excluded", { detail: String(excludedRecipientIds.length) });
  }
}

function ended(ending: RuleEnding): Findings {
  switch (ending.type) {
    case "reject":
      return { outcome: "rejected", reason: "rule_reject", message: ending.message };
    case "error":
      return { outcome: "rejected", reason: "rule_error" };
    case "hold":
      return { outcome: "held", reason: "rule_hold", holdS: ending.holdS };
    case "redirect":
      return { outcome: "redirected", reason: "rule_redirect", redirectPoolId: ending.poolId };
    default:
      return unreachable(ending);
  }
}

function find(work: Work, ruling: Ruling): Findings {
  const { pool, item, at, evaluation, candidates, trace } = work;
  const { strategy } = pool.snapshot.pool;
  const draws = new Draws(at.seed);
  const first = ruling.excludesAll
    ? excludedByRules(pool)
    : choose(strategy, attempt(work, draws, filterOfRules(candidates, ruling)));
  traceChoice(work, "strategy", strategy, first);
  if ("index" in first) {
    const named = item.requirements.recipientId !== "" ? "named_by_item" : "named_by_rule";
    return routed(work, first.index, first.isNamed ? named : "chosen");
  }
  for (const { step, condition } of pool.steps) {
    if (step.afterS > at.waitedS) {
      trace.add("fallback", "not_due", { detail: `after ${step.afterS} s` });
      return { ...nobody(work, first.reason, true), nextStepInS: step.afterS - at.waitedS };
    }
    const next = choose(step.strategy, attempt(work, draws, filterOfStep(candidates, evaluation, condition)));
    traceChoice(work, "fallback", `after ${step.afterS} s, ${step.strategy}`, next);
    if ("index" in next) return routed(work, next.index, "chosen_by_fallback");
  }
  return nobody(work, first.reason, false);
}

function attempt({ pool, item, at, facts, evaluation, trace }: Work, draws: Draws, filter: Filter): Attempt {
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

function excludedByRules({ eligible }: CompiledPool): Chosen {
  return eligible.length === 0
    ? { reason: "no_recipients", how: "nobody is active" }
    : { reason: "rules_exclude_all", how: "a rule requires what nobody fulfils" };
}

function traceChoice({ pool, trace }: Work, step: "strategy" | "fallback", name: string, chosen: Chosen): void {
  const detail = `${name}: ${chosen.how}`;
  if ("index" in chosen) trace.add(step, "chosen", { id: pool.snapshot.recipients[chosen.index]!.id, detail });
  else trace.add(step, chosen.reason, { detail });
}

function routed({ pool }: Work, index: number, reason: Findings["reason"]): Findings {
  const { id, delivery } = pool.snapshot.recipients[index]!;
  return { outcome: "routed", reason, recipientId: id, deliveryMode: delivery.mode };
}

/** What becomes of an item that nobody takes now. */
function nobody({ pool }: Work, reason: NobodyReason, mayStillFind: boolean): Findings {
  const { onNoMatch, redirectPoolId } = pool.snapshot.pool.config.fallback;
  const waits = mayStillFind || reason === "awaiting_acceptance" || reason === "awaiting_assignment";
  if (waits || onNoMatch === "queue") return { outcome: "queued", reason };
  if (onNoMatch === "reject") return { outcome: "no_match", reason };
  return redirectPoolId === ""
    ? { outcome: "queued", reason }
    : { outcome: "redirected", reason, redirectPoolId: redirectPoolId as Decision["redirectPoolId"] };
}

/** Given up: how far it came is left out, since that depends on what happened to be remembered. */
function tooCostly(work: Work): Decision {
  const findings = nobody(work, "rules_too_costly", false);
  const unruled = { matchedRuleIds: [], priority: work.item.priority, experimentKeys: [] };
  return decisionOf(findings, unruled, [{ step: "rule", result: "rules_too_costly" }], work.facts.observed(true));
}

function deferred({ priority }: RoutableItem, observed: Observed): Decision {
  const findings: Findings = { outcome: "queued", reason: "decided_later" };
  const unruled = { matchedRuleIds: [], priority, experimentKeys: [] };
  return decisionOf(findings, unruled, [{ step: "rule", result: "decided_later" }], observed);
}

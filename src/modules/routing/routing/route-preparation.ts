import type { Context } from "../../../chain/call.ts";
import { Failure, fail, invalid } from "../../../errors/index.ts";
import { mayUseEnvironment } from "../../../platform/access/index.ts";
import type { EventLoopScheduler } from "../../../platform/event-loop/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { AdmissionRequest } from "../admission/index.ts";
import { type PoolReader, type PoolSnapshot, type Pools, sideOf } from "../pools/index.ts";
import { type ItemRetry, retryViolation } from "../queues/index.ts";
import {
  createCallBudget,
  type DecisionBudget,
  decideWithinBudget,
  runWithinBudget,
} from "./decisions/decision-budget.ts";
import type { Decision } from "./domain/decision.ts";
import { SlicedDecision } from "./domain/decision-engine.ts";
import type { Evidence, EvidenceTraceStep } from "./domain/evidence.ts";
import type { RoutableItem } from "./domain/item.ts";
import { PoolChoice } from "./domain/pool-choice.ts";
import type { LivePools } from "./outcomes/live-pools.ts";
import type { QueueReservation } from "./queue-reservation.ts";
import { itemRow, type RoutedItem, type RouteInput } from "./route-outcome.ts";

export interface PreparationParts {
  readonly pools: PoolReader & Pick<Pools, "poolsOf">;
  readonly live: LivePools;
  readonly shares: EventLoopScheduler;
  /** The constraints of an item at admission and hand-out; undefined when no constraint applies. */
  readonly admissionOf: (snapshot: PoolSnapshot, item: RoutableItem) => AdmissionRequest | undefined;
  /** Ensures that the snapshot of a decision is stored. */
  readonly saveSnapshot: (snapshot: PoolSnapshot) => Promise<void> | undefined;
  /** Assigns an item to experiments of its pool's environment. */
  readonly assignExperiments: AssignExperiments;
  /** Reserves a place in a pool's queue; throws when the queue is full. */
  readonly reservePlace: (snapshot: PoolSnapshot) => QueueReservation | Promise<QueueReservation>;
}

/** The variant of an item in an experiment, or why it has none. */
export interface ExperimentVariant {
  readonly key: string;
  readonly id: string;
  /** Empty for none. */
  readonly variant: string;
  readonly reason: string;
  /** The name or the id of the pool that the variant routes to; empty for none. */
  readonly pool: string;
}

/** Assigns an item to experiments. Never throws because of an experiment: it must not stop the routing. */
export type AssignExperiments = (
  context: Context,
  environmentId: string,
  keys: readonly string[],
  unit: string,
  attributes: Readonly<Record<string, unknown>>,
) => Promise<readonly ExperimentVariant[]>;

/** The result of one item: the routed item, or why it was refused. */
export type RouteResult = RoutedItem | Failure;

const redirectsMax = 5;
const seedLimit = 2 ** 53;

/** Creates the preparation of items: the decision, and everything that is read before the item is accepted. */
export function createPreparation(dependencies: PreparationParts) {
  const { pools, live, shares, admissionOf, saveSnapshot, reservePlace, assignExperiments } = dependencies;

  /** Finds the first pool that accepts unaddressed items and has a rule that chooses the item. */
  async function poolByRules(
    { tenantId, principal, nowMs }: Context,
    { item }: RouteInput,
    budget: DecisionBudget,
  ): Promise<Target> {
    const all = await pools.poolsOf(tenantId);
    for (const snapshot of all.pools.values()) {
      const side = sideOf(snapshot, item.key);
      if (!side.pool.config.acceptsUnaddressed || !mayUseEnvironment(principal, snapshot.environmentKey)) continue;
      const pending = new PoolChoice(live.compiled(side), item, { nowMs, seed: 0, waitedS: 0 });
      const choice = await decideWithinBudget(pending, budget, (result) => result);
      if (choice.type === "deferred")
        throw failed("Too many pools have rules to evaluate in the time available: set pool_id to the pool to use.");
      if (choice.type === "chosen") {
        return { snapshot, steps: [{ step: "pool", id: choice.ruleId, result: "chosen_by_rule" }] };
      }
    }
    throw invalid(
      "pool_id",
      "required",
      "must be set to the id of a pool, because no pool that accepts unaddressed items has a rule that chooses the item",
    );
  }

  /** Decides in a pool and in the pools that its rules redirect to. Records the assignment immediately for the next decision. */
  function decideIn(
    target: PoolSnapshot,
    context: Context,
    input: RouteInput,
    dryRun: boolean,
    budget: DecisionBudget,
    before: Earlier,
  ): RoutedItem | Promise<RoutedItem> {
    const { nowMs, tenantId } = context;
    const { id, hops } = before;
    const side = sideOf(requireActive(target), input.item.key);
    const earlier = target.canary === undefined ? before : withCanaryStep(before, target.canary, side, input);
    const redirect = (poolId: string, { priority }: Decision, { steps, experiments }: Omit<Earlier, "id" | "hops">) => {
      if (hops === redirectsMax)
        throw failed(
          `The rules redirected the item more than ${redirectsMax} times: check the redirect rules of its pools.`,
        );
      return andThen(pools.snapshot(tenantId, poolId), (next) => {
        if (next === undefined)
          throw failed(`The rules redirected the item to the pool ${poolId}, which does not exist.`);
        const step = { step: "redirect", id: poolId, result: "redirected" } as const;
        const after = { id, steps: [...steps, step], experiments, hops: hops + 1 };
        return decideIn(next, context, withPriority(input, priority), dryRun, budget, after);
      });
    };
    return andThen(live.view(side), (first) => {
      const seed = Math.floor(Math.random() * seedLimit);
      const pending = new SlicedDecision(first.pool, first.live, input.item, { nowMs, seed, waitedS: 0 });
      return decideWithinBudget(pending, budget, (decision): RoutedItem | Promise<RoutedItem> => {
        if (decision.outcome === "no_match") throw failed(`No recipient can take the item now (${decision.reason}).`);
        const view = { pool: pending.pool, live: first.live };
        const { snapshot } = view.pool;
        if (decision.outcome === "redirected") {
          const { steps, experiments } = earlier;
          return redirect(decision.redirectPoolId, decision, { steps: [...steps, ...decision.trace], experiments });
        }
        const finish = (experiments: Earlier["experiments"], steps: Earlier["steps"]): RoutedItem => {
          if (input.after !== undefined) requireQueued(snapshot, decision);
          if (input.retry !== undefined) requireRetry(snapshot, input.retry);
          if (!dryRun && decision.recipientId !== "") live.recordAssignment(view, decision.recipientId, nowMs);
          const [admission, verdict] = [undefined, undefined];
          const work = itemRow({ snapshot, input, decision, admission, verdict }, nowMs);
          const evidence = withWait(evidenceOf(decision, { steps, experiments }, work?.dueAtMs, nowMs), input);
          return { id, tenantId, input, snapshot, view, decision, seed, evidence, work, admission, verdict };
        };
        if (dryRun || decision.experimentKeys.length === 0) return finish(earlier.experiments, earlier.steps);
        return assignAll(context, snapshot, decision.experimentKeys, input, earlier).then(
          ({ poolId, steps, experiments }) =>
            poolId === undefined
              ? finish(experiments, steps)
              : redirect(poolId, decision, { steps: [...steps, ...decision.trace], experiments }),
        );
      });
    });
  }

  /** Assigns an item to the experiments of a decision. The first variant that names another pool redirects the item there. */
  async function assignAll(
    context: Context,
    { pool }: PoolSnapshot,
    keys: readonly string[],
    { item }: RouteInput,
    earlier: Earlier,
  ) {
    const fresh = keys.filter((key) => !earlier.experiments.some((each) => each.key === key));
    const unit = item.key === "" ? earlier.id : item.key;
    const found = await assignExperiments(context, pool.environmentId, fresh, unit, item.attributes);
    const steps = found.map(({ key, variant, reason }) => ({
      ...{ step: "experiment" as const, id: key, result: variant === "" ? reason : variant },
    }));
    const assigned = found
      .filter(({ variant }) => variant !== "")
      .map(({ key, id, variant }) => ({ key, id, variant }));
    const named = found.find((each) => each.pool !== "")?.pool;
    const all = named === undefined ? undefined : await pools.poolsOf(context.tenantId);
    const target = [...(all?.pools.values() ?? [])].find(
      (each) => each.pool.environmentId === pool.environmentId && (each.pool.id === named || each.pool.name === named),
    );
    return {
      steps: [...earlier.steps, ...steps],
      experiments: [...earlier.experiments, ...assigned],
      poolId: target === undefined || target.pool.id === pool.id ? undefined : target.pool.id,
    };
  }

  /** Decides an item and acquires what its acceptance needs. Synchronous when nothing has to be read. */
  function prepare(context: Context, input: RouteInput, dryRun: boolean, budget: DecisionBudget) {
    const found: Target | Promise<Target> =
      input.poolId === ""
        ? poolByRules(context, input, budget)
        : andThen(pools.requirePool(context, input.poolId), (snapshot) => ({ snapshot, steps: noSteps }));
    return andThen(found, ({ snapshot, steps }) => {
      const start = { id: ulid(context.nowMs), steps, experiments: [], hops: 0 };
      const decided = decideIn(snapshot, context, input, dryRun, budget, start);
      return dryRun ? decided : andThen(decided, (routed) => acquire(routed, budget));
    });
  }

  function acquire(decided: RoutedItem, budget: DecisionBudget): RoutedItem | Promise<RoutedItem> {
    const { snapshot, work, input } = decided;
    let routed = decided;
    const refuse = (error: unknown): never => {
      release([routed]);
      throw error;
    };
    try {
      // A tracked item does not wait in the queue.
      const reserved = work === undefined || work.state === "leased" ? undefined : reservePlace(snapshot);
      const saved = andThen(reserved, (reservation) => {
        if (reservation !== undefined) routed = { ...routed, reservation };
        return saveSnapshot(snapshot);
      });
      const constrained = andThen(saved, () => {
        if (work === undefined || work.delivery === "none" || !isConstrained(snapshot)) return routed;
        return andThen(
          runWithinBudget(budget, () => admissionOf(snapshot, input.item)),
          (admission) => (admission === undefined ? routed : { ...routed, admission }),
        );
      });
      return constrained instanceof Promise ? constrained.catch(refuse) : constrained;
    } catch (error) {
      return refuse(error);
    }
  }

  /** Prepares one item after the other. A refused item does not affect the others. */
  async function prepareAll(context: Context, items: readonly (RouteInput | Failure)[], dryRun: boolean) {
    const results: RouteResult[] = [];
    const budget = createCallBudget(shares, context.tenantId);
    for (const item of items) {
      if (item instanceof Failure) {
        results.push(item);
        continue;
      }
      try {
        if (budget.slices.isOver()) await budget.slices.next();
        const prepared = prepare(context, item, dryRun, budget);
        results.push(prepared instanceof Promise ? await prepared : prepared);
      } catch (error) {
        if (!(error instanceof Failure)) {
          release(results.filter((each): each is RoutedItem => !dryRun && !(each instanceof Failure)));
          throw error;
        }
        results.push(error);
      }
    }
    return results;
  }

  /** Releases the recipients and the queue places of items that are not accepted. */
  function release(routed: readonly RoutedItem[]): void {
    for (const { tenantId, snapshot, decision, reservation } of routed) {
      reservation?.release();
      if (decision.recipientId !== "") live.recordRelease(tenantId, snapshot.pool.id, decision.recipientId);
    }
  }

  return {
    /** Prepares one item. */
    prepare: (context: Context, input: RouteInput, dryRun: boolean) =>
      prepare(context, input, dryRun, createCallBudget(shares, context.tenantId)),
    prepareAll,
    release,
  };
}

function isConstrained({ pool }: PoolSnapshot): boolean {
  return Object.values(pool.config.admission).some((constraint) => constraint !== undefined);
}

/** Continues synchronously with a value, or asynchronously with a promise. */
function andThen<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** The pool that decides first, and how it was found. */
interface Target {
  readonly snapshot: PoolSnapshot;
  readonly steps: readonly EvidenceTraceStep[];
}

const noSteps: Target["steps"] = [];

/** The decision so far, by the pools that redirected an item. */
interface Earlier {
  /** The id of the decision. */
  readonly id: string;
  readonly steps: readonly EvidenceTraceStep[];
  readonly experiments: Evidence["experiments"];
  readonly hops: number;
}

/** The item as the next pool gets it: with the priority that the rules of the redirecting pool set. */
function withPriority(input: RouteInput, priority: number): RouteInput {
  return input.item.priority === priority ? input : { ...input, item: { ...input.item, priority } };
}

/** Notes the side of a canary. An item without a key is not part of it. */
function withCanaryStep(
  earlier: Earlier,
  { candidateId }: NonNullable<PoolSnapshot["canary"]>,
  side: PoolSnapshot,
  { item }: RouteInput,
): Earlier {
  if (item.key === "") return earlier;
  const result = side.candidateId === undefined ? "baseline" : "canary";
  return { ...earlier, steps: [...earlier.steps, { step: "canary", id: candidateId, result }] };
}

function evidenceOf(
  decision: Decision,
  { steps, experiments }: Pick<Earlier, "steps" | "experiments">,
  dueAtMs: number | undefined,
  nowMs: number,
): Evidence {
  const { outcome, recipientId, priority, reason, message, matchedRuleIds, experimentKeys, trace, observed } = decision;
  return {
    reason,
    message,
    retryAfterMs: decision.retryAfterS * 1000,
    ruleIds: matchedRuleIds,
    experimentKeys,
    experiments,
    trace: steps.length === 0 ? trace : [...steps, ...trace],
    observed,
    decided: { outcome, recipientId, priority },
    nowMs,
    existingItemId: "",
    dueAtMs,
  };
}

/** Notes the items that an item waits for. */
function withWait(evidence: Evidence, { after, waitsFor = [] }: RouteInput): Evidence {
  if (after === undefined) return evidence;
  const { outcome } = evidence.decided;
  if (waitsFor.length === 0 || outcome === "rejected") return { ...evidence, after };
  const step = { step: "dependency", result: "waiting", detail: `${waitsFor.length} items` } as const;
  return { ...evidence, after, reason: "awaiting_dependencies", trace: [...evidence.trace, step] };
}

/** Throws if an item cannot wait for others: because another constraint replaces it, or because it is never queued. */
function requireQueued({ pool }: PoolSnapshot, { deliveryMode }: Decision): void {
  if (pool.config.admission.debounce !== undefined)
    throw invalid(
      "after",
      "debounce",
      `must be empty, because the pool ${pool.name} has a debounce; use a pool without one`,
    );
  if (deliveryMode === "decision_only")
    throw invalid("after", "delivery", "must be empty, because the recipient takes decisions and no items");
}

/** Throws if an item's own retries exceed the bounds of its pool. */
function requireRetry({ pool }: PoolSnapshot, retry: ItemRetry): void {
  const violation = retryViolation(pool.config.retry, retry);
  if (violation !== undefined) throw invalid(violation.field, violation.rule, violation.message);
}

function requireActive(snapshot: PoolSnapshot): PoolSnapshot {
  const { status, name } = snapshot.pool;
  if (status === "active") return snapshot;
  throw fail("FAILED_PRECONDITION", { public: `The pool ${name} accepts no items: it is ${status}.` });
}

function failed(text: string): Failure {
  return fail("ROUTING_FAILED", { public: text, headers: { "retry-after": "1" } });
}

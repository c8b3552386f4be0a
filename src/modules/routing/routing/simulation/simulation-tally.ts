import type { QueueWait, RoutingChanges, SimulationReport } from "../../../promotable-artifacts.ts";
import type { PoolSnapshot, Rule } from "../../pools/index.ts";
import type { ItemFate } from "./item-fate.ts";
import type { RecordedItem } from "./recorded-item-store.ts";
import type { SimulatedPool } from "./simulated-pool.ts";
import { WaitTimes } from "./wait-times.ts";

interface Sides {
  readonly before: PoolSnapshot;
  readonly after: PoolSnapshot;
}

type Pair = { readonly before: string; readonly after: string; items: number };

const refusals: ReadonlySet<ItemFate["outcome"]> = new Set(["rejected", "deduplicated", "no_match", "not_chosen"]);

const shownMax = 50;
const examplesMax = 20;

/**
 * Why an item is decided differently. rule: other rules matched, or a rule that matched has changed. strategy: the same rules
 * matched, and the strategy chooses another way. constraint: only one side admits it. load: only because of what earlier
 * changes did to the load of recipients.
 */
type Cause = "rule" | "strategy" | "constraint" | "load";

/** Counts what changes between the sides of a simulation, in memory that does not grow with the items. */
export class SimulationTally {
  items = 0;
  #changed = 0;
  #reproduced = 0;
  #recordedCost = 0;
  #hasCost = false;
  readonly #refused = { before: 0, after: 0 };
  readonly #recordedWaits = new WaitTimes();
  #recordedWaiting = 0;
  readonly #recorded = new Map<string, number>();
  readonly #causes = new Map<Cause, number>();
  readonly #outcomes = new Map<string, Pair>();
  readonly #reasons = new Map<string, Pair>();
  readonly #examples: { id: string; before: string; after: string; cause: Cause }[] = [];
  readonly #rules: RuleCounts;
  readonly #choiceChanges: boolean;

  constructor(sides: Sides) {
    this.#rules = new RuleCounts(sides);
    const choiceOf = ({ pool: { strategy, config } }: PoolSnapshot) =>
      JSON.stringify([strategy, config.selection, config.fallback]);
    this.#choiceChanges = choiceOf(sides.before) !== choiceOf(sides.after);
  }

  add(recorded: RecordedItem, decidedAtMs: number, before: ItemFate, after: ItemFate): void {
    this.items++;
    this.#addRecorded(recorded, decidedAtMs);
    if (before.outcome === recorded.outcome && before.recipientId === recorded.recipientId) this.#reproduced++;
    if (refusals.has(before.outcome)) this.#refused.before++;
    if (refusals.has(after.outcome)) this.#refused.after++;
    const isChanged = before.label !== after.label;
    const ruleChanges = this.#rules.add(before, after, isChanged);
    if (!isChanged) return;
    this.#changed++;
    const cause = this.#causeOf(before, after, ruleChanges);
    this.#causes.set(cause, (this.#causes.get(cause) ?? 0) + 1);
    if (before.outcome !== after.outcome) countPair(this.#outcomes, before.outcome, after.outcome);
    if (before.reason !== after.reason) countPair(this.#reasons, before.reason, after.reason);
    if (this.#examples.length < examplesMax) {
      this.#examples.push({ id: recorded.id, before: before.label, after: after.label, cause });
    }
  }

  /** `spanMs`: the time from the first to the last item. */
  report(
    before: SimulatedPool,
    after: SimulatedPool,
    spanMs: number,
  ): Omit<SimulationReport, "isCut" | "firstAt" | "lastAt"> {
    return {
      items: this.items,
      changed: this.#changed,
      reproduced: this.#reproduced,
      causes: [...this.#causes]
        .map(([cause, items]) => ({ cause, items }))
        .sort((one, other) => other.items - one.items),
      outcomes: largest(this.#outcomes),
      examples: this.#examples,
      routing: this.#routing(before, after, spanMs),
    };
  }

  #routing(before: SimulatedPool, after: SimulatedPool, spanMs: number): RoutingChanges {
    const hasCost = this.#hasCost || before.cost > 0 || after.cost > 0;
    return {
      rules: this.#rules.list(),
      recipients: this.#recipients(before, after, spanMs),
      reasons: largest(this.#reasons),
      refused: this.#refused,
      constraints: constraintsOf(before.constraints.refusals, after.constraints.refusals),
      waits: {
        recorded: waitOf(this.#recordedWaits, this.#recordedWaiting),
        before: waitOf(before.waits, before.waiting),
        after: waitOf(after.waits, after.waiting),
      },
      cost: hasCost ? { recorded: this.#recordedCost, before: before.cost, after: after.cost } : undefined,
    };
  }

  /** The recipients with the largest changes. */
  #recipients(before: SimulatedPool, after: SimulatedPool, spanMs: number): RoutingChanges["recipients"] {
    const known = before.compiled.snapshot.recipients.map(({ id }, index) => ({
      ...{ recipientId: id, recorded: this.#recorded.get(id) ?? 0 },
      ...{ before: before.items[index]!, after: after.items[index]! },
      loadBefore: before.busyMs[index]! / spanMs,
      loadAfter: after.busyMs[index]! / spanMs,
    }));
    const shiftOf = (each: (typeof known)[number]) => Math.abs(each.after - each.before);
    return known
      .filter((each) => each.recorded + each.before + each.after > 0)
      .sort((one, other) => shiftOf(other) - shiftOf(one) || other.after - one.after)
      .slice(0, shownMax);
  }

  #addRecorded({ heldBy, startedAtMs, endedAtMs, cost }: RecordedItem, decidedAtMs: number): void {
    if (heldBy !== "") this.#recorded.set(heldBy, (this.#recorded.get(heldBy) ?? 0) + 1);
    if (startedAtMs !== null) this.#recordedWaits.add(startedAtMs - decidedAtMs);
    else if (endedAtMs === null) this.#recordedWaiting++;
    if (cost === null) return;
    this.#recordedCost += cost;
    this.#hasCost = true;
  }

  #causeOf(before: ItemFate, after: ItemFate, ruleChanges: boolean): Cause {
    if (before.constraint !== after.constraint) return "constraint";
    if (ruleChanges || before.outcome === "not_chosen" || after.outcome === "not_chosen") return "rule";
    return this.#choiceChanges ? "strategy" : "load";
  }
}

/** What rules matched on both sides. Rules with the same name are one rule: a version may have it with another id. */
class RuleCounts {
  readonly #rules = new Map<string, { ruleId: string; before: number; after: number; changed: number }>();
  readonly #names = new Map<string, string>();
  /** The effect of each rule, to tell which ones have changed. */
  readonly #effects = new Map<string, string>();

  constructor({ before, after }: Sides) {
    for (const [side, { rules }] of Object.entries({ before, after })) {
      for (const rule of rules) {
        this.#names.set(rule.id, rule.name);
        this.#effects.set(`${side} ${rule.id}`, effectOf(rule));
      }
    }
  }

  /** Counts the rules that matched an item; whether they differ. */
  add(before: ItemFate, after: ItemFate, isChanged: boolean): boolean {
    for (const id of before.ruleIds) this.#of(id).before++;
    for (const id of after.ruleIds) this.#of(id).after++;
    if (!isChanged) return false;
    const differs =
      before.ruleIds.length !== after.ruleIds.length ||
      before.ruleIds.some(
        (id, at) => this.#effects.get(`before ${id}`) !== this.#effects.get(`after ${after.ruleIds[at]}`),
      );
    if (differs) {
      const names = new Set([...before.ruleIds, ...after.ruleIds].map((id) => this.#of(id)));
      for (const rule of names) rule.changed++;
    }
    return differs;
  }

  list(): RoutingChanges["rules"] {
    return [...this.#rules]
      .map(([name, counts]) => ({ name, ...counts }))
      .sort((one, other) => other.changed - one.changed || other.after - one.after)
      .slice(0, shownMax);
  }

  #of(ruleId: string) {
    const name = this.#names.get(ruleId) ?? ruleId;
    let counts = this.#rules.get(name);
    if (counts === undefined) {
      counts = { ruleId, before: 0, after: 0, changed: 0 };
      this.#rules.set(name, counts);
    }
    return counts;
  }
}

function effectOf({ name, priority, condition, stopOnMatch, onError, action }: Rule): string {
  return JSON.stringify([name, priority, condition, stopOnMatch, onError, action]);
}

function countPair(pairs: Map<string, Pair>, before: string, after: string): void {
  const key = `${before} ${after}`;
  const pair = pairs.get(key);
  if (pair === undefined) pairs.set(key, { before, after, items: 1 });
  else pair.items++;
}

function largest(pairs: ReadonlyMap<string, Pair>): readonly Pair[] {
  return [...pairs.values()].sort((one, other) => other.items - one.items).slice(0, shownMax);
}

function constraintsOf(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) {
  return [...new Set([...before.keys(), ...after.keys()])].sort().map((key) => {
    const [constraint, result] = key.split(" ") as [string, string];
    return { constraint, result, before: before.get(key) ?? 0, after: after.get(key) ?? 0 };
  });
}

function waitOf(waits: WaitTimes, waiting: number): QueueWait {
  const { items, meanMs, maxMs } = waits;
  return { items, meanMs, p50Ms: waits.quantileMs(0.5), p95Ms: waits.quantileMs(0.95), maxMs, waiting };
}

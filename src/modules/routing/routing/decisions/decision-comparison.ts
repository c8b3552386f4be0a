import type { TimeSlices } from "../../../../platform/event-loop/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import type { ReplayReport } from "../../../promotable-artifacts.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import { type CompiledPool, compilePool } from "../domain/compilation/compiled-pool.ts";
import type { Decision, DecisionPoint } from "../domain/decision.ts";
import { decide } from "../domain/decision-engine.ts";
import { LivePool } from "../domain/facts/live-pool.ts";
import type { RoutableItem } from "../domain/item.ts";
import { choosesUnaddressed } from "../domain/pool-choice.ts";
import type { StoredDecision } from "./decision-store.ts";

/** An item as it was decided. */
export interface DecidedItem
  extends Pick<StoredDecision, "id" | "type" | "key" | "attributes" | "requirements" | "priority" | "seed"> {
  /** Whether rules chose the pool. */
  readonly unaddressed: boolean;
}

interface Comparison {
  readonly before: PoolSnapshot;
  readonly after: PoolSnapshot;
  readonly items: readonly DecidedItem[];
  readonly slices: TimeSlices;
}

const recipientsMax = 50;
const examplesMax = 20;

/**
 * Decides items with two views of a pool. Both decide at the same time, with the same seed and with recipients that are all
 * free, so that every difference comes from the views.
 */
export async function compareDecisions({ before, after, items, slices }: Comparison): Promise<ReplayReport> {
  const sides = [compilePool(before), compilePool(after)] as const;
  const recipients = new Map<string, { before: number; after: number }>();
  const outcomes = new Map<string, { before: string; after: string; items: number }>();
  const examples: { decisionId: string; before: string; after: string }[] = [];
  let changed = 0;
  for (const { id, seed, unaddressed, ...item } of items) {
    if (slices.isOver()) await slices.next();
    const at = { nowMs: ulidMs(id), seed, waitedS: 0 };
    const routable = item as unknown as RoutableItem;
    const [was, is] = sides.map((pool) => resultIn(pool, routable, at, unaddressed)) as [Result, Result];
    countRecipient(recipients, was.recipientId, "before");
    countRecipient(recipients, is.recipientId, "after");
    if (was.label === is.label) continue;
    changed++;
    if (examples.length < examplesMax) examples.push({ decisionId: id, before: was.label, after: is.label });
    if (was.outcome === is.outcome) continue;
    const pair = outcomes.get(`${was.outcome} ${is.outcome}`);
    if (pair !== undefined) pair.items++;
    else outcomes.set(`${was.outcome} ${is.outcome}`, { before: was.outcome, after: is.outcome, items: 1 });
  }
  const shifts = [...recipients].map(([id, counts]) => ({ id, ...counts }));
  const shiftOf = (each: (typeof shifts)[number]) => Math.abs(each.after - each.before);
  return {
    items: items.length,
    changed,
    recipients: shifts.sort((one, other) => shiftOf(other) - shiftOf(one)).slice(0, recipientsMax),
    outcomes: [...outcomes.values()].sort((one, other) => other.items - one.items),
    examples,
  };
}

function countRecipient(
  counts: Map<string, { before: number; after: number }>,
  recipientId: string,
  side: "before" | "after",
): void {
  const known = counts.get(recipientId) ?? { before: 0, after: 0 };
  known[side]++;
  counts.set(recipientId, known);
}

/** The result for an item in a view of the pool. */
interface Result {
  /** not_chosen: the item names no pool, and no rule chooses this one. */
  readonly outcome: Decision["outcome"] | "not_chosen";
  readonly recipientId: string;
  readonly label: string;
}

function resultIn(pool: CompiledPool, item: RoutableItem, at: DecisionPoint, unaddressed: boolean): Result {
  if (unaddressed && !choosesUnaddressed(pool, item, at)) {
    return { outcome: "not_chosen", recipientId: "", label: "not_chosen" };
  }
  const decision = decide(pool, new LivePool(pool), item, at);
  return { outcome: decision.outcome, recipientId: decision.recipientId, label: labelOf(decision) };
}

/** The result of a decision: a recipient, another pool, or an outcome. */
function labelOf({ outcome, recipientId, redirectPoolId, priority, retryAfterS }: Decision): string {
  if (outcome === "routed") return `${recipientId} (priority ${priority})`;
  if (outcome === "rejected" && retryAfterS > 0) return `rejected (again after ${retryAfterS} s)`;
  return outcome === "redirected" ? `redirected to ${redirectPoolId}` : outcome;
}

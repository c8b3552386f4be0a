import { ulidMs } from "../../../../platform/ids/ulid.ts";
import type { TimeSlices } from "../../../../platform/scheduling/index.ts";
import type { ReplayReport } from "../../../promotable-artifacts.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import { compilePool } from "../domain/compilation/compiled-pool.ts";
import type { Decision } from "../domain/decision.ts";
import { decide } from "../domain/decision-engine.ts";
import { LivePool } from "../domain/facts/live-pool.ts";
import type { RoutableItem } from "../domain/item.ts";

/** An item as it was decided. */
export interface DecidedItem {
  readonly id: string;
  readonly type: string;
  readonly key: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly requirements: Readonly<Record<string, unknown>>;
  readonly priority: number;
  readonly seed: number;
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
  for (const { id, seed, ...item } of items) {
    if (slices.isOver()) await slices.next();
    const at = { nowMs: ulidMs(id), seed, waitedS: 0 };
    const routable = item as unknown as RoutableItem;
    const [was, is] = sides.map((pool) => decide(pool, new LivePool(pool), routable, at)) as [Decision, Decision];
    countRecipient(recipients, was.recipientId, "before");
    countRecipient(recipients, is.recipientId, "after");
    if (labelOf(was) === labelOf(is)) continue;
    changed++;
    if (examples.length < examplesMax) examples.push({ decisionId: id, before: labelOf(was), after: labelOf(is) });
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

/** What a decision comes to: a recipient, another pool, or an outcome. */
function labelOf({ outcome, recipientId, redirectPoolId, priority }: Decision): string {
  if (outcome === "routed") return `${recipientId} (priority ${priority})`;
  return outcome === "redirected" ? `redirected to ${redirectPoolId}` : outcome;
}

import type { Sql } from "../../../../platform/db/index.ts";
import { dependencyOutcome } from "../domain/dependency.ts";
import type { ItemTransition, TransitionedItem } from "../transitions/transition-store.ts";
import { moveDependencies, type Replacement, settleDependencies } from "./dependency-store.ts";

/**
 * Records the end of items that others wait for, in the transaction that ends them. Few items have any, so this is usually
 * no statement at all. The sweep releases or cancels the items that wait.
 */
export async function recordEnds(
  tx: Sql,
  transitions: readonly ItemTransition[],
  transitioned: readonly TransitionedItem[],
): Promise<void> {
  const awaited = transitioned.filter(({ blocks }) => blocks === true);
  if (awaited.length === 0) return;
  const next = new Map<string, string>();
  for (const { nth, tenantId, id } of transitioned) {
    const { to, supersededById = "" } = transitions[nth]!;
    if (to === "superseded" && supersededById !== "") next.set(tenantId + id, supersededById);
  }
  const replaced: Replacement[] = [];
  const ended: Parameters<typeof settleDependencies>[1][number][] = [];
  for (const { nth, tenantId, id } of awaited) {
    if (next.has(tenantId + id)) replaced.push({ tenantId, id, supersededById: lastOf(next, tenantId, id) });
    else {
      const outcome = dependencyOutcome(transitions[nth]!.to);
      if (outcome !== undefined) ended.push({ tenantId, id, outcome });
    }
  }
  await moveDependencies(tx, replaced);
  await settleDependencies(tx, ended);
}

/** Follows replacements within one transaction: a replacement may already be replaced by a later one. */
function lastOf(next: ReadonlyMap<string, string>, tenantId: string, id: string): string {
  let last = id;
  for (let links = 0; links <= next.size && next.has(tenantId + last); links++) last = next.get(tenantId + last)!;
  return last;
}

import type { Sql } from "../../../../platform/db/index.ts";
import { AdmissionConflict } from "../../admission/index.ts";
import { dependencyOutcome, type ItemDependencies } from "../domain/dependency.ts";
import { blockWith, type Dependency, type ItemKey, insertDependencies, readDependencies } from "./dependency-store.ts";

/** A new item that waits for others. */
export interface WaitingItem extends ItemKey {
  readonly dependencies: ItemDependencies;
}

/** How often a chain of replacements may grow while it is followed. */
const roundsMax = 5;

/**
 * Stores what new items wait for, in the transaction that inserts them. The items that they wait for are locked, so that
 * none ends unnoticed. Returns whether some of these ended already; then the caller triggers a sweep after the commit.
 */
export async function linkDependencies(tx: Sql, items: readonly WaitingItem[]): Promise<boolean> {
  const links: Dependency[] = [];
  let open = items.flatMap(({ tenantId, id: itemId, dependencies }) =>
    dependencies.onIds.map((onId) => ({ tenantId, itemId, onId })),
  );
  for (let round = 0; open.length > 0; round++) {
    // Another transaction replaces items faster than they can be locked.
    if (round === roundsMax) throw new AdmissionConflict();
    const blocked = new Set((await blockWith(tx, open.map(onKey))).map(keyText));
    links.push(...open.filter((each) => blocked.has(keyText(onKey(each)))));
    const missed = open.filter((each) => !blocked.has(keyText(onKey(each))));
    // A new statement sees the history rows of items that ended while their locks were awaited.
    const states = new Map((await readDependencies(tx, missed.map(onKey))).map((state) => [keyText(state), state]));
    open = [];
    for (const each of missed) {
      const found = states.get(keyText(onKey(each)));
      const outcome = found === undefined ? "failed" : dependencyOutcome(found.state);
      if (outcome === undefined) open.push({ ...each, onId: found!.lastId });
      else links.push({ ...each, outcome });
    }
  }
  await insertDependencies(tx, links);
  return links.some(({ outcome }) => outcome !== undefined);
}

function onKey({ tenantId, onId }: Dependency): ItemKey {
  return { tenantId, id: onId };
}

function keyText({ tenantId, id }: ItemKey): string {
  return tenantId + id;
}

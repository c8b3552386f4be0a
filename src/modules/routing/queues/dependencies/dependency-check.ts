import type { Context } from "../../../../chain/call.ts";
import { type Failure, fail, invalid } from "../../../../errors/index.ts";
import { mayUseEnvironment } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { PoolReader } from "../../pools/index.ts";
import { dependencyOutcome } from "../domain/dependency.ts";
import type { ItemsAfter } from "../domain/queue-item.ts";
import { type DependencyState, readDependencies } from "./dependency-store.ts";

/** Checks the items that new items are to wait for. Returns the unfinished ones of each list, or why it is refused. */
export type DependencyCheck = (
  context: Context,
  lists: readonly ItemsAfter[],
) => Promise<(readonly string[] | Failure)[]>;

/** Creates the check. All lists of a call are read with one statement. */
export function createDependencyCheck(sql: Sql, pools: Pick<PoolReader, "snapshot">): DependencyCheck {
  /** The items that the caller may use, by id. Other items are treated like unknown ones. */
  async function readUsable({ tenantId, principal }: Context, ids: readonly string[]) {
    const states = await readDependencies(
      sql,
      [...new Set(ids)].map((id) => ({ tenantId, id })),
    );
    const usable = new Map<string, boolean>();
    for (const poolId of new Set(states.map((each) => each.poolId))) {
      const snapshot = await pools.snapshot(tenantId, poolId);
      usable.set(poolId, snapshot !== undefined && mayUseEnvironment(principal, snapshot.environmentKey));
    }
    return new Map(states.filter(({ poolId }) => usable.get(poolId)).map((state) => [state.id, state]));
  }

  return async (context, lists) => {
    const states = await readUsable(
      context,
      lists.flatMap(({ ids }) => ids),
    );
    return lists.map((list) => unfinishedOf(list, states));
  };
}

function unfinishedOf({ ids, onFailure }: ItemsAfter, states: ReadonlyMap<string, DependencyState>) {
  const unfinished = new Set<string>();
  for (const [at, id] of ids.entries()) {
    const found = states.get(id);
    if (found === undefined) return invalid(`after[${at}]`, "item", "must be the id of an item of a queue");
    const outcome = dependencyOutcome(found.state);
    if (outcome === undefined) unfinished.add(found.lastId);
    if (outcome === "failed" && onFailure === "cancel") {
      const state = found.state.replace("_", " ");
      return fail("FAILED_PRECONDITION", {
        public: `The item ${id} is ${state}, so the item that waits for it would be cancelled. Set after_failure to run, or leave it out of after.`,
      });
    }
  }
  return [...unfinished];
}

import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import type { PlatformServices } from "../../../area.ts";
import { type PoolSnapshot, sideOf } from "../../pools/index.ts";
import type { OfferedItem } from "../../queues/index.ts";
import { itemOf } from "../decisions/decision-store.ts";
import { checkAcceptance } from "../domain/acceptance.ts";
import { retryInS } from "../domain/assignment-retry.ts";
import { Evaluation } from "../domain/evaluation.ts";
import type { LivePools } from "../outcomes/live-pools.ts";

/** The maximum duration of one check of waiting items. */
const checkMsMax = 500;
const costlyItemsMax = 10_000;

interface Dependencies extends Pick<PlatformServices, "clock" | "shares"> {
  readonly live: LivePools;
}

/**
 * Creates a function that selects the waiting items that a recipient may accept. Rules are evaluated in slices of the
 * event loop. Items with too costly rules are skipped with an increasing back-off, so that they do not block the items
 * behind them.
 */
export function createAcceptance({ live, clock, shares }: Dependencies) {
  const costly = new BoundedCache<string, { readonly tries: number; readonly untilMs: number }>(costlyItemsMax);

  function recordCostly(id: string): void {
    const tries = (costly.get(id)?.tries ?? 0) + 1;
    const waitS = retryInS({ reason: "rules_too_costly", holdS: 0, nextStepInS: 0 }, tries);
    costly.set(id, { tries, untilMs: clock.now() + waitS * 1000 });
  }

  /** Returns the ids of the items that the recipient may accept. Items that could not be checked in time are omitted. */
  return async (snapshot: PoolSnapshot, recipientId: string, items: readonly OfferedItem[]) => {
    const baseline = await live.view(snapshot);
    const slices = shares.forCall(snapshot.pool.tenantId);
    const endMs = performance.now() + checkMsMax;
    const accepted: string[] = [];
    for (const offered of items) {
      const nowMs = clock.now();
      if ((costly.get(offered.id)?.untilMs ?? 0) > nowMs) continue;
      const { id } = offered;
      const item = itemOf(offered);
      const side = sideOf(snapshot, item.key);
      const { pool, live: livePool } = side === snapshot ? baseline : await live.view(side);
      const at = { nowMs, seed: 0, waitedS: (nowMs - ulidMs(id)) / 1000 };
      const evaluation = new Evaluation(pool, item, at);
      for (;;) {
        if (slices.isOver()) await slices.next();
        evaluation.resume(slices.isOver);
        const acceptance = checkAcceptance(pool, livePool, item, recipientId, at, evaluation);
        if (acceptance?.may === true) accepted.push(id);
        else if (acceptance?.reason === "rules_too_costly") recordCostly(id);
        if (acceptance !== undefined) break;
        if (performance.now() >= endMs) return accepted;
      }
      if (performance.now() >= endMs) return accepted;
    }
    return accepted;
  };
}

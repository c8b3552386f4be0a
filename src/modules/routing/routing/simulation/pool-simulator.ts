import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { runInSlices, type TimeSlices } from "../../../../platform/event-loop/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import type { SimulationReport } from "../../../promotable-artifacts.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import { findRecordedRange, type RecordedItem, readRecordedItems } from "./recorded-item-store.ts";
import { ServiceProfile } from "./service-profile.ts";
import { SimulatedPool, type SimulatedPoolParts } from "./simulated-pool.ts";
import { SimulationTally } from "./simulation-tally.ts";

export interface PoolSimulation extends Pick<SimulatedPoolParts, "admissionOf"> {
  readonly before: PoolSnapshot;
  readonly after: PoolSnapshot;
  readonly from: Date;
  readonly until: Date;
  readonly itemsMax: number;
  readonly slices: TimeSlices;
  readonly signal: AbortSignal;
}

/**
 * Decides the recorded items of a pool again, in their order and at their times, with two views of the pool. Each side has
 * recipients, a queue and constraints of its own, so that every difference comes from the views. Items are read page by page,
 * twice: first for the service times, then for the decisions. Nothing is stored.
 */
export async function simulatePool(
  sql: Sql,
  tenantId: TenantId,
  simulation: PoolSimulation,
): Promise<SimulationReport> {
  const { before, after, from, until, itemsMax, slices, signal, admissionOf } = simulation;
  const profile = new ServiceProfile();
  const tally = new SimulationTally({ before, after });
  const range = await findRecordedRange(sql, tenantId, { poolId: before.pool.id, from, until, itemsMax });

  /** Handles all items in slices of the event loop. */
  async function forEachPage(
    withRequests: boolean,
    handle: (page: readonly RecordedItem[]) => Generator<void, void>,
  ): Promise<void> {
    if (range === undefined) return;
    for await (const page of readRecordedItems(sql, tenantId, range, withRequests)) {
      await runInSlices(handle(page), slices, signal);
    }
  }

  await forEachPage(false, function* (page) {
    for (const item of page) yield profile.add(item);
  });
  const sides = [before, after].map((snapshot) => new SimulatedPool({ snapshot, profile, admissionOf }));
  const [was, is] = sides as [SimulatedPool, SimulatedPool];
  await forEachPage(true, function* (page) {
    for (const item of page) yield tally.add(item, ulidMs(item.id), yield* was.arrive(item), yield* is.arrive(item));
  });
  const [firstMs, lastMs] = [range && ulidMs(range.firstId), range && ulidMs(range.lastId)];
  const spanMs = Math.max(1, (lastMs ?? 0) - (firstMs ?? 0));
  return {
    ...tally.report(was, is, spanMs),
    firstAt: firstMs === undefined ? undefined : new Date(firstMs),
    lastAt: lastMs === undefined ? undefined : new Date(lastMs),
    isCut: range?.isCut === true || was.isOverfull || is.isOverfull,
  };
}

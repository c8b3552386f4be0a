import type { Context } from "../../../chain/call.ts";
import { Failure } from "../../../errors/index.ts";
import { mayBeCommitted } from "../../../platform/db/index.ts";
import { createTenantConcurrencyLimiter } from "../../../platform/event-loop/index.ts";
import type { KeyedCall } from "../../../platform/idempotency/index.ts";
import type { AcceptedBatch, Acceptor, AcceptRequest, DependencyCheck, Offeree } from "../queues/index.ts";
import { rejectionOf } from "./rejection.ts";
import {
  applyVerdict,
  isRefused,
  outcomeOf,
  type RoutedItem,
  type RouteInput,
  type RouteOutcome,
  takesAll,
  toAcceptedRow,
  waitsForItems,
} from "./route-outcome.ts";
import { createPreparation, type PreparationParts, type RouteResult } from "./route-preparation.ts";

interface Dependencies extends PreparationParts {
  readonly acceptor: Acceptor;
  readonly checkDependencies: DependencyCheck;
  /** Schedules a wake-up for the time at which an item falls due. */
  readonly expect: (atMs: number) => void;
  /** Called with the recipients that were offered an accepted item. */
  readonly onOffered: (made: readonly Offeree[]) => void;
  /** Called with items that were accepted without a recipient. */
  readonly onUnassigned: (routed: RoutedItem) => void;
  /** Counts a stored decision. */
  readonly countDecision: (tenantId: string, outcome: RouteOutcome) => void;
  /** Whether a call with this idempotency key has a recorded response. */
  readonly isRecorded: (keyed: KeyedCall | undefined) => Promise<boolean>;
}

/**
 * Calls with at least this many items are prepared two at a time for each tenant: one is decided while the other is stored. If
 * all were prepared side by side, all would be stored at the same time, and all of them would be in memory until then.
 */
const largeItemsMin = 500;
const largeCallsMax = 2;

/** A response that can be recorded under an idempotency key. */
type Recordable<T> = T & Parameters<KeyedCall["record"]>[0];

export type RouteService = ReturnType<typeof createRouteService>;

export function createRouteService(dependencies: Dependencies) {
  const { acceptor, checkDependencies, expect, onOffered, onUnassigned, countDecision, isRecorded } = dependencies;
  const { prepare, prepareAll, release } = createPreparation(dependencies);
  const largeCalls = createTenantConcurrencyLimiter(largeCallsMax);
  let largeCallCount = 0;

  /**
   * Stores routed items; releases those that admission refuses. A failure instead of a response is thrown after the commit, and
   * the idempotency key stays free.
   */
  async function accept<T>(
    context: Context,
    routed: readonly RoutedItem[],
    keyed: KeyedCall | undefined,
    toResponse: (routed: readonly RoutedItem[]) => Recordable<T> | Failure,
  ): Promise<T | "duplicate"> {
    let final: readonly RoutedItem[] = routed;
    let response: ReturnType<typeof toResponse> | undefined;
    const proposal: AcceptRequest = {
      tenantId: context.tenantId,
      nowMs: context.nowMs,
      items: routed.map(({ id, snapshot, admission, work, input }) => ({
        id,
        poolId: snapshot.pool.id,
        admission,
        push: work?.delivery === "push",
        payloadJson: takesAll(snapshot) ? input.payloadJson : undefined,
        hasDependencies: waitsForItems(input),
      })),
      claim: keyed?.claim,
      toBatch(verdicts): AcceptedBatch {
        final = routed.map((each, at) => applyVerdict(each, verdicts[at], context.nowMs));
        response = toResponse(final);
        const record = response instanceof Failure ? undefined : keyed?.record(response);
        return { rows: final.map((each) => toAcceptedRow(each, context.nowMs)), record };
      },
    };
    try {
      if ((await acceptor.accept(proposal)) === "duplicate") {
        release(routed);
        return "duplicate";
      }
    } catch (error) {
      release(routed);
      throw error;
    }
    for (const each of final) {
      countDecision(context.tenantId, outcomeOf(each));
      if (each.verdict !== undefined && isRefused(each)) release([each]);
      else each.reservation?.commit();
      if (each.work?.dueAtMs !== undefined) expect(each.work.dueAtMs);
      if (each.work?.holdReason === "offer") onOffered([offereeOf(each)]);
      if (each.work?.state === "ready" && each.work.recipientId === "") onUnassigned(each);
    }
    if (response instanceof Failure) throw response;
    return response!;
  }

  /**
   * Stores routed items and counts them against the quota. Rejected and deduplicated items and repeated calls do not count.
   * Items that may have been committed stay counted, also when the call fails.
   */
  async function acceptCounted<T>(
    context: Context,
    routed: readonly RoutedItem[],
    keyed: KeyedCall | undefined,
    toResponse: (routed: readonly RoutedItem[]) => Recordable<T> | Failure,
  ): Promise<T | "duplicate"> {
    const count = routed.filter(isCounted).length;
    const quota = count === 0 ? undefined : context.takeQuota("route", count);
    if (quota === undefined) return accept(context, routed, keyed, toResponse);
    const receipt = await quota.catch((error) => {
      release(routed);
      throw error;
    });
    let counted = 0;
    try {
      const done = await accept(context, routed, keyed, (final) => {
        counted = final.filter(isCounted).length;
        return toResponse(final);
      });
      if (done === "duplicate") counted = 0;
      return done;
    } catch (error) {
      counted = mayBeCommitted(error) ? count : 0;
      throw error;
    } finally {
      // The call is finished: a failed refund must not change its result.
      if (counted < count) await receipt.refund(count - counted).catch(() => {});
    }
  }

  /** Routes within the quota. A repeated call gets its recorded response, whatever has changed since. */
  async function withinQuota<T>(
    context: Context,
    keyed: KeyedCall | undefined,
    run: () => Promise<T | "duplicate">,
  ): Promise<T | "duplicate"> {
    try {
      // Fail early for a tenant whose quota is known to be exhausted.
      const known = context.takeQuota("route", 0);
      if (known !== undefined) await known;
      return await run();
    } catch (error) {
      // Checked only after a failure, because most calls are not repeats.
      if (!(error instanceof Failure && (await isRecorded(keyed)))) throw error;
      return "duplicate";
    }
  }

  /** Finds the unfinished items that items wait for. An item whose list is refused becomes a failure. */
  async function withDependencies(context: Context, items: readonly (RouteInput | Failure)[]) {
    const lists = items.flatMap((item) => (item instanceof Failure ? [] : (item.after ?? [])));
    if (lists.length === 0) return items;
    const checked = (await checkDependencies(context, lists)).values();
    return items.map((item) => {
      if (item instanceof Failure || item.after === undefined) return item;
      const waitsFor = checked.next().value!;
      return waitsFor instanceof Failure ? waitsFor : { ...item, waitsFor };
    });
  }

  /** As above, for one item. */
  async function withOwnDependencies(context: Context, input: RouteInput): Promise<RouteInput> {
    const [checked] = await withDependencies(context, [input]);
    if (checked instanceof Failure) throw checked;
    return checked!;
  }

  return {
    /** Routes one item; a dry run stores nothing. A rejection is thrown if the item says so. */
    async route<T>(
      context: Context,
      input: RouteInput,
      dryRun: boolean,
      keyed: KeyedCall | undefined,
      toResponse: (routed: RoutedItem) => Recordable<T>,
    ): Promise<T | "duplicate"> {
      const checked = () => (input.after === undefined ? input : withOwnDependencies(context, input));
      if (dryRun) {
        const routed = await prepare(context, await checked(), true);
        const rejection = rejectionOf(routed, true);
        if (rejection !== undefined) throw rejection;
        return toResponse(routed);
      }
      return withinQuota(context, keyed, async () => {
        const found = checked();
        const prepared = prepare(context, found instanceof Promise ? await found : found, false);
        const routed = prepared instanceof Promise ? await prepared : prepared;
        return acceptCounted(context, [routed], keyed, ([final]) => rejectionOf(final!, false) ?? toResponse(final!));
      });
    },

    /**
     * Routes many items. Each has its own result; the routed ones are stored together. A failure among the items becomes
     * its own result.
     */
    async routeBatch<T>(
      context: Context,
      items: readonly (RouteInput | Failure)[],
      dryRun: boolean,
      keyed: KeyedCall | undefined,
      toResponse: (results: readonly RouteResult[]) => Recordable<T>,
    ): Promise<T | "duplicate"> {
      if (dryRun) return toResponse(await prepareAll(context, await withDependencies(context, items), true));
      const route = async () => {
        const results = await prepareAll(context, await withDependencies(context, items), false);
        const routed = results.filter((each): each is RoutedItem => !(each instanceof Failure));
        if (routed.length === 0 && keyed === undefined) return toResponse(results);
        return acceptCounted(context, routed, keyed, (final) => {
          const next = final.values();
          return toResponse(results.map((each) => (each instanceof Failure ? each : next.next().value!)));
        });
      };
      // A batch without a valid item needs no quota.
      const run = () => (items.every((item) => item instanceof Failure) ? route() : withinQuota(context, keyed, route));
      if (items.length < largeItemsMin) return run();
      // Each call has a name of its own, because calls of the same name run one after the other.
      return largeCalls.run(context.tenantId, `${largeCallCount++}`, () => {
        // The caller may have left while the call waited for its turn.
        context.signal.throwIfAborted();
        return run();
      });
    },
  };
}

function offereeOf({ tenantId, snapshot, decision }: RoutedItem): Offeree {
  return { tenantId, poolId: snapshot.pool.id, recipientId: decision.recipientId };
}

/** Whether an item counts against the quota. Rejected and deduplicated items do not. */
function isCounted(routed: RoutedItem): boolean {
  const outcome = outcomeOf(routed);
  return outcome !== "rejected" && outcome !== "deduplicated";
}

import type { Context, KeyedCall } from "../../../chain/call.ts";
import { Failure } from "../../../errors/index.ts";
import { mayBeCommitted } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { EventLoopShares } from "../../../platform/scheduling/index.ts";
import type { AdmissionRequest } from "../admission/index.ts";
import type { PoolReader, PoolSnapshot, Pools } from "../pools/index.ts";
import type { Acceptor, Parcel, Proposal } from "../queues/index.ts";
import { type DecisionTime, decideInTime, runInTime, timeOfCall } from "./decisions/decision-budget.ts";
import type { Decision } from "./domain/decision.ts";
import { SlicedDecision } from "./domain/decision-engine.ts";
import type { Evidence, EvidenceTraceStep } from "./domain/evidence.ts";
import type { RoutableItem } from "./domain/item.ts";
import type { LivePools } from "./outcomes/live-pools.ts";
import type { QueueReservation } from "./queue-reservation.ts";
import { type AskedItem, itemRow, outcomeOf, type Routed, settled, withVerdict } from "./route-outcome.ts";

interface Parts {
  readonly pools: PoolReader & Pick<Pools, "poolsOf">;
  readonly live: LivePools;
  readonly shares: EventLoopShares;
  readonly acceptor: Acceptor;
  /** Schedules a wake-up for the time at which an item falls due. */
  readonly expect: (atMs: number) => void;
  /** Called with items that were accepted without a recipient. */
  readonly onUnassigned: (routed: RoutedItem) => void;
  /** Whether a call with this idempotency key has a recorded response. */
  readonly isRecorded: (claim: KeyedCall["claim"]) => Promise<boolean>;
}

/** The use cases of routing. */
export type RouteService = ReturnType<typeof createRouteService>;

/** Creates the use cases of routing. */
export function createRouteService(parts: Parts) {
  const { acceptor, expect, onUnassigned, isRecorded } = parts;
  const { prepare, prepareAll, release } = createPreparation(parts);

  /** The first pool whose rules want an item. */
  async function poolByRules(
    { tenantId, principal, nowMs }: Context,
    { item }: AskedItem,
    time: DecisionTime,
  ): Promise<PoolSnapshot> {
    const all = await pools.poolsOf(tenantId);
    for (const snapshot of all.pools.values()) {
      if (snapshot.rules.length === 0 || !mayUseEnvironment(principal, snapshot.environmentKey)) continue;
      const view = await live.view(snapshot);
      const pending = new SlicedDecision(view.pool, view.live, item, { nowMs, seed: 0, waitedS: 0 });
      const { matchedRuleIds, reason } = await decideInTime(pending, time, (decision) => decision);
      if (reason === "decided_later")
        throw failed("The rules of too many pools had to be asked: name one with pool_id.");
      if (matchedRuleIds.length > 0) return snapshot;
    }
    throw invalid("pool_id", "required", "must name a pool, since no pool has a rule for this item");
  }

  /** Decides in a pool, and in those that its rules send the item on to; notes at once who got it: the next one has to know. */
  function decideIn(
    asIs: PoolSnapshot,
    context: Context,
    asked: AskedItem,
    dryRun: boolean,
    time: DecisionTime,
    passed: readonly EvidenceTraceStep[] = [],
    hops = 0,
  ): Routed | Promise<Routed> {
    const { nowMs, tenantId } = context;
    return andThen(live.view(taking(asIs)), (first) => {
      const seed = Math.floor(Math.random() * seedLimit);
      const pending = new SlicedDecision(first.pool, first.live, asked.item, { nowMs, seed, waitedS: 0 });
      return decideInTime(pending, time, (decision): Routed | Promise<Routed> => {
        if (decision.outcome === "no_match") throw nobody(decision);
        const view = { pool: pending.pool, live: first.live };
        const { snapshot } = view.pool;
        if (decision.outcome !== "redirected") {
          if (!dryRun && decision.recipientId !== "") live.assigned(view, decision.recipientId, nowMs);
          const [admission, verdict] = [undefined, undefined];
          const work = itemRow({ snapshot, asked, decision, admission, verdict }, nowMs);
          const evidence = evidenceOf(decision, passed, work?.dueAtMs, nowMs);
          const id = ulid(nowMs);
          return { id, tenantId, asked, snapshot, view, decision, seed, evidence, work, admission, verdict };
        }
        if (hops === redirectsMax) throw failed("The item was sent from pool to pool too often.");
        return andThen(pools.snapshot(tenantId, decision.redirectPoolId), (next) => {
          if (next === undefined) throw failed("The pool that the item is sent on to is not there any more.");
          const step = { step: "redirect", id: decision.redirectPoolId, result: "redirected" } as const;
          return decideIn(next, context, asked, dryRun, time, [...passed, ...decision.trace, step], hops + 1);
        });
      });
    });
  }

  /** Decides, and makes sure that what was decided can be kept: at once where nothing has to be read for it. */
  function prepare(context: Context, asked: AskedItem, dryRun: boolean, time: DecisionTime): Routed | Promise<Routed> {
    const found = asked.poolId === "" ? poolByRules(context, asked, time) : pools.requirePool(context, asked.poolId);
    return andThen(found, (snapshot) => {
      const decided = decideIn(snapshot, context, asked, dryRun, time);
      return dryRun ? decided : andThen(decided, (routed) => makeKeepable(routed, time));
    });
  }

  function makeKeepable(decided: Routed, time: DecisionTime): Routed | Promise<Routed> {
    const { snapshot, work, asked } = decided;
    let routed = decided;
    const refuse = (error: unknown): never => {
      giveBack([routed]);
      throw error;
    };
    try {
      // What is only named to its recipient waits nowhere.
      const reserved = work === undefined || work.state === "leased" ? undefined : reservePlace(snapshot);
      const kept = andThen(reserved, (reservation) => {
        if (reservation !== undefined) routed = { ...routed, reservation };
        return keepSnapshot(snapshot);
      });
      const constrained = andThen(kept, () => {
        if (work === undefined || work.delivery === "none" || !isConstrained(snapshot)) return routed;
        return andThen(
          runInTime(time, () => admissionOf(snapshot, asked.item)),
          (admission) => (admission === undefined ? routed : { ...routed, admission }),
        );
      });
      return constrained instanceof Promise ? constrained.catch(refuse) : constrained;
    } catch (error) {
      return refuse(error);
    }
  }

  /** Prepares one item after the other. A refused item does not affect the others. */
  async function prepareAll(
    context: Context,
    items: readonly (AskedItem | Failure)[],
    dryRun: boolean,
  ): Promise<RouteResult[]> {
    const results: RouteResult[] = [];
    const time = timeOfCall(shares, context.tenantId);
    for (const item of items) {
      if (item instanceof Failure) {
        results.push(item);
        continue;
      }
      try {
        if (time.turns.isOver()) await time.turns.next();
        const prepared = prepare(context, item, dryRun, time);
        results.push(prepared instanceof Promise ? await prepared : prepared);
      } catch (error) {
        if (!(error instanceof Failure)) {
          giveBack(results.filter((each): each is Routed => !dryRun && !(each instanceof Failure)));
          throw error;
        }
        results.push(error);
      }
    }
    return results;
  }

  /** Undoes what was noted of items that do not come in: their recipients and their places in the queue. */
  function giveBack(routed: readonly Routed[]): void {
    for (const { tenantId, snapshot, decision, reservation } of routed) {
      reservation?.release();
      if (decision.recipientId !== "") live.released(tenantId, snapshot.pool.id, decision.recipientId);
    }
  }

  /** Keeps what was decided; what admission refuses is given back. */
  async function accept<T>(
    context: Context,
    routed: readonly RoutedItem[],
    keyed: KeyedCall | undefined,
    toResponse: (routed: readonly RoutedItem[]) => T & Parameters<KeyedCall["record"]>[0],
  ): Promise<T | "duplicate"> {
    let final: readonly RoutedItem[] = routed;
    let response: ReturnType<typeof toResponse> | undefined;
    const proposal: Proposal = {
      tenantId: context.tenantId,
      nowMs: context.nowMs,
      items: routed.map(({ id, snapshot, admission, work }) => ({
        id,
        poolId: snapshot.pool.id,
        admission,
        push: work?.delivery === "push",
      })),
      claim: keyed?.claim,
      settle(verdicts): Parcel {
        final = routed.map((each, at) => applyVerdict(each, verdicts[at], context.nowMs));
        response = toResponse(final);
        return { rows: final.map((each) => toAcceptedRow(each, context.nowMs)), record: keyed?.record(response) };
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
      if (each.verdict?.status === "deduplicated" || each.verdict?.status === "rejected") release([each]);
      else each.reservation?.commit();
      if (each.work?.dueAtMs !== undefined) expect(each.work.dueAtMs);
      if (each.work?.state === "ready" && each.work.recipientId === "") onUnassigned(each);
    }
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
    toResponse: (routed: readonly RoutedItem[]) => T & Parameters<KeyedCall["record"]>[0],
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
      if (keyed === undefined || !(error instanceof Failure) || !(await isRecorded(keyed.claim))) throw error;
      return "duplicate";
    }
  }

  return {
    /** Routes one item; a dry run stores nothing. */
    async route<T>(
      context: Context,
      input: RouteInput,
      dryRun: boolean,
      keyed: KeyedCall | undefined,
      toResponse: (routed: RoutedItem) => T & Parameters<KeyedCall["record"]>[0],
    ): Promise<T | "duplicate"> {
      if (dryRun) return toResponse(await prepare(context, input, true));
      return withinQuota(context, keyed, async () => {
        const prepared = prepare(context, input, false);
        const routed = prepared instanceof Promise ? await prepared : prepared;
        return acceptCounted(context, [routed], keyed, ([final]) => toResponse(final!));
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
      toResponse: (results: readonly RouteResult[]) => T & Parameters<KeyedCall["record"]>[0],
    ): Promise<T | "duplicate"> {
      if (dryRun) return toResponse(await prepareAll(context, items, true));
      const route = async () => {
        const results = await prepareAll(context, items, false);
        const routed = results.filter((each): each is RoutedItem => !(each instanceof Failure));
        if (routed.length === 0 && keyed === undefined) return toResponse(results);
        return acceptCounted(context, routed, keyed, (final) => {
          const next = final.values();
          return toResponse(results.map((each) => (each instanceof Failure ? each : next.next().value!)));
        });
      };
      // A batch without a valid item needs no quota.
      return items.every((item) => item instanceof Failure) ? route() : withinQuota(context, keyed, route);
    },
  };
}

/** Whether an item counts against the quota. Rejected and deduplicated items do not. */
function isCounted(routed: RoutedItem): boolean {
  const outcome = outcomeOf(routed);
  return outcome !== "rejected" && outcome !== "deduplicated";
}

/** Goes on with what is there, or with what is still to come. */
function andThen<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

function evidenceOf(
  decision: Decision,
  passed: readonly EvidenceTraceStep[],
  dueAtMs: number | undefined,
  nowMs: number,
): Evidence {
  const { outcome, recipientId, priority, reason, message, matchedRuleIds, experimentKeys, trace, observed } = decision;
  return {
    reason,
    message,
    ruleIds: matchedRuleIds,
    experimentKeys,
    trace: passed.length === 0 ? trace : [...passed, ...trace],
    observed,
    decided: { outcome, recipientId, priority },
    nowMs,
    existingItemId: "",
    dueAtMs,
  };
}

function taking(snapshot: PoolSnapshot): PoolSnapshot {
  const { status, name } = snapshot.pool;
  if (status === "active") return snapshot;
  throw fail("FAILED_PRECONDITION", { public: `The pool ${name} takes no items: it is ${status}.` });
}

function nobody({ reason }: Decision): Failure {
  return failed(`Nobody can take the item now (${reason}).`);
}

function failed(text: string): Failure {
  return fail("ROUTING_FAILED", { public: text, headers: { "retry-after": "1" } });
}

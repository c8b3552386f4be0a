import type { Context, KeyedCall } from "../../chain/call.ts";
import { Failure, fail, invalid } from "../../errors/index.ts";
import { mayUseEnvironment } from "../../platform/access/index.ts";
import { ulid } from "../../platform/ids/ulid.ts";
import type { PoolDoor, PoolSnapshot, Pools } from "../pools/index.ts";
import type { Acceptor, AdmissionAsked, Parcel, Proposal, Verdict } from "../queues/index.ts";
import { decisionMsMax, overdueAfter } from "./decision-time.ts";
import { decide } from "./domain/decide.ts";
import type { Decision } from "./domain/decision.ts";
import type { Evidence, TraceStepKept } from "./domain/evidence.ts";
import type { RoutableItem } from "./domain/item.ts";
import type { LivePools, LiveView } from "./live-pools.ts";
import { type AskedItem, itemRow, type Routed, settled } from "./settling.ts";

interface Parts {
  readonly pools: PoolDoor & Pick<Pools, "poolsOf">;
  readonly live: LivePools;
  readonly acceptor: Acceptor;
  /** What an item has to pass on its way in; one that goes on later asks for its place in the concurrency group then. */
  readonly admissionOf: (snapshot: PoolSnapshot, item: RoutableItem, later: boolean) => AdmissionAsked | undefined;
  /** Makes sure that what a decision was made from is kept. */
  readonly keepSnapshot: (snapshot: PoolSnapshot) => Promise<void> | undefined;
  /** Throws when a queue takes no more items. */
  readonly haveRoom: (snapshot: PoolSnapshot, count: number) => Promise<void> | undefined;
  /** Told of the moment at which an item falls due. */
  readonly expect: (atMs: number) => void;
  /** Whether a call with this idempotency key was answered before. */
  readonly isRecorded: (claim: KeyedCall["claim"]) => Promise<boolean>;
}

/** What came of one item: what was decided, or why nothing was. */
export type RouteResult = Routed | Failure;

/** The use cases of routing. */
export type RouteService = ReturnType<typeof createRouteService>;

const redirectsMax = 5;
const seedLimit = 2 ** 53;

/** Makes the use cases of routing. */
export function createRouteService(parts: Parts) {
  const { pools, live, acceptor, admissionOf, keepSnapshot, haveRoom, expect, isRecorded } = parts;

  /** The pool that an item names, or the first whose rules want it. */
  async function poolFor(context: Context, item: AskedItem): Promise<PoolSnapshot> {
    if (item.poolId !== "") return taking(await pools.usable(context, item.poolId));
    const { tenantId, principal, nowMs } = context;
    const all = await pools.poolsOf(tenantId);
    for (const snapshot of all.pools.values()) {
      if (snapshot.rules.length === 0 || !mayUseEnvironment(principal, snapshot.environmentKey)) continue;
      const view = await live.view(snapshot);
      const at = { nowMs, seed: 0, waitedS: 0, overdue: overdueAfter(decisionMsMax) };
      const { matchedRuleIds } = decide(view.pool, view.live, item.item, at);
      if (matchedRuleIds.length > 0) return snapshot;
    }
    throw invalid("pool_id", "required", "must name a pool, since no pool has a rule for this item");
  }

  /** Decides, going from pool to pool where rules say so, and notes at once who got the item: the next one has to know. */
  async function decideFor(context: Context, asked: AskedItem, dryRun: boolean): Promise<Routed> {
    const { nowMs, tenantId } = context;
    let snapshot = await poolFor(context, asked);
    const passed: TraceStepKept[] = [];
    for (let hops = 0; ; hops++) {
      const known = live.view(snapshot);
      const view: LiveView = known instanceof Promise ? await known : known;
      const seed = Math.floor(Math.random() * seedLimit);
      const at = { nowMs, seed, waitedS: 0, overdue: overdueAfter(decisionMsMax) };
      const decision = decide(view.pool, view.live, asked.item, at);
      if (decision.outcome === "no_match") throw nobody(decision);
      if (decision.outcome !== "redirected") {
        if (!dryRun && decision.recipientId !== "") live.assigned(view, decision.recipientId, nowMs);
        const evidence = evidenceOf(decision, passed, nowMs);
        return { id: ulid(nowMs), tenantId, asked, snapshot, view, decision, seed, evidence, verdict: undefined };
      }
      if (hops === redirectsMax) throw failed("The item was sent from pool to pool too often.");
      const next = await pools.snapshot(tenantId, decision.redirectPoolId);
      if (next === undefined) throw failed("The pool that the item is sent on to is not there any more.");
      passed.push(...decision.trace, { step: "redirect", id: decision.redirectPoolId, result: "redirected" });
      snapshot = taking(next);
    }
  }

  /** Decides, and makes sure that what was decided can be kept. */
  async function prepare(context: Context, asked: AskedItem, dryRun: boolean): Promise<Routed> {
    const routed = await decideFor(context, asked, dryRun);
    if (dryRun) return routed;
    const { snapshot } = routed;
    try {
      const row = itemRow(routed, context.nowMs);
      // What is only named to its recipient waits nowhere.
      const room = row === undefined || row.state === "leased" ? undefined : haveRoom(snapshot, 1);
      if (room !== undefined) await room;
      const kept = keepSnapshot(snapshot);
      if (kept !== undefined) await kept;
      const constrained = row !== undefined && row.delivery !== "none";
      return {
        ...routed,
        admission: constrained ? admissionOf(snapshot, asked.item, row.state !== "ready") : undefined,
      };
    } catch (error) {
      giveBack([routed]);
      throw error;
    }
  }

  /** Prepares one item after the other; what is refused is so for itself alone. */
  async function prepareAll(context: Context, items: readonly AskedItem[], dryRun: boolean): Promise<RouteResult[]> {
    const results: RouteResult[] = [];
    for (const item of items) {
      try {
        results.push(await prepare(context, item, dryRun));
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

  function giveBack(routed: readonly Routed[]): void {
    for (const { snapshot, decision } of routed) {
      if (decision.recipientId !== "") live.released(snapshot.pool.id, decision.recipientId);
    }
  }

  /** Keeps what was decided; what admission refuses is given back. */
  async function accept<T>(
    context: Context,
    routed: readonly Routed[],
    keyed: KeyedCall | undefined,
    answer: (routed: readonly Routed[]) => T & Parameters<KeyedCall["record"]>[0],
  ): Promise<T | "duplicate"> {
    let final: readonly Routed[] = routed;
    let response: ReturnType<typeof answer> | undefined;
    const proposal: Proposal = {
      tenantId: context.tenantId,
      nowMs: context.nowMs,
      items: routed.map(({ id, snapshot, admission }) => ({ id, poolId: snapshot.pool.id, admission })),
      claim: keyed?.claim,
      settle(verdicts): Parcel {
        final = routed.map((each, at) => withVerdict(each, verdicts[at]));
        response = answer(final);
        return { rows: final.map((each) => settled(each, context.nowMs)), record: keyed?.record(response) };
      },
    };
    try {
      if ((await acceptor.accept(proposal)) === "duplicate") {
        giveBack(routed);
        return "duplicate";
      }
    } catch (error) {
      giveBack(routed);
      throw error;
    }
    giveBack(final.filter(({ verdict }) => verdict?.status === "deduplicated" || verdict?.status === "rejected"));
    for (const each of final) {
      const dueAtMs = itemRow(each, context.nowMs)?.dueAtMs;
      if (dueAtMs !== undefined) expect(dueAtMs);
    }
    return response!;
  }

  /** Has a call take from the quota. A repeat gets what it got before, whatever has changed since, and takes nothing. */
  async function counted<T>(
    context: Context,
    count: number,
    keyed: KeyedCall | undefined,
    run: () => Promise<T | "duplicate">,
  ): Promise<T | "duplicate"> {
    let taken = 0;
    let done: T | "duplicate";
    try {
      await context.takeQuota("route", count);
      taken = count;
      done = await run();
    } catch (error) {
      // Only now, since most calls are no repeats.
      if (keyed === undefined || !(error instanceof Failure) || !(await isRecorded(keyed.claim))) throw error;
      done = "duplicate";
    }
    // What cannot be given back because the day's quota is used up meanwhile makes no difference any more.
    if (done === "duplicate" && taken > 0) await context.takeQuota("route", -taken).catch(() => {});
    return done;
  }

  return {
    /** Routes one item; a dry run keeps nothing. */
    async route<T>(
      context: Context,
      asked: AskedItem,
      dryRun: boolean,
      keyed: KeyedCall | undefined,
      answer: (routed: Routed) => T & Parameters<KeyedCall["record"]>[0],
    ): Promise<T | "duplicate"> {
      if (dryRun) return answer(await prepare(context, asked, true));
      return counted(context, 1, keyed, async () =>
        accept(context, [await prepare(context, asked, false)], keyed, ([routed]) => answer(routed!)),
      );
    },

    /** Routes many items; each has its own result, and those that were decided are kept together. */
    async routeBatch<T>(
      context: Context,
      items: readonly AskedItem[],
      dryRun: boolean,
      keyed: KeyedCall | undefined,
      answer: (results: readonly RouteResult[]) => T & Parameters<KeyedCall["record"]>[0],
    ): Promise<T | "duplicate"> {
      if (dryRun) return answer(await prepareAll(context, items, true));
      return counted(context, items.length, keyed, async () => {
        const results = await prepareAll(context, items, false);
        const routed = results.filter((each): each is Routed => !(each instanceof Failure));
        if (routed.length === 0 && keyed === undefined) return answer(results);
        return accept(context, routed, keyed, (final) => {
          const next = final.values();
          return answer(results.map((each) => (each instanceof Failure ? each : next.next().value!)));
        });
      });
    },
  };
}

function withVerdict(routed: Routed, verdict: Verdict | undefined): Routed {
  if (verdict === undefined) return routed;
  const step: TraceStepKept = {
    step: "admission",
    result: verdict.status,
    ...(verdict.constraint !== undefined && { id: verdict.constraint }),
  };
  return { ...routed, verdict, evidence: { ...routed.evidence, trace: [...routed.evidence.trace, step] } };
}

function evidenceOf(decision: Decision, passed: readonly TraceStepKept[], nowMs: number): Evidence {
  const { outcome, recipientId, priority, reason, message, matchedRuleIds, experimentKeys, trace, observed } = decision;
  return {
    reason,
    ...(message !== "" && { message }),
    ruleIds: matchedRuleIds,
    experimentKeys,
    trace: passed.length === 0 ? trace : [...passed, ...trace],
    observed,
    decided: { outcome, recipientId, priority },
    nowMs,
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

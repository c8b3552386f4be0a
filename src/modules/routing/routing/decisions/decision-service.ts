import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import { mayUseEnvironment } from "../../../../platform/access/index.ts";
import { canonicalJson } from "../../../../platform/crypto/index.ts";
import { notFound } from "../../../../platform/db/index.ts";
import type { PoolId, Pools } from "../../pools/index.ts";
import { compilePool } from "../domain/compilation/compiled-pool.ts";
import { replay } from "../domain/decision-engine.ts";
import type { Evidence } from "../domain/evidence.ts";
import { decisionStore, evidenceOf, type FoundDecision, itemOf } from "./decision-store.ts";
import { snapshotStore } from "./snapshot-store.ts";

export type DecisionService = ReturnType<typeof createDecisionService>;

export function createDecisionService(pools: Pick<Pools, "snapshotCodec" | "snapshot">) {
  /** A decision, if it exists. Throws if the caller may not use the environment of its pool. */
  async function findReadable({ sql, tenantId, principal }: Context, id: string): Promise<FoundDecision | undefined> {
    const stored = await decisionStore(sql).find(tenantId, id);
    if (stored === undefined) return undefined;
    const pool = await pools.snapshot(tenantId, stored.poolId as PoolId);
    // The environment of a deleted pool is unknown: only callers without an environment restriction may read its decisions.
    const environment = pool?.environmentKey ?? "";
    if (principal.environmentMode === "any" || mayUseEnvironment(principal, environment)) return stored;
    throw fail("PERMISSION_DENIED", { public: "The caller may not work in the pool's environment." });
  }

  async function find(context: Context, id: string): Promise<FoundDecision> {
    const stored = await findReadable(context, id);
    if (stored === undefined) throw notFound("decision");
    return stored;
  }

  return {
    find,
    findReadable,

    /** Replays a decision from its snapshot, item, seed and recorded observations. */
    async replay(context: Context, id: string) {
      const stored = await find(context, id);
      const body = await snapshotStore(context.sql).find(context.tenantId, stored.snapshotDigest);
      if (body === undefined) {
        throw fail("FAILED_PRECONDITION", {
          public: "The snapshot of the decision has expired, so the decision cannot be replayed.",
        });
      }
      const evidence = evidenceOf(stored);
      const snapshot = pools.snapshotCodec.decode(body);
      const at = { nowMs: evidence.nowMs, seed: stored.seed, waitedS: 0 };
      const again = replay(compilePool(snapshot), itemOf(stored), at, evidence.observed);
      const differences = [
        ...(snapshot.digest === stored.snapshotDigest.toString("hex") ? [] : ["snapshot_digest"]),
        ...(again.outcome === evidence.decided.outcome ? [] : ["outcome"]),
        ...(again.recipientId === evidence.decided.recipientId ? [] : ["recipient_id"]),
        ...(again.priority === evidence.decided.priority ? [] : ["priority"]),
        ...(same(again.matchedRuleIds, evidence.ruleIds) ? [] : ["matched_rule_ids"]),
        ...(same(again.trace, ownTrace(evidence.trace)) ? [] : ["trace"]),
      ];
      // Admission is not part of the decision, so its result is not replayed.
      const isUnaltered = evidence.decided.recipientId === stored.recipientId;
      const replayed = { recipientId: isUnaltered ? again.recipientId : stored.recipientId };
      return { stored, differences, replayed };
    },
  };
}

/**
 * The steps of the last pool's decision, without redirecting pools, admission, experiments, canaries, dependencies and the
 * choice of the pool.
 */
function ownTrace(trace: Evidence["trace"]) {
  const last = trace.findLastIndex(({ step }) => step === "redirect");
  const others: readonly string[] = ["admission", "experiment", "canary", "dependency", "pool"];
  return trace.slice(last + 1).filter(({ step }) => !others.includes(step));
}

function same(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

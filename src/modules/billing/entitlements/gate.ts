import type { EntitlementCheck } from "../../../chain/entitlement.ts";
import type { Operation } from "../../../definitions/index.ts";
import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createTenantCache } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import {
  type Enforcement,
  type EntitlementState,
  type Evaluation,
  evaluate,
  type Reason,
  type Verdict,
} from "./domain/evaluation.ts";
import type { EvidenceLog } from "./evidence-log.ts";
import { entitlementStore } from "./store.ts";

/** Evaluates entitlements from memory. */
export type EntitlementGate = ReturnType<typeof createEntitlementGate>;

interface Dependencies extends Pick<PlatformServices, "db" | "changes" | "clock" | "metrics"> {
  readonly enforcement: Enforcement;
  readonly evidence: EvidenceLog;
}

/** The current state of a tenant; undefined inside for a tenant that never had a snapshot, which is cached too. */
interface CachedState {
  readonly state: EntitlementState | undefined;
}

/** Creates this node's gate. Snapshots are in memory until the tenant changes. */
export function createEntitlementGate({ db, changes, clock, metrics, enforcement, evidence }: Dependencies) {
  // Added to the metric at a scrape: prom-client hashes labels on every call, which costs more than the evaluation.
  const counts = new Map<Reason, Map<Verdict, number>>();
  metrics.gauge({
    name: "entitlement_decisions",
    help: "Calls since the start that were admitted without an entitlement (grace) or denied (deny), by reason.",
    labels: ["mode", "verdict", "reason"],
    collect: (gauge) => {
      for (const [reason, byVerdict] of counts)
        for (const [verdict, count] of byVerdict) gauge.set({ mode: enforcement.mode, verdict, reason }, count);
    },
  });
  function countDecision(verdict: Verdict, reason: Reason): void {
    const byVerdict = counts.get(reason) ?? new Map<Verdict, number>();
    counts.set(reason, byVerdict);
    byVerdict.set(verdict, (byVerdict.get(verdict) ?? 0) + 1);
  }

  const states = createTenantCache<TenantId, CachedState>({
    changes,
    load: async (tenantId) => {
      const snapshot = await entitlementStore(db.sql).findCurrent(tenantId);
      if (snapshot === undefined) return { state: undefined };
      const { version, freshUntil, allow, deny } = snapshot;
      return {
        state: { version, freshUntilMs: freshUntil.getTime(), allow: new Set(allow), deny: new Set(deny) },
      };
    },
    tenantOf: (tenantId) => tenantId,
  });

  function decide(
    tenantId: TenantId,
    { id, governance }: Operation,
    state: EntitlementState | undefined,
    isRepeated: boolean,
  ) {
    const { entitlement: item } = governance;
    const nowMs = clock.now();
    const { verdict, reason, evidence: isEvidence } = evaluate(enforcement, state, item, nowMs);
    if (verdict === "pass" || (verdict === "grace" && isRepeated)) return;
    const { mode } = enforcement;
    countDecision(verdict, reason);
    if (isEvidence) {
      const snapshotVersion = state?.version ?? 0;
      evidence.add({ tenantId, item, operation: id, mode, verdict, reason, snapshotVersion }, nowMs);
    }
    if (verdict === "deny") {
      throw fail("ENTITLEMENT_DENIED", {
        public: `The tenant is not entitled to ${item}: ${explanations[reason]}.`,
        extra: { entitlement: item, reason },
      });
    }
  }

  /** Throws ENTITLEMENT_DENIED if a tenant may not use an operation. */
  const check: EntitlementCheck = (tenantId, operation, { isRepeated } = { isRepeated: false }) => {
    const found = states.get(tenantId);
    if (found instanceof Promise) return found.then(({ state }) => decide(tenantId, operation, state, isRepeated));
    return decide(tenantId, operation, found.state, isRepeated);
  };

  return {
    check,
    /** Evaluates an entitlement without evidence. */
    async evaluate(tenantId: TenantId, item: string, nowMs: number): Promise<Evaluation> {
      const { state } = await states.get(tenantId);
      return evaluate(enforcement, state, item, nowMs);
    },
  };
}

const explanations = {
  allowed: "it has it",
  not_evaluated: "it is not evaluated",
  explicit_deny: "it is denied explicitly",
  missing: "its entitlements do not include it",
  stale: "its entitlements have not been confirmed in time",
  unprovisioned: "it has no entitlements yet",
} as const;

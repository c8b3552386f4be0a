/**
 * Entitlements: what a tenant may use.
 *
 * Snapshot: the entitlements of a tenant from one point in time on; the newest one counts. Fresh: confirmed by its source
 * recently enough. Gate: evaluates a call's entitlement from memory. Evidence: counts of calls that were admitted without
 * an entitlement (grace), or denied.
 */

import type { TenantId } from "../../../platform/access/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import type { Operators } from "../operators.ts";
import type { Enforcement } from "./domain/evaluation.ts";
import { createEvidenceLog } from "./evidence-log.ts";
import { createEntitlementGate } from "./gate.ts";
import { entitlementHandlers } from "./handler.ts";
import { evidenceCleanupJob } from "./jobs.ts";
import { createEntitlementService, type NewSnapshot } from "./service.ts";
import { entitlementStore } from "./store.ts";

export { type Grants, planGrants } from "./domain/snapshot.ts";
export type { NewSnapshot };

interface Dependencies extends Pick<PlatformServices, "db" | "changes" | "clock" | "log" | "metrics"> {
  readonly events: EventRecorder;
  readonly operators: Operators;
  readonly enforcement: Enforcement;
  readonly evidenceRetentionDays: number;
  readonly platformTenantId: () => string;
  /** Returns the grants of a tenant's subscription; undefined without one. */
  readonly planSnapshot: (context: EventContext, tenantId: TenantId) => Promise<NewSnapshot | undefined>;
}

export function createEntitlements({ db, clock, metrics, enforcement, evidenceRetentionDays, ...parts }: Dependencies) {
  const dropped = metrics.counter({
    name: "entitlement_evidence_dropped_total",
    help: "Calls that were not recorded as evidence because too much was waiting to be stored.",
  });
  const evidence = createEvidenceLog({ db, log: parts.log, onDropped: () => dropped.inc() });
  const gate = createEntitlementGate({ ...parts, db, clock, metrics, enforcement, evidence });
  const service = createEntitlementService(parts);
  return {
    handlers: entitlementHandlers({ ...parts, service, gate, evidence, enforcement }),
    jobs: [evidenceCleanupJob({ ...parts, db, clock, retentionDays: evidenceRetentionDays })],
    /** Stores this node's evidence. It runs on every node, whatever its role. */
    evidence,
    check: gate.check,
    issueFromPlan: service.issueFromPlan,
    /** The daily quotas that come with a tenant's entitlements, by operation. */
    async readLimits(tenantId: TenantId): Promise<Readonly<Record<string, number>>> {
      const snapshot = await entitlementStore(db.sql).findCurrent(tenantId);
      return Object.fromEntries(Object.entries(snapshot?.limits ?? {}).map(([name, limit]) => [name, Number(limit)]));
    },
  };
}

import {
  EntitlementSource_Kind as Kind,
  EntitlementMode as Mode,
  type EntitlementService as Rpc,
  EntitlementVerdict as Verdict,
} from "../../../../gen/service/api/entitlement_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { dateOf, enumNumbers, nameOf } from "../../../platform/records/index.ts";
import type { Operators } from "../operators.ts";
import type { Enforcement } from "./domain/evaluation.ts";
import type { Evidence, Snapshot } from "./domain/snapshot.ts";
import type { EvidenceLog } from "./evidence-log.ts";
import type { EntitlementGate } from "./gate.ts";
import type { EntitlementService } from "./service.ts";
import { entitlementStore } from "./store.ts";

interface Dependencies {
  readonly service: EntitlementService;
  readonly gate: EntitlementGate;
  readonly evidence: EvidenceLog;
  readonly enforcement: Enforcement;
  readonly operators: Operators;
}

const dayMs = 86_400_000;

export function entitlementHandlers(dependencies: Dependencies): Handlers<typeof Rpc> {
  const { service, gate, evidence, enforcement, operators } = dependencies;
  const mode = modes[enforcement.mode];
  return {
    async getEntitlements(context, request) {
      const snapshot = await service.getSnapshot(context, request.tenantId);
      return {
        mode,
        graceUnprovisioned: enforcement.graceUnprovisioned,
        snapshot: snapshot && fromSnapshot(snapshot),
        stale: snapshot !== undefined && snapshot.freshUntil.getTime() <= context.nowMs,
      };
    },

    async checkEntitlements(context, request) {
      const tenantId = await operators.requireTenant(context, request.tenantId);
      const checks = await Promise.all(
        request.items.map(async (item) => {
          const { verdict, reason } = await gate.evaluate(tenantId, item, context.nowMs);
          return { item, verdict: verdicts[verdict], reason };
        }),
      );
      return { mode, checks };
    },

    async issueEntitlementSnapshot(context, { tenantId, source, freshUntil, allow, deny, limits }) {
      const snapshot = await service.issueSnapshot(context, tenantId, {
        sourceKind: nameOf(kinds, source!.kind)!,
        sourceRef: source!.ref,
        freshUntil: freshUntil === undefined ? new Date(context.nowMs + dayMs) : dateOf(freshUntil),
        allow: [...new Set(allow)],
        deny: [...new Set(deny)],
        limits,
      });
      return { snapshot: fromSnapshot(snapshot) };
    },

    async listEntitlementSnapshots(context, request) {
      const tenantId = await operators.requireTenant(context, request.tenantId);
      const page = await context.page("snapshots", request, [tenantId], (wanted) =>
        entitlementStore(context.sql).list(tenantId, wanted),
      );
      return { ...page, snapshots: page.snapshots.map(fromSnapshot) };
    },

    async listEntitlementEvidence(context, request) {
      const tenantId = await operators.requireTenant(context, request.tenantId);
      await evidence.flush();
      const page = await context.page("evidence", request, [tenantId], (wanted) =>
        entitlementStore(context.sql).listEvidence(tenantId, wanted),
      );
      return { ...page, evidence: page.evidence.map(fromEvidence) };
    },
  };
}

const modes = enumNumbers(Mode);
const verdicts = enumNumbers(Verdict);
const kinds = enumNumbers(Kind);

const fromSnapshot = ({ sourceKind, sourceRef, ...snapshot }: Snapshot) => ({
  ...snapshot,
  source: { kind: kinds[sourceKind], ref: sourceRef },
});

const fromEvidence = (row: Evidence) => ({ ...row, mode: modes[row.mode], verdict: verdicts[row.verdict] });

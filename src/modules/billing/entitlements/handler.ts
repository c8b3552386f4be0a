import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CheckEntitlementsResponseSchema,
  EntitlementEvidenceSchema,
  EntitlementSnapshotSchema,
  type EntitlementEvidence as EvidenceMessage,
  GetEntitlementsResponseSchema,
  IssueEntitlementSnapshotResponseSchema,
  EntitlementSource_Kind as Kind,
  ListEntitlementEvidenceResponseSchema,
  ListEntitlementSnapshotsResponseSchema,
  EntitlementMode as Mode,
  type EntitlementService as Rpc,
  type EntitlementSnapshot as SnapshotMessage,
  EntitlementVerdict as Verdict,
} from "../../../../gen/service/api/entitlement_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { dateOf, nameOf } from "../../../platform/records/index.ts";
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
  readonly cursors: Cursors;
}

const dayMs = 86_400_000;

export function entitlementHandlers(dependencies: Dependencies): Handlers<typeof Rpc> {
  const { service, gate, evidence, enforcement, operators, cursors } = dependencies;
  const mode = modes[enforcement.mode];
  return {
    async getEntitlements(context, request) {
      const snapshot = await service.getSnapshot(context, request.tenantId);
      return create(GetEntitlementsResponseSchema, {
        mode,
        graceUnprovisioned: enforcement.graceUnprovisioned,
        ...(snapshot && { snapshot: fromSnapshot(snapshot), stale: snapshot.freshUntil.getTime() <= context.nowMs }),
      });
    },

    async checkEntitlements(context, request) {
      const tenantId = await operators.requireTenant(context, request.tenantId);
      const checks = await Promise.all(
        request.items.map(async (item) => {
          const { verdict, reason } = await gate.evaluate(tenantId, item, context.nowMs);
          return { item, verdict: verdicts[verdict], reason };
        }),
      );
      return create(CheckEntitlementsResponseSchema, { mode, checks });
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
      return create(IssueEntitlementSnapshotResponseSchema, { snapshot: fromSnapshot(snapshot) });
    },

    async listEntitlementSnapshots(context, request) {
      const tenantId = await operators.requireTenant(context, request.tenantId);
      const page = await readPage(
        cursors,
        request,
        { tenantId: context.tenantId, operation: context.operation.id, filter: [tenantId] },
        (snapshot: Snapshot) => snapshot.id,
        (wanted) => entitlementStore(context.sql).list(tenantId, wanted),
      );
      return create(ListEntitlementSnapshotsResponseSchema, { ...page, snapshots: page.items.map(fromSnapshot) });
    },

    async listEntitlementEvidence(context, request) {
      const tenantId = await operators.requireTenant(context, request.tenantId);
      await evidence.flush();
      const page = await readPage(
        cursors,
        request,
        { tenantId: context.tenantId, operation: context.operation.id, filter: [tenantId] },
        (row: Evidence) => row.id,
        (wanted) => entitlementStore(context.sql).listEvidence(tenantId, wanted),
      );
      return create(ListEntitlementEvidenceResponseSchema, { ...page, evidence: page.items.map(fromEvidence) });
    },
  };
}

const modes = { off: Mode.OFF, report: Mode.REPORT, strict: Mode.STRICT } as const;
const verdicts = { pass: Verdict.PASS, grace: Verdict.GRACE, deny: Verdict.DENY } as const;
const kinds = { plan: Kind.PLAN, operator: Kind.OPERATOR, external: Kind.EXTERNAL } as const;

function fromSnapshot({ sourceKind, sourceRef, issuedAt, freshUntil, ...snapshot }: Snapshot): SnapshotMessage {
  return create(EntitlementSnapshotSchema, {
    id: snapshot.id,
    tenantId: snapshot.tenantId,
    version: snapshot.version,
    source: { kind: kinds[sourceKind], ref: sourceRef },
    issuedAt: timestampFromDate(issuedAt),
    freshUntil: timestampFromDate(freshUntil),
    allow: [...snapshot.allow],
    deny: [...snapshot.deny],
    limits: { ...snapshot.limits },
  });
}

function fromEvidence({ minute, mode, verdict, count, ...row }: Evidence): EvidenceMessage {
  return create(EntitlementEvidenceSchema, {
    ...row,
    minute: timestampFromDate(minute),
    mode: modes[mode],
    verdict: verdicts[verdict],
    count: BigInt(count),
  });
}

import type { Context } from "../../../chain/call.ts";
import { invalid } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { TenantChanges } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { EventContext, EventRecorder } from "../../operations/index.ts";
import type { Operators } from "../operators.ts";
import { conflictOf, type Grants, type Snapshot, type SourceKind } from "./domain/snapshot.ts";
import { entitlementStore } from "./store.ts";

/** A snapshot to issue. */
export interface NewSnapshot extends Grants {
  readonly sourceKind: SourceKind;
  readonly sourceRef: string;
  readonly freshUntil: Date;
}

interface Dependencies {
  readonly changes: TenantChanges;
  readonly events: EventRecorder;
  readonly operators: Operators;
  /** Returns the grants of a tenant's subscription; undefined without one. */
  readonly planSnapshot: (context: EventContext, tenantId: TenantId) => Promise<NewSnapshot | undefined>;
}

export type EntitlementService = ReturnType<typeof createEntitlementService>;

export function createEntitlementService({ changes, events, operators, planSnapshot }: Dependencies) {
  /** Issues a snapshot, which every node uses within a second. */
  async function issue(context: EventContext, tenantId: TenantId, input: NewSnapshot): Promise<Snapshot> {
    // Recorded first: it locks the tenant's version, so that snapshots are numbered one at a time.
    await changes.record(context.sql, tenantId);
    const snapshot = await entitlementStore(context.sql).insert({
      ...input,
      tenantId,
      id: ulid(context.nowMs),
      issuedAt: new Date(context.nowMs),
    });
    context.afterCommit(() => changes.published(tenantId));
    const { version, sourceKind, sourceRef } = snapshot;
    const data = { version, source_kind: sourceKind, source_ref: sourceRef };
    await events.record(context, "entitlement.snapshot.issued", snapshot.id, data, tenantId);
    return snapshot;
  }

  return {
    async getSnapshot(context: Context, tenantId: string): Promise<Snapshot | undefined> {
      return entitlementStore(context.sql).findCurrent(await operators.requireTenant(context, tenantId));
    },

    async issueSnapshot(context: Context, tenantId: string, input: NewSnapshot): Promise<Snapshot> {
      const id = await operators.requireTenant(context, tenantId);
      operators.require(context, "issue entitlement snapshots");
      const conflict = conflictOf(input);
      if (conflict !== undefined) {
        throw invalid(
          "deny",
          "conflict",
          `contains ${conflict}, which is also in allow; an item must be in one of them`,
        );
      }
      if (input.sourceKind !== "plan") return issue(context, id, input);
      if (input.allow.length + input.deny.length + Object.keys(input.limits).length > 0) {
        throw invalid(
          "source.kind",
          "plan",
          "KIND_PLAN derives the entitlements from the subscription; send no others",
        );
      }
      const derived = await planSnapshot(context, id);
      if (derived === undefined) {
        throw invalid("source.kind", "plan", "KIND_PLAN needs a subscription, and the tenant has none");
      }
      return issue(context, id, derived);
    },

    /**
     * Issues the grants of a subscription, unless an operator or another system controls the tenant's entitlements. They keep
     * control, so that a renewal never removes a deny.
     */
    async issueFromPlan(context: EventContext, tenantId: TenantId, input: NewSnapshot): Promise<void> {
      const current = await entitlementStore(context.sql).findCurrent(tenantId);
      if (current !== undefined && current.sourceKind !== "plan") return;
      await issue(context, tenantId, input);
    },
  };
}

import type { TenantId } from "../../../../platform/access/index.ts";
import type { IdempotencyRecord } from "../../../../platform/idempotency/index.ts";
import type { JobKind } from "../../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { AdvanceRequest } from "../run-engine.ts";
import { cancelChildKind, forbidStart } from "../storage/child-start-store.ts";

/** The key that starts a child run once, or not at all after its cancellation. */
export function childStartRecord(tenantId: TenantId, childId: string, nowMs: number): IdempotencyRecord {
  return {
    ...{ tenantId, principal: "service:workflow", operation: "workflow.start_child", key: childId },
    ...{ fingerprint: Buffer.from(childId), createdAt: new Date(nowMs), response: "{}" },
  };
}

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly advance: (request: AdvanceRequest) => Promise<unknown>;
}

/** Cancels child runs, also those that have not started yet. */
export function createChildCancellation({ db, clock, advance }: Dependencies) {
  async function cancel(tenantId: TenantId, childId: string, parentId: string): Promise<void> {
    // A node that was suspended may still be about to start it. After this, the run exists or never will.
    await forbidStart(db.sql, childStartRecord(tenantId, childId, clock.now()));
    await advance({
      ...{ tenantId, runId: childId },
      toEvent: ({ state }) =>
        state.ending === undefined
          ? {
              ...{ kind: "cancel", by: "service:workflow", compensate: true },
              reason: `The run ${parentId} no longer waits for it.`,
            }
          : undefined,
    });
  }

  const job: JobKind = {
    kind: cancelChildKind,
    async handler({ tenantId, payload }) {
      const { run_id: childId, parent_run_id: parentId } = payload as { run_id: string; parent_run_id: string };
      await cancel(tenantId as TenantId, childId, parentId);
    },
  };
  return { cancel, job };
}

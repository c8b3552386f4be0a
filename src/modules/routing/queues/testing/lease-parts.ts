import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database, Signals } from "../../../../platform/db/index.ts";
import { type LeaseRequest, queueTopic } from "../leasing/lease-service.ts";
import type { StagedPool } from "./admission-fixture.ts";

/** The parts of a lease service that hears of no tenant changes. A failure to give items back fails the test. */
export function leaseParts(db: Database, signals: Signals) {
  return {
    db,
    signals,
    changes: { onChange: () => () => {} },
    log: {
      warn({ err }: { err: Error }) {
        throw err;
      },
    } as never,
    onLeasesEnded: () => {},
    wake: (tenantId: TenantId, poolId: string) => signals.wake(queueTopic(tenantId, poolId)),
  };
}

/** A worker's request for one item of a whole pool, without a wait. */
export function leaseRequestOf(pool: StagedPool, fields: Partial<LeaseRequest> = {}): LeaseRequest {
  const { tenantId, poolId, environmentId } = pool;
  return {
    tenantId,
    poolId,
    environmentId,
    recipientId: "",
    limits: undefined,
    recipientIds: [],
    unassigned: true,
    delivery: "pull",
    capacity: 0,
    leaseS: 600,
    ageingMs: 60_000,
    max: 1,
    waitMs: 0,
    signal: new AbortController().signal,
    ...fields,
  };
}

import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database, Signals } from "../../../../platform/db/index.ts";
import { queueTopic } from "../leasing/lease-service.ts";

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

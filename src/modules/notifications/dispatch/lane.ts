import { randomUUID } from "node:crypto";
import { createSerialTask } from "../../../platform/jobs/index.ts";

/** Share of the concurrency that must be free before more is leased; leasing a few costs hardly more than leasing one. */
const freeShare = 0.25;
/** Share of the concurrency that one tenant may use, so that one slow tenant does not block the others. */
const tenantShare = 0.5;

/** Parameters of one lease. */
export interface LaneLease {
  readonly limit: number;
  /** How many items one tenant gets. */
  readonly each: number;
  /** "" to start with the first tenant. */
  readonly afterTenant: string;
  readonly busyTenants: readonly string[];
  readonly token: string;
}

/** The result of one lease. */
export interface Leased<Item> {
  readonly items: readonly Item[];
  /** The last tenant that was looked at; "" when there is no further one. */
  readonly scannedTo: string;
}

interface Dependencies<Item> {
  readonly concurrency: number;
  lease(request: LaneLease): Promise<Leased<Item>>;
  /** Returns the handler of the items of one lease. It never rejects. */
  handle(items: readonly Item[]): (item: Item) => Promise<void>;
  onError(error: unknown): void;
}

/** Background work on the due items of all tenants, in turn. */
export interface WorkLane {
  scan(): void;
  start(): void;
  /** Leases no further items and waits for those in flight. */
  stop(): Promise<void>;
}

/** Creates a lane. It leases no more than can be handled immediately: items of a dead node wait until their lease expires. */
export function createLane<Item extends { readonly tenantId: string }>(dependencies: Dependencies<Item>): WorkLane {
  const { concurrency, lease, handle, onError } = dependencies;
  const inFlight = new Map<Promise<void>, string>();
  let afterTenant = "";
  /** Whether there may be due items of tenants that were already looked at. */
  let isStale = false;

  async function leaseDue(): Promise<void> {
    const free = concurrency - inFlight.size;
    if (free < concurrency * freeShare) return;
    if (afterTenant === "") isStale = false;
    const busyTenants = busyAmong([...inFlight.values()], concurrency * tenantShare);
    const each = concurrency * freeShare;
    const { items, scannedTo } = await lease({ limit: free, each, afterTenant, busyTenants, token: randomUUID() });
    isStale ||= items.length > 0;
    afterTenant = items.length < free ? scannedTo : lastTenant(items);
    const handleItem = handle(items);
    for (const item of items) {
      const handled: Promise<void> = handleItem(item).finally(() => {
        inFlight.delete(handled);
        scan();
      });
      inFlight.set(handled, item.tenantId);
    }
    if (afterTenant !== "" || isStale) scans.run();
  }

  const scans = createSerialTask(leaseDue, onError);
  const scan = () => {
    isStale = true;
    scans.run();
  };
  return {
    scan,
    start: scans.start,
    async stop() {
      await scans.stop();
      await Promise.all(inFlight.keys());
    },
  };
}

function lastTenant(items: readonly { readonly tenantId: string }[]): string {
  return items
    .map(({ tenantId }) => tenantId)
    .sort()
    .at(-1)!;
}

/** The tenants with at least this many items in flight. */
function busyAmong(tenantIds: readonly string[], atLeast: number): string[] {
  const counts = Map.groupBy(tenantIds, (tenantId) => tenantId);
  return [...counts].flatMap(([tenantId, { length }]) => (length >= atLeast ? tenantId : []));
}

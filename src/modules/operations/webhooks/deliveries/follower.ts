import type { TenantId } from "../../../../platform/access/index.ts";
import type { PlatformServices } from "../../../area.ts";
import { createLogFollower, type EventReader } from "../../events/index.ts";
import { fanOut } from "../domain/fan-out.ts";
import { type EndpointRef, endpointStore } from "../endpoints/endpoint-store.ts";
import { deliveryStore } from "./delivery-store.ts";

/** Creates deliveries from the event logs of tenants with endpoints. */
export type Follower = ReturnType<typeof createFollower>;

const eventBatchSize = 200;

/** Signal topic for changes to the set of followed tenants. */
export const followTopic = "webhooks";

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "log"> {
  readonly reader: EventReader;
  /** Notifies this node's sender that an endpoint has due deliveries. */
  readonly onDue: (endpoint: EndpointRef) => void;
  readonly pollMs?: number | undefined;
}

/** Creates this node's follower. A lock on a tenant's cursor prevents two nodes from following the same log. */
export function createFollower({ db, signals, reader, log, onDue, pollMs = 2000 }: Dependencies) {
  /** Handles one batch of a tenant's log. Its deliveries and the new cursor are committed together. */
  async function fanOutBatch(tenantId: TenantId): Promise<{ events: number; endpoints: Set<string> } | undefined> {
    return db.transaction(async (tx) => {
      const store = endpointStore(tx);
      const position = await store.lockCursor(tenantId);
      if (position === undefined) return undefined;
      const events = await reader.headsAfter(tx, tenantId, position, eventBatchSize);
      const last = events.at(-1);
      if (last === undefined) return { events: 0, endpoints: new Set<string>() };
      // Endpoints are read after events, so that an endpoint created before an event is never missed.
      const deliveries = fanOut(events, await store.subscribers(tenantId));
      if (deliveries.length > 0) await deliveryStore(tx).insert(tenantId, deliveries);
      await store.moveCursor(tenantId, last);
      return { events: events.length, endpoints: new Set(deliveries.map(({ endpointId }) => endpointId)) };
    });
  }

  /** Creates the deliveries of all new events of a tenant; returns false if another node is doing so. */
  async function follow(tenantId: TenantId): Promise<boolean> {
    for (;;) {
      const done = await fanOutBatch(tenantId);
      if (done === undefined) return false;
      for (const endpointId of done.endpoints) onDue({ tenantId, endpointId });
      if (done.events < eventBatchSize || follower.isStopped()) return true;
    }
  }

  const follower = createLogFollower(
    { db, signals, reader, log },
    {
      ...{ topic: followTopic, handle: follow, pollMs },
      nextFollowed: (sql) => sql`select now() from webhook_cursors limit 1`,
      positions: (after, limit) => endpointStore(db.sql).cursors(after, limit),
    },
  );
  return { follow, start: follower.start, stop: follower.stop };
}

import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import { requireFound } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { differingFields } from "../../../platform/records/index.ts";
import { isEmail } from "../../../platform/validation/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import {
  type Address,
  checkEndpoint,
  type Endpoint,
  type EndpointChange,
  type EndpointId,
  emptyDetails,
  endpointsMax,
  movesByItself,
  namedProvider,
} from "./domain/endpoint.ts";
import type { Subscriber } from "./domain/subscriber.ts";
import { endpointStore } from "./endpoint-store.ts";
import { subscriberStore } from "./subscriber-store.ts";
import type { SuppressionService } from "./suppressions/suppression-service.ts";

/** Throws when the caller may not use a connection, or it cannot send to the address. */
export type CheckConnection = (context: Context, connectionId: string, address: Address) => Promise<void>;

export type EndpointService = ReturnType<typeof createEndpointService>;

export function createEndpointService(
  events: EventRecorder,
  checkConnection: CheckConnection,
  suppressions: Pick<SuppressionService, "endUnreachable">,
) {
  /** Locks a subscriber, so that changes of its endpoints are serialized. */
  async function lock({ sql, tenantId }: Context, subscriberId: string): Promise<Subscriber> {
    return requireFound(await subscriberStore(sql).lock(tenantId, subscriberId), "subscriber");
  }

  /** Removes an address from the subscriber that has it; returns the removed endpoint, if it still has it. */
  async function takeFrom(context: Context, owner: Endpoint, newOwnerId: string): Promise<Endpoint | undefined> {
    const { sql, tenantId, nowMs } = context;
    const removed = await endpointStore(sql).remove(tenantId, owner.subscriberId, owner.id, new Date(nowMs));
    if (removed === undefined) return undefined;
    const { id, channel, providerKey, subscriberId } = removed;
    const data = { endpoint_id: id, channel, provider_key: providerKey, taken_over_by: newOwnerId };
    await events.record(context, "subscriber.endpoint.removed", subscriberId, data);
    return removed;
  }

  /** Adds an endpoint; `previous` is the one that another subscriber had until now. */
  async function add(
    context: Context,
    { id: subscriberId }: Subscriber,
    address: Address,
    change: EndpointChange,
    previous?: Endpoint,
  ): Promise<Endpoint> {
    const { sql, tenantId, nowMs } = context;
    const store = endpointStore(sql);
    if ((await store.count(tenantId, subscriberId)) >= endpointsMax) {
      throw fail("FAILED_PRECONDITION", {
        public: `A subscriber may have at most ${endpointsMax} endpoints; delete one first.`,
      });
    }
    const { connectionId, verified, metadata } = emptyDetails;
    const endpoint = {
      ...address,
      id: ulid(nowMs) as EndpointId,
      subscriberId,
      connectionId: change.connectionId ?? connectionId,
      verified: change.verified ?? verified,
      metadata: change.metadata ?? metadata,
    };
    const added = await store.insert(tenantId, endpoint, new Date(nowMs));
    if (added === undefined) throw addressTaken();
    // The address is personal data, so it is not part of the event.
    const data = {
      ...{ endpoint_id: added.id, channel: added.channel, provider_key: added.providerKey },
      ...(previous !== undefined && { taken_over_from: previous.subscriberId }),
    };
    await events.record(context, "subscriber.endpoint.added", subscriberId, data);
    return added;
  }

  async function refresh(context: Context, current: Endpoint, change: EndpointChange): Promise<Endpoint> {
    const { sql, tenantId, nowMs } = context;
    const { id, subscriberId, channel } = current;
    const fields = differingFields(current, change, ["connectionId", "verified", "metadata"]);
    const store = endpointStore(sql);
    const isChanged = fields.length > 0;
    const changed = isChanged
      ? await store.update(tenantId, id, change, new Date(nowMs))
      : await store.touch(tenantId, id, new Date(nowMs));
    // The subscriber is locked, so only another subscriber can have taken the address meanwhile.
    if (changed === undefined) throw addressTaken();
    if (!isChanged) return changed;
    await events.record(context, "subscriber.endpoint.updated", subscriberId, { endpoint_id: id, channel, fields });
    return changed;
  }

  return {
    /**
     * Adds an endpoint, or refreshes the subscriber's existing one. An address of another subscriber, active or not, is
     * refused unless the caller takes it over. A push token moves by itself, because the person who uses a device now
     * registers it.
     */
    async upsertEndpoint(
      context: Context,
      subscriberId: string,
      address: Address,
      change: EndpointChange,
      takeOver = false,
    ): Promise<Endpoint> {
      const { sql, tenantId } = context;
      checkEndpoint(address, change, isEmail);
      const subscriber = await lock(context, subscriberId);
      const { connectionId = "" } = change;
      if (connectionId !== "") {
        await checkConnection(context, connectionId, { ...address, providerKey: namedProvider(address) });
      }
      if (address.channel === "push") await suppressions.endUnreachable(context, "push", address.identity);
      const current = await endpointStore(sql).findByAddress(tenantId, address);
      if (current === undefined) return add(context, subscriber, address, change);
      if (current.subscriberId === subscriber.id) return refresh(context, current, change);
      if (!takeOver && !movesByItself(address)) throw addressTaken();
      // Another call may have removed it in the meantime. If one has added it elsewhere, the insert refuses.
      return add(context, subscriber, address, change, await takeFrom(context, current, subscriber.id));
    },

    async deleteEndpoint(context: Context, subscriberId: string, id: string): Promise<Endpoint> {
      const { sql, tenantId, nowMs } = context;
      const subscriber = await lock(context, subscriberId);
      const removed = requireFound(
        await endpointStore(sql).remove(tenantId, subscriber.id, id, new Date(nowMs)),
        "endpoint",
      );
      const data = { endpoint_id: id, channel: removed.channel, provider_key: removed.providerKey };
      await events.record(context, "subscriber.endpoint.removed", subscriber.id, data);
      return removed;
    },
  };
}

function addressTaken() {
  const message = "is already the address of another subscriber; set take_over to move it";
  return fail("ALREADY_EXISTS", {
    public: `identity: ${message}.`,
    violations: [{ field: "identity", rule: "unique", message }],
  });
}

import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { requireFound, type Sql } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { isEmail } from "../../../../platform/validation/index.ts";
import type { EventContext, EventRecorder } from "../../../operations/index.ts";
import { checkEndpoint, emptyDetails, providerKeyDefault } from "../domain/endpoint.ts";
import type { Suppression, UsedAddress } from "./domain/suppression.ts";
import { suppressionStore } from "./suppression-store.ts";

/** The input of a manual suppression. */
export type NewSuppression = Pick<Suppression, "channel" | "identity" | "note">;

export type SuppressionService = ReturnType<typeof createSuppressionService>;

export function createSuppressionService(events: EventRecorder) {
  const removed = (context: EventContext, { id, ...suppression }: Suppression) =>
    events.record(context, "notification.suppression.removed", id, eventData(suppression));

  return {
    async createSuppression(context: Context, { channel, identity, note }: NewSuppression): Promise<Suppression> {
      const { sql, tenantId, nowMs } = context;
      checkEndpoint({ channel, identity, providerKey: providerKeyDefault }, emptyDetails, isEmail);
      const suppression = await suppressionStore(sql).insert({
        ...{ tenantId, id: ulid(nowMs), channel, identity, note, reason: "manual" },
        ...{ deliveryId: "", providerKey: "", createdAt: new Date(nowMs) },
      });
      if (suppression === undefined) throw alreadySuppressed();
      await events.record(context, "notification.suppression.added", suppression.id, eventData(suppression));
      return suppression;
    },

    async getSuppression({ sql, tenantId }: Context, id: string): Promise<Suppression> {
      return requireFound(await suppressionStore(sql).find(tenantId, id), "suppression");
    },

    async deleteSuppression(context: Context, id: string): Promise<Suppression> {
      const { sql, tenantId } = context;
      const suppression = requireFound(await suppressionStore(sql).remove(tenantId, id), "suppression");
      await removed(context, suppression);
      return suppression;
    },

    /** Ends the suppression of an address whose device has registered it again, and so proved that it is in use. */
    async endUnreachable(context: EventContext, channel: string, identity: string): Promise<void> {
      const { sql, tenantId } = context;
      const suppression = await suppressionStore(sql).removeUnreachable(tenantId, channel, identity);
      if (suppression !== undefined) await removed(context, suppression);
    },

    /** Suppresses the addresses of messages in the caller's transaction. Those that are suppressed already stay unchanged. */
    async suppress(sql: Sql, tenantId: TenantId, addresses: readonly UsedAddress[], nowMs: number): Promise<void> {
      if (addresses.length === 0) return;
      const named = addresses.map((address) => ({ ...address, id: ulid(nowMs) }));
      const added = await suppressionStore(sql).insertUsed(tenantId, named, new Date(nowMs));
      const entries = added.map((suppression) => ({
        tenantId,
        type: "notification.suppression.added" as const,
        subject: suppression.id,
        data: eventData(suppression),
      }));
      await events.recordMany(sql, entries, nowMs);
    },
  };
}

/** The address is personal data, so it is not part of the event. */
function eventData({ channel, reason, deliveryId }: Omit<Suppression, "id">) {
  return { channel, reason, delivery_id: deliveryId };
}

function alreadySuppressed() {
  const message = "is already suppressed";
  return fail("ALREADY_EXISTS", {
    public: `identity: ${message}.`,
    violations: [{ field: "identity", rule: "unique", message }],
  });
}

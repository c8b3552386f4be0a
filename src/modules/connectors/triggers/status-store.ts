import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Subscription } from "./domain/subscription.ts";

/** A change of a subscription's state by the service. Undefined fields stay unchanged. */
export interface StatusChange {
  readonly intakeError?: string | undefined;
  readonly deliveryError?: string | undefined;
  readonly expired?: boolean | undefined;
  /** Sets ready_at to this time unless it is set. */
  readonly readyAt?: Date | undefined;
}

/** Stores what the service found out about a subscription, and records an event when its status changes. */
export type StoreStatus = (
  ref: { readonly tenantId: TenantId; readonly subscriptionId: string },
  change: StatusChange,
) => Promise<void>;

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly events: EventRecorder;
}

interface Row
  extends Pick<Subscription, "name" | "triggerKey" | "environmentId" | "status" | "intakeError" | "deliveryError"> {
  readonly isSame: boolean;
}

/** Creates the function. Subscriptions that are already in the state are not written. */
export function createStatusStore({ db, clock, events }: Dependencies): StoreStatus {
  return async ({ tenantId, subscriptionId }, change) => {
    const { intakeError = null, deliveryError = null, expired = null, readyAt = null } = change;
    const read = (sql: Sql, lock: "lock" | "no lock") => sql<Row[]>`
      select name, trigger_key, environment_id, status, intake_error, delivery_error,
        intake_error = coalesce(${intakeError}, intake_error) and delivery_error = coalesce(${deliveryError}, delivery_error)
          and expired = coalesce(${expired}::boolean, expired) and (ready_at is not null or ${readyAt}::timestamptz is null) as is_same
      from connector_trigger_subscriptions where tenant_id = ${tenantId} and id = ${subscriptionId}
      ${lock === "lock" ? sql`for update` : sql``}`;
    const [seen] = await read(db.sql, "no lock");
    if (seen === undefined || seen.isSame) return;
    await db.transaction(async (tx) => {
      const [before] = await read(tx, "lock");
      if (before === undefined) return;
      const [after] = await tx<Row[]>`
        update connector_trigger_subscriptions set intake_error = coalesce(${intakeError}, intake_error),
          delivery_error = coalesce(${deliveryError}, delivery_error), expired = coalesce(${expired}::boolean, expired),
          ready_at = coalesce(ready_at, ${readyAt}::timestamptz)
        where tenant_id = ${tenantId} and id = ${subscriptionId}
        returning name, trigger_key, environment_id, status, intake_error, delivery_error, true as is_same`;
      const entry = statusEvent(before, after!);
      if (entry === undefined) return;
      await events.recordMany(tx, [{ tenantId, subject: subscriptionId, ...entry }], clock.now());
    });
  };
}

function statusEvent(before: Row, { name, triggerKey, environmentId, ...after }: Row) {
  if (before.status === after.status || after.status === "paused") return undefined;
  const data = { environment_id: environmentId, name, trigger_key: triggerKey };
  if (after.status === "active") return { type: "connector.trigger.recovered", data } as const;
  const message = after.intakeError || after.deliveryError;
  return { type: `connector.trigger.${after.status}`, data: { ...data, message } } as const;
}

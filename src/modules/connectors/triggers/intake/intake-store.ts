import type { Sql } from "../../../../platform/db/index.ts";
import type { Subscription } from "../domain/subscription.ts";

/** The part of a subscription that the intake needs. */
export interface IntakeSubscription
  extends Pick<
    Subscription,
    "tenantId" | "id" | "environmentKey" | "triggerKey" | "connectionId" | "paused" | "input"
  > {
  readonly ciphertext: string;
  /** Every registration that may still deliver, also one that is being replaced. */
  readonly registrations: readonly { readonly id: string; readonly ciphertext: string }[];
}

/** Finds the subscription of a webhook delivery; undefined unless it receives webhooks and its tenant is active. */
export function findIntakeSubscription(
  sql: Sql,
  tenantId: string,
  id: string,
): Promise<IntakeSubscription | undefined> {
  return sql<IntakeSubscription[]>`
    select tenant_id, id, environment_key, trigger_key, connection_id, paused, input, ciphertext,
      (select coalesce(json_agg(json_build_object('id', registration.id, 'ciphertext', registration.ciphertext)), '[]')
        from connector_trigger_registrations registration
        where registration.tenant_id = ${tenantId} and registration.subscription_id = ${id}) as registrations
    from connector_trigger_subscriptions
    where tenant_id = ${tenantId} and id = ${id} and kind = 'webhook'
      and exists (select from tenants where tenants.id = ${tenantId} and status = 'active')`.first();
}

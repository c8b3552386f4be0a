import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../../platform/paging/index.ts";
import type { Delivery } from "../domain/delivery.ts";
import type { ObservationKind, ObservationState, ObservationSummary } from "../domain/observation.ts";

/** Evidence from an adapter of what happened to a delivery. */
export interface Observation {
  readonly tenantId: TenantId;
  readonly deliveryId: string;
  readonly sequence: number;
  readonly kind: ObservationKind;
  readonly category: "delivery" | "engagement";
  readonly occurredAt: Date;
  readonly receivedAt: Date;
  readonly adapterKey: string;
  readonly adapterVersion: string;
  readonly connectionId: string;
  readonly verification: "signature" | "poll" | "sdk";
  readonly providerEventId: string;
  readonly severity: string;
  readonly machineGenerated: boolean;
  readonly evidenceDigest: Buffer;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** An observation to add. */
export type NewObservation = Omit<Observation, "sequence" | "tenantId">;

/** The fields of a delivery that observations use. */
export type ObservedDelivery = Pick<
  Delivery,
  "id" | "subscriberId" | "endpointId" | "channel" | "observationState" | "providerKey" | "providerMessageId" | "sentAt"
>;

/** SQL queries for observations, which are append-only. */
export function observationStore(sql: Sql) {
  const columns = sql`
    tenant_id, delivery_id, sequence, kind, category, occurred_at, received_at, adapter_key, adapter_version,
    connection_id, verification, provider_event_id, severity, machine_generated, evidence_digest, attributes`;
  const observed = sql`id, subscriber_id, endpoint_id, channel, observation_state, provider_key, provider_message_id,
    sent_at`;
  return {
    /** Locks an integration's deliveries by the provider's message ids until the transaction ends. */
    async lockByMessage(tenantId: TenantId, integrationId: string, providerMessageIds: readonly string[]) {
      return sql<ObservedDelivery[]>`
        select ${observed} from notification_deliveries
        where tenant_id = ${tenantId} and integration_id = ${integrationId}
          and provider_message_id = any(${providerMessageIds as string[]}::text[]) and provider_message_id <> ''
        order by id for update`;
    },

    async lock(tenantId: TenantId, deliveryIds: readonly string[]): Promise<ObservedDelivery[]> {
      return sql<ObservedDelivery[]>`
        select ${observed} from notification_deliveries
        where tenant_id = ${tenantId} and id = any(${deliveryIds as string[]}::text[]) order by id for update`;
    },

    /** Adds observations of locked deliveries; returns those that are new. */
    async add(tenantId: TenantId, observations: readonly NewObservation[]): Promise<Observation[]> {
      const rows = observations.map((each, nth) => ({
        nth,
        delivery_id: each.deliveryId,
        kind: each.kind,
        category: each.category,
        occurred_at: each.occurredAt,
        received_at: each.receivedAt,
        adapter_key: each.adapterKey,
        adapter_version: each.adapterVersion,
        connection_id: each.connectionId,
        verification: each.verification,
        provider_event_id: each.providerEventId,
        severity: each.severity,
        machine_generated: each.machineGenerated,
        evidence_digest: each.evidenceDigest.toString("hex"),
        attributes: each.attributes,
      }));
      return sql<Observation[]>`
        with input as (
          select distinct on (adapter_key, provider_event_id) * from json_to_recordset(${JSON.stringify(rows)}::text::json)
            as input(nth int, delivery_id text, kind text, category text, occurred_at timestamptz,
              received_at timestamptz, adapter_key text, adapter_version text, connection_id text, verification text,
              provider_event_id text, severity text, machine_generated boolean, evidence_digest text, attributes jsonb)
          order by adapter_key, provider_event_id, nth
        ), fresh as (
          select input.*, row_number() over (partition by delivery_id order by nth) as place from input
          where not exists (
            select from notification_observations known
            where known.tenant_id = ${tenantId} and known.adapter_key = input.adapter_key
              and known.provider_event_id = input.provider_event_id)
        )
        insert into notification_observations (tenant_id, delivery_id, sequence, kind, category, occurred_at, received_at,
          adapter_key, adapter_version, connection_id, verification, provider_event_id, severity, machine_generated,
          evidence_digest, attributes)
        select ${tenantId}, delivery_id, place + coalesce((
            select max(sequence) from notification_observations known
            where known.tenant_id = ${tenantId} and known.delivery_id = fresh.delivery_id), 0),
          kind, category, occurred_at, received_at, adapter_key, adapter_version, connection_id, verification,
          provider_event_id, severity, machine_generated, decode(evidence_digest, 'hex'), attributes
        from fresh
        on conflict do nothing
        returning ${columns}`;
    },

    /** The distinct observations of deliveries. */
    async summariesOf(tenantId: TenantId, deliveryIds: readonly string[]) {
      return sql<(ObservationSummary & { deliveryId: string })[]>`
        select distinct delivery_id, kind, severity, machine_generated from notification_observations
        where tenant_id = ${tenantId} and delivery_id = any(${deliveryIds as string[]}::text[])`;
    },

    async setStates(tenantId: TenantId, states: ReadonlyMap<string, ObservationState>): Promise<void> {
      await sql`
        update notification_deliveries delivery set observation_state = seen.state
        from unnest(${[...states.keys()]}::text[], ${[...states.values()]}::text[]) as seen(id, state)
        where delivery.tenant_id = ${tenantId} and delivery.id = seen.id`;
    },

    async list(tenantId: TenantId, deliveryId: string, page: Page): Promise<PageRows<Observation>> {
      const where = sql`tenant_id = ${tenantId} and delivery_id = ${deliveryId}`;
      const table = "notification_observations";
      return readKeyset<Observation>(sql, { columns, table, where, key: "sequence" }, page);
    },
  };
}

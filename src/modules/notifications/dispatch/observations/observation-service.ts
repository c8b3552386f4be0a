import { hash } from "node:crypto";
import type { Context } from "../../../../chain/call.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Database, Sql } from "../../../../platform/db/index.ts";
import { isUlid } from "../../../../platform/ids/ulid.ts";
import type { Connections } from "../../../connectors/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { Integrations } from "../../integrations/index.ts";
import type { ProviderCallback, ProviderEvent, Providers } from "../../providers/index.ts";
import type { Subscribers } from "../../subscribers/index.ts";
import { kinds, observedState, suppresses } from "../domain/observation.ts";
import { type NewObservation, type Observation, type Observed, observationStore } from "./observation-store.ts";

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  readonly events: Pick<EventRecorder, "recordMany">;
  readonly integrations: Pick<Integrations, "findForCallback">;
  readonly connections: Pick<Connections, "open">;
  readonly providers: Pick<Providers, "callback">;
  readonly subscribers: Pick<Subscribers, "suppress">;
}

/** The version of the adapters that read what providers tell. */
const adapterVersion = "1";
const attributeBytesMax = 4096;
/** As long as this after an event, the send that it is about may not be written down yet. */
const commitMsMax = 2 * 60_000;

/**
 * What became of a callback. refused: it does not prove to be the provider's. malformed: it does, and is not understood.
 * early: it tells of a message that nobody knows, yet may know soon; what it tells of others is kept.
 */
type Received = "taken" | "refused" | "malformed" | "early";

/** Takes in what is seen of deliveries. */
export type ObservationService = ReturnType<typeof createObservationService>;

/** Makes the use cases of observations. */
export function createObservationService(parts: Parts) {
  const { db, clock, events, integrations, connections, providers, subscribers } = parts;

  /** Adds what was not there before, sets the states of deliveries, and suppresses addresses that are gone or unwilling. */
  async function keep(
    tx: Sql,
    tenantId: TenantId,
    deliveries: readonly Observed[],
    observations: readonly NewObservation[],
    nowMs: number,
  ): Promise<readonly Observation[]> {
    const store = observationStore(tx);
    const added = await store.add(tenantId, observations);
    if (added.length === 0) return added;
    const changed = deliveries.filter(({ id }) => added.some(({ deliveryId }) => deliveryId === id));
    const seen = Map.groupBy(
      await store.seenOf(
        tenantId,
        changed.map(({ id }) => id),
      ),
      ({ deliveryId }) => deliveryId,
    );
    const states = changed.map(
      ({ id, observationState }) => [id, observedState(observationState, seen.get(id) ?? [])] as const,
    );
    await store.setStates(tenantId, new Map(states));
    const suppressing = added.filter(({ kind, severity }) => suppresses(kind, severity));
    const addressees = changed.filter(({ id }) => suppressing.some(({ deliveryId }) => deliveryId === id));
    await subscribers.suppress(
      tx,
      tenantId,
      addressees.map((delivery) => ({ ...delivery, usedAt: delivery.sentAt ?? new Date(nowMs) })),
      nowMs,
    );
    return added;
  }

  async function keepCallback(
    tenantId: TenantId,
    integration: { readonly id: string; readonly providerKey: string; readonly connectionId: string },
    told: readonly ProviderEvent[],
    evidence: Buffer,
  ): Promise<"taken" | "early"> {
    const nowMs = clock.now();
    const { wake, isEarly } = await db.transaction(async (tx) => {
      const messageIds = [...new Set(told.map(({ providerMessageId }) => providerMessageId))];
      const deliveries = await observationStore(tx).lockByMessage(tenantId, integration.id, messageIds);
      const byMessage = new Map(deliveries.map((delivery) => [delivery.providerMessageId, delivery]));
      const observations = told.flatMap((event) => {
        const delivery = byMessage.get(event.providerMessageId);
        return delivery === undefined ? [] : [observationOf(delivery.id, event, integration, evidence, nowMs)];
      });
      const added = await keep(tx, tenantId, deliveries, observations, nowMs);
      const entries = added.map(({ deliveryId, kind, category }) => ({
        tenantId,
        type: "notification.delivery.observed" as const,
        subject: deliveryId,
        data: { kind, category },
      }));
      const isEarly = told.some(
        ({ providerMessageId, occurredAtMs }) =>
          !byMessage.has(providerMessageId) && Math.abs(nowMs - occurredAtMs) <= commitMsMax,
      );
      return { ...(await events.recordMany(tx, entries, nowMs)), isEarly };
    });
    wake();
    return isEarly ? "early" : "taken";
  }

  return {
    /**
     * Takes in what a provider tells by calling us. Whoever cannot prove to be the provider of an integration of the
     * tenant in good standing is refused, and is not told whether there is one.
     */
    async receive(tenantId: string, integrationId: string, callback: ProviderCallback): Promise<Received> {
      if (!isUlid(tenantId) || !isUlid(integrationId)) return "refused";
      const integration = await integrations.findForCallback(db.sql, tenantId as TenantId, integrationId);
      if (integration === undefined) return "refused";
      const connection = await connections.open(tenantId as TenantId, integration.connectionId);
      if (typeof connection === "string") return "refused";
      const told = providers.callback(integration.providerKey, connection, callback);
      if (typeof told === "string") return told;
      return told.length === 0 ? "taken" : keepCallback(tenantId as TenantId, integration, told, callback.rawBody);
    },

    /** Notes that messages of an inbox were read, in the transaction that marked them. */
    async readInInbox({ sql, tenantId, nowMs }: Context, messageIds: readonly string[]): Promise<void> {
      if (messageIds.length === 0) return;
      const now = new Date(nowMs);
      const deliveries = await observationStore(sql).lock(tenantId, messageIds);
      const observations = deliveries.map(
        ({ id }): NewObservation => ({
          deliveryId: id,
          kind: "read",
          category: "engagement",
          occurredAt: now,
          receivedAt: now,
          adapterKey: "inbox",
          adapterVersion,
          connectionId: "",
          verification: "sdk",
          providerEventId: `${id}:read`,
          severity: "",
          machineGenerated: false,
          evidenceDigest: hash("sha256", `${id}:read`, "buffer"),
          attributes: {},
        }),
      );
      await keep(sql, tenantId, deliveries, observations, nowMs);
    },
  };
}

function observationOf(
  deliveryId: string,
  { kind, occurredAtMs, providerEventId, severity, machineGenerated, attributes }: ProviderEvent,
  {
    id,
    providerKey,
    connectionId,
  }: { readonly id: string; readonly providerKey: string; readonly connectionId: string },
  evidence: Buffer,
  nowMs: number,
): NewObservation {
  const isSmall = Buffer.byteLength(JSON.stringify(attributes)) <= attributeBytesMax;
  return {
    deliveryId,
    kind,
    category: kinds[kind].category,
    occurredAt: new Date(occurredAtMs),
    receivedAt: new Date(nowMs),
    // Event ids are the provider's own: those of two integrations must not be taken for each other.
    adapterKey: `${providerKey}:${id}`,
    adapterVersion,
    connectionId,
    verification: "signature",
    providerEventId,
    severity,
    machineGenerated,
    evidenceDigest: hash("sha256", evidence, "buffer"),
    attributes: isSmall ? attributes : { truncated: true },
  };
}

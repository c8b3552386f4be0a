import { hash } from "node:crypto";
import type { Context } from "../../../../chain/call.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { isUlid } from "../../../../platform/ids/ulid.ts";
import type { PlatformServices } from "../../../area.ts";
import type { Connections } from "../../../connectors/index.ts";
import type { HistoryRecorder } from "../../../history-source.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { Integrations } from "../../integrations/index.ts";
import type { ProviderCallback, ProviderEvent, Providers } from "../../providers/index.ts";
import type { Subscribers } from "../../subscribers/index.ts";
import { observationKinds, observedState, suppressesAddress, suppressionReason } from "../domain/observation.ts";
import { type NewObservation, type Observation, type ObservedDelivery, observationStore } from "./observation-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly history: HistoryRecorder;
  readonly events: Pick<EventRecorder, "recordMany">;
  readonly integrations: Pick<Integrations, "findForCallback">;
  readonly connections: Pick<Connections, "open">;
  readonly providers: Pick<Providers, "callback">;
  readonly subscribers: Pick<Subscribers, "suppress">;
}

/** The version of the adapters that read provider callbacks. */
const adapterVersion = "1";
const attributeBytesMax = 4096;
/** The send that an event refers to may be uncommitted for this long. */
const commitMsMax = 2 * 60_000;

/**
 * The result of a callback. taken: its events are stored. refused: it is not authentic. malformed: it is authentic but
 * cannot be parsed. early: it refers to a message whose send may not be committed yet; its other events are stored.
 */
type CallbackResult =
  | "taken"
  | "refused"
  | "malformed"
  | "early"
  /** The provider checked the URL. */
  | { readonly reply: { readonly contentType: string; readonly body: string } };

export type ObservationService = ReturnType<typeof createObservationService>;

export function createObservationService(dependencies: Dependencies) {
  const { db, clock, history, events, integrations, connections, providers, subscribers } = dependencies;

  /** Adds new observations, updates delivery states, and suppresses addresses that bounced, unsubscribed or complained. */
  async function addObservations(
    tx: Sql,
    tenantId: TenantId,
    deliveries: readonly ObservedDelivery[],
    observations: readonly NewObservation[],
    nowMs: number,
  ): Promise<readonly Observation[]> {
    const store = observationStore(tx);
    const added = await store.add(tenantId, observations);
    if (added.length === 0) return added;
    const observed = new Set(added.map(({ deliveryId }) => deliveryId));
    const changed = deliveries.filter(({ id }) => observed.has(id));
    const seen = Map.groupBy(
      await store.summariesOf(
        tenantId,
        changed.map(({ id }) => id),
      ),
      ({ deliveryId }) => deliveryId,
    );
    const states = changed.map(
      ({ id, observationState }) => [id, observedState(observationState, seen.get(id) ?? [])] as const,
    );
    await store.setStates(tenantId, new Map(states));
    const suppressing = added.filter(({ kind, severity }) => suppressesAddress(kind, severity));
    const suppressed = changed.flatMap((delivery) => {
      const cause = suppressing.find(({ deliveryId }) => deliveryId === delivery.id);
      if (cause === undefined) return [];
      const { id: deliveryId, sentAt, providerKey } = delivery;
      return {
        ...delivery,
        deliveryId,
        providerKey,
        used: { at: sentAt ?? new Date(nowMs) },
        reason: suppressionReason(cause.kind),
      };
    });
    await subscribers.suppress(tx, tenantId, suppressed, nowMs);
    const delivered = new Set(added.flatMap(({ deliveryId, kind }) => (kind === "delivered" ? [deliveryId] : [])));
    tx.afterCommit(() => {
      for (const { id, channel } of changed)
        if (delivered.has(id)) history.count(tenantId, "channel", channel, "completed");
    });
    return added;
  }

  async function storeCallback(
    tenantId: TenantId,
    integration: { readonly id: string; readonly providerKey: string; readonly connectionId: string },
    providerEvents: readonly ProviderEvent[],
    evidence: Buffer,
  ): Promise<"taken" | "early"> {
    const nowMs = clock.now();
    return db.transaction(async (tx) => {
      const messageIds = [...new Set(providerEvents.map(({ providerMessageId }) => providerMessageId))];
      const deliveries = await observationStore(tx).lockByMessage(tenantId, integration.id, messageIds);
      const byMessage = new Map(deliveries.map((delivery) => [delivery.providerMessageId, delivery]));
      const observations = providerEvents.flatMap((event) => {
        const delivery = byMessage.get(event.providerMessageId);
        return delivery === undefined ? [] : [observationOf(delivery.id, event, integration, evidence, nowMs)];
      });
      const added = await addObservations(tx, tenantId, deliveries, observations, nowMs);
      const entries = added.map(({ deliveryId, kind, category }) => ({
        tenantId,
        type: "notification.delivery.observed" as const,
        subject: deliveryId,
        data: { kind, category },
      }));
      const isEarly = providerEvents.some(
        ({ providerMessageId, occurredAtMs }) =>
          !byMessage.has(providerMessageId) && Math.abs(nowMs - occurredAtMs) <= commitMsMax,
      );
      await events.recordMany(tx, entries, nowMs);
      return isEarly ? "early" : "taken";
    });
  }

  return {
    /**
     * Accepts a provider's callback. A caller that does not authenticate as the provider of an integration of an active
     * tenant is refused, and the refusal does not reveal whether the integration exists.
     */
    async receive(tenantId: string, integrationId: string, callback: ProviderCallback): Promise<CallbackResult> {
      if (!isUlid(tenantId) || !isUlid(integrationId)) return "refused";
      const integration = await integrations.findForCallback(db.sql, tenantId as TenantId, integrationId);
      if (integration === undefined) return "refused";
      const connection = await connections.open(tenantId as TenantId, integration.connectionId);
      if (typeof connection === "string") return "refused";
      const providerEvents = await providers.callback(integration.providerKey, connection, callback);
      if (typeof providerEvents === "string" || "reply" in providerEvents) return providerEvents;
      return providerEvents.length === 0
        ? "taken"
        : storeCallback(tenantId as TenantId, integration, providerEvents, callback.rawBody);
    },

    /** Records that inbox messages were seen or read, in the transaction that marked them. */
    async recordInboxEngagement(
      { sql, tenantId, nowMs }: Context,
      messageIds: readonly string[],
      kind: "seen" | "read",
    ): Promise<void> {
      if (messageIds.length === 0) return;
      const now = new Date(nowMs);
      const deliveries = await observationStore(sql).lock(tenantId, messageIds);
      const observations = deliveries.map(
        ({ id }): NewObservation => ({
          deliveryId: id,
          kind,
          category: "engagement",
          occurredAt: now,
          receivedAt: now,
          adapterKey: "inbox",
          adapterVersion,
          connectionId: "",
          verification: "sdk",
          providerEventId: `${id}:${kind}`,
          severity: "",
          machineGenerated: false,
          evidenceDigest: hash("sha256", `${id}:${kind}`, "buffer"),
          attributes: {},
        }),
      );
      await addObservations(sql, tenantId, deliveries, observations, nowMs);
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
    category: observationKinds[kind].category,
    occurredAt: new Date(occurredAtMs),
    receivedAt: new Date(nowMs),
    // Event ids are unique per provider account only, so the integration's id is part of the key.
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

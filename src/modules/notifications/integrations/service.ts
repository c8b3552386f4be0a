import type { Context } from "../../../chain/call.ts";
import { fail, invalid, withinField } from "../../../errors/index.ts";
import { requireEnvironmentAccess } from "../../../platform/access/index.ts";
import { notFound, requireFound, type TenantChanges, updateRefusal } from "../../../platform/db/index.ts";
import { requireJsonBytes } from "../../../platform/document/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { differingFields, newStamps } from "../../../platform/records/index.ts";
import type { Connections } from "../../connectors/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { ProviderAddress, Providers } from "../providers/index.ts";
import type { Channel } from "../subscribers/index.ts";
import { checkCondition } from "./domain/condition.ts";
import {
  detailFields,
  emptyDetails,
  type Integration,
  type IntegrationDetails,
  integrationsMax,
  metadataBytesMax,
  newIntegration,
} from "./domain/integration.ts";
import { integrationStore } from "./store.ts";

export interface IntegrationParts {
  readonly events: EventRecorder;
  readonly changes: TenantChanges;
  readonly connections: Pick<Connections, "find">;
  readonly providers: Pick<Providers, "find" | "keysOf">;
}

/** A new integration, or one with changes, that is not stored. */
export interface IntegrationDraft extends Partial<IntegrationDetails> {
  /** Undefined for a new one. */
  readonly id: string | undefined;
  /** Undefined to keep the channel. */
  readonly channel: Channel | undefined;
}

export type IntegrationService = ReturnType<typeof createIntegrationService>;

export function createIntegrationService({ events, changes, connections, providers }: IntegrationParts) {
  /** Throws when the details are not valid for the channel. */
  async function check(context: Context, channel: Channel, details: IntegrationDetails): Promise<void> {
    const { sql, tenantId } = context;
    const { providerKey, connectionId, condition, metadata } = details;
    requireJsonBytes("metadata", metadata, metadataBytesMax);
    checkCondition(condition);
    const provider = await providers.find(tenantId, providerKey);
    if (!provider?.channels.includes(channel)) {
      const serves = await providers.keysOf(channel);
      throw invalid("provider_key", "channel", `must be a provider that serves ${channel}: ${serves.join(", ")}`);
    }
    if (!provider.needsConnection) {
      if (connectionId === "") return;
      throw invalid("connection_id", "connection", `must be empty: ${providerKey} needs no connection`);
    }
    if (connectionId === "") throw invalid("connection_id", "required", `is required by ${providerKey}`);
    const connection = requireFound(await connections.find(sql, tenantId, connectionId), "connection");
    requireEnvironmentAccess(context, connection.environmentKey);
    if (connection.status === "revoked") {
      throw fail("FAILED_PRECONDITION", { public: "The connection was revoked; create a new one." });
    }
    if (connection.providerKey !== providerKey) {
      throw invalid("connection_id", "provider", `must be a connection of ${providerKey}`);
    }
    const missing = provider.missingSettings(channel, connection.settings);
    if (missing.length > 0) {
      throw invalid("connection_id", "settings", `must be a connection with the settings ${missing.join(", ")}`);
    }
  }

  async function checkUpdate(
    context: Context,
    current: Integration,
    channel: Channel | undefined,
    details: IntegrationDetails,
  ): Promise<void> {
    if (channel !== undefined && channel !== current.channel) {
      throw invalid("channel", "immutable", `cannot be changed; must be ${current.channel} or empty`);
    }
    await check(context, current.channel, details);
  }

  return {
    /** Throws when a connection cannot send to an address. */
    async checkConnection(
      context: Pick<Context, "sql" | "tenantId" | "principal">,
      connectionId: string,
      { channel, ...address }: ProviderAddress & { readonly channel: Channel },
    ): Promise<void> {
      const { sql, tenantId } = context;
      const connection = await connections.find(sql, tenantId, connectionId);
      if (connection === undefined || connection.status === "revoked") throw notFound("connection");
      requireEnvironmentAccess(context, connection.environmentKey);
      const accepts = async (key: string) => {
        const provider = await providers.find(tenantId, key);
        return (
          provider?.needsConnection && provider.channels.includes(channel) && provider.acceptsAddress(channel, address)
        );
      };
      if (await accepts(connection.providerKey)) return;
      const keys = await providers.keysOf(channel);
      const isCompatible = await Promise.all(keys.map(accepts));
      const compatible = keys.filter((_, nth) => isCompatible[nth]);
      const wanted =
        compatible.length === 0
          ? "must be empty for this address"
          : `must be a connection of ${compatible.join(" or ")}`;
      throw invalid("connection_id", "channel", `${wanted}, not of ${connection.providerKey}`);
    },

    async createIntegration(context: Context, channel: Channel, details: IntegrationDetails): Promise<Integration> {
      const { sql, tenantId, nowMs } = context;
      await check(context, channel, details);
      // This also blocks concurrent inserts of the tenant, so the count stays valid.
      await changes.invalidate(context);
      const store = integrationStore(sql);
      if ((await store.count(tenantId)) >= integrationsMax) {
        throw fail("FAILED_PRECONDITION", {
          public: `A tenant may have at most ${integrationsMax} integrations; delete one first.`,
        });
      }
      const id = ulid(nowMs);
      const integration = await store.insert({ ...details, tenantId, id, channel, ...newStamps(nowMs) });
      await events.record(context, "integration.created", id, eventData(integration));
      return integration;
    },

    async getIntegration({ sql, tenantId }: Context, id: string): Promise<Integration> {
      return requireFound(await integrationStore(sql).find(tenantId, id), "integration");
    },

    /** Replaces an integration; its channel cannot change. */
    async updateIntegration(
      context: Context,
      id: string,
      channel: Channel | undefined,
      details: IntegrationDetails,
      expectedVersion: number | undefined,
    ): Promise<Integration> {
      const { sql, tenantId, nowMs } = context;
      const store = integrationStore(sql);
      const current = requireFound(await store.find(tenantId, id), "integration");
      await checkUpdate(context, current, channel, details);
      await changes.invalidate(context);
      const updated = await store.update(tenantId, id, details, expectedVersion, new Date(nowMs));
      if (updated === undefined) throw updateRefusal(await store.find(tenantId, id), "integration");
      const data = { ...eventData(updated), fields: differingFields(current, updated, detailFields) };
      await events.record(context, "integration.updated", id, data);
      return updated;
    },

    /** All integrations as they would be after changes. Nothing is stored. */
    async draftIntegrations(
      context: Context,
      drafts: readonly IntegrationDraft[],
      withoutIds: readonly string[],
    ): Promise<Integration[]> {
      const { sql, tenantId, nowMs } = context;
      const all = new Map((await integrationStore(sql).all(tenantId)).map((each) => [each.id, each]));
      for (const id of withoutIds) if (!all.delete(id)) throw notFound("integration");
      for (const [at, { id = `${newIntegration}${at}`, channel, ...changes }] of drafts.entries()) {
        const isNew = id.startsWith(newIntegration);
        if (isNew && channel === undefined) throw invalid(`integrations[${at}].channel`, "required", "is required");
        const added = { ...emptyDetails, tenantId, id, channel: channel!, ...newStamps(nowMs) };
        const current = isNew ? added : requireFound(all.get(id), "integration");
        const drafted = { ...current, ...changes };
        await checkUpdate(context, current, channel, drafted).catch((error) => {
          throw withinField(`integrations[${at}]`, error);
        });
        all.set(id, drafted);
      }
      return [...all.values()];
    },

    async deleteIntegration(context: Context, id: string): Promise<Integration> {
      const { sql, tenantId, nowMs } = context;
      const removed = requireFound(await integrationStore(sql).remove(tenantId, id, new Date(nowMs)), "integration");
      await changes.invalidate(context);
      await events.record(context, "integration.deleted", id, eventData(removed));
      return removed;
    },
  };
}

function eventData({ channel, name, providerKey }: Integration) {
  return { channel, name, provider_key: providerKey };
}

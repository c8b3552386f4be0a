import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { notFound, type Sql, type TenantChanges, updateRefusal } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { newStamps } from "../../../platform/records/index.ts";
import type { Connections } from "../../connectors/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { ProviderAddress, Providers } from "../providers/index.ts";
import type { Channel } from "../subscribers/index.ts";
import { checkCondition } from "./domain/condition.ts";
import {
  changedNames,
  checkMetadata,
  type Integration,
  type IntegrationDetails,
  integrationsMax,
} from "./domain/integration.ts";
import { integrationStore } from "./store.ts";

/** What the use cases stand on. */
export interface IntegrationParts {
  readonly events: EventRecorder;
  readonly changes: TenantChanges;
  readonly connections: Pick<Connections, "find">;
  readonly providers: Pick<Providers, "keys" | "needsConnection" | "acceptsAddress">;
}

/** The use cases of integrations. */
export type IntegrationService = ReturnType<typeof createIntegrationService>;

/** Makes the use cases of integrations. */
export function createIntegrationService({ events, changes, connections, providers }: IntegrationParts) {
  /** Has every node choose from what there is now. */
  async function changed({ sql, tenantId, afterCommit }: Context): Promise<void> {
    await changes.record(sql, tenantId);
    afterCommit(() => changes.published(tenantId));
  }

  /** Refuses what an integration of a channel cannot be. */
  async function check({ sql, tenantId }: Context, channel: Channel, details: IntegrationDetails): Promise<void> {
    const { providerKey, connectionId, condition, metadata } = details;
    checkMetadata(metadata);
    checkCondition(condition);
    const serving = providers.keys[channel];
    if (!serving.includes(providerKey)) {
      throw invalid("provider_key", "channel", `must serve ${channel}: ${serving.join(", ")}`);
    }
    if (!providers.needsConnection(providerKey)) {
      if (connectionId === "") return;
      throw invalid("connection_id", "connection", `must be empty: ${providerKey} needs no connection`);
    }
    if (connectionId === "") throw invalid("connection_id", "required", `is required by ${providerKey}`);
    const connection = await connections.find(sql, tenantId, connectionId);
    if (connection === undefined) throw notFound("connection");
    if (connection.status === "revoked") {
      throw fail("FAILED_PRECONDITION", { public: "The connection was revoked; make a new one." });
    }
    if (connection.providerKey !== providerKey) {
      throw invalid("connection_id", "provider", `must be a connection of ${providerKey}`);
    }
  }

  return {
    /** Refuses a connection that messages to an address cannot go by. */
    async checkConnection(
      sql: Sql,
      tenantId: TenantId,
      connectionId: string,
      { channel, ...address }: ProviderAddress & { readonly channel: Channel },
    ): Promise<void> {
      const connection = await connections.find(sql, tenantId, connectionId);
      if (connection === undefined || connection.status === "revoked") throw notFound("connection");
      const serving = providers.keys[channel].filter((key) => providers.needsConnection(key));
      const fitting = serving.filter((key) => providers.acceptsAddress(key, address));
      if (fitting.includes(connection.providerKey)) return;
      const wanted = fitting.length === 0 ? "must be empty here" : `must be a connection of ${fitting.join(" or ")}`;
      throw invalid("connection_id", "channel", `${wanted}, not of ${connection.providerKey}`);
    },

    async createIntegration(context: Context, channel: Channel, details: IntegrationDetails): Promise<Integration> {
      const { sql, tenantId, nowMs } = context;
      await check(context, channel, details);
      // Also keeps others of the tenant from adding one meanwhile, so that the count holds.
      await changed(context);
      const store = integrationStore(sql);
      if ((await store.count(tenantId)) >= integrationsMax) {
        throw fail("FAILED_PRECONDITION", { public: `A tenant has at most ${integrationsMax} integrations.` });
      }
      const id = ulid(nowMs);
      const integration = await store.insert({ ...details, tenantId, id, channel, ...newStamps(nowMs) });
      await events.record(context, "integration.created", id, eventData(integration));
      return integration;
    },

    async getIntegration({ sql, tenantId }: Context, id: string): Promise<Integration> {
      const integration = await integrationStore(sql).find(tenantId, id);
      if (integration === undefined) throw notFound("integration");
      return integration;
    },

    /** Replaces an integration; the channel that it serves stays. */
    async updateIntegration(
      context: Context,
      id: string,
      channel: Channel | undefined,
      details: IntegrationDetails,
      expectedVersion: number | undefined,
    ): Promise<Integration> {
      const { sql, tenantId, nowMs } = context;
      const store = integrationStore(sql);
      const current = await store.find(tenantId, id);
      if (current === undefined) throw notFound("integration");
      if (channel !== undefined && channel !== current.channel) {
        throw invalid("channel", "immutable", `must stay ${current.channel}`);
      }
      await check(context, current.channel, details);
      await changed(context);
      const updated = await store.update(tenantId, id, details, expectedVersion, new Date(nowMs));
      if (updated === undefined) throw updateRefusal(await store.find(tenantId, id), "integration");
      const data = { ...eventData(updated), fields: changedNames(current, updated) };
      await events.record(context, "integration.updated", id, data);
      return updated;
    },

    async deleteIntegration(context: Context, id: string): Promise<Integration> {
      const { sql, tenantId, nowMs } = context;
      const removed = await integrationStore(sql).remove(tenantId, id, new Date(nowMs));
      if (removed === undefined) throw notFound("integration");
      await changed(context);
      await events.record(context, "integration.deleted", id, eventData(removed));
      return removed;
    },
  };
}

function eventData({ channel, name, providerKey }: Integration) {
  return { channel, name, provider_key: providerKey };
}

/**
 * Integrations: which provider serves a channel, and for which messages.
 *
 * priority: the lowest is used first, and the oldest among equals. condition: a CEL expression that a message must match
 * for the integration to be used. precedence: the order in which integrations are considered.
 */
import type { SimulateTriggersRequest } from "../../../../gen/service/api/notification_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createTenantCache, type Sql } from "../../../platform/db/index.ts";
import { definedFields } from "../../../platform/records/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Channel } from "../subscribers/index.ts";
import type { ConditionValues } from "./domain/condition.ts";
import { type Casing, type Integration, newIntegration } from "./domain/integration.ts";
import { chooseIntegration, type Selection, type SelectionFailure, toSelection } from "./domain/selection.ts";
import { integrationHandlers } from "./handler.ts";
import { createIntegrationService, type IntegrationParts } from "./service.ts";
import { integrationStore } from "./store.ts";

export type { Casing, ConditionValues, Integration, SelectionFailure };
export { newIntegration };

/** The module's public API. */
export type Integrations = ReturnType<typeof createIntegrations>;

type Dependencies = IntegrationParts & Pick<PlatformServices, "cacheLoadDb">;

/** Creates the module. Integrations are selected from a cache that follows changes within a second. */
export function createIntegrations({ cacheLoadDb, ...parts }: Dependencies) {
  const selections = createTenantCache<TenantId, Selection>({
    changes: parts.changes,
    load: async (tenantId) => toSelection(await integrationStore(cacheLoadDb.sql).all(tenantId)),
    tenantOf: (tenantId) => tenantId,
  });
  const service = createIntegrationService(parts);
  return {
    handlers: integrationHandlers(service),
    ...createIntegrationChoice((tenantId) => selections.get(tenantId)),
    /** The integrations as they would be after changes. Nothing is stored. */
    async draft(
      context: Context,
      { integrations, withoutIntegrationIds }: Pick<SimulateTriggersRequest, "integrations" | "withoutIntegrationIds">,
    ): Promise<IntegrationChoice> {
      const drafts = integrations.map(({ id, channel, name, providerKey, connectionId, ...draft }) => {
        const { priority, active, condition, casingOverride } = draft;
        const values = { name, providerKey, connectionId, priority, active, condition };
        const changes = definedFields({ ...values, casingOverride: casingOverride as Casing | undefined });
        return { ...changes, id: id || undefined, channel: channel as Channel | undefined };
      });
      const selection = toSelection(await service.draftIntegrations(context, drafts, withoutIntegrationIds));
      return createIntegrationChoice(async () => selection);
    },
    /** Throws when an address cannot be pinned to a connection. */
    checkConnection: service.checkConnection,
    /**
     * Finds an integration of an active tenant for a callback. It is never cached, because unauthenticated callers choose
     * the ids and must not fill the cache.
     */
    findForCallback: (sql: Sql, tenantId: TenantId, id: string) =>
      integrationStore(sql).findOfActiveTenant(tenantId, id),
  };
}

/** Finds and selects integrations. */
export type IntegrationChoice = ReturnType<typeof createIntegrationChoice>;

function createIntegrationChoice(selectionOf: (tenantId: TenantId) => Selection | Promise<Selection>) {
  return {
    /** Selects the active integration with the highest precedence whose condition matches and that is not excluded. */
    async choose(
      tenantId: TenantId,
      channel: Channel,
      values: ConditionValues,
      except: ReadonlySet<string>,
      /** Whether the provider is acceptable for the message. */
      accepts: (providerKey: string) => Promise<boolean>,
    ): Promise<Integration | SelectionFailure> {
      const selection = await selectionOf(tenantId);
      const keys = [...new Set(selection.candidates.get(channel)?.map(({ integration }) => integration.providerKey))];
      const answers = await Promise.all(keys.map(accepts));
      const accepted = new Set(keys.filter((_, nth) => answers[nth]));
      return chooseIntegration(selection, channel, values, except, (key) => accepted.has(key));
    },
    /** An integration that is not deleted, active or not. */
    async find(tenantId: TenantId, id: string): Promise<Integration | undefined> {
      return (await selectionOf(tenantId)).byId.get(id);
    },
  };
}

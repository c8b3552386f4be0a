/**
 * Integrations: which provider serves a channel, and when.
 *
 * priority: the lower wins, and the older one among equals. condition: what a message must be like for an integration to
 * be used. precedence: the order in which integrations are asked.
 */
import type { TenantId } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { createTenantCache, type Database, type Sql } from "../../../platform/db/index.ts";
import type { Channel } from "../subscribers/index.ts";
import type { ConditionValues } from "./domain/condition.ts";
import type { Casing, Integration } from "./domain/integration.ts";
import { chooseIntegration, type Selection, type SelectionFault, selectionOf } from "./domain/selection.ts";
import { integrationHandlers } from "./handler.ts";
import { createIntegrationService, type IntegrationParts, type IntegrationService } from "./service.ts";
import { integrationStore } from "./store.ts";

export type { Casing, ConditionValues, Integration, SelectionFault };

/** The door of the module. */
export interface Integrations {
  readonly handlers: ReturnType<typeof integrationHandlers>;
  /** The active integration of the highest precedence whose condition holds, of those that are not excepted. */
  choose(
    tenantId: TenantId,
    channel: Channel,
    values: ConditionValues,
    except: ReadonlySet<string>,
    /** Only those of providers for which this holds. */
    accepts: (providerKey: string) => boolean,
  ): Promise<Integration | SelectionFault>;
  /** Refuses a connection that an address cannot be pinned to. */
  readonly checkConnection: IntegrationService["checkConnection"];
  /** An integration that was not removed, active or not. */
  find(tenantId: TenantId, id: string): Promise<Integration | undefined>;
  /**
   * The same, of a tenant in good standing. It is read anew each time: strangers cause this, and what they name must not
   * fill the memory.
   */
  findForCallback(sql: Sql, tenantId: TenantId, id: string): Promise<Integration | undefined>;
}

interface Parts extends IntegrationParts {
  /** What is read into memory in the middle of calls goes by these connections. */
  readonly side: Database;
  readonly cursors: Cursors;
}

/** Makes the module. Choices are made from memory, which follows changes within a second. */
export function createIntegrations({ side, cursors, ...parts }: Parts): Integrations {
  const selections = createTenantCache<TenantId, Selection>({
    changes: parts.changes,
    load: async (tenantId) => selectionOf(await integrationStore(side.sql).all(tenantId)),
    tenantOf: (tenantId) => tenantId,
  });
  const service = createIntegrationService(parts);
  return {
    handlers: integrationHandlers(service, cursors),
    async choose(tenantId, channel, values, except, accepts) {
      return chooseIntegration(await selections.get(tenantId), channel, values, except, accepts);
    },
    checkConnection: service.checkConnection,
    async find(tenantId, id) {
      return (await selections.get(tenantId)).byId.get(id);
    },
    findForCallback: (sql, tenantId, id) => integrationStore(sql).findOfActiveTenant(tenantId, id),
  };
}

/**
 * Environments: the parts of a tenant in which its configuration and keys are valid.
 *
 * Key: an environment's short name, unique in its tenant. Mode: live or sandbox.
 * Production: the environment that every tenant has and that is always active.
 */

import type { EnvironmentService as Rpc } from "../../../../gen/service/api/environment_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { findEnvironment, type ReferredEnvironment, type TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Page, PageRows } from "../../../platform/paging/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { NewEnvironment } from "./domain/environment.ts";
import { environmentHandlers } from "./handler.ts";
import { createEnvironmentService } from "./service.ts";
import { environmentStore } from "./store.ts";

/** The module's public API. */
export interface Environments {
  readonly handlers: Handlers<typeof Rpc>;
  /** Adds the environments of a new tenant in the caller's transaction. */
  add(sql: Sql, tenantId: TenantId, environments: readonly NewEnvironment[], nowMs: number): Promise<void>;
  /** Finds an environment that is not deleted by its id or its key. */
  find(sql: Sql, tenantId: TenantId, idOrKey: string): Promise<ReferredEnvironment | undefined>;
  /** Lists the environments that a caller may use, by id. */
  list(
    context: Pick<Context, "sql" | "tenantId" | "principal">,
    page: Page,
  ): Promise<PageRows<{ readonly id: string; readonly key: string }>>;
}

interface Dependencies extends Pick<PlatformServices, "changes"> {
  readonly events: EventRecorder;
}

export function createEnvironments({ events, changes }: Dependencies): Environments {
  const service = createEnvironmentService({ events, changes });
  return {
    ...{ handlers: environmentHandlers(service), add: service.add, find: findEnvironment },
    list: ({ sql, tenantId, principal }, page) => environmentStore(sql).list(tenantId, principal.environmentMode, page),
  };
}

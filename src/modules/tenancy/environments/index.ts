/**
 * Environments: the parts of a tenant in which its configuration and keys are valid.
 *
 * Key: an environment's short name, unique in its tenant. Mode: live or sandbox.
 * Production: the environment that every tenant has and that is always active.
 */

import type { Context } from "../../../chain/call.ts";
import { findEnvironment, type TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Page } from "../../../platform/paging/index.ts";
import { environmentHandlers } from "./handler.ts";
import { createEnvironmentService, type EnvironmentParts } from "./service.ts";
import { environmentStore } from "./store.ts";

export type { PromotionPolicy } from "./domain/environment.ts";

/** The module's public API. */
export type Environments = ReturnType<typeof createEnvironments>;

export function createEnvironments(parts: EnvironmentParts) {
  const service = createEnvironmentService(parts);
  return {
    handlers: environmentHandlers(service),
    /** Adds the environments of a new tenant in the caller's transaction. */
    add: service.add,
    /** Finds an environment that is not deleted by its id or its key. */
    find: findEnvironment,
    readPromotionPolicy: (sql: Sql, tenantId: TenantId, id: string) =>
      environmentStore(sql).readPromotionPolicy(tenantId, id),
    /** Lists the environments that a caller may use, by id. */
    list: ({ sql, tenantId, principal }: Pick<Context, "sql" | "tenantId" | "principal">, page: Page) =>
      environmentStore(sql).list(tenantId, principal.environmentMode, page),
  };
}

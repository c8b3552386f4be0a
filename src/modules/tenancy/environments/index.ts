/**
 * Environments: the parts of a tenant in which its configuration and keys are valid.
 *
 * Key: an environment's short name, unique in its tenant. Mode: live or sandbox.
 * Production: the environment that every tenant has and that is always active.
 */

import type { EnvironmentService as Rpc } from "../../../../gen/service/api/environment_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Environment, NewEnvironment } from "./domain/environment.ts";
import { environmentHandlers } from "./handler.ts";
import { createEnvironmentService } from "./service.ts";
import { environmentStore } from "./store.ts";

/** The module's public API. */
export interface Environments {
  readonly handlers: Handlers<typeof Rpc>;
  /** Adds the environments of a new tenant in the caller's transaction. */
  add(sql: Sql, tenantId: TenantId, environments: readonly NewEnvironment[], nowMs: number): Promise<void>;
  /** Finds an environment that is not deleted by its id or its key. */
  find(sql: Sql, tenantId: TenantId, idOrKey: string): Promise<Pick<Environment, "id" | "key" | "mode"> | undefined>;
}

/** Creates the module. */
export function createEnvironments({ events, cursors }: { events: EventRecorder; cursors: Cursors }): Environments {
  const service = createEnvironmentService(events);
  return { handlers: environmentHandlers(service, cursors), add: service.add, find: findEnvironment };
}

function findEnvironment(sql: Sql, tenantId: TenantId, idOrKey: string) {
  return environmentStore(sql).findNamed(tenantId, idOrKey);
}

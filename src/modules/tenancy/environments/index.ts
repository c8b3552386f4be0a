/**
 * Environments: where a tenant's configuration and keys are valid.
 *
 * key: an environment's short name, unique in its tenant. mode: whether work there is real.
 * production: the environment that every tenant always has, in use.
 */

import type { EnvironmentService as Rpc } from "../../../../gen/service/api/environment_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { NewEnvironment } from "./domain/environment.ts";
import { environmentHandlers } from "./handler.ts";
import { createEnvironmentService } from "./service.ts";

/** The door of the module. */
export interface Environments {
  readonly handlers: Handlers<typeof Rpc>;
  /** Adds the environments that a tenant starts with, in the caller's transaction. */
  add(sql: Sql, tenantId: TenantId, environments: readonly NewEnvironment[], nowMs: number): Promise<void>;
}

/** Makes the module. */
export function createEnvironments({ events, cursors }: { events: EventRecorder; cursors: Cursors }): Environments {
  const service = createEnvironmentService(events);
  return { handlers: environmentHandlers(service, cursors), add: service.add };
}

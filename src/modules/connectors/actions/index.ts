/**
 * Actions: operations of providers, executed on behalf of a tenant.
 *
 * Execution: one call of an action, with a record. Attempt: one request of an execution to the provider. Safety: how often a
 * request may be sent: reads and repeatable changes again, other changes once. Outcome unknown: the provider may have
 * performed the action, but did not confirm it. Limit: the time until which a provider accepts no requests of a connection.
 * Lease: how long a node has to store the outcome, before other nodes end the execution.
 */

import { ConnectorActionService as Rpc } from "../../../../gen/service/api/connector_action_pb.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Signals } from "../../../platform/db/index.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Quotas } from "../../tenancy/index.ts";
import type { Connections } from "../connections/index.ts";
import type { Catalogue, GuardedHttp } from "../manifests/index.ts";
import { createActionMetrics } from "./action-metrics.ts";
import { createActionService } from "./action-service.ts";
import { notExecutable } from "./domain/action-failure.ts";
import { createActionExecutor } from "./execution/action-executor.ts";
import { createRateLimits } from "./execution/rate-limits.ts";
import { createUnrecordedActions } from "./execution/unrecorded-action.ts";
import { createExecutionExplainer } from "./execution-explainer.ts";
import { actionHandlers } from "./handler.ts";
import { createAbandonedExecutionSweeper } from "./records/abandoned-execution-sweeper.ts";
import { createExecutionWriter } from "./records/execution-writer.ts";
import { maintainExecutionsJob } from "./records/retention-job.ts";

export type { ActionRefusal, PerformAction } from "./execution/unrecorded-action.ts";
export { executionUsage } from "./records/usage-source.ts";

/** Details of an action that can be executed, or why it cannot. */
export type ActionUse =
  | "absent"
  | { readonly reason: string }
  | {
      readonly inputSchema: JsonObject;
      /** Whether it can be sent again after an unknown outcome. */
      readonly isRepeatable: boolean;
    };

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log" | "metrics"> {
  readonly signals: Pick<Signals, "onDue">;
  readonly events: EventRecorder;
  readonly quotas: () => Pick<Quotas, "takeIn" | "isUsedUp" | "exceeded">;
  readonly catalogue: Pick<Catalogue, "action" | "provider">;
  readonly connections: Pick<Connections, "open" | "markRejected" | "find" | "actionVersion">;
  readonly http: GuardedHttp;
  readonly platformTenantId: () => string;
  readonly retentionDays: number;
  /** The longest time that a caller waits for a response. */
  readonly callTimeoutMs: number;
  /** Returns a number from 0 to 1 that spreads retries. */
  readonly random?: () => number;
}

const operations = {
  action: `${Rpc.typeName}/${Rpc.method.executeAction.name}`,
  raw: `${Rpc.typeName}/${Rpc.method.proxyConnection.name}`,
};

export function createActions(dependencies: Dependencies) {
  const { clock, catalogue, random = Math.random } = dependencies;
  const metrics = createActionMetrics(dependencies.metrics);
  const rateLimits = createRateLimits(clock);
  const executor = createActionExecutor({ ...dependencies, metrics, rateLimits, random });
  const writer = createExecutionWriter(dependencies);
  const service = createActionService({ ...dependencies, metrics, rateLimits, executor, writer });
  return {
    handlers: actionHandlers(service, clock),
    jobs: [maintainExecutionsJob(dependencies)],
    explainer: createExecutionExplainer(service),
    /** Ends executions of nodes that died, on nodes that do background work. */
    sweeper: createAbandonedExecutionSweeper({ ...dependencies, metrics, operations }),
    /** Whether a tenant can execute an action. */
    async checkUse(tenantId: TenantId, actionKey: string) {
      const found = await catalogue.action(tenantId, actionKey);
      if (found === undefined) return "absent";
      const refusal = notExecutable(found.action);
      if (refusal !== undefined) return { reason: refusal.message };
      const { inputSchema, mutation } = found.action;
      return { inputSchema, isRepeatable: mutation.idempotency !== "none" };
    },
    /** Executes an action once, without a record. */
    perform: createUnrecordedActions({ clock, executor, rateLimits }),
    /** Resolves when no execution is in progress. */
    async idle() {
      await service.idle();
      await writer.idle();
    },
  };
}

import type {
  ExecuteActionRequest,
  ExecuteActionResponse,
  ProxyConnectionRequest,
  ProxyConnectionResponse,
  ConnectorActionService as Rpc,
} from "../../../../gen/service/api/connector_action_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import { productionOf } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import type { ActionCall, ActionResult, ActionService } from "./action-service.ts";
import { executionFailure } from "./domain/action-failure.ts";
import type { Execution, ExecutionOrigin, ExecutionStatus } from "./domain/execution.ts";
import type { RawRequest } from "./execution/raw-request.ts";
import { fromExecution, fromRawResult, fromResult } from "./execution-message.ts";

/** The operations of ConnectorActionService. */
export function actionHandlers(service: ActionService, clock: Clock): Handlers<typeof Rpc> {
  /** An execution without success is an error for the caller. */
  function throwUnlessSucceeded(execution: Execution): void {
    const failure = executionFailure(execution, clock.now());
    if (failure !== undefined) throw failure;
  }

  return {
    executeAction: {
      async ownCommit(context: Context, request: ExecuteActionRequest, keyed) {
        let last: ActionResult | undefined;
        const response = await service.execute(context, toCall(request), keyed, (result) => {
          last = result;
          return fromResult(result);
        });
        if (response !== "duplicate" && last !== undefined && "execution" in last) throwUnlessSucceeded(last.execution);
        return response;
      },

      async replay({ tenantId }: Context, recorded: ExecuteActionResponse) {
        if (recorded.execution?.status === "succeeded") return recorded;
        const execution = await service.endedExecution(tenantId, recorded.execution!.id);
        throwUnlessSucceeded(execution);
        return fromResult({ execution });
      },
    },

    proxyConnection: {
      async ownCommit(context: Context, request: ProxyConnectionRequest, keyed) {
        let last: Execution | undefined;
        const response = await service.execute(context, toRawCall(request), keyed, (result) => {
          if ("execution" in result) last = result.execution;
          return fromRawResult(result);
        });
        if (response !== "duplicate" && last !== undefined) throwUnlessSucceeded(last);
        return response;
      },

      async replay({ tenantId }: Context, recorded: ProxyConnectionResponse) {
        if (recorded.status !== 0) return recorded;
        const execution = await service.endedExecution(tenantId, recorded.executionId);
        throwUnlessSucceeded(execution);
        return fromRawResult({ execution });
      },
    },

    async getExecution(context, { executionId }) {
      return { execution: fromExecution(await service.getExecution(context, executionId)) };
    },

    async listExecutions(context, request) {
      const { connectionId, actionKey, providerKey } = request;
      const filter = {
        ...{ connectionId, actionKey, providerKey },
        ...{ status: request.status as ExecutionStatus | "", origin: request.origin as ExecutionOrigin | "" },
        inProduction: productionOf(context.principal),
      };
      const page = await context.page("executions", request, Object.values(filter), (wanted) =>
        service.listPage(context, filter, wanted),
      );
      return { ...page, executions: page.executions.map(fromExecution) };
    },

    async explainExecution(context, { executionId }) {
      return { explanation: await service.explainExecution(context, executionId) };
    },
  };
}

const rawTimeoutMs = 30_000;

function toRawCall({ connectionId, method, path, headers, body, bodyBytes, timeoutMs }: ProxyConnectionRequest) {
  if (body !== "" && bodyBytes.length > 0)
    throw invalid("body_bytes", "exclusive", "must not be set together with body");
  const raw = { method: method as RawRequest["method"], path, headers, body: body === "" ? bodyBytes : body };
  const common = { actionKey: "", input: {}, idempotencyKey: "", dryRun: false };
  return { ...common, connectionId, raw, timeoutMs: timeoutMs === 0 ? rawTimeoutMs : timeoutMs };
}

function toCall({ key, input, deduplicationKey, ...rest }: ExecuteActionRequest): ActionCall {
  const { connectionId, dryRun, timeoutMs } = rest;
  const idempotencyKey = deduplicationKey;
  return { actionKey: key, connectionId, input: (input ?? {}) as JsonObject, idempotencyKey, dryRun, timeoutMs };
}

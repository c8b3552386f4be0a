import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { RouteRequestSchema, RoutingService } from "../../../../../gen/service/api/routing_pb.ts";
import { StartWorkflowRunRequestSchema, WorkflowRunService } from "../../../../../gen/service/api/workflow_run_pb.ts";
import type { CallOrigin, OperationCaller } from "../../../../chain/operation-caller.ts";
import { Failure } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { JsonObject } from "../../../../platform/document/index.ts";
import { createJsonDecoder } from "../../../../platform/protojson/index.ts";
import type { Target } from "../domain/subscription.ts";
import { type CompileTemplate, type EventValue, evaluateRoute, evaluateRun } from "./target-templates.ts";

/** Finds a pool of an environment by its name or id; undefined if it has none. */
export type FindPoolId = (tenantId: TenantId, environmentId: string, nameOrId: string) => Promise<string | undefined>;

interface Dependencies {
  readonly call: OperationCaller;
  readonly findPoolId: FindPoolId;
  readonly compileTemplate: CompileTemplate;
}

/** A target that refuses an event for good. */
export class TargetRefusal extends Error {}

/** Passes an event to a target; returns what it started. Repeating it with the same origin has no further effect. */
export type CallTarget = (
  target: Exclude<Target, { kind: "record" }>,
  environmentId: string,
  origin: CallOrigin,
  event: EventValue,
) => Promise<JsonObject>;

/** Creates the function that passes events to targets. */
export function createTargetCaller({ call, findPoolId, compileTemplate }: Dependencies): CallTarget {
  return async (target, environmentId, origin, event): Promise<JsonObject> => {
    if (target.kind === "workflow") {
      const { definition, version } = target;
      const { input, runKey } = evaluateRun(compileTemplate, target, event);
      const message = create(StartWorkflowRunRequestSchema, {
        ...{ definition, version, environmentId, runKey },
        input: fromJson(ValueSchema, input as JsonValue),
      });
      const { run, started } = await call(WorkflowRunService.method.startWorkflowRun, origin, message);
      return { run_id: run!.id, started };
    }
    const { pool, ...item } = evaluateRoute(compileTemplate, target, event);
    const poolId = await findPoolId(origin.tenantId, environmentId, String(pool));
    if (poolId === undefined) throw new TargetRefusal(`The environment has no pool "${String(pool)}".`);
    const request = routeRequest({ type: event.type, ...item, pool_id: poolId });
    const { decision } = await call(RoutingService.method.route, origin, request);
    const { decisionId, outcome, reason, queueItemId } = decision!;
    if (outcome === "rejected") throw new TargetRefusal(`The item was rejected: ${reason}.`);
    return { decision_id: decisionId, outcome, queue_item_id: queueItemId };
  };
}

function routeRequest(json: JsonObject) {
  try {
    return createJsonDecoder(RouteRequestSchema)(json);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new TargetRefusal(`The item is invalid: ${error.message}`);
  }
}

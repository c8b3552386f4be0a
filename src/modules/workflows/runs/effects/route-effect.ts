import { fromJson, type JsonObject as ProtoJson } from "@bufbuild/protobuf";
import { RouteRequestSchema, RoutingService } from "../../../../../gen/service/api/routing_pb.ts";
import type { CallOrigin, OperationCaller } from "../../../../chain/operation-caller.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Json, JsonObject } from "../../definitions/index.ts";
import type { LiveRun } from "../storage/run-loader.ts";
import { EffectFailure } from "./effect-failure.ts";

/** Finds a pool of an environment by its name or id; undefined if it has none. */
export type FindPoolId = (tenantId: TenantId, environmentId: string, nameOrId: string) => Promise<string | undefined>;

/** Routes an item; returns the output of the step. */
export async function performRoute(
  call: OperationCaller,
  findPoolId: FindPoolId,
  run: LiveRun,
  origin: CallOrigin,
  request: Json,
): Promise<Json> {
  const { pool, ...item } = request as JsonObject & { readonly pool: string };
  const poolId = await findPoolId(run.tenantId, run.environmentId, pool);
  if (poolId === undefined) throw new EffectFailure("pool_not_found", `The environment has no pool "${pool}".`);
  const message = requestMessage({ type: run.origin.definition, ...item, pool_id: poolId });
  const { decision } = await call(RoutingService.method.route, origin, message);
  const { decisionId, outcome, reason, recipientId, queueItemId } = decision!;
  if (outcome === "rejected") {
    throw new EffectFailure("route_rejected", `The item was rejected: ${reason}.`, false, {
      decision_id: decisionId,
      reason,
    });
  }
  return { decision_id: decisionId, outcome, recipient_id: recipientId, queue_item_id: queueItemId };
}

function requestMessage(json: JsonObject) {
  try {
    return fromJson(RouteRequestSchema, json as ProtoJson);
  } catch (error) {
    throw new EffectFailure("route_rejected", `The item is invalid: ${(error as Error).message}.`);
  }
}

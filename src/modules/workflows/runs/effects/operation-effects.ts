import { AssignExperimentRequestSchema, ExperimentService } from "../../../../../gen/service/api/experiment_pb.ts";
import {
  NotificationService,
  TriggerNotificationRequestSchema,
} from "../../../../../gen/service/api/notification_pb.ts";
import { RouteRequestSchema, RoutingService } from "../../../../../gen/service/api/routing_pb.ts";
import type { CallOrigin, OperationCaller } from "../../../../chain/operation-caller.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { valueToJson } from "../../../../platform/protojson/index.ts";
import type { Json, JsonObject } from "../../definitions/index.ts";
import type { LiveRun } from "../storage/run-loader.ts";
import { EffectFailure, readRequest } from "./effect-failure.ts";

/** Finds a pool of an environment by its name or id; undefined if it has none. */
export type FindPoolId = (tenantId: TenantId, environmentId: string, nameOrId: string) => Promise<string | undefined>;

/** Finds an experiment of an environment by its key; undefined if it has none. */
export type FindExperimentId = (tenantId: TenantId, environmentId: string, key: string) => Promise<string | undefined>;

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
  const routed = { type: run.origin.definition, ...item, pool_id: poolId };
  const message = readRequest(RouteRequestSchema, routed, "route_rejected", "item");
  const { decision } = await call(RoutingService.method.route, origin, message);
  const { decisionId: decision_id, outcome, reason, recipientId, queueItemId } = decision!;
  if (outcome === "rejected") {
    const details = { decision_id, reason };
    throw new EffectFailure("route_rejected", `The item was rejected: ${reason}.`, false, details);
  }
  return { decision_id, outcome, recipient_id: recipientId, queue_item_id: queueItemId };
}

/** Triggers a notification; returns the output of the step. */
export async function performNotify(call: OperationCaller, origin: CallOrigin, request: Json): Promise<Json> {
  const { to, ...trigger } = request as JsonObject & { readonly to: Json };
  const audience = typeof to === "string" ? { subscriber_external_id: to } : (to as JsonObject);
  const triggered = { ...trigger, ...audience };
  const message = readRequest(TriggerNotificationRequestSchema, triggered, "notify_failed", "trigger");
  const { transactionId, outcomes } = await call(NotificationService.method.triggerNotification, origin, message);
  return {
    transaction_id: transactionId,
    outcomes: outcomes.map(({ channel, outcome, deliveryId }) => ({ channel, outcome, delivery_id: deliveryId })),
  };
}

/** Assigns a unit to a variant; returns the output of the step. */
export async function performExperiment(
  call: OperationCaller,
  findExperimentId: FindExperimentId,
  run: LiveRun,
  origin: CallOrigin,
  request: Json,
): Promise<Json> {
  const { key, unit, ...rest } = request as JsonObject & { readonly key: string; readonly unit: Json };
  const id = await findExperimentId(run.tenantId, run.environmentId, key);
  if (id === undefined) {
    throw new EffectFailure("experiment_not_found", `The environment has no experiment "${key}".`);
  }
  const assigned = { ...rest, experiment_id: id, unit: String(unit) };
  const message = readRequest(AssignExperimentRequestSchema, assigned, "experiment_failed", "assignment");
  const { assignment } = await call(ExperimentService.method.assignExperiment, origin, message);
  const { variant, value, inExperiment, reason, receipt } = assignment!;
  return {
    ...{ variant, in_experiment: inExperiment, reason, receipt: receipt?.token ?? "" },
    value: valueToJson(value),
  };
}

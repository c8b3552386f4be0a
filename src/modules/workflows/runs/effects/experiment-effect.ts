import { fromJson, type JsonObject as ProtoJson } from "@bufbuild/protobuf";
import { AssignExperimentRequestSchema, ExperimentService } from "../../../../../gen/service/api/experiment_pb.ts";
import type { CallOrigin, OperationCaller } from "../../../../chain/operation-caller.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { valueToJson } from "../../../../platform/protojson/index.ts";
import type { Json, JsonObject } from "../../definitions/index.ts";
import type { LiveRun } from "../storage/run-loader.ts";
import { EffectFailure } from "./effect-failure.ts";

/** Finds an experiment of an environment by its key; undefined if it has none. */
export type FindExperimentId = (tenantId: TenantId, environmentId: string, key: string) => Promise<string | undefined>;

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
  const message = requestMessage({ ...rest, experiment_id: id, unit: String(unit) });
  const { assignment } = await call(ExperimentService.method.assignExperiment, origin, message);
  const { variant, value, inExperiment, reason, receipt } = assignment!;
  return {
    ...{ variant, in_experiment: inExperiment, reason, receipt: receipt?.token ?? "" },
    value: valueToJson(value),
  };
}

function requestMessage(json: JsonObject) {
  try {
    return fromJson(AssignExperimentRequestSchema, json as ProtoJson);
  } catch (error) {
    throw new EffectFailure("experiment_failed", `The assignment is invalid: ${(error as Error).message}.`);
  }
}

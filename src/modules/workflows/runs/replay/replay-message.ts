import { create, type JsonObject, toJson } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  type WorkflowReplayPlan as PlanMessage,
  WorkflowReplayPlanSchema,
} from "../../../../../gen/service/api/workflow_run_pb.ts";
import type { Json } from "../../definitions/index.ts";
import type { PlannedReplay, ReplayInput } from "./replay-service.ts";

const stepsMax = 1000;

/** The fields of a request that say how a run is replayed. */
interface ReplayFields {
  readonly fromStep?: string | undefined;
  readonly version: number;
  readonly input?: Value | undefined;
  readonly values?: JsonObject | undefined;
  readonly reason: string;
}

/** Reads how a run is replayed. */
export function toReplayInput({ fromStep, version, input, values, reason }: ReplayFields): ReplayInput {
  return {
    ...{ fromStep, version, reason },
    input: input === undefined ? undefined : (toJson(ValueSchema, input) as Json),
    values: (values ?? {}) as Readonly<Record<string, Json>>,
  };
}

export function fromReplayPlan({ source, published, replay }: PlannedReplay): PlanMessage {
  const { from, kept, repeated, continued } = replay;
  return create(WorkflowReplayPlanSchema, {
    ...{ runId: source.id, version: published.version, fromStep: from },
    ...{ keptSteps: kept.slice(0, stepsMax), keptCount: kept.length },
    ...{ repeatedSteps: repeated.slice(0, stepsMax), repeatedCount: repeated.length },
    continuedSteps: continued.slice(0, stepsMax),
  });
}

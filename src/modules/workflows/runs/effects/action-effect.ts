import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  ConnectorActionService,
  type ExecuteActionRequest,
  ExecuteActionRequestSchema,
} from "../../../../../gen/service/api/connector_action_pb.ts";
import type { CallOrigin, OperationCaller } from "../../../../chain/operation-caller.ts";
import { Failure as CallFailure, type ErrorCode } from "../../../../errors/index.ts";
import type { Json, JsonObject } from "../../definitions/index.ts";
import { EffectFailure, readRequest } from "./effect-failure.ts";

interface ActionStepRequest {
  readonly action: string;
  readonly connection?: Json;
  readonly input: Json;
}

/** Executes a connector action; returns the output of the step. */
export async function performAction(call: OperationCaller, origin: CallOrigin, request: Json): Promise<Json> {
  const message = requestMessage(request as unknown as ActionStepRequest);
  try {
    const { execution } = await call(ConnectorActionService.method.executeAction, origin, message);
    return execution?.output === undefined ? null : (toJson(ValueSchema, execution.output) as Json);
  } catch (error) {
    throw toStepFailure(error) ?? error;
  }
}

function requestMessage({ action, connection = "", input }: ActionStepRequest): ExecuteActionRequest {
  if (typeof connection !== "string") {
    throw new EffectFailure("action_failed", "The connection is not the id of a connection.");
  }
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new EffectFailure("invalid_input", "The input is not an object.");
  }
  const fields = { key: action, connection_id: connection, input };
  return readRequest(ExecuteActionRequestSchema, fields, "action_failed", "call");
}

/** The errors of executions, by the code of the step. The class of the provider's answer is more exact where there is one. */
const stepCodes: Partial<Record<ErrorCode, string>> = {
  CONNECTOR_FAILED: "failed",
  CONNECTOR_RATE_LIMITED: "rate_limited",
  CONNECTOR_UNAVAILABLE: "unavailable",
  CONNECTOR_OUTCOME_UNKNOWN: "outcome_unknown",
  CONNECTION_UNUSABLE: "connection_unusable",
  INVALID_ARGUMENT: "invalid_input",
};

/** The failure of a step; undefined for errors that are handled as for all effects. */
function toStepFailure(error: unknown): EffectFailure | undefined {
  if (!(error instanceof CallFailure)) return undefined;
  const known = stepCodes[error.code];
  if (known === undefined) return undefined;
  const {
    execution_id,
    class: answerClass,
    provider_code,
  } = error.extra as Readonly<Record<string, string | undefined>>;
  const code = known === "failed" ? (answerClass ?? known) : known;
  // The next attempt is a new execution: only an execution that certainly changed nothing may be followed by one.
  const retryable = known === "rate_limited" || known === "unavailable";
  const details: JsonObject = {
    error_code: error.code,
    ...(execution_id !== undefined && { execution_id }),
    ...(provider_code !== undefined && { provider_code }),
  };
  return new EffectFailure(code, error.message, retryable, details, error.headers);
}

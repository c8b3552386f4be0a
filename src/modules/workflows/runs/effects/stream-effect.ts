import { create, toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  AppendWorkflowStreamRecordRequestSchema,
  CreateWorkflowStreamRequestSchema,
  ReadWorkflowStreamRecordsRequestSchema,
  type WorkflowStreamRecord,
  WorkflowStreamService,
} from "../../../../../gen/service/api/workflow_stream_pb.ts";
import type { CallOrigin, OperationCaller } from "../../../../chain/operation-caller.ts";
import { Failure as CallFailure, type ErrorCode } from "../../../../errors/index.ts";
import type { Json } from "../../definitions/index.ts";
import { EffectFailure, readRequest } from "./effect-failure.ts";
import { otherRegionOf } from "./regional-effects.ts";

interface AppendStepRequest {
  readonly stream: string;
  readonly value: Json;
  readonly content_class: string;
  readonly schema_ref: string;
  /** As JSON text. */
  readonly pins?: string;
}

interface ReadStepRequest {
  readonly stream: string;
  readonly cursor?: Json;
  readonly limit: number;
}

/** The output of a read is a part of the state of its run. */
const readLengthMax = 96 * 1024;

/** The codes of steps by the errors of operations, and whether a later attempt can succeed. */
const stepCodes: Partial<Record<ErrorCode, readonly [code: string, retryable: boolean]>> = {
  STREAM_CLOSED: ["stream_closed", false],
  STREAM_QUOTA_EXHAUSTED: ["stream_full", false],
  STREAM_BACKPRESSURE: ["stream_backpressure", true],
  STREAM_RESYNC_REQUIRED: ["resync_required", false],
  REGION_NOT_ALLOWED: ["region_not_allowed", false],
  INVALID_ARGUMENT: ["invalid_input", false],
};

/** Appends a record to a stream of the run, and creates the stream if there is none. Returns the output of the step. */
export async function performStreamAppend(
  call: OperationCaller,
  runId: string,
  origin: CallOrigin,
  request: Json,
): Promise<Json> {
  const { stream, value, content_class, schema_ref, pins } = request as unknown as AppendStepRequest;
  // A step does not wait while it is performed: backpressure is a reason for its next attempt.
  const fields = { run_id: runId, stream_id: stream, payload: value, content_class, schema_ref, wait_s: 0 };
  const message = readRequest(AppendWorkflowStreamRecordRequestSchema, fields, "invalid_input", "call");
  const append = () => call(WorkflowStreamService.method.appendWorkflowStreamRecord, origin, message);
  try {
    const appended = await append().catch(async (error: unknown) => {
      if (!(error instanceof CallFailure) || error.code !== "NOT_FOUND") throw error;
      await createStream(call, runId, origin, stream, pins);
      return append();
    });
    return { stream, sequence: Number(appended.sequence) };
  } catch (error) {
    throw toStepFailure(error) ?? error;
  }
}

async function createStream(
  call: OperationCaller,
  runId: string,
  origin: CallOrigin,
  name: string,
  pins = "{}",
): Promise<void> {
  const fields = { run_id: runId, name, pins: JSON.parse(pins) as Json };
  const message = readRequest(CreateWorkflowStreamRequestSchema, fields, "invalid_input", "call");
  const own = { ...origin, idempotencyKey: `${origin.idempotencyKey}:stream` };
  try {
    await call(WorkflowStreamService.method.createWorkflowStream, own, message);
  } catch (error) {
    // Another step of the run has created it meanwhile.
    if (!(error instanceof CallFailure) || error.code !== "ALREADY_EXISTS") throw error;
  }
}

/** Reads records of a stream of the run; returns the output of the step. */
export async function performStreamRead(
  call: OperationCaller,
  runId: string,
  origin: CallOrigin,
  request: Json,
): Promise<Json> {
  const { stream, cursor = 0, limit } = request as unknown as ReadStepRequest;
  const after = typeof cursor === "string" ? Number(cursor) : cursor;
  if (typeof after !== "number" || !Number.isSafeInteger(after) || after < 0) {
    throw new EffectFailure("invalid_input", "The cursor is not the sequence of a record.");
  }
  const message = create(ReadWorkflowStreamRecordsRequestSchema, {
    ...{ runId, streamId: stream, cursor: BigInt(after), limit },
  });
  try {
    const found = await call(WorkflowStreamService.method.readWorkflowStreamRecords, origin, message);
    const records: Json[] = [];
    let length = 0;
    let next = after;
    for (const record of found.records) {
      const output = outputOf(record);
      length += JSON.stringify(output).length;
      // The first record is returned whatever its size.
      if (records.length > 0 && length > readLengthMax) break;
      records.push(output);
      next = Number(record.sequence);
    }
    const latest = Number(found.latestSequence);
    return { records, next_cursor: next, latest_sequence: latest, closed: found.closed };
  } catch (error) {
    if (error instanceof CallFailure && error.code === "NOT_FOUND") {
      throw new EffectFailure("stream_not_found", `The run has no stream with the name ${stream}.`);
    }
    throw toStepFailure(error) ?? error;
  }
}

function outputOf({ sequence, direction, contentClass, schemaRef, payload, object }: WorkflowStreamRecord): Json {
  return {
    ...{ sequence: Number(sequence), direction, content_class: contentClass, schema_ref: schemaRef },
    ...(payload !== undefined && { payload: toJson(ValueSchema, payload) as Json }),
    ...(object !== undefined && {
      object: { object_key: object.objectKey, sha256: object.sha256, size_bytes: Number(object.sizeBytes) },
    }),
  };
}

/** The failure of a step; undefined for errors that are handled as for all effects. */
function toStepFailure(error: unknown): EffectFailure | undefined {
  if (!(error instanceof CallFailure) || otherRegionOf(error) !== undefined) return undefined;
  const known = stepCodes[error.code];
  if (known === undefined) return undefined;
  const [code, retryable] = known;
  return new EffectFailure(code, error.message, retryable, { error_code: error.code }, error.headers);
}

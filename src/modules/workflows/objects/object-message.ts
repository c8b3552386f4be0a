import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type WorkflowObjectIntent as IntentMessage,
  WorkflowObjectIntentSchema,
} from "../../../../gen/service/api/workflow_object_pb.ts";
import { optionalTime } from "../../../platform/records/index.ts";
import { type ObjectIntent, statusAt } from "./domain/intent.ts";

/** Converts an intent to its message, as it is at a time. */
export function fromIntent(intent: ObjectIntent, nowMs: number): IntentMessage {
  const status = statusAt(intent, nowMs);
  const endedAt = status === intent.status ? intent.endedAt : intent.expiresAt;
  return create(WorkflowObjectIntentSchema, {
    id: intent.id,
    tenantId: intent.tenantId,
    runId: intent.runId,
    streamId: intent.streamId,
    status,
    idempotencyKey: intent.idempotencyKey,
    sha256: intent.sha256,
    sizeBytes: BigInt(intent.sizeBytes),
    contentType: intent.contentType,
    contentClass: intent.contentClass,
    schemaRef: intent.schemaRef,
    direction: intent.direction,
    authorizationReceiptId: intent.authorizationReceiptId,
    objectKey: intent.objectKey,
    sequence: BigInt(intent.sequence ?? 0),
    createdBy: intent.createdBy,
    createdAt: timestampFromDate(intent.createdAt),
    expiresAt: timestampFromDate(intent.expiresAt),
    uploadedAt: optionalTime(intent.uploadedAt),
    endedAt: optionalTime(endedAt),
  });
}

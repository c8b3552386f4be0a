import { create, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type WorkflowStreamPins as PinsMessage,
  type WorkflowStreamRecord as RecordMessage,
  WorkflowStreamPinsSchema,
  WorkflowStreamRecordSchema,
} from "../../../../gen/service/api/workflow_stream_pb.ts";
import { jsonToValue } from "../../../platform/protojson/index.ts";
import { usageOf } from "./domain/credit.ts";
import type { Pins } from "./domain/pins.ts";
import type { Redaction } from "./domain/redaction.ts";
import type { StreamHead, StreamRecord } from "./domain/stream.ts";
import type { FoundStream } from "./stream-service.ts";
import type { ConsumerPosition } from "./stream-store.ts";

/** The pins of a request, as sent. */
export function toPinsInput(message: PinsMessage = create(WorkflowStreamPinsSchema)): Pins {
  const { ceilings, authorization } = message;
  return {
    metadata_home: message.metadataHome,
    metadata_replicas: message.metadataReplicas,
    object_regions: message.objectRegions,
    egress_regions: message.egressRegions,
    log_region: message.logRegion,
    retention: { max_age_s: Number(message.retention?.maxAgeS ?? 0) },
    redaction: message.redaction.map(({ path, action }) => ({ path, action: action as Redaction["action"] })),
    authorization: { readers: authorization?.readers ?? [], writers: authorization?.writers ?? [] },
    content_classes: message.contentClasses,
    ceilings: {
      unread_items: Number(ceilings?.unreadItems ?? 0),
      unread_bytes: Number(ceilings?.unreadBytes ?? 0),
      total_items: Number(ceilings?.totalItems ?? 0),
      total_bytes: Number(ceilings?.totalBytes ?? 0),
    },
    on_unread_full: message.onUnreadFull as Pins["on_unread_full"],
    consumer_idle_max_s: Number(message.consumerIdleMaxS),
  };
}

export function fromStream({ definition, state }: FoundStream) {
  const { streamId: id, tenantId, runId, environmentId, name, pins, digest, createdBy, createdAt } = definition;
  const { hold, closedAt, consumers, slowestConsumer } = state;
  return {
    ...{
      id,
      tenantId,
      runId,
      environmentId,
      name,
      pins: fromJson(WorkflowStreamPinsSchema, pins as unknown as JsonObject, { ignoreUnknownFields: true }),
      digest,
      createdBy,
      createdAt,
    },
    status: closedAt === null ? "open" : "closed",
    earliestSequence: state.firstSequence,
    latestSequence: state.lastSequence,
    ...usageOf(state, state),
    hold: hold && { ...hold, since: new Date(hold.since) },
    ...{ closedAt, consumers },
    slowestConsumer: slowestConsumer && fromConsumer(state, slowestConsumer),
  };
}

export function fromConsumer(
  head: StreamHead,
  { consumerId, sequence, cumBytes, updatedAt: acknowledgedAt }: ConsumerPosition,
) {
  const { unreadItems, unreadBytes } = usageOf(head, { ackedSequence: sequence, ackedCumBytes: cumBytes });
  return { consumerId, sequence, unreadItems, unreadBytes, acknowledgedAt };
}

export function fromRecord(record: StreamRecord): RecordMessage {
  const { object, payloadJson } = record;
  return create(WorkflowStreamRecordSchema, {
    sequence: BigInt(record.sequence),
    direction: record.direction,
    contentClass: record.contentClass,
    schemaRef: record.schemaRef,
    ...(payloadJson !== null && { payload: jsonToValue(JSON.parse(payloadJson)) }),
    ...(object !== null && {
      object: {
        ...{ objectId: object.object_id, objectKey: object.object_key, contentType: object.content_type },
        ...{ sha256: object.sha256, sizeBytes: BigInt(object.size_bytes) },
      },
    }),
    bytes: BigInt(record.bytes),
    appendedAt: timestampFromDate(record.appendedAt),
  });
}

/** Converts a sequence of a request. A sequence beyond all numbers is after every record. */
export function toSequence(sequence: bigint): number {
  return Math.min(Number(sequence), Number.MAX_SAFE_INTEGER);
}

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type WorkflowStreamPins as PinsMessage,
  type WorkflowStreamRecord as RecordMessage,
  type WorkflowStream as StreamMessage,
  type WorkflowStreamConsumerSchema,
  WorkflowStreamPinsSchema,
  WorkflowStreamRecordSchema,
  WorkflowStreamSchema,
} from "../../../../gen/service/api/workflow_stream_pb.ts";
import { optionalTime } from "../../../platform/records/index.ts";
import { toValue } from "../runs/index.ts";
import { usageOf } from "./domain/credit.ts";
import type { Pins } from "./domain/pins.ts";
import type { Redaction } from "./domain/redaction.ts";
import type { StreamDefinition, StreamHead, StreamRecord } from "./domain/stream.ts";
import type { ConsumerPosition, StreamState } from "./stream-store.ts";

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

function fromPins(pins: Pins): MessageInitShape<typeof WorkflowStreamPinsSchema> {
  const { ceilings } = pins;
  return {
    metadataHome: pins.metadata_home,
    metadataReplicas: [...pins.metadata_replicas],
    objectRegions: [...pins.object_regions],
    egressRegions: [...pins.egress_regions],
    logRegion: pins.log_region,
    retention: { maxAgeS: BigInt(pins.retention.max_age_s) },
    redaction: pins.redaction.map(({ path, action }) => ({ path, action })),
    authorization: { readers: [...pins.authorization.readers], writers: [...pins.authorization.writers] },
    contentClasses: [...pins.content_classes],
    ceilings: {
      unreadItems: BigInt(ceilings.unread_items),
      unreadBytes: BigInt(ceilings.unread_bytes),
      totalItems: BigInt(ceilings.total_items),
      totalBytes: BigInt(ceilings.total_bytes),
    },
    onUnreadFull: pins.on_unread_full,
    consumerIdleMaxS: BigInt(pins.consumer_idle_max_s ?? 0),
  };
}

export function fromStream(definition: StreamDefinition, state: StreamState): StreamMessage {
  const usage = usageOf(state, state);
  return create(WorkflowStreamSchema, {
    id: definition.streamId,
    tenantId: definition.tenantId,
    runId: definition.runId,
    environmentId: definition.environmentId,
    name: definition.name,
    pins: fromPins(definition.pins),
    digest: definition.digest,
    status: state.closedAt === null ? "open" : "closed",
    earliestSequence: BigInt(state.firstSequence),
    latestSequence: BigInt(state.lastSequence),
    items: BigInt(usage.items),
    bytes: BigInt(usage.bytes),
    unreadItems: BigInt(usage.unreadItems),
    unreadBytes: BigInt(usage.unreadBytes),
    ...(state.hold !== null && {
      hold: {
        by: state.hold.by,
        reason: state.hold.reason,
        since: timestampFromDate(new Date(state.hold.since)),
      },
    }),
    createdBy: definition.createdBy,
    createdAt: timestampFromDate(definition.createdAt),
    ...(state.closedAt !== null && { closedAt: optionalTime(state.closedAt) as never }),
    consumers: state.consumers,
    ...(state.slowestConsumer !== null && { slowestConsumer: fromConsumer(state, state.slowestConsumer) }),
  });
}

export function fromConsumer(
  head: StreamHead,
  { consumerId, sequence, cumBytes, updatedAt }: ConsumerPosition,
): MessageInitShape<typeof WorkflowStreamConsumerSchema> {
  const usage = usageOf(head, { ackedSequence: sequence, ackedCumBytes: cumBytes });
  return {
    consumerId,
    sequence: BigInt(sequence),
    unreadItems: BigInt(usage.unreadItems),
    unreadBytes: BigInt(usage.unreadBytes),
    acknowledgedAt: timestampFromDate(updatedAt),
  };
}

export function fromRecord(record: StreamRecord): RecordMessage {
  const { object, payloadJson } = record;
  return create(WorkflowStreamRecordSchema, {
    sequence: BigInt(record.sequence),
    direction: record.direction,
    contentClass: record.contentClass,
    schemaRef: record.schemaRef,
    ...(payloadJson !== null && { payload: toValue(JSON.parse(payloadJson)) }),
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

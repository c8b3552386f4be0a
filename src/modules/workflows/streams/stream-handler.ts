import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type AppendWorkflowStreamRecordBatchRequest,
  AppendWorkflowStreamRecordBatchResponseSchema,
  type AppendWorkflowStreamRecordRequest,
  AppendWorkflowStreamRecordResponseSchema,
  ReadWorkflowStreamRecordsResponseSchema,
  type WorkflowStreamService as Rpc,
  type WorkflowStreamRecordToAppend,
} from "../../../../gen/service/api/workflow_stream_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { valueToJson } from "../../../platform/protojson/index.ts";
import type { AppendService, AppendTarget, RecordInput } from "./append/append-service.ts";
import type { Direction } from "./domain/stream.ts";
import { fromConsumer, fromRecord, fromStream, toPinsInput, toSequence } from "./stream-message.ts";
import type { StreamService } from "./stream-service.ts";
import type { Subscriptions } from "./subscribe/subscription.ts";

interface Dependencies {
  readonly service: StreamService;
  readonly appends: AppendService;
  readonly subscriptions: Subscriptions;
}

const waitSMax = 20;
const limitDefault = 50;
const limitMax = 1000;

/** The operations of WorkflowStreamService. */
export function streamHandlers({ service, appends, subscriptions }: Dependencies): Handlers<typeof Rpc> {
  return {
    async createWorkflowStream(context, { runId, name, pins }) {
      return { stream: fromStream(await service.createStream(context, runId, name, toPinsInput(pins))) };
    },

    async getWorkflowStream(context, { runId, streamId }) {
      return { stream: fromStream(await service.getStream(context, runId, streamId)) };
    },

    appendWorkflowStreamRecord: {
      ownCommit(context: Context, request: AppendWorkflowStreamRecordRequest, keyed) {
        return appends.appendRecord(context, toTarget(request), toRecord(request), keyed, (sequence, appendedAtMs) =>
          create(AppendWorkflowStreamRecordResponseSchema, {
            sequence: BigInt(sequence),
            appendedAt: timestampFromMs(appendedAtMs),
          }),
        );
      },
    },

    appendWorkflowStreamRecordBatch: {
      ownCommit(context: Context, request: AppendWorkflowStreamRecordBatchRequest, keyed) {
        const records = request.records.map(toRecord);
        return appends.appendRecords(context, toTarget(request), records, keyed, (prefix) => {
          const { firstSequence, appended, refused, refusal, appendedAtMs } = prefix;
          return create(AppendWorkflowStreamRecordBatchResponseSchema, {
            firstSequence: BigInt(firstSequence),
            lastSequence: BigInt(firstSequence + appended - 1),
            ...{ appended, refused, refusedCode: refusal?.code ?? "" },
            appendedAt: timestampFromMs(appendedAtMs),
          });
        });
      },
    },

    async readWorkflowStreamRecords(context, request) {
      const { runId, streamId } = request;
      const cursor = toSequence(request.cursor);
      const limit = request.limit > 0 ? Math.min(request.limit, limitMax) : limitDefault;
      const { head, records } = await service.readRecords(context, runId, streamId, cursor, limit);
      return create(ReadWorkflowStreamRecordsResponseSchema, {
        records: records.map(fromRecord),
        nextCursor: BigInt(records.at(-1)?.sequence ?? cursor),
        earliestSequence: BigInt(head.firstSequence),
        latestSequence: BigInt(head.lastSequence),
        closed: head.closedAt !== null,
      });
    },

    subscribeWorkflowStream(context, { runId, streamId, cursor }) {
      return subscriptions.subscribe(context, runId, streamId, toSequence(cursor));
    },

    async acknowledgeWorkflowStream(context, request) {
      const { runId, streamId, consumerId } = request;
      const sequence = toSequence(request.sequence);
      const { head, consumer } = await service.acknowledge(context, runId, streamId, consumerId, sequence);
      return { consumer: fromConsumer(head, consumer) };
    },

    async removeWorkflowStreamConsumer(context, { runId, streamId, consumerId }) {
      return { stream: fromStream(await service.removeConsumer(context, runId, streamId, consumerId)) };
    },

    async closeWorkflowStream(context, { runId, streamId }) {
      return { stream: fromStream(await service.closeStream(context, runId, streamId)) };
    },

    async setWorkflowStreamLegalHold(context, { runId, streamId, held, reason }) {
      return { stream: fromStream(await service.setLegalHold(context, runId, streamId, held!, reason)) };
    },
  };
}

function toTarget({
  runId,
  streamId,
  waitS = waitSMax,
}: Pick<AppendWorkflowStreamRecordRequest, "runId" | "streamId" | "waitS">): AppendTarget {
  return { runId, streamId, waitMs: waitS * 1000 };
}

function toRecord({
  direction,
  contentClass,
  schemaRef,
  payload,
}: Pick<WorkflowStreamRecordToAppend, "direction" | "contentClass" | "schemaRef" | "payload">): RecordInput {
  return { direction: (direction || "output") as Direction, contentClass, schemaRef, payload: valueToJson(payload) };
}

import { create } from "@bufbuild/protobuf";
import {
  type CommitWorkflowObjectRequest,
  type DownloadWorkflowObjectResponse,
  DownloadWorkflowObjectResponseSchema,
  type WorkflowObjectService as Rpc,
  type UploadWorkflowObjectRequest,
} from "../../../../gen/service/api/workflow_object_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { type ObjectIntent, statusAt } from "./domain/intent.ts";
import type { ObjectMetrics } from "./object-metrics.ts";
import type { CheckedIntent, Download, ObjectService } from "./object-service.ts";

/** The operations of WorkflowObjectService. */
export function objectHandlers(service: ObjectService, metrics: ObjectMetrics): Handlers<typeof Rpc> {
  return {
    async prepareWorkflowObject(context, request) {
      const { runId, streamId, sha256, contentClass, schemaRef } = request;
      const intent = await service.prepareObject(context, runId, streamId, {
        ...{ sha256, contentClass, schemaRef },
        sizeBytes: Number(request.sizeBytes),
        contentType: request.contentType || "application/octet-stream",
        direction: request.direction === "input" ? "input" : "output",
      });
      return { intent: fromIntent(intent, context.nowMs) };
    },

    async getWorkflowObjectIntent(context, { runId, streamId, intentId }) {
      return { intent: fromIntent(await service.getIntent(context, runId, streamId, intentId), context.nowMs) };
    },

    uploadWorkflowObject: {
      prepare: (context: Context, { runId, streamId, intentId, body }: UploadWorkflowObjectRequest) =>
        service.storeBytes(context, runId, streamId, intentId, context.body ?? onePart(body?.data)),
      async run(context: Context, _request: UploadWorkflowObjectRequest, stored: CheckedIntent) {
        return { intent: fromIntent(await service.completeUpload(context, stored), context.nowMs) };
      },
    },

    commitWorkflowObject: {
      prepare: (context: Context, { runId, streamId, intentId }: CommitWorkflowObjectRequest) =>
        service.checkEvidence(context, runId, streamId, intentId),
      async run(context: Context, _request: CommitWorkflowObjectRequest, checked: CheckedIntent) {
        const intent = await service.commitObject(context, checked);
        return { sequence: intent.sequence!, intent: fromIntent(intent, context.nowMs) };
      },
    },

    async abortWorkflowObject(context, { runId, streamId, intentId }) {
      return { intent: fromIntent(await service.abortObject(context, runId, streamId, intentId), context.nowMs) };
    },

    async downloadWorkflowObject(context, { runId, streamId, intentId, range, ifRange }) {
      const download = await service.openDownload(context, runId, streamId, intentId, { range, ifRange });
      return toParts(download, metrics.downloaded);
    },
  };
}

/** Converts an intent, as it is at a time. */
function fromIntent(intent: ObjectIntent, nowMs: number) {
  const status = statusAt(intent, nowMs);
  const endedAt = status === intent.status ? intent.endedAt : intent.expiresAt;
  return { ...intent, status, endedAt, sequence: intent.sequence ?? 0 };
}

async function* onePart(data: Uint8Array | undefined): AsyncGenerator<Uint8Array> {
  if (data !== undefined) yield data;
}

// Not a generator: one that is cancelled before its first part would not close the reader.
function toParts(
  { intent, range, bytes }: Download,
  count: (bytes: number) => void,
): AsyncIterableIterator<DownloadWorkflowObjectResponse> {
  const parts = bytes[Symbol.asyncIterator]();
  let hasBegun = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (!hasBegun) {
        hasBegun = true;
        return { done: false, value: firstPart(intent, range) };
      }
      const step = await parts.next();
      if (step.done) return { done: true, value: undefined };
      count(step.value.length);
      return { done: false, value: create(DownloadWorkflowObjectResponseSchema, { body: { data: step.value } }) };
    },
    async return(value) {
      bytes.close();
      return { done: true, value };
    },
  };
}

function firstPart(
  { contentType, sizeBytes, sha256 }: Download["intent"],
  { firstByte, byteCount, partial }: Download["range"],
): DownloadWorkflowObjectResponse {
  return create(DownloadWorkflowObjectResponseSchema, {
    body: { contentType },
    content: {
      ...{ firstByte: BigInt(firstByte), byteCount: BigInt(byteCount), totalBytes: BigInt(sizeBytes) },
      ...{ sha256, partial },
    },
  });
}

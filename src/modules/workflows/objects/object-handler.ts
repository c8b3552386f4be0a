import { create } from "@bufbuild/protobuf";
import {
  AbortWorkflowObjectResponseSchema,
  type CommitWorkflowObjectRequest,
  CommitWorkflowObjectResponseSchema,
  type DownloadWorkflowObjectResponse,
  DownloadWorkflowObjectResponseSchema,
  GetWorkflowObjectIntentResponseSchema,
  PrepareWorkflowObjectResponseSchema,
  type WorkflowObjectService as Rpc,
  type UploadWorkflowObjectRequest,
  UploadWorkflowObjectResponseSchema,
} from "../../../../gen/service/api/workflow_object_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { fromIntent } from "./object-message.ts";
import type { CheckedIntent, Download, ObjectService } from "./object-service.ts";

/** The operations of WorkflowObjectService. */
export function objectHandlers(service: ObjectService): Handlers<typeof Rpc> {
  return {
    async prepareWorkflowObject(context, request) {
      const { runId, streamId, sha256, contentClass, schemaRef } = request;
      const intent = await service.prepareObject(context, runId, streamId, {
        ...{ sha256, contentClass, schemaRef },
        sizeBytes: Number(request.sizeBytes),
        contentType: request.contentType || "application/octet-stream",
        direction: request.direction === "input" ? "input" : "output",
      });
      return create(PrepareWorkflowObjectResponseSchema, { intent: fromIntent(intent, context.nowMs) });
    },

    async getWorkflowObjectIntent(context, { runId, streamId, intentId }) {
      const intent = await service.getIntent(context, runId, streamId, intentId);
      return create(GetWorkflowObjectIntentResponseSchema, { intent: fromIntent(intent, context.nowMs) });
    },

    uploadWorkflowObject: {
      prepare: (context: Context, { runId, streamId, intentId, body }: UploadWorkflowObjectRequest) =>
        service.storeBytes(context, runId, streamId, intentId, context.body ?? onePart(body?.data)),
      async run(context: Context, _request: UploadWorkflowObjectRequest, stored: CheckedIntent) {
        const intent = await service.completeUpload(context, stored);
        return create(UploadWorkflowObjectResponseSchema, { intent: fromIntent(intent, context.nowMs) });
      },
    },

    commitWorkflowObject: {
      prepare: (context: Context, { runId, streamId, intentId }: CommitWorkflowObjectRequest) =>
        service.checkEvidence(context, runId, streamId, intentId),
      async run(context: Context, _request: CommitWorkflowObjectRequest, checked: CheckedIntent) {
        const intent = await service.commitObject(context, checked);
        return create(CommitWorkflowObjectResponseSchema, {
          sequence: BigInt(intent.sequence!),
          intent: fromIntent(intent, context.nowMs),
        });
      },
    },

    async abortWorkflowObject(context, { runId, streamId, intentId }) {
      const intent = await service.abortObject(context, runId, streamId, intentId);
      return create(AbortWorkflowObjectResponseSchema, { intent: fromIntent(intent, context.nowMs) });
    },

    async downloadWorkflowObject(context, { runId, streamId, intentId, range, ifRange }) {
      return toParts(await service.openDownload(context, runId, streamId, intentId, { range, ifRange }));
    },
  };
}

async function* onePart(data: Uint8Array | undefined): AsyncGenerator<Uint8Array> {
  if (data !== undefined) yield data;
}

async function* toParts({ intent, range, bytes }: Download): AsyncGenerator<DownloadWorkflowObjectResponse> {
  yield create(DownloadWorkflowObjectResponseSchema, {
    body: { contentType: intent.contentType },
    content: {
      firstByte: BigInt(range.firstByte),
      byteCount: BigInt(range.byteCount),
      totalBytes: BigInt(intent.sizeBytes),
      sha256: intent.sha256,
      partial: range.partial,
    },
  });
  for await (const data of bytes) yield create(DownloadWorkflowObjectResponseSchema, { body: { data } });
}

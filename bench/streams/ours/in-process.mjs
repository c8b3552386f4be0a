// Switchyard without the protocol and the chain: the handlers of a composed node, called in this process.
import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  AppendWorkflowStreamRecordRequestSchema,
  ReadWorkflowStreamRecordsRequestSchema,
} from "../../../gen/service/api/workflow_stream_pb.ts";
import { connection } from "../../routing/http-connection.mjs";
import { authorized, startService } from "../../routing/ours/service.mjs";
import { openNode } from "../../workflows/ours/composed-node.mjs";
import { createStreams } from "./api.mjs";

const streamsMax = 120;
const pageMax = 1_000;

export async function open({ databaseUrl }) {
  const streams = await createAll(databaseUrl);
  const node = await openNode(databaseUrl);
  const handlers = node.handlers["service.api.WorkflowStreamService"];
  const streamOf = ({ runId, streamId }) => ({
    append(_, record) {
      const payload = fromJson(ValueSchema, record);
      const request = create(AppendWorkflowStreamRecordRequestSchema, { runId, streamId, payload });
      return handlers.appendWorkflowStreamRecord.ownCommit(node.context(), request, undefined);
    },
    replays: {
      "pages of 1,000": async (onText, count) => {
        for (let cursor = 0; cursor < count; cursor += pageMax) {
          const request = { runId, streamId, cursor: BigInt(cursor), limit: pageMax };
          const { records } = await handlers.readWorkflowStreamRecords(
            node.context(),
            create(ReadWorkflowStreamRecordsRequestSchema, request),
          );
          for (const { payload } of records) onText(payload.kind.value.fields.id.kind.value);
        }
      },
    },
  });
  return {
    createStreams: async (count) => streams.splice(0, count).map(streamOf),
    close: node.close,
  };
}

/** Creates the streams through the API. */
async function createAll(databaseUrl) {
  const service = await startService({ databaseUrl });
  const caller = connection(service.port, { headers: authorized });
  const streams = await createStreams(caller, streamsMax);
  caller.close();
  await service.stop();
  return streams;
}

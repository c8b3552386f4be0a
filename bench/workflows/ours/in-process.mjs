// Switchyard without the protocol and the chain: the handlers of a composed node, called in this process.
import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { StartWorkflowRunRequestSchema } from "../../../gen/service/api/workflow_run_pb.ts";
import { connection } from "../../routing/http-connection.mjs";
import { authorized, startService } from "../../routing/ours/service.mjs";
import { nextInput } from "../input.mjs";
import { publishDefinitions } from "./api.mjs";
import { openNode } from "./composed-node.mjs";

export async function open({ databaseUrl }) {
  await publish(databaseUrl);
  const node = await openNode(databaseUrl);
  const handler = node.handlers["service.api.WorkflowRunService"].startWorkflowRun.ownCommit;
  return {
    internal: {
      name: "handler",
      ahead: 1,
      async begin() {
        const input = fromJson(ValueSchema, nextInput());
        const request = create(StartWorkflowRunRequestSchema, { definition: "internal", input });
        const { run } = await handler(node.context(), request, undefined);
        if (run.status !== "succeeded") throw new Error(`a run came out as ${run.status}`);
        return {};
      },
    },
    close: node.close,
  };
}

/** Publishes the definitions through the API. */
async function publish(databaseUrl) {
  const service = await startService({ databaseUrl });
  const caller = connection(service.port, { headers: authorized });
  await publishDefinitions(caller);
  caller.close();
  await service.stop();
}

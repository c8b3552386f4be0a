import { UpsertNotificationWorkflowRequestSchema } from "../../../../gen/service/api/notification_workflow_pb.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { readRowImages } from "../../../platform/db/index.ts";
import { createJsonEncoder } from "../../../platform/protojson/index.ts";
import { createMessageConverter } from "../../../platform/records/index.ts";
import { createRequestReader } from "../../../platform/validation/index.ts";
import type { JsonObject, PackRecords } from "../../pack-records.ts";
import type { WorkflowContent } from "./domain/workflow.ts";
import { fromContent, toContent } from "./workflow-handler.ts";
import type { WorkflowImages, WorkflowService } from "./workflow-service.ts";
import { workflowStore } from "./workflow-store.ts";

const read = createRequestReader(UpsertNotificationWorkflowRequestSchema);
const toRequest = createMessageConverter(UpsertNotificationWorkflowRequestSchema);
const encode = createJsonEncoder(UpsertNotificationWorkflowRequestSchema, "proto");
/** An upgrade keeps the preferences of users in its log, so that it can be rolled back. */
const usersMax = 10_000;

/** Notification workflows as packs contain them: the body of UpsertNotificationWorkflow with the key. */
export function createWorkflowRecords(service: WorkflowService): PackRecords {
  return {
    kind: "notification_workflow",
    scopes: ["notification:write"],

    normalize(content) {
      const { workflowKey, workflow } = toWorkflow(content);
      return contentOf(workflowKey, workflow);
    },

    permissionsOf(content) {
      const effects = Object.keys(content.channels as object).map((channel) => `notify:${channel}`);
      return { hosts: [], scopes: [], effects };
    },

    mapReferences(content, replace) {
      const channels = Object.entries(content.channels as JsonObject).map(([channel, value]) => {
        const { layout_id: layoutId, ...rest } = value as JsonObject;
        return [channel, layoutId ? { ...rest, layout_id: replace("layout", layoutId as string) } : rest];
      });
      return { ...content, channels: Object.fromEntries(channels) };
    },

    async find({ sql, tenantId }, key) {
      return (await workflowStore(sql).find(tenantId, key))?.workflowKey;
    },

    async read({ sql, tenantId }, recordId) {
      const workflow = await workflowStore(sql).find(tenantId, recordId);
      return workflow && { content: contentOf(recordId, workflow) };
    },

    async create(context, content) {
      const { workflowKey, workflow } = toWorkflow(content);
      if ((await workflowStore(context.sql).find(context.tenantId, workflowKey)) !== undefined) {
        throw fail("ALREADY_EXISTS", { public: `There is a notification workflow with the key ${workflowKey}.` });
      }
      return (await service.upsertWorkflow(context, workflowKey, workflow, 0)).workflowKey;
    },

    async update(context, recordId, content) {
      const { workflowKey, workflow } = toWorkflow(content);
      if (workflowKey !== recordId) throw invalid("workflow_key", "immutable", "must stay the same");
      await service.upsertWorkflow(context, workflowKey, workflow, undefined);
    },

    async remove(context, recordId) {
      await service.deleteWorkflow(context, recordId);
    },

    async names(_context, recordId) {
      return [recordId];
    },

    async uses() {
      return [];
    },

    async image({ sql, tenantId }, recordId, next) {
      const where = sql`tenant_id = ${tenantId} and workflow_key = ${recordId}`;
      const [workflow] = await readRowImages(sql, "notification_workflows", where);
      if (workflow === undefined) return undefined;
      // A change of the workflow does not touch its users.
      if (next === "change") return JSON.stringify({ workflow } satisfies WorkflowImages);
      const users = await readRowImages(sql, "notification_workflow_users", where, usersMax + 1);
      if (users.length > usersMax) {
        throw fail("FAILED_PRECONDITION", {
          public: `The notification workflow ${recordId} has preferences of more than ${usersMax} users, which cannot be logged: delete some first.`,
        });
      }
      return JSON.stringify({ workflow, users } satisfies WorkflowImages);
    },

    async restore(context, recordId, image) {
      const images = image === undefined ? undefined : (JSON.parse(image) as WorkflowImages);
      await service.restoreWorkflow(context, recordId, images);
    },
  };
}

function toWorkflow(content: JsonObject): { readonly workflowKey: string; readonly workflow: WorkflowContent } {
  const request = read(content);
  if (request.recordVersion !== undefined) {
    throw invalid("record_version", "unknown_field", "must not be part of a pack");
  }
  return { workflowKey: request.workflowKey, workflow: toContent(request) };
}

function contentOf(workflowKey: string, workflow: WorkflowContent): JsonObject {
  return JSON.parse(encode(toRequest({ workflowKey, ...fromContent(workflow) }))) as JsonObject;
}

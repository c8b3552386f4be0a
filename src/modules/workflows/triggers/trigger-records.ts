import { toJson } from "@bufbuild/protobuf";
import {
  type CreateWorkflowTriggerRequest,
  CreateWorkflowTriggerRequestSchema,
} from "../../../../gen/service/api/workflow_trigger_pb.ts";
import { invalid } from "../../../errors/index.ts";
import { readRowImages } from "../../../platform/db/index.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import { createMessageConverter } from "../../../platform/records/index.ts";
import { createRequestReader } from "../../../platform/validation/index.ts";
import type { PackRecords } from "../../pack-records.ts";
import type { Trigger } from "./domain/trigger.ts";
import { fromCause, requireCause, toPlain } from "./trigger-message.ts";
import type { NewTrigger, TriggerService } from "./trigger-service.ts";
import { triggerStore } from "./trigger-store.ts";
import { checkTemplates } from "./trigger-templates.ts";

interface Dependencies {
  readonly service: TriggerService;
  /** Wakes the nodes that start runs, after a change of triggers. */
  readonly wakeWorkers: () => void;
}

const read = createRequestReader(CreateWorkflowTriggerRequestSchema);
const toRequest = createMessageConverter(CreateWorkflowTriggerRequestSchema);
const idPattern = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/**
 * Workflow triggers as packs contain them: the body of CreateWorkflowTrigger with the environment. The image of a trigger is its
 * whole row, so a trigger that has fired since an upgrade counts as changed.
 */
export function createTriggerRecords({ service, wakeWorkers }: Dependencies): PackRecords {
  return {
    kind: "workflow_trigger",
    scopes: ["workflow_trigger:write", "workflow_trigger:delete"],

    normalize: (content) => contentOf(toTrigger(content)),

    permissionsOf(content) {
      return {
        hosts: [],
        scopes: [],
        effects: [content.schedule === undefined ? "workflow:event" : "workflow:schedule"],
      };
    },

    mapReferences(content, replace) {
      const { environment_id: environmentId, definition } = content as Record<"environment_id" | "definition", string>;
      return {
        ...content,
        environment_id: replace("environment", environmentId),
        // A key means the same in every tenant.
        definition: idPattern.test(definition) ? replace("workflow_definition", definition) : definition,
      };
    },

    async find({ sql, tenantId }, idOrName) {
      return triggerStore(sql).findId(tenantId, idOrName);
    },

    async read({ sql, tenantId }, recordId) {
      const trigger = await triggerStore(sql).find(tenantId, recordId);
      return trigger && { content: contentOf(trigger) };
    },

    async create(context, content) {
      return (await service.createTrigger(context, toTrigger(content))).id;
    },

    async update(context, recordId, content) {
      const { environmentId, ...change } = toTrigger(content);
      const current = await service.getTrigger(context, recordId);
      if (current.environmentId !== environmentId) {
        throw invalid(
          "environment_id",
          "immutable",
          "must stay the same: a trigger cannot move to another environment",
        );
      }
      await service.updateTrigger(context, recordId, change, undefined);
    },

    async remove(context, recordId) {
      await service.deleteTrigger(context, recordId);
    },

    async names() {
      return [];
    },

    async uses() {
      return [];
    },

    async image({ sql, tenantId }, recordId) {
      const [image] = await readRowImages(sql, "workflow_triggers", sql`tenant_id = ${tenantId} and id = ${recordId}`);
      return image;
    },

    async restore({ sql, tenantId, afterCommit }, recordId, image) {
      const store = triggerStore(sql);
      await store.remove(tenantId, recordId);
      if (image !== undefined) await store.insertImage(image);
      afterCommit(wakeWorkers);
    },
  };
}

function toTrigger(content: JsonObject): NewTrigger {
  const request: CreateWorkflowTriggerRequest = read(content);
  const { name, definition, version, environmentId, enabled = true, runKey } = request;
  if (environmentId === "") {
    throw invalid("environment_id", "required", "is required in a pack: use a slot of the kind environment");
  }
  const input = request.input === undefined ? null : toPlain(request.input);
  const cause = requireCause(request);
  checkTemplates({ input, runKey }, cause);
  return { name, definition, version, environmentId, enabled, runKey, input, cause };
}

function contentOf(trigger: NewTrigger | Trigger): JsonObject {
  const { name, definition, version, environmentId, enabled, input, runKey, cause } = trigger;
  const fields = { name, definition, version, environmentId, enabled, input, runKey, ...fromCause(cause) };
  return toJson(CreateWorkflowTriggerRequestSchema, toRequest(fields), { useProtoFieldName: true }) as JsonObject;
}

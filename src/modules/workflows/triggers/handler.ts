import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  CreateWorkflowTriggerResponseSchema,
  DeleteWorkflowTriggerResponseSchema,
  type FireWorkflowTriggerRequest,
  FireWorkflowTriggerResponseSchema,
  GetWorkflowTriggerResponseSchema,
  ListWorkflowTriggersResponseSchema,
  PreviewWorkflowTriggerResponseSchema,
  type WorkflowTriggerService as Rpc,
  UpdateWorkflowTriggerResponseSchema,
} from "../../../../gen/service/api/workflow_trigger_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { environmentIdOf, productionOf, type TenantId } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { dateOf, expectedVersion } from "../../../platform/records/index.ts";
import type { Definitions } from "../definitions/index.ts";
import { toValue } from "../runs/index.ts";
import type { Trigger } from "./domain/trigger.ts";
import type { FireService } from "./fire-service.ts";
import { fromTrigger, requireCause, toCause, toEvent, toPlain } from "./trigger-message.ts";
import type { TriggerService } from "./trigger-service.ts";
import { triggerStore } from "./trigger-store.ts";

interface Dependencies {
  readonly service: TriggerService;
  readonly fire: FireService;
  readonly definitions: Pick<Definitions, "identify">;
  readonly cursors: Cursors;
}

/** Creates the handlers of WorkflowTriggerService. */
export function triggerHandlers({ service, fire, definitions, cursors }: Dependencies): Handlers<typeof Rpc> {
  /** The names that a trigger may have been given for a definition. It need not exist. */
  async function namesOf(tenantId: TenantId, idOrKey: string): Promise<string[]> {
    const found = await definitions.identify(tenantId, idOrKey);
    return found === undefined ? [idOrKey] : [found.id, found.key];
  }

  return {
    async createWorkflowTrigger(context, request) {
      const { name, definition, version, environmentId, enabled = true, input, runKey } = request;
      const trigger = await service.createTrigger(context, {
        ...{ name, definition, version, environmentId, enabled, runKey },
        input: input === undefined ? null : toPlain(input),
        cause: requireCause(request),
      });
      return create(CreateWorkflowTriggerResponseSchema, { trigger: fromTrigger(trigger) });
    },

    async getWorkflowTrigger(context, { triggerId }) {
      const trigger = await service.getTrigger(context, triggerId);
      return create(GetWorkflowTriggerResponseSchema, { trigger: fromTrigger(trigger) });
    },

    async listWorkflowTriggers(context, request) {
      const { tenantId, operation, sql, principal } = context;
      const { definition } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const definitionNames = definition === "" ? [] : await namesOf(tenantId, definition);
      const inProduction = productionOf(principal);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [environmentId, definitionNames, inProduction] },
        ({ id }: Trigger) => id,
        (wanted) => triggerStore(sql).list(tenantId, { environmentId, definitionNames, inProduction }, wanted),
      );
      return create(ListWorkflowTriggersResponseSchema, { ...page, triggers: page.items.map(fromTrigger) });
    },

    async updateWorkflowTrigger(context, request) {
      const { triggerId, name, definition, version, enabled, input, runKey, recordVersion } = request;
      const change = {
        ...{ name, definition, version, enabled, runKey },
        input: input === undefined ? undefined : toPlain(input),
        cause: toCause(request),
      };
      const trigger = await service.updateTrigger(context, triggerId, change, expectedVersion(recordVersion));
      return create(UpdateWorkflowTriggerResponseSchema, { trigger: fromTrigger(trigger) });
    },

    async deleteWorkflowTrigger(context, { triggerId }) {
      const trigger = await service.deleteTrigger(context, triggerId);
      return create(DeleteWorkflowTriggerResponseSchema, { trigger: fromTrigger(trigger) });
    },

    fireWorkflowTrigger: {
      ownCommit: (context: Context, { triggerId, event }: FireWorkflowTriggerRequest, keyed) =>
        fire(context, triggerId, toEvent(event, context.nowMs), keyed, (runId, started) =>
          create(FireWorkflowTriggerResponseSchema, { runId, started }),
        ),
    },

    async previewWorkflowTrigger({ nowMs }, request) {
      const { sample, input, runKey, after } = request;
      const preview = service.previewTrigger({
        cause: requireCause(request),
        sample: toEvent(sample, nowMs),
        input: input === undefined ? null : toPlain(input),
        runKey,
        afterMs: after === undefined ? nowMs : dateOf(after).getTime(),
      });
      return create(PreviewWorkflowTriggerResponseSchema, {
        times: preview.times.map((at) => timestampFromMs(at)),
        starts: preview.starts,
        reason: preview.reason,
        ...(preview.input !== undefined && { input: toValue(preview.input) }),
        ...(preview.runKey !== undefined && { runKey: preview.runKey }),
      });
    },
  };
}

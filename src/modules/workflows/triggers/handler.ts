import { create } from "@bufbuild/protobuf";
import {
  type FireWorkflowTriggerRequest,
  FireWorkflowTriggerResponseSchema,
  type WorkflowTriggerService as Rpc,
} from "../../../../gen/service/api/workflow_trigger_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { environmentIdOf, productionOf, type TenantId } from "../../../platform/access/index.ts";
import { dateOf, expectedVersion } from "../../../platform/records/index.ts";
import type { Definitions } from "../definitions/index.ts";
import type { FireService } from "./fire-service.ts";
import { fromTrigger, requireCause, toCause, toEvent, toPlain } from "./trigger-message.ts";
import type { TriggerService } from "./trigger-service.ts";
import { triggerStore } from "./trigger-store.ts";

interface Dependencies {
  readonly service: TriggerService;
  readonly fire: FireService;
  readonly definitions: Pick<Definitions, "identify">;
}

/** Creates the handlers of WorkflowTriggerService. */
export function triggerHandlers({ service, fire, definitions }: Dependencies): Handlers<typeof Rpc> {
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
      return { trigger: fromTrigger(trigger) };
    },

    async getWorkflowTrigger(context, { triggerId }) {
      return { trigger: fromTrigger(await service.getTrigger(context, triggerId)) };
    },

    async listWorkflowTriggers(context, request) {
      const { tenantId, sql, principal } = context;
      const { definition } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const definitionNames = definition === "" ? [] : await namesOf(tenantId, definition);
      const inProduction = productionOf(principal);
      const filter = { environmentId, definitionNames, inProduction };
      const page = await context.page("triggers", request, Object.values(filter), (wanted) =>
        triggerStore(sql).list(tenantId, filter, wanted),
      );
      return { ...page, triggers: page.triggers.map(fromTrigger) };
    },

    async updateWorkflowTrigger(context, request) {
      const { triggerId, name, definition, version, enabled, input, runKey, recordVersion } = request;
      const change = {
        ...{ name, definition, version, enabled, runKey },
        input: input === undefined ? undefined : toPlain(input),
        cause: toCause(request),
      };
      const trigger = await service.updateTrigger(context, triggerId, change, expectedVersion(recordVersion));
      return { trigger: fromTrigger(trigger) };
    },

    async deleteWorkflowTrigger(context, { triggerId }) {
      return { trigger: fromTrigger(await service.deleteTrigger(context, triggerId)) };
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
      return { runKey: "", ...preview, times: preview.times.map((at) => new Date(at)) };
    },
  };
}

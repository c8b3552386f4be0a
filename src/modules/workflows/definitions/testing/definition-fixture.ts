import {
  ArchiveWorkflowDefinitionRequestSchema,
  CreateWorkflowDefinitionRequestSchema,
  GetWorkflowDefinitionRequestSchema,
  PublishWorkflowDefinitionRequestSchema,
  UpdateWorkflowDefinitionDraftRequestSchema,
} from "../../../../../gen/service/api/workflow_definition_pb.ts";
import { announcedChanges } from "../../../../../test/harness/changes.ts";
import { type ContextChoice, perform, recordedEvents } from "../../../../../test/harness/context.ts";
import type { Database } from "../../../../platform/db/index.ts";
import { createEventLoopScheduler } from "../../../../platform/event-loop/index.ts";
import type { JsonObject } from "../domain/language/definition.ts";
import { createDefinitions } from "../index.ts";

/** The definitions module on a database, with the pool `sales` and the notification workflow `welcome` in every tenant. */
export function definitionFixture(db: Database) {
  const events = recordedEvents();
  const { changes, standing } = announcedChanges();
  const only = (known: string) => async (_sql: unknown, _tenantId: unknown, names: readonly string[]) =>
    new Set(names.filter((name) => name === known));
  const definitions = createDefinitions({
    cacheLoadDb: db,
    events,
    changes,
    shares: createEventLoopScheduler(),
    findPools: only("sales"),
    findNotificationWorkflows: only("welcome"),
    findExperiments: only("checkout"),
    checkActionUse: async () => "absent",
  });
  const { handlers } = definitions;
  return {
    definitions,
    handlers,
    events,
    changes,
    standing,

    async create(choice: ContextChoice, document: JsonObject) {
      const request = { document: document as never };
      const handler = handlers.createWorkflowDefinition;
      return (await perform(db, choice, handler, CreateWorkflowDefinitionRequestSchema, request)).workflowDefinition!;
    },

    async get(choice: ContextChoice, id: string) {
      const handler = handlers.getWorkflowDefinition;
      return (await perform(db, choice, handler, GetWorkflowDefinitionRequestSchema, { id })).workflowDefinition!;
    },

    async update(choice: ContextChoice, id: string, document: JsonObject, recordVersion?: bigint) {
      const request = { id, document: document as never, ...(recordVersion !== undefined && { recordVersion }) };
      const handler = handlers.updateWorkflowDefinitionDraft;
      return (await perform(db, choice, handler, UpdateWorkflowDefinitionDraftRequestSchema, request))
        .workflowDefinition!;
    },

    async publish(choice: ContextChoice, id: string, fields: { message?: string; recordVersion?: bigint } = {}) {
      const handler = handlers.publishWorkflowDefinition;
      return perform(db, choice, handler, PublishWorkflowDefinitionRequestSchema, { id, ...fields });
    },

    async archive(choice: ContextChoice, id: string) {
      const handler = handlers.archiveWorkflowDefinition;
      return (await perform(db, choice, handler, ArchiveWorkflowDefinitionRequestSchema, { id })).workflowDefinition!;
    },
  };
}

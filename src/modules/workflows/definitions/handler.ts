import {
  type ImportWorkflowDefinitionRequest,
  type PublishWorkflowDefinitionRequest,
  type WorkflowDefinitionService as Rpc,
  WorkflowDefinition_Status as Status,
  type ValidateWorkflowDefinitionRequest,
  WorkflowDefinitionVersion_Status as VersionStatus,
} from "../../../../gen/service/api/workflow_definition_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { invalid } from "../../../errors/index.ts";
import { formatText, type TextFormat } from "../../../platform/document-text/index.ts";
import { enumNumbers, expectedVersion, nameOf } from "../../../platform/records/index.ts";
import type { JsonObject } from "./domain/language/definition.ts";
import { definitionSchema } from "./domain/language/syntax/json-schema.ts";
import {
  type DefinitionHead,
  type DefinitionVersion,
  type Draft,
  type VersionHead,
  versionStatus,
  type WorkflowDefinition,
} from "./domain/workflow-definition.ts";
import type { CheckedDraft, DefinitionService, VersionChoice } from "./service.ts";
import { definitionStore } from "./store.ts";

/** Handlers of WorkflowDefinitionService. */
export function definitionHandlers(service: DefinitionService): Handlers<typeof Rpc> {
  const schema = {
    contentType: "application/schema+json",
    data: Buffer.from(JSON.stringify(definitionSchema(), null, 2)),
    extensions: [],
  };
  /** The document of a request that has it as JSON or as a text. */
  async function readDocument({ document, text, format }: ValidateWorkflowDefinitionRequest): Promise<unknown> {
    if ((document === undefined) === (text === "")) {
      throw invalid("document", "required", "must be given, or text instead of it");
    }
    return text === "" ? document : service.readText(text, toFormat(format));
  }

  return {
    async createWorkflowDefinition(context, request) {
      const definition = await service.createDefinition(context, toDocument(request.document));
      return { workflowDefinition: fromDefinition(definition) };
    },

    async getWorkflowDefinition(context, { id }) {
      return { workflowDefinition: fromDefinition(await service.getDefinition(context, id)) };
    },

    async listWorkflowDefinitions(context, request) {
      const { tenantId, sql } = context;
      const filter = { status: nameOf(statuses, request.status), keyPrefix: request.keyPrefix };
      const page = await context.page("workflowDefinitions", request, Object.values(filter), (wanted) =>
        definitionStore(sql).list(tenantId, filter, wanted),
      );
      return { ...page, workflowDefinitions: page.workflowDefinitions.map(fromDefinition) };
    },

    async updateWorkflowDefinitionDraft(context, { id, document, recordVersion }) {
      const version = expectedVersion(recordVersion);
      const definition = await service.updateDraft(context, id, toDocument(document), version);
      return { workflowDefinition: fromDefinition(definition) };
    },

    publishWorkflowDefinition: {
      prepare(context: Context, { id, recordVersion }: PublishWorkflowDefinitionRequest) {
        return service.prepareDraft(context, id, expectedVersion(recordVersion));
      },
      async run(context: Context, request: PublishWorkflowDefinitionRequest, checked: CheckedDraft) {
        const version = expectedVersion(request.recordVersion);
        const published = await service.publishDraft(context, checked, request.message, version, request.stage);
        return {
          // An unchanged definition was read with its draft.
          workflowDefinition: { ...fromDefinition(published.definition), draft: undefined },
          version: fromVersion(published.definition, published.version),
          unchanged: published.unchanged,
        };
      },
    },

    async duplicateWorkflowDefinition(context, { id, key, version }) {
      const copy = await service.duplicateDefinition(context, id, key ?? "", toChoice(version, "draft"));
      return { workflowDefinition: fromDefinition(copy) };
    },

    async archiveWorkflowDefinition(context, { id }) {
      return { workflowDefinition: fromDefinition(await service.archiveDefinition(context, id)) };
    },

    async validateWorkflowDefinition(context, request) {
      const document = await readDocument(request);
      const report = await service.validateDocument(context, document);
      const valid = report.violations.length === 0;
      if (request.text === "") return { valid, ...report };
      const located = await service.locate(request.text, report.violations);
      const violations = report.violations.map((each, at) => ({ ...each, textPosition: located[at]!.position }));
      return { valid, ...report, violations, document: isObject(document) ? document : undefined };
    },

    importWorkflowDefinition: {
      prepare(_context: Context, { text, format }: ImportWorkflowDefinitionRequest) {
        return service.readDraftText(text, toFormat(format));
      },
      async run(context: Context, { recordVersion }: ImportWorkflowDefinitionRequest, draft: Draft) {
        const { definition, ...result } = await service.importDraft(context, draft, expectedVersion(recordVersion));
        return { workflowDefinition: fromDefinition(definition), ...result };
      },
    },

    async exportWorkflowDefinition(context, request) {
      const format = toFormat(request.format);
      const { document, text } = await service.getText(context, request.id, toChoice(request.version, "draft"));
      const data = Buffer.from(format === "yaml" && text !== "" ? text : formatText(document, format));
      return { document: { contentType: `application/${format}`, data, extensions: [] } };
    },

    async listWorkflowDefinitionVersions(context, request) {
      const { tenantId, sql } = context;
      const definition = await service.getHead(context, request.id);
      const page = await context.page(
        "versions",
        request,
        [definition.id],
        (wanted) => definitionStore(sql).listVersions(tenantId, definition.id, wanted),
        ({ version }) => String(version),
      );
      return { ...page, versions: page.versions.map((version) => fromVersion(definition, version)) };
    },

    async getWorkflowDefinitionVersion(context, request) {
      const choice = request.version === "active" ? "active" : Number(request.version);
      const { definition, version } = await service.getVersion(context, request.id, choice);
      return { version: fromVersion(definition, version) };
    },

    async diffWorkflowDefinition(context, { id, from, to }) {
      const diff = await service.diffVersions(context, id, toChoice(from, "active"), toChoice(to, "draft"));
      return { equal: diff.fields.length === 0 && diff.steps.length === 0, ...diff };
    },

    getWorkflowDefinitionSchema: async () => ({ schema }),
  };
}

const statuses = enumNumbers(Status);
const versionStatuses = enumNumbers(VersionStatus);

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toDocument(document: unknown): JsonObject {
  return (document ?? {}) as JsonObject;
}

function toFormat(format: string): TextFormat {
  return format === "json" ? "json" : "yaml";
}

function toChoice(text: string, fallback: "draft" | "active"): VersionChoice {
  if (text === "") return fallback;
  return text === "draft" || text === "active" ? text : Number(text);
}

const fromDefinition = (definition: DefinitionHead | WorkflowDefinition) => ({
  ...definition,
  status: statuses[definition.status],
  hasUnpublishedChanges: definition.draftDigest !== definition.activeDigest,
});

const fromVersion = (definition: DefinitionHead, version: VersionHead | DefinitionVersion) => ({
  ...version,
  key: definition.key,
  status: versionStatuses[versionStatus(definition, version.version)],
});
